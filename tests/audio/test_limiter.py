"""The limiter never clips, sounds the same however it is chunked, and leaves quiet sound alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from edge_tts.audio.limiter import Limiter, to_int16

RATE = 24000
CEILING = 10 ** (-1 / 20)


def limited(samples: np.ndarray, sizes: list[int], **options: float) -> np.ndarray:
    limiter = Limiter(RATE, **options)
    parts, start = [], 0
    for size in sizes:
        parts.append(limiter.process(samples[start : start + size]))
        start += size
    parts.append(limiter.process(samples[start:]))
    parts.append(limiter.flush())
    return np.concatenate(parts)


def speech_like(seconds: float = 1.0, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal(round(seconds * RATE))
    loudness = np.exp(2 * np.sin(np.arange(len(noise)) / RATE * 2 * np.pi * 3))
    return (0.2 * noise * loudness).astype(np.float32)


@given(
    samples=hnp.arrays(np.float32, st.integers(0, 600), elements=st.floats(-8, 8, width=32)),
    sizes=st.lists(st.integers(0, 200), max_size=8),
    gain_db=st.floats(-20, 30),
    lookahead_ms=st.sampled_from([0.0, 0.5, 1.5]),
)
@settings(max_examples=200, deadline=None)
def test_never_above_the_ceiling_and_chunks_equal_one_shot(samples, sizes, gain_db, lookahead_ms):
    options = {"gain_db": gain_db, "lookahead_ms": lookahead_ms}
    whole = limited(samples, [], **options)
    assert len(whole) == len(samples)
    assert np.abs(whole).max(initial=0) <= np.float32(CEILING)
    np.testing.assert_array_equal(whole, limited(samples, sizes, **options))


def test_long_loud_signal_in_chunks_is_bit_exact():
    samples = speech_like(3.0)
    whole = limited(samples, [], gain_db=12)
    assert np.abs(samples * 4).max() > 4
    np.testing.assert_array_equal(whole, limited(samples, [7200, 1, 333, 14400], gain_db=12))


def test_quiet_signal_is_only_scaled():
    samples = 0.1 * speech_like()
    samples = (samples / np.abs(samples).max() * 0.2).astype(np.float32)
    np.testing.assert_array_equal(limited(samples, [100], gain_db=0), samples)
    np.testing.assert_allclose(limited(samples, [100], gain_db=6), samples * 10**0.3, rtol=1e-6)


def test_clipping_is_not_what_limits():
    # Right at a lone peak the gain must have come down by itself, smoothly.
    samples = np.full(4800, 0.5, np.float32)
    samples[2400] = 4.0
    out = limited(samples, [])
    gain_db = 20 * np.log10(out / samples)
    assert gain_db[2400] == pytest.approx(20 * np.log10(CEILING / 4), abs=0.001)
    steps = np.abs(np.diff(gain_db))
    assert steps.max() < 13.1 / (0.0015 * RATE) * 1.05
    assert gain_db[2400 - 40] == 0.0


def test_gain_recovers_at_the_release_rate():
    samples = np.full(RATE, 0.5, np.float32)
    samples[1000] = 4.0
    gain_db = 20 * np.log10(limited(samples, [], release_db_per_s=60) / samples)
    at = np.arange(2000, 5000)
    slope = np.polyfit(at / RATE, gain_db[at], 1)[0]
    assert slope == pytest.approx(60, rel=0.01)
    assert gain_db[-1] == 0.0


def test_what_is_not_a_number_comes_out_silent():
    samples = np.array([0.1, np.nan, np.inf, -np.inf, 0.1], np.float32)
    assert np.isfinite(limited(samples, [])).all()


def test_ready_for_the_next_utterance_after_flush():
    limiter = Limiter(RATE, gain_db=20)
    first = np.concatenate([limiter.process(speech_like()), limiter.flush()])
    second = np.concatenate([limiter.process(speech_like()), limiter.flush()])
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("options", [{"ceiling_dbfs": 0.1}, {"lookahead_ms": 11.0}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ValueError, match="limiter"):
        Limiter(RATE, **options)


def test_int16_reaches_both_ends_and_no_further():
    samples = np.array([-2.0, -1.0, -0.5 / 32767, 0.0, 1.0, 2.0], np.float32)
    assert to_int16(samples).tolist() == [-32767, -32767, 0, 0, 32767, 32767]
