"""Rate limits by a clock that the test turns."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.daemon.token_bucket import TokenBucket, TokenBuckets


class Clock:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def test_burst_then_rate() -> None:
    clock = Clock()
    bucket = TokenBucket(2.0, 3.0, clock)
    assert [bucket.take() for _ in range(3)] == [0.0, 0.0, 0.0]
    assert bucket.take() == pytest.approx(0.5)
    clock.now += 0.25
    assert bucket.take() == pytest.approx(0.25)
    clock.now += 0.25
    assert bucket.take() == 0.0
    clock.now += 1000.0
    assert bucket.full
    assert [bucket.take() for _ in range(4)] == [0.0, 0.0, 0.0, pytest.approx(0.5)]


def test_what_can_never_be_had() -> None:
    bucket = TokenBucket(1.0, 3.0, Clock())
    assert bucket.take(4.0) == math.inf
    assert bucket.take(3.0) == 0.0
    assert TokenBucket(0.0, 0.0, Clock()).take() == math.inf


def test_clock_that_goes_back_takes_nothing_away() -> None:
    clock = Clock()
    bucket = TokenBucket(1.0, 2.0, clock)
    clock.now -= 100.0
    assert bucket.take(2.0) == 0.0


@given(st.floats(0.1, 50.0), st.integers(1, 20), st.lists(st.floats(0.0, 3.0), max_size=60))
def test_never_more_than_burst_plus_rate(rate: float, burst: int, waits: list[float]) -> None:
    clock = Clock()
    bucket = TokenBucket(rate, burst, clock)
    taken = 0
    start = clock.now
    for wait in waits:
        clock.now += wait
        while bucket.take() == 0.0:
            taken += 1
    assert taken <= burst + rate * (clock.now - start) + 1e-6


def test_users_do_not_share() -> None:
    buckets = TokenBuckets(1.0, 1.0, Clock())
    assert buckets.take(1000) == 0.0
    assert buckets.take(1000) > 0.0
    assert buckets.take(1001) == 0.0


def test_many_users_cost_bounded_memory_and_lend_nobody_tokens() -> None:
    clock = Clock()
    buckets = TokenBuckets(1.0, 1.0, clock, max_users=3)
    buckets.take("spent")
    for user in range(2):
        clock.now += 0.3
        buckets.take(user)
        clock.now -= 0.3
    clock.now += 0.9
    # Nobody's bucket is full yet: the one used longest ago has to go.
    buckets.take("new")
    assert len(buckets) == 3
    assert buckets.take("new") > 0.0
    clock.now += 5.0
    buckets.take("spent")
    assert buckets.take("spent") > 0.0
    for user in range(100):
        buckets.take(user + 10)
        assert len(buckets) <= 3


def test_a_full_bucket_is_forgotten_before_one_in_use() -> None:
    clock = Clock()
    buckets = TokenBuckets(1.0, 10.0, clock, max_users=2)
    buckets.take("busy", 10.0)
    clock.now += 1.0
    buckets.take("calm", 1.0)
    clock.now += 1.0
    buckets.take("new")
    assert buckets.take("busy", 3.0) > 0.0
