"""When a device's blocks are heard: inside a block, between blocks, before and after all."""

from __future__ import annotations

import pytest

from edge_tts.audio.block_times import BlockTimes

RATE_HZ = 1000


@pytest.fixture
def times() -> BlockTimes:
    """Samples 100 to 109 from 5.0 s on, then a silence, then 110 to 119 from 7.0 s on."""
    times = BlockTimes()
    times.add(100, 10, 5.0)
    times.add(110, 10, 7.0)
    return times


@pytest.mark.parametrize(
    ("position", "heard_s"),
    [(100, 5.0), (109, 5.009), (110, 7.0), (119, 7.009), (120, None), (7, 5.0)],
)
def test_a_sample_is_heard_where_its_block_is(times, position, heard_s):
    assert times.heard_at(position, RATE_HZ) == (heard_s and pytest.approx(heard_s))


@pytest.mark.parametrize(
    ("now_s", "samples"), [(4.9, 0), (5.0, 100), (5.004, 104), (6.5, 110), (7.0, 110), (9.0, 120)]
)
def test_the_clock_stands_still_between_blocks(times, now_s, samples):
    assert times.heard_samples(now_s + 1e-9, RATE_HZ) == samples


def test_nothing_was_heard_before_the_first_block():
    assert BlockTimes().heard_at(0, RATE_HZ) is None
    assert BlockTimes().heard_samples(1e9, RATE_HZ) == 0


def test_what_is_long_past_is_forgotten():
    times = BlockTimes()
    for index in range(2000):
        times.add(10 * index, 10, float(index))
    assert times.heard_at(15_000, RATE_HZ) == 1500.0
    assert times.heard_at(0, RATE_HZ) == 1488.0
