from __future__ import annotations

import numpy as np
import pytest

from edge_tts.synthesis.dsp_vocoder import DspVocoder, mel_bands
from edge_tts.synthesis.inverse_stft import InverseStft
from edge_tts.synthesis.noise import NoiseTable
from edge_tts.synthesis.source import PulseSource
from edge_tts.voice import Voice
from tests.synthesis.reference import HOP, N_FFT, RATE, stft

BANDS = mel_bands(80, RATE, N_FFT)


def speak(voice: Voice, mel: np.ndarray, f0_hz: np.ndarray) -> np.ndarray:
    """Samples for mel magnitudes ``(80, F)`` and F0 ``(F,)``."""
    frames = len(f0_hz)
    features = np.zeros((82, frames), np.float32)
    features[:80] = np.log(mel) / 4
    features[81] = f0_hz > 0
    pulses = PulseSource(RATE, N_FFT, HOP).spectra(f0_hz, frames)
    noise = NoiseTable(301).rows(0, frames)
    spectra = DspVocoder(voice).spectra(features, slice(0, frames), pulses, noise)
    assert spectra.dtype == np.complex64
    inverse = InverseStft(N_FFT, HOP)
    return np.concatenate((inverse.push(spectra), inverse.finish()))


def vowel_mel(frames: int) -> np.ndarray:
    """The mel magnitudes of a steady vowel-like spectrum with two formants."""
    centres = (BANDS * np.arange(301)).sum(axis=1) / BANDS.sum(axis=1) * 40
    level = -np.abs(np.subtract.outer([700.0, 1200.0], centres)) / 400
    return np.repeat((3 * np.exp(level.max(axis=0)) + 0.03)[:, None], frames, axis=1)


@pytest.mark.parametrize("f0", [0.0, 110.0, 240.0])
def test_sounds_have_the_mel_spectrum_asked_for(voice: Voice, f0: float) -> None:
    mel = vowel_mel(60)
    samples = speak(voice, mel, np.full(60, f0, np.float32))
    heard = BANDS @ np.abs(stft(samples)).T
    # Bands far narrower than the pitch fall between harmonics, so look at averages.
    error_db = 20 * np.log10(heard[:, 10:50].mean(axis=1) / mel[:, 0])
    assert abs(np.median(error_db)) < 1.5
    assert np.abs(error_db[40:]).mean() < 1.5


def test_voiced_sounds_have_their_pitch(voice: Voice) -> None:
    samples = speak(voice, vowel_mel(60), np.full(60, 160.0, np.float32))[3000:15000]
    lags = np.array(
        [np.dot(samples[:-250], samples[lag : len(samples) - 250 + lag]) for lag in range(80, 250)]
    )
    assert 80 + int(lags.argmax()) == pytest.approx(RATE / 160.0, abs=1)


def test_silence_stays_silent(voice: Voice) -> None:
    mel = np.full((80, 30), 1e-4, np.float32)
    assert np.abs(speak(voice, mel, np.full(30, 150.0, np.float32))).max() < 2e-4


def test_needs_no_context(voice: Voice) -> None:
    rng = np.random.default_rng(3)
    features = rng.standard_normal((82, 12)).astype(np.float32) * 0.3
    pulses = PulseSource(RATE, N_FFT, HOP).spectra(np.full(12, 150.0, np.float32), 12)
    noise = NoiseTable(301).rows(0, 12)
    vocoder = DspVocoder(voice)
    whole = vocoder.spectra(features, slice(0, 12), pulses, noise)
    part = vocoder.spectra(features[:, 3:9], slice(2, 5), pulses[5:8], noise[5:8])
    np.testing.assert_allclose(part, whole[5:8], rtol=1e-4, atol=1e-6)


def test_mel_bands_are_triangles() -> None:
    bands = mel_bands(80, RATE, 2400)
    assert bands.shape == (80, 1201)
    assert bands.min() == 0
    # Between the first and the last centre neighbours add up to one.
    np.testing.assert_allclose(bands.sum(axis=0)[6:1140], 1.0, atol=1e-5)


def test_bands_narrower_than_a_bin_still_hear() -> None:
    assert BANDS.shape == (80, 301)
    assert BANDS.sum(axis=1).min() > 0.5
    np.testing.assert_allclose(BANDS.sum(axis=0)[3:284], 1.0, atol=0.05)
