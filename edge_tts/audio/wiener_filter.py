"""A short-time Wiener filter against a noise of known spectrum, streaming.

Gain of each frequency bin: ``xi / (1 + xi)``, where ``xi`` is the a-priori
signal-to-noise ratio in the decision-directed estimate of Ephraim and Malah
(1984): mostly what the frame before left of the signal, partly what this frame
has above the noise. That keeps the gain from fluttering (no musical noise).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Complex64 = npt.NDArray[np.complex64]

# Of the loudest and the faintest noise a spectrum may name, as natural logarithms of power.
_LOG_POWER_RANGE = (-80.0, 40.0)


class WienerFilter:
    """Filters the spectra of one utterance, frame after frame.

    Constant over chunks: however the frames are cut, the result is the same.

    Args:
        noise_log_spectrum: ``(bins,)`` natural logarithm of the noise's power in
            each bin of a transform with a sine window, not normalised.
        smoothing: 0 to 1, the weight of the frame before in the estimate. At 80
            frames a second 0.9 spans about 120 ms, short enough for speech.
        floor_db: lowest gain; what is filtered away entirely sounds unnatural.
    """

    def __init__(
        self,
        noise_log_spectrum: npt.ArrayLike,
        *,
        smoothing: float = 0.9,
        floor_db: float = -12.0,
    ) -> None:
        log_power = np.clip(np.asarray(noise_log_spectrum, np.float64), *_LOG_POWER_RANGE)
        self._noise_power = np.exp(log_power).astype(np.float32)
        self._per_noise = np.float32(1.0) / self._noise_power
        self._smoothing = np.float32(smoothing)
        self._floor = np.float32(10.0 ** (floor_db / 20.0))
        self._carried: Float32 | None = None

    @property
    def bins(self) -> int:
        return len(self._noise_power)

    def apply(self, spectra: Complex64) -> Complex64:
        """Filter the next frames ``(K, bins)`` in place, and return them."""
        spectra *= self.gains(spectra)
        return spectra

    def gains(self, spectra: Complex64) -> Float32:
        """Gains ``(K, bins)`` in [floor, 1] of the next frames."""
        if not len(spectra):
            return np.empty(spectra.shape, np.float32)
        posterior = np.square(spectra.real)
        posterior += np.square(spectra.imag)
        posterior *= self._per_noise
        fresh = np.maximum(posterior - 1.0, 0.0, dtype=np.float32)
        if self._carried is None:
            # The first frame is its own past.
            self._carried = fresh[:1].sum(axis=0) * self._smoothing
        carried = self._carried
        fresh *= np.float32(1.0) - self._smoothing
        posterior *= self._smoothing
        gains = np.empty(posterior.shape, np.float32)
        ratio = np.empty(self.bins, np.float32)
        for frame, gain in enumerate(gains):
            np.add(carried, fresh[frame], out=ratio)
            np.add(ratio, 1.0, out=gain)
            np.divide(ratio, gain, out=gain)
            np.multiply(gain, gain, out=carried)
            carried *= posterior[frame]
        gains.clip(min=self._floor, out=gains)
        return gains


def error_log_spectrum(reference: Complex64, degraded: Complex64) -> npt.NDArray[np.float64]:
    """Natural logarithm ``(bins,)`` of the mean power of ``degraded - reference`` ``(F, bins)``.

    This is the noise spectrum that a voice pack stores for the filter, from the
    spectra of the same text by the network in full and in reduced precision.
    """
    power = np.mean(np.square(np.abs(degraded - reference), dtype=np.float64), axis=0)
    return np.asarray(np.log(np.maximum(power, np.exp(_LOG_POWER_RANGE[0]))))
