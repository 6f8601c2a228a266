from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.synthesis.source import PulseSource, lookahead_frames
from tests.synthesis.reference import (
    HOP,
    N_FFT,
    RATE,
    WINDOWS,
    cut,
    pulse_train,
    stft,
    window,
)

pytestmark = pytest.mark.core


def streamed(f0_hz: np.ndarray, lengths: list[int], n_fft: int = N_FFT) -> np.ndarray:
    source = PulseSource(RATE, n_fft, HOP)
    ahead = lookahead_frames(n_fft, HOP)
    return np.concatenate(
        [
            source.spectra(f0_hz[start : stop + ahead], stop - start)
            for start, stop in cut(len(f0_hz), lengths)
        ]
    )


def wandering_f0(frames: int) -> np.ndarray:
    f0_hz = (180 + 90 * np.sin(np.arange(frames) / 7)).astype(np.float32)
    f0_hz[5:9] = 0
    f0_hz[20:21] = 0
    return f0_hz


@pytest.mark.parametrize("n_fft", WINDOWS)
@pytest.mark.parametrize("frames", [4, 5, 8, 30, 61])
def test_equals_a_sum_of_cosines(frames: int, n_fft: int) -> None:
    f0_hz = wandering_f0(frames)
    expected = stft(pulse_train(f0_hz), n_fft) / (window(n_fft).sum() / 2)
    np.testing.assert_allclose(streamed(f0_hz, [frames], n_fft), expected, atol=4e-5)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(4, 90),
    st.lists(st.integers(1, 50), min_size=1, max_size=4),
    st.sampled_from(WINDOWS),
)
def test_chunks_equal_one_run(frames: int, lengths: list[int], n_fft: int) -> None:
    f0_hz = wandering_f0(frames)
    np.testing.assert_allclose(
        streamed(f0_hz, lengths, n_fft), streamed(f0_hz, [frames], n_fft), rtol=0, atol=1e-5
    )


def test_a_harmonic_has_magnitude_one() -> None:
    spectra = streamed(np.full(30, 400.0, np.float32), [30])
    harmonics = np.arange(10, 270, 10)
    np.testing.assert_allclose(np.abs(spectra[10, harmonics]), 1.0, atol=0.03)
    # Half way between two harmonics a window of ten periods sees next to nothing.
    np.testing.assert_allclose(np.abs(spectra[10, harmonics[:-1] + 5]), 0.0, atol=0.03)


def test_unvoiced_is_silent() -> None:
    assert not streamed(np.zeros(12, np.float32), [5]).any()
    assert not streamed(np.full(12, 40.0, np.float32), [5]).any()


def test_phase_does_not_drift_over_minutes() -> None:
    frames = 80 * 120
    f0_hz = np.full(frames, 123.4, np.float32)
    late = streamed(f0_hz, [48])[frames - 20]
    # Phase runs from the frame's centre, half a frame and half a sample off its middle sample.
    turns = float(f0_hz[0]) * HOP / RATE * (frames - 20 + 0.5 + 0.5 / HOP)
    nearest_bin = round(float(f0_hz[0]) / (RATE / N_FFT))
    expected = np.exp(2j * np.pi * turns) * (-1) ** nearest_bin
    assert abs(np.angle(late[nearest_bin] / expected)) < 0.02
