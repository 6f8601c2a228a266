"""Tones as they come out: pulses, edges and spectrum are measured, not read from the table."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from edge_tts.audio.loudness import integrated_loudness_lufs
from edge_tts.audio.tones import TONES, attention_tone
from edge_tts.errors import UsageError

RATES = [16000, 24000, 48000]
PRIORITIES = ["critical", "high", "medium", "low"]


def envelope(tone: np.ndarray, rate: int, fundamental_hz: float) -> np.ndarray:
    """Peak over one period around each sample."""
    width = round(rate / fundamental_hz) | 1
    padded = np.pad(np.abs(tone), width // 2)
    return np.lib.stride_tricks.sliding_window_view(padded, width).max(axis=1)


def pulses_ms(tone: np.ndarray, rate: int) -> list[tuple[float, float]]:
    """(start, end) of each pulse: where the tone is not silent."""
    loud = np.flatnonzero(np.abs(tone) > 1e-6)
    breaks = np.flatnonzero(np.diff(loud) > 0.02 * rate)
    starts = loud[np.concatenate([[0], breaks + 1])]
    ends = loud[np.concatenate([breaks, [len(loud) - 1]])] + 1
    return [(1000 * a / rate, 1000 * b / rate) for a, b in zip(starts, ends, strict=True)]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(
    ("priority", "count", "pulse_ms", "gap_ms"),
    [
        ("critical", 10, (80, 150), (50, 125)),
        ("high", 10, (80, 150), (50, 125)),
        ("medium", 3, (130, 200), (125, 250)),
        ("low", 2, (130, 200), (125, 250)),
    ],
)
def test_timing_of_the_burst(rate, priority, count, pulse_ms, gap_ms):
    pulses = pulses_ms(attention_tone(priority, rate), rate)
    assert len(pulses) == count
    lengths = [end - start for start, end in pulses]
    gaps = [after[0] - before[1] for before, after in itertools.pairwise(pulses)]
    assert all(pulse_ms[0] <= length <= pulse_ms[1] for length in lengths)
    if count == 10:
        # x x 2x+t x, a pause of 0.35 to 1.3 s, and again.
        assert 350 <= gaps[4] <= 1300
        for group in (gaps[:4], gaps[5:]):
            assert group[2] == pytest.approx(2 * group[0] + lengths[0], abs=2)
            short = [group[0], group[1], group[3]]
            assert all(gap_ms[0] <= gap <= gap_ms[1] for gap in short)
            assert max(short) - min(short) < 1
    else:
        assert all(gap_ms[0] <= gap <= gap_ms[1] for gap in gaps)


@pytest.mark.parametrize("priority", PRIORITIES)
def test_rise_and_fall_take_10_to_40_percent_of_the_pulse(priority):
    rate = 48000
    tone = attention_tone(priority, rate)
    start, end = (round(ms * rate / 1000) for ms in pulses_ms(tone, rate)[0])
    shape = envelope(tone, rate, TONES[priority].fundamental_hz)[start:end]
    for edge in (shape, shape[::-1]):
        steady = np.median(shape[len(shape) * 2 // 5 : len(shape) * 3 // 5])
        rise = (edge > 0.9 * steady).argmax() - (edge > 0.1 * steady).argmax()
        assert 0.1 <= rise / len(shape) <= 0.4


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("priority", PRIORITIES)
def test_fundamental_and_four_harmonics_within_15_db(priority, rate):
    tone = attention_tone(priority, rate)
    start, end = (round(ms * rate / 1000) for ms in pulses_ms(tone, rate)[0])
    pulse = tone[start:end] * np.hanning(end - start)
    spectrum = np.abs(np.fft.rfft(pulse, 1 << 17))
    frequency = np.fft.rfftfreq(1 << 17, 1 / rate)
    low = frequency < 1000
    fundamental = frequency[low][spectrum[low].argmax()]
    assert 150 <= fundamental <= 1000

    def level_db(hz):
        near = np.abs(frequency - hz) < 0.2 * fundamental
        return 20 * np.log10(spectrum[near].max())

    partials = [n for n in range(1, 9) if 300 <= n * fundamental <= 4000]
    levels = [level_db(n * fundamental) - level_db(fundamental) for n in partials]
    assert sum(abs(level) <= 15 for level in levels) >= 5 - (fundamental < 300)


def test_priorities_sound_different_and_a_critical_one_is_over_in_time():
    lengths = {priority: len(attention_tone(priority, 24000)) / 24000 for priority in PRIORITIES}
    assert lengths["critical"] < 2.2  # the voice has to follow within 3 s
    assert len({spec.fundamental_hz for spec in TONES.values()}) == len(TONES)


@pytest.mark.parametrize("priority", PRIORITIES)
def test_level_of_the_pulses(priority):
    tone = attention_tone(priority, 24000, level_lufs=-20)
    start, end = (round(ms * 24) for ms in pulses_ms(tone, 24000)[0])
    assert integrated_loudness_lufs(tone[start:end], 24000) == pytest.approx(-20, abs=0.2)
    assert np.abs(attention_tone(priority, 24000, level_lufs=0)).max() <= 0.981


def test_rendered_once_and_not_to_be_changed():
    tone = attention_tone("low", 24000)
    assert attention_tone("low", 24000) is tone
    with pytest.raises(ValueError, match="read-only"):
        tone[0] = 1


def test_unknown_priority():
    with pytest.raises(UsageError, match=r"'urgent'.*critical"):
        attention_tone("urgent", 24000)
