from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.synthesis.inverse_stft import InverseStft
from tests.synthesis.reference import HOP, N_FFT, cut, istft, stft

pytestmark = pytest.mark.core


def noise_spectra(frames: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    shape = (frames, N_FFT // 2 + 1)
    spectra = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    spectra[:, [0, -1]] = spectra[:, [0, -1]].real
    return spectra.astype(np.complex64)


def streamed(spectra: np.ndarray, lengths: list[int]) -> list[np.ndarray]:
    inverse = InverseStft(N_FFT, HOP)
    parts = [inverse.push(spectra[a:b]) for a, b in cut(len(spectra), lengths)]
    return [*parts, inverse.finish()]


@pytest.mark.parametrize("frames", [1, 2, 3, 4, 5, 40])
def test_equals_overlap_add(frames: int) -> None:
    spectra = noise_spectra(frames)
    samples = np.concatenate(streamed(spectra, [frames]))
    assert samples.dtype == np.float32
    np.testing.assert_allclose(samples, istft(spectra), atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 80), st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_chunks_equal_one_run(frames: int, lengths: list[int]) -> None:
    spectra = noise_spectra(frames)
    np.testing.assert_allclose(
        np.concatenate(streamed(spectra, lengths)),
        np.concatenate(streamed(spectra, [frames])),
        atol=1e-6,
    )


def test_each_chunk_lags_by_half_a_window() -> None:
    first, second, rest = streamed(noise_spectra(30), [24])
    assert [len(first), len(second), len(rest)] == [22 * HOP, 6 * HOP, 2 * HOP]


def test_brings_back_what_was_analysed() -> None:
    samples = np.random.default_rng(2).standard_normal(20 * HOP)
    back = np.concatenate(streamed(stft(samples).astype(np.complex64), [7]))
    # The last window's tail is not covered by a frame centred at the end.
    np.testing.assert_allclose(back[: -2 * HOP], samples[: -2 * HOP], atol=1e-5)


def test_handed_out_samples_are_not_written_again() -> None:
    inverse = InverseStft(N_FFT, HOP)
    spectra = noise_spectra(20)
    first = inverse.push(spectra[:10])
    copy = first.copy()
    inverse.push(spectra[10:])
    inverse.finish()
    np.testing.assert_array_equal(first, copy)
