"""Calls that hang are left behind; a sink that comes too late is closed again."""

from __future__ import annotations

import threading

import pytest

from edge_tts.audio.device_opener import DeviceOpener
from edge_tts.audio.virtual_sinks import NullSink
from edge_tts.errors import DeviceError


class SlowSink(NullSink):
    def __init__(self) -> None:
        super().__init__(24000)
        self.closed = threading.Event()
        self.fails = False

    def close(self) -> None:
        self.closed.set()
        if self.fails:
            raise DeviceError("lost already")


def test_opens_and_closes():
    sink = SlowSink()
    opener = DeviceOpener(lambda: sink, 5.0)
    assert opener.open(lambda: False) is sink
    opener.close(sink)
    assert sink.closed.is_set()
    assert not opener.hung


def test_errors_come_back_as_device_errors():
    def missing() -> NullSink:
        raise DeviceError("no such device")

    def broken() -> NullSink:
        raise KeyError("index")

    with pytest.raises(DeviceError, match="no such device"):
        DeviceOpener(missing, 5.0).open(lambda: False)
    with pytest.raises(DeviceError, match="opening the audio device failed: 'index'"):
        DeviceOpener(broken, 5.0).open(lambda: False)


def test_what_a_lost_device_says_while_closing_is_no_error():
    sink = SlowSink()
    sink.fails = True
    DeviceOpener(lambda: sink, 5.0).close(sink)
    assert sink.closed.is_set()


@pytest.mark.parametrize("stopped", [False, True])
def test_a_sink_that_comes_too_late_is_closed(stopped):
    gate = threading.Event()
    sink = SlowSink()

    def open_slowly() -> SlowSink:
        gate.wait()
        return sink

    opener = DeviceOpener(open_slowly, 60.0 if stopped else 0.1)
    if stopped:
        assert opener.open(lambda: True) is None
    else:
        with pytest.raises(DeviceError, match="hangs"):
            opener.open(lambda: False)
    assert opener.hung is not stopped
    assert not sink.closed.is_set()
    gate.set()
    assert sink.closed.wait(20)


def test_a_call_that_never_returns_holds_up_nobody():
    gate = threading.Event()
    opener = DeviceOpener(lambda: gate.wait() and SlowSink(), 0.05)
    with pytest.raises(DeviceError, match="only a new process"):
        opener.open(lambda: False)
    assert opener.hung
    gate.set()
