from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.audio.wiener_filter import WienerFilter, error_log_spectrum

BINS = 301


def complex_noise(frames: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    parts = rng.standard_normal((2, frames, BINS)) * np.sqrt(0.5)
    return (parts[0] + 1j * parts[1]).astype(np.complex64)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=8))
def test_frames_cut_anywhere_give_the_same(lengths: list[int]) -> None:
    spectra = complex_noise(sum(lengths)) * 2
    whole = WienerFilter(np.zeros(BINS)).apply(spectra.copy())
    wiener = WienerFilter(np.zeros(BINS))
    edges = np.cumsum([0, *lengths])
    parts = [wiener.apply(spectra[a:b].copy()) for a, b in pairwise(edges)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_is_the_wiener_gain_for_a_steady_signal() -> None:
    # A constant signal with a posteriori ratio g settles at the root of
    # xi = smoothing * G^2 * g + (1 - smoothing) * (g - 1), G = xi / (1 + xi).
    spectra = np.full((200, BINS), np.sqrt(11), np.complex64)
    gain = WienerFilter(np.zeros(BINS), smoothing=0.9).gains(spectra)[-1]
    ratio = gain[0] / (1 - gain[0])
    assert ratio == pytest.approx(0.9 * gain[0] ** 2 * 11 + 0.1 * 10, rel=1e-4)
    assert (gain == gain[0]).all()


def test_noise_alone_goes_down_to_the_floor() -> None:
    spectra = complex_noise(300)
    gains = WienerFilter(np.zeros(BINS), smoothing=0.98, floor_db=-12).gains(spectra)
    assert gains.min() == pytest.approx(10 ** (-12 / 20), rel=1e-5)
    level_db = 10 * np.log10(np.mean(np.abs(spectra * gains)[50:] ** 2))
    assert level_db < -8


def test_strong_signal_passes() -> None:
    gains = WienerFilter(np.full(BINS, -20.0)).gains(complex_noise(20))
    assert gains.max() <= 1.0
    assert np.percentile(gains, 1) > 0.999


def test_calibration_measures_the_error() -> None:
    reference = complex_noise(400, seed=1) * 10
    error = complex_noise(400, seed=2) * np.linspace(0.1, 2, BINS, dtype=np.float32)
    measured = error_log_spectrum(reference, reference + error)
    expected = 2 * np.log(np.linspace(0.1, 2, BINS))
    assert np.abs(measured - expected).max() < 0.3
    assert np.isfinite(error_log_spectrum(reference, reference)).all()


def test_filter_with_measured_noise_brings_spectra_closer() -> None:
    rng = np.random.default_rng(7)
    # Speech-like: a few strong bins, the rest faint, slowly changing.
    level = np.exp(rng.standard_normal((1, BINS)) * 2).astype(np.float32)
    reference = complex_noise(1, seed=3).repeat(100, axis=0) * level
    degraded = reference + complex_noise(100, seed=5)
    wiener = WienerFilter(error_log_spectrum(reference, degraded))
    filtered = wiener.apply(degraded.copy())

    def distance_db(spectra: np.ndarray) -> float:
        logs = [20 * np.log10(np.abs(each) + 1e-3) for each in (spectra, reference)]
        return float(np.sqrt(np.mean((logs[0] - logs[1]) ** 2, axis=1)).mean())

    assert np.mean(np.abs(filtered - reference) ** 2) < 0.8 * np.mean(
        np.abs(degraded - reference) ** 2
    )
    assert distance_db(filtered) < distance_db(degraded)
