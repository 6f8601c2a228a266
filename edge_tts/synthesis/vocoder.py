"""Features to spectra by a network that filters pulses and shapes noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from edge_tts.inference.session import start as start_run

if TYPE_CHECKING:
    from edge_tts.inference.session import Array, InferenceSession, Run
    from edge_tts.voice import Voice

Float32 = npt.NDArray[np.float32]
Complex64 = npt.NDArray[np.complex64]

LOG_F0_CHANNEL = 80
VOICING_CHANNEL = 81
F0_REFERENCE_HZ = 200.0
F0_RANGE_HZ = (40.0, 500.0)


class Vocoder(Protocol):
    """Turns features and an excitation into the spectra of the voice.

    It has no memory: phase, noise and overlap-add belong to the caller, so that
    one vocoder can take over from another between two chunks without a seam.
    """

    @property
    def context_frames(self) -> int:
        """Frames beyond a chunk that it must see on either side."""
        ...

    def spectra(
        self, features: Float32, keep: slice, pulses: Complex64, noise: Complex64
    ) -> Complex64:
        """Spectra ``(K, n_fft // 2 + 1)`` of the frames ``keep`` of a window.

        Args:
            features: ``(C, W)`` from :func:`vocoder_features`.
            keep: the ``K`` frames of the window that are wanted.
            pulses: ``(K, n_fft // 2 + 1)``, the spectra of the pulse train there.
            noise: the same shape, complex Gaussian noise of unit power.

        Raises:
            InferenceError: a network failed.
        """
        ...


class VocoderRun(Protocol):
    """A chunk on its way through a network vocoder."""

    def spectra(self, pulses: Complex64, noise: Complex64, due_s: float | None = None) -> Complex64:
        """Spectra ``(K, n_fft // 2 + 1)`` of the frames that were asked for.

        Args:
            pulses: see :meth:`Vocoder.spectra`, as ``noise``.
            due_s: see :meth:`edge_tts.inference.session.Run.result`.

        Raises:
            InferenceError: the network failed.
        """
        ...


class NetworkVocoder(Protocol):
    """A vocoder that can work while its caller makes the excitation."""

    @property
    def context_frames(self) -> int:
        """Frames beyond a chunk that it must see on either side."""
        ...

    def start(self, features: Float32, keep: slice) -> VocoderRun:
        """Begin a chunk; ``features`` and ``keep`` are those of :meth:`Vocoder.spectra`.

        Raises:
            InferenceError: the network could not be loaded.
        """
        ...


class NeuralVocoder:
    """The voice's vocoder network.

    Args:
        session: session of the vocoder graph.
        voice: gives the context.
    """

    def __init__(self, session: InferenceSession, voice: Voice) -> None:
        self._session = session
        self._context = voice.graphs["vocoder"].context

    @property
    def context_frames(self) -> int:
        return self._context

    def start(self, features: Float32, keep: slice) -> VocoderRun:
        """See :meth:`NetworkVocoder.start`."""
        inputs: dict[str, Array] = {"features": np.ascontiguousarray(features)[None]}
        return _NeuralRun(start_run(self._session, inputs), keep)


@dataclass(frozen=True)
class _NeuralRun:
    run: Run
    keep: slice

    def spectra(self, pulses: Complex64, noise: Complex64, due_s: float | None = None) -> Complex64:
        outputs, keep = self.run.result(due_s), self.keep
        filtered = np.empty(pulses.shape, np.complex64)
        filtered.real = outputs["harmonic_real"][0, keep]
        filtered.imag = outputs["harmonic_imag"][0, keep]
        filtered *= pulses
        magnitude = np.asarray(outputs["noise_magnitude"], np.float32)[0, keep]
        filtered += magnitude * noise
        return filtered


def vocoder_features(decoded: Float32) -> Float32:
    """Decoder output ``(C, F)`` as vocoders take it, in place; returns it.

    The channels are 80 mel bands, log F0, the logit of voicing, then the voice's latents.
    Voiced is where the logit is positive. Channel 81 becomes 1 or 0, channel 80
    the log of F0 over 200 Hz, F0 held within 40 to 500 Hz, and 0 where unvoiced.
    """
    voiced = decoded[VOICING_CHANNEL] > 0
    low, high = (np.log(bound / F0_REFERENCE_HZ) for bound in F0_RANGE_HZ)
    log_f0 = np.clip(decoded[LOG_F0_CHANNEL], low, high)
    decoded[LOG_F0_CHANNEL] = np.where(voiced, log_f0, 0.0)
    decoded[VOICING_CHANNEL] = voiced
    return decoded


def fundamental_hz(features: Float32) -> Float32:
    """F0 ``(F,)`` in hertz of vocoder features ``(C, F)``; 0 where unvoiced."""
    f0_hz = np.exp(features[LOG_F0_CHANNEL]) * np.float32(F0_REFERENCE_HZ)
    return np.asarray(f0_hz * features[VOICING_CHANNEL], np.float32)
