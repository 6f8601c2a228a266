"""A dead device is noticed in time; a process that was stopped itself blames nobody."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.audio.device_watchdog import DeviceWatchdog, Patience
from edge_tts.audio.virtual_sinks import NullSink
from edge_tts.errors import DeviceError

RATE = 48000
LOSS_IS_NOTICED_WITHIN_S = 3.0


def repeat(look: Callable[[], None], times: int = 100_000) -> None:
    for _ in range(times):
        look()


class ScriptedSink(NullSink):
    """Its clock is set by hand."""

    def __init__(self) -> None:
        super().__init__(RATE)
        self.device_s = 0.0
        self.active = True

    def consumed_samples(self) -> int:
        return int(self.device_s * RATE)

    def is_active(self) -> bool:
        return self.active


@given(
    healthy_s=st.floats(0, 20),
    steps=st.lists(st.floats(0.001, 0.25), min_size=1, max_size=20),
    window_s=st.floats(1.0, 2.5),
)
@settings(max_examples=100, deadline=None)
def test_a_device_that_stops_is_noticed_in_time(healthy_s, steps, window_s):
    sink = ScriptedSink()
    watchdog = DeviceWatchdog(sink, window_s, 0.0)
    looks = 0
    now_s = 0.0

    def look() -> None:
        nonlocal now_s, looks
        now_s += steps[looks % len(steps)]
        looks += 1
        sink.device_s = min(now_s, healthy_s)
        watchdog.check(now_s)

    with pytest.raises(DeviceError, match=r"stands still|is lame"):
        repeat(look)
    assert now_s >= healthy_s
    assert now_s - healthy_s <= LOSS_IS_NOTICED_WITHIN_S


@given(
    steps=st.lists(st.floats(0.001, 0.25), min_size=1, max_size=50),
    drift=st.floats(0.98, 1.02),
    jitter_s=st.floats(0, 0.2),
)
@settings(max_examples=100, deadline=None)
def test_a_healthy_device_is_left_alone(steps, drift, jitter_s):
    sink = ScriptedSink()
    watchdog = DeviceWatchdog(sink, 1.0, 0.0)
    now_s = 0.0
    for look in range(400):
        now_s += steps[look % len(steps)]
        sink.device_s = max(sink.device_s, now_s * drift + 0.3 - jitter_s * (look % 2))
        watchdog.check(now_s)


@pytest.mark.parametrize("device_went_on", [True, False])
def test_a_process_that_was_stopped_blames_nobody(device_went_on):
    sink = ScriptedSink()
    watchdog = DeviceWatchdog(sink, 1.0, 0.0)
    now_s = 0.0
    for look in range(200):
        step_s = 600.0 if look % 50 == 25 else 0.1
        now_s += step_s
        sink.device_s += step_s if device_went_on or step_s < 1 else 0.0
        watchdog.check(now_s)


def test_a_device_without_a_clock_is_refused():
    sink = ScriptedSink()
    watchdog = DeviceWatchdog(sink, 1.0, 0.0)
    now_s = 0.0

    def look() -> None:
        nonlocal now_s
        now_s += 0.1
        sink.device_s += 5.0
        watchdog.check(now_s)

    with pytest.raises(DeviceError, match="no clock"):
        repeat(look)


def test_a_device_that_ended_is_noticed_at_once():
    sink = ScriptedSink()
    watchdog = DeviceWatchdog(sink, 1.0, 0.0)
    sink.active = False
    with pytest.raises(DeviceError, match="ended by itself"):
        watchdog.check(0.01)


def gives_up_after(
    watchdog: DeviceWatchdog, sink: ScriptedSink, now_s: float, rate: float
) -> float:
    """Let the device run at ``rate``, for at most 100 s; returns how long it was left alone."""

    def look() -> None:
        nonlocal now_s
        now_s += 0.1
        sink.device_s += 0.1 * rate
        watchdog.check(now_s)

    began_s = now_s
    with contextlib.suppress(DeviceError):
        repeat(look, 1000)
    return now_s - began_s


@pytest.mark.parametrize(("rate", "lame"), [(1 / 3, True), (0.5, True), (0.75, False)])
def test_a_device_that_plays_every_third_block_is_opened_anew(rate, lame):
    sink = ScriptedSink()
    watchdog = DeviceWatchdog(sink, 2.0, 0.0)
    healthy_s = gives_up_after(watchdog, sink, 0.0, 1.0)
    assert healthy_s > 99.0
    assert (gives_up_after(watchdog, sink, healthy_s, rate) < 3 * 2.0 + 0.2) is lame


def test_a_machine_that_is_too_busy_does_not_reopen_its_device_all_the_time():
    patience = Patience()
    now_s, times = 0.0, 0
    while now_s < 600.0:
        sink = ScriptedSink()
        watchdog = DeviceWatchdog(sink, 2.0, now_s, patience)
        now_s += gives_up_after(watchdog, sink, now_s, 0.4)
        times += 1
    assert 9 <= times <= 11
