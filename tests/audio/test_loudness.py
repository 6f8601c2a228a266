"""Loudness against the test signals of the EBU and the response that BS.1770-4 tabulates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edge_tts.audio.loudness import _k_weighting, integrated_loudness_lufs, static_gain_db


def sine(level_dbfs: float, seconds: float, rate: int, hz: float = 1000.0) -> np.ndarray:
    wave = 10 ** (level_dbfs / 20) * np.sin(2 * np.pi * hz * np.arange(seconds * rate) / rate)
    return wave.astype(np.float32)


@pytest.mark.parametrize("rate", [16000, 24000, 44100, 48000])
@pytest.mark.parametrize("level_dbfs", [-23.0, -33.0])
def test_a_1_khz_tone_reads_3_lu_below_its_stereo_level(rate, level_dbfs):
    # EBU Tech 3341 case 1 is stereo: both channels add up to 3.01 LU more than one.
    measured = integrated_loudness_lufs(sine(level_dbfs, 5.0, rate), rate)
    assert measured == pytest.approx(level_dbfs - 3.01, abs=0.1)


def test_gate_leaves_out_the_silence_and_the_murmur():
    # EBU Tech 3341 case 3: -36, -23, -36 dBFS; only the middle counts.
    parts = [sine(-36, 10, 24000), sine(-23, 60, 24000), sine(-36, 10, 24000)]
    measured = integrated_loudness_lufs(np.concatenate(parts), 24000)
    assert measured == pytest.approx(-26.01, abs=0.1)


def test_weighting_equals_the_table_of_the_standard_at_48_khz():
    # ITU-R BS.1770-4, tables 1 and 2.
    shelf_b = [1.53512485958697, -2.69169618940638, 1.19839281085285]
    shelf_a = [1.0, -1.69065929318241, 0.73248077421585]
    pass_b = [1.0, -2.0, 1.0]
    pass_a = [1.0, -1.99004745483398, 0.99007225036621]
    size = 24000
    grid = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)

    def response(b, a):
        return np.polyval(b[::-1], grid) / np.polyval(a[::-1], grid)

    expected = np.abs(response(shelf_b, shelf_a) * response(pass_b, pass_a))
    got = np.abs(np.fft.rfft(_k_weighting(48000), size))
    band = slice(20, 10000)  # 40 Hz to 20 kHz
    difference_db = 20 * np.log10(got[band] / expected[band])
    assert np.abs(difference_db).max() < 0.01


def test_short_and_empty_signals():
    assert integrated_loudness_lufs(np.zeros(0, np.float32), 24000) == -math.inf
    assert integrated_loudness_lufs(np.zeros(48000, np.float32), 24000) == -math.inf
    short = integrated_loudness_lufs(sine(-20, 0.1, 24000), 24000)
    assert short == pytest.approx(-23.0, abs=0.3)


def test_one_gain_from_the_level_of_the_voice():
    assert static_gain_db(-18, -23, 3) == 8
    assert static_gain_db(-18, -90) == 24
    assert static_gain_db(-18, 20) == -24
