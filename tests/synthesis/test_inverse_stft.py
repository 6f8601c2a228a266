from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.synthesis.inverse_stft import InverseStft
from tests.synthesis.reference import HOP, N_FFT, WINDOWS, cut, istft, stft

pytestmark = pytest.mark.core


def noise_spectra(frames: int, n_fft: int = N_FFT) -> np.ndarray:
    rng = np.random.default_rng(5)
    shape = (frames, n_fft // 2 + 1)
    spectra = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    spectra[:, [0, -1]] = spectra[:, [0, -1]].real
    return spectra.astype(np.complex64)


def streamed(spectra: np.ndarray, lengths: list[int]) -> list[np.ndarray]:
    inverse = InverseStft(2 * (spectra.shape[1] - 1), HOP)
    parts = [inverse.push(spectra[a:b]) for a, b in cut(len(spectra), lengths)]
    return [*parts, inverse.finish()]


@pytest.mark.parametrize("n_fft", WINDOWS)
@pytest.mark.parametrize("frames", [1, 2, 3, 4, 5, 40])
def test_equals_overlap_add(frames: int, n_fft: int) -> None:
    spectra = noise_spectra(frames, n_fft)
    samples = np.concatenate(streamed(spectra, [frames]))
    assert samples.dtype == np.float32
    np.testing.assert_allclose(samples, istft(spectra), atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 80), st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.sampled_from(WINDOWS),
)  # fmt: skip
def test_chunks_equal_one_run(frames: int, lengths: list[int], n_fft: int) -> None:
    spectra = noise_spectra(frames, n_fft)
    np.testing.assert_allclose(
        np.concatenate(streamed(spectra, lengths)),
        np.concatenate(streamed(spectra, [frames])),
        atol=1e-6,
    )


def test_each_chunk_lags_by_half_a_window() -> None:
    first, second, rest = streamed(noise_spectra(30), [24])
    assert [len(first), len(second), len(rest)] == [23 * HOP, 6 * HOP, HOP]


@pytest.mark.parametrize("n_fft", WINDOWS)
def test_brings_back_what_was_analysed(n_fft: int) -> None:
    samples = np.random.default_rng(2).standard_normal(20 * HOP)
    back = np.concatenate(streamed(stft(samples, n_fft).astype(np.complex64), [7]))
    # At the ends some of the frames are missing that cover the middle.
    middle = slice(2 * HOP, -2 * HOP)
    np.testing.assert_allclose(back[middle], samples[middle], atol=1e-5)


def test_the_end_fades_out() -> None:
    samples = np.ones(20 * HOP)
    back = np.concatenate(streamed(stft(samples).astype(np.complex64), [7]))
    np.testing.assert_allclose(back[:-HOP], 1.0, atol=1e-5)
    assert (np.diff(back[-HOP:]) < 0).all()
    assert abs(back[-1]) < 1e-3


def test_handed_out_samples_are_not_written_again() -> None:
    inverse = InverseStft(N_FFT, HOP)
    spectra = noise_spectra(20)
    first = inverse.push(spectra[:10])
    copy = first.copy()
    inverse.push(spectra[10:])
    inverse.finish()
    np.testing.assert_array_equal(first, copy)


def test_noise_of_random_phase_keeps_an_even_level() -> None:
    rng = np.random.default_rng(9)
    spectra = (rng.standard_normal((4000, 301)) + 1j * rng.standard_normal((4000, 301))) / 2
    samples = np.concatenate(streamed(spectra.astype(np.complex64), [200]))
    power = np.square(samples[HOP:-HOP].reshape(-1, HOP)).mean(axis=0)
    assert np.abs(10 * np.log10(power / power.mean())).max() < 0.4
