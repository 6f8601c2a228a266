"""One phrase from ids to samples, chunk by chunk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from edge_tts.synthesis.inverse_stft import InverseStft
from edge_tts.synthesis.source import LOOKAHEAD_FRAMES, PulseSource
from edge_tts.synthesis.vocoder import fundamental_hz, vocoder_features
from edge_tts.synthesis.windows import context_window

if TYPE_CHECKING:
    from edge_tts.audio_chunk import Via
    from edge_tts.synthesis.acoustic_model import AcousticModel, Float32, Utterance
    from edge_tts.synthesis.noise import NoiseTable
    from edge_tts.synthesis.vocoder import Complex64
    from edge_tts.synthesis.vocoder_chain import VocoderChain
    from edge_tts.voice import Voice

SpectralFilter = Callable[["Complex64"], "Complex64"]

FEATURES = 82


class StageClock:
    """Adds up milliseconds by stage: each :meth:`lap` ends a stage."""

    def __init__(self) -> None:
        self.stage_ms: dict[str, float] = {}
        self._last_s = time.perf_counter()

    def start(self) -> None:
        """Begin a stage now; what came before is nobody's."""
        self._last_s = time.perf_counter()

    def lap(self, stage: str) -> None:
        """End a stage and begin the next."""
        now_s = time.perf_counter()
        elapsed_ms = 1000.0 * (now_s - self._last_s)
        self.stage_ms[stage] = self.stage_ms.get(stage, 0.0) + elapsed_ms
        self._last_s = now_s

    def take(self) -> dict[str, float]:
        """What added up since the last call."""
        taken, self.stage_ms = self.stage_ms, {}
        return taken


@dataclass(frozen=True, eq=False)
class Piece:
    """Samples ``(N,)`` of one chunk of a phrase, not clipped."""

    samples: Float32
    via: Via
    ends_phrase: bool


@dataclass(frozen=True)
class ChunkPlan:
    """Chunk lengths in frames: the first, the second, ... the last one repeats."""

    frames: Sequence[int]

    def length(self, index: int) -> int:
        return self.frames[min(index, len(self.frames) - 1)]


@dataclass(eq=False)
class UtteranceStream:
    """Streams one utterance; the parts are shared, the state is this phrase's alone.

    Features are decoded as far ahead as the vocoder's context asks and no
    further, so the first sound needs one chunk of work whatever the length.
    """

    acoustic_model: AcousticModel
    vocoder: VocoderChain
    noise: NoiseTable
    voice: Voice
    plan: ChunkPlan
    clock: StageClock = field(default_factory=StageClock)

    def pieces(
        self, utterance: Utterance, spectral_filter: SpectralFilter | None
    ) -> Iterator[Piece]:
        """The samples of ``utterance``, ``F * hop_length`` in all.

        Args:
            utterance: from the encoder.
            spectral_filter: is given the network's spectra ``(K, bins)`` in order;
                it may keep a state of its own for this phrase.

        Raises:
            InferenceError: the decoder failed.
        """
        voice, total = self.voice, utterance.frames
        source = PulseSource(voice.sample_rate_hz, voice.n_fft, voice.hop_length)
        inverse = InverseStft(voice.n_fft, voice.hop_length)
        lookahead = max(self.vocoder.context_frames, LOOKAHEAD_FRAMES)
        features = np.empty((FEATURES, total), np.float32)
        f0_hz = np.empty(total, np.float32)
        decoded = start = index = 0
        while start < total:
            began_s = time.perf_counter()
            self.clock.start()
            chunk = self.plan.length(index)
            stop = min(total, start + chunk)
            ahead = min(total, stop + lookahead)
            if ahead > decoded:
                width = ahead - decoded if decoded == 0 else chunk
                fresh = self._decode(utterance, decoded, ahead, width)
                features[:, decoded:ahead] = fresh
                f0_hz[decoded:ahead] = fundamental_hz(fresh)
                decoded = ahead
            self.clock.lap("decoder")
            pulses = source.spectra(f0_hz[start : stop + LOOKAHEAD_FRAMES], stop - start)
            self.clock.lap("transform")
            window = context_window(start, stop, total, self.vocoder.context_frames, chunk)
            spectra, via = self.vocoder.spectra(
                features[:, window.begin : window.end],
                window.keep,
                pulses,
                self.noise.rows(start, stop),
            )
            self.clock.lap("vocoder")
            if spectral_filter is not None and via == "neural":
                spectra = spectral_filter(spectra)
                self.clock.lap("filter")
            samples = inverse.push(spectra)
            if stop == total:
                samples = np.concatenate((samples, inverse.finish()))
            self.clock.lap("transform")
            work_s = time.perf_counter() - began_s
            self.vocoder.report(
                via, work_s, (stop - start) * voice.hop_length / voice.sample_rate_hz
            )
            start, index = stop, index + 1
            yield Piece(samples, via, ends_phrase=start == total)

    def _decode(self, utterance: Utterance, start: int, stop: int, chunk: int) -> Float32:
        """Decode ``[start, stop)`` in steps of at most ``chunk`` frames."""
        parts = [
            self.acoustic_model.decode(utterance, at, min(stop, at + chunk), chunk)
            for at in range(start, stop, chunk)
        ]
        return vocoder_features(np.concatenate(parts, axis=1))
