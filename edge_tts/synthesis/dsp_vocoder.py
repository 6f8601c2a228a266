"""The fallback vocoder: no network, always there, plainly worse."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from edge_tts.synthesis.vocoder import VOICING_CHANNEL

if TYPE_CHECKING:
    from edge_tts.voice import Voice

Float32 = npt.NDArray[np.float32]
Complex64 = npt.NDArray[np.complex64]

# Above it a voiced sound is breath more than pitch (a harmonic-plus-noise model
# with a fixed maximum voiced frequency, after Stylianou 2001).
VOICED_BELOW_HZ = 4500.0
NOISE_ABOVE_HZ = 6500.0
# Share of noise under the harmonics of a voiced sound, as an amplitude.
BREATH = 0.05
# Mean magnitude of complex Gaussian noise of unit power, sqrt(pi) / 2.
_MEAN_NOISE = 0.8862
# Points between two bins at which mel bands are weighed.
_POINTS_A_BIN = 8
# Features hold a quarter of the natural logarithm of the mel magnitudes.
_LOG_SCALE = 4.0


class DspVocoder:
    """Shapes pulses and noise until their mel spectrum is the one asked for.

    Voiced frames take pulses in the low band and noise in the high one, others
    noise alone. Each mel band's gain is the target over what the excitation
    holds there; between the centres of bands the gain runs linearly in decibels
    (the triangles themselves, normalised, are that non-negative interpolation).
    The filter has zero phase.

    Args:
        voice: gives sample rate, transform size and bands, and as the figure
            ``fallback_gain_db`` what brings this vocoder to the network's level: a
            network that was trained together with its features is louder than they say.
    """

    def __init__(self, voice: Voice) -> None:
        self._sample_rate_hz = voice.sample_rate_hz
        self._n_fft, self._hop_length = voice.n_fft, voice.hop_length
        self._n_mels = voice.n_mels
        gain_db = float(voice.figures.get("fallback_gain_db", 0.0))
        self._log_gain = np.float32(gain_db * np.log(10.0) / 20.0)

    @property
    def context_frames(self) -> int:
        return 0

    def spectra(
        self, features: Float32, keep: slice, pulses: Complex64, noise: Complex64
    ) -> Complex64:
        """See :meth:`edge_tts.synthesis.vocoder.Vocoder.spectra`; it never fails."""
        chunk = features[:, keep]
        log_target = chunk[: self._n_mels].T * np.float32(_LOG_SCALE)
        voiced = chunk[VOICING_CHANNEL][:, None] > 0
        pulse_share, noise_share, unvoiced_mel, voiced_noise_mel = self._shares
        excitation = pulses * pulse_share
        noise_mel = np.where(voiced, voiced_noise_mel, unvoiced_mel)
        mel = np.abs(excitation) @ self._bands.T
        mel += noise_mel
        excitation += noise * np.where(voiced, noise_share, np.float32(1.0))
        log_gain = log_target - np.log(mel)
        log_gain += self._log_gain
        gain: Float32 = np.exp(log_gain @ self._interpolation)
        excitation *= gain
        return excitation

    @cached_property
    def _bands(self) -> Float32:
        return mel_bands(self._n_mels, self._sample_rate_hz, self._n_fft)

    @cached_property
    def _interpolation(self) -> Float32:
        """``(bands, bins)``, columns that sum to 1."""
        bands: Float32 = self._bands.copy()
        covered = np.flatnonzero(bands.sum(axis=0) > 0)
        bands[0, : covered[0]] = 1.0
        bands[-1, covered[-1] + 1 :] = 1.0
        bands /= bands.sum(axis=0)
        return bands

    @cached_property
    def _shares(self) -> tuple[Float32, Float32, Float32, Float32]:
        """Shares of pulses and noise when voiced ``(bins,)``; mel of unvoiced and voiced noise."""
        frequency_hz = np.arange(self._n_fft // 2 + 1) * self._sample_rate_hz / self._n_fft
        rise = (frequency_hz - VOICED_BELOW_HZ) / (NOISE_ABOVE_HZ - VOICED_BELOW_HZ)
        turn = np.clip(rise, 0.0, 1.0) * (np.pi / 2)
        pulse_share = np.cos(turn).astype(np.float32)
        noise_share = np.maximum(np.sin(turn), BREATH).astype(np.float32)
        # Overlap-add leaves so much of frames whose noise is not each other's.
        left = np.sqrt(self._hop_length / self._n_fft)
        mean = np.float32(_MEAN_NOISE * left)
        unvoiced_mel = self._bands.sum(axis=1) * mean
        voiced_noise_mel = (self._bands @ noise_share) * mean
        return pulse_share, noise_share, unvoiced_mel, voiced_noise_mel


def mel_corners_hz(count: int, sample_rate_hz: int) -> npt.NDArray[np.float64]:
    """Corners ``(count + 2,)`` of mel bands from 0 Hz to half the rate; the inner ones are centres.

    They are evenly spaced on the mel scale ``2595 log10(1 + f / 700)`` (O'Shaughnessy 1987,
    as in HTK).
    """
    top_mel = 2595.0 * np.log10(1.0 + sample_rate_hz / 2 / 700.0)
    corners_hz: npt.NDArray[np.float64] = 700.0 * (
        10.0 ** (np.linspace(0.0, top_mel, count + 2) / 2595.0) - 1.0
    )
    return corners_hz


def mel_bands(count: int, sample_rate_hz: int, n_fft: int) -> Float32:
    """Triangular mel bands ``(count, n_fft // 2 + 1)`` of height 1, from 0 Hz to half the rate.

    The lowest bands are narrower than the bins of a short transform, so a band takes
    what lies linearly between bins.
    """
    corners_hz = mel_corners_hz(count, sample_rate_hz)
    steps = n_fft // 2
    points_hz = np.arange(_POINTS_A_BIN * steps + 1) * sample_rate_hz / n_fft / _POINTS_A_BIN
    low, centre, high = (corners_hz[shift : shift + count, None] for shift in range(3))
    rising = (points_hz - low) / (centre - low)
    falling = (high - points_hz) / (high - centre)
    heights = np.maximum(0.0, np.minimum(rising, falling)) / _POINTS_A_BIN
    between = heights[:, :-1].reshape(count, steps, _POINTS_A_BIN)
    share_above = np.arange(_POINTS_A_BIN) / _POINTS_A_BIN
    bands = np.zeros((count, steps + 1), np.float32)
    bands[:, :-1] += between @ (1.0 - share_above)
    bands[:, 1:] += between @ share_above
    bands[:, -1] += heights[:, -1]
    return bands
