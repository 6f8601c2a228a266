"""The resampler: chunks equal one-shot, images stay away, the passband is flat."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.audio.resampler import Int16Resampler, Resampler

RATES = [(24000, 48000), (24000, 44100), (24000, 16000), (22050, 24000), (48000, 24000)]


def converted(samples: np.ndarray, rates: tuple[int, int], sizes: list[int]) -> np.ndarray:
    resampler = Resampler(*rates)
    parts, start = [], 0
    for size in sizes:
        parts.append(resampler.process(samples[start : start + size]))
        start += size
    return np.concatenate([*parts, resampler.process(samples[start:]), resampler.flush()])


@given(
    rates=st.sampled_from(RATES),
    length=st.integers(0, 3000),
    sizes=st.lists(st.integers(0, 700), max_size=8),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_chunks_equal_one_shot_and_none_is_lost(rates, length, sizes, seed):
    samples = np.random.default_rng(seed).standard_normal(length).astype(np.float32)
    whole = converted(samples, rates, [])
    assert len(whole) == math.ceil(length * rates[1] / rates[0])
    np.testing.assert_array_equal(whole, converted(samples, rates, sizes))


def tone_through(rates: tuple[int, int], hz: float) -> tuple[np.ndarray, np.ndarray]:
    """Spectrum in dB, 0 for a full-scale sine, and its frequencies."""
    samples = np.sin(2 * np.pi * hz * np.arange(rates[0]) / rates[0]).astype(np.float32)
    out = converted(samples, rates, [])[: rates[1]]
    window = np.blackman(len(out))
    spectrum = np.abs(np.fft.rfft(out * window)) / window.sum() * 2
    return 20 * np.log10(spectrum + 1e-12), np.fft.rfftfreq(len(out), 1 / rates[1])


def stop_band_db(rates: tuple[int, int]) -> float:
    """The loudest image or alias of any tone, in dB below the tone."""
    worst = -300.0
    limit = min(rates) / 2
    for hz in np.linspace(0.05, 0.9, 8) * limit:
        level, frequency = tone_through(rates, round(hz))
        worst = max(worst, float(level[np.abs(frequency - round(hz)) > 20].max()))
    for hz in np.linspace(1.1, 1.9, 5) * limit if rates[0] > rates[1] else []:
        if hz < rates[0] / 2:
            level, _ = tone_through(rates, round(hz))
            worst = max(worst, float(level.max()))
    return worst


@pytest.mark.parametrize("rates", RATES)
def test_images_and_aliases_are_80_db_down(rates):
    assert stop_band_db(rates) < -80


@pytest.mark.parametrize("rates", RATES)
def test_passband_is_flat_to_nine_tenths_of_nyquist(rates):
    for part in (0.01, 0.3, 0.6, 0.9):
        hz = round(part * min(rates) / 2)
        level, frequency = tone_through(rates, hz)
        assert level[np.abs(frequency - hz).argmin()] == pytest.approx(0, abs=0.05)


def test_time_is_kept():
    # Raised-cosine bump in the middle stays in the middle.
    samples = np.zeros(2400, np.float32)
    samples[1100:1300] = np.hanning(200)
    out = converted(samples, (24000, 44100), [])
    centre = (out * np.arange(len(out))).sum() / out.sum() / 44100
    assert centre == pytest.approx(
        (samples * np.arange(2400)).sum() / samples.sum() / 24000, abs=1e-6
    )


def test_int16_passes_equal_rates_and_never_wraps():
    samples = np.array([32767, -32768] * 300, np.int16)
    same = Int16Resampler(24000, 24000)
    np.testing.assert_array_equal(same.process(samples), samples)
    loud = np.repeat(np.array([32767, -32768], np.int16), 40).repeat(10)
    up = Int16Resampler(24000, 48000)
    out = np.concatenate([up.process(loud), up.flush()])
    edges = np.abs((np.arange(len(out)) + 400) % 800 - 400) < 4
    np.testing.assert_array_equal(np.sign(out)[~edges], np.sign(np.repeat(loud, 2))[~edges])


@pytest.mark.parametrize("rates", [(0, 24000), (24000, 500_000), (23999, 47998 + 1)])
def test_hopeless_ratios_are_refused(rates):
    with pytest.raises(ValueError, match=r"resample|ratio"):
        Resampler(*rates)
