"""The network vocoder while it works and keeps up, else the fallback."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edge_tts.errors import InferenceError

if TYPE_CHECKING:
    from edge_tts.audio_chunk import Via
    from edge_tts.synthesis.vocoder import Complex64, Float32, NetworkVocoder, Vocoder, VocoderRun

_log = logging.getLogger(__name__)

SLOW_CHUNKS = 2
RETRY_S = 60.0


class VocoderChain:
    """Asks the network, and falls to the fallback when it can't be used.

    It falls when the network can't load, fails, or gives values that are no
    numbers, and when it is too slow for ``SLOW_CHUNKS`` chunks in a row. Each fall is one
    log line; after ``RETRY_S`` the network gets another chance.

    Args:
        neural: the network vocoder; ``None`` leaves all to the fallback.
        fallback: one that never fails.
        slowest_real_time_factor: time of work over time of sound beyond which a
            chunk counts as too slow; ``None`` never gives up for slowness, which
            suits writing to a file.
        clock: seconds on a clock that never goes back.
    """

    def __init__(
        self,
        neural: NetworkVocoder | None,
        fallback: Vocoder,
        *,
        slowest_real_time_factor: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._neural = neural
        self._fallback = fallback
        self._slowest = slowest_real_time_factor
        self._clock = clock
        self._slow_chunks = 0
        self._retry_at_s: float | None = None

    @property
    def context_frames(self) -> int:
        fallback_frames = self._fallback.context_frames
        return (
            max(self._neural.context_frames, fallback_frames) if self._neural else fallback_frames
        )

    def start(self, features: Float32, keep: slice) -> ChainRun:
        """Begin a chunk; see :meth:`edge_tts.synthesis.vocoder.Vocoder.spectra`."""
        if self._retry_at_s is not None and self._clock() >= self._retry_at_s:
            self._retry_at_s = None
            self._slow_chunks = 0
        run = None
        if self._neural is not None and self._retry_at_s is None:
            try:
                run = self._neural.start(features, keep)
            except InferenceError as exc:
                self._fall(str(exc))
        return ChainRun(self, run, features, keep)

    def report(self, via: Via, work_s: float, sound_s: float) -> None:
        """Tell how long a whole chunk took, and how long it sounds."""
        if self._slowest is None or via != "neural" or sound_s <= 0.0:
            return
        factor = work_s / sound_s
        self._slow_chunks = self._slow_chunks + 1 if factor > self._slowest else 0
        if self._slow_chunks >= SLOW_CHUNKS:
            self._fall(f"it takes {factor:.2f} s for a second of sound")

    def _fall(self, reason: str) -> None:
        self._retry_at_s = self._clock() + RETRY_S
        _log.warning("vocoder network out of use for %.0f s, fallback speaks: %s", RETRY_S, reason)


@dataclass(frozen=True, eq=False)
class ChainRun:
    """A chunk that the network has begun, or that waits for the fallback."""

    _chain: VocoderChain
    _run: VocoderRun | None
    _features: Float32
    _keep: slice

    def spectra(
        self, pulses: Complex64, noise: Complex64, due_s: float | None = None
    ) -> tuple[Complex64, Via]:
        """The spectra, and who made them.

        Args:
            pulses: see :meth:`edge_tts.synthesis.vocoder.Vocoder.spectra`, as ``noise``.
            due_s: when to wait for the network no longer, see
                :meth:`edge_tts.inference.session.Run.result`.
        """
        if self._run is not None:
            try:
                spectra = self._run.spectra(pulses, noise, due_s)
                if not np.isfinite(spectra.sum()):
                    raise InferenceError("the vocoder gave values that are no numbers")
                return spectra, "neural"
            except InferenceError as exc:
                self._chain._fall(str(exc))
        fallback = self._chain._fallback
        return fallback.spectra(self._features, self._keep, pulses, noise), "dsp"
