"""Sink options as they are typed, and the sinks that need no device."""

from __future__ import annotations

import os
import wave

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.audio.sink import SinkSpec, parse_sink_spec, sink_opener
from edge_tts.audio.virtual_sinks import NullSink, WavSink
from edge_tts.errors import DeviceError, UsageError

RATE = 24000


def ramp(count: int) -> np.ndarray:
    return (np.arange(count) % 30000 + 1).astype(np.int16)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("device", SinkSpec("device")),
        ("device:Headphones", SinkSpec("device", "Headphones")),
        ("device:hw:CARD=Device,DEV=1", SinkSpec("device", "hw:CARD=Device,DEV=1")),
        ("wav:/tmp/a:b.wav", SinkSpec("wav", "/tmp/a:b.wav")),
        ("null", SinkSpec("null")),
    ],
)
def test_options_that_are_understood(text, spec):
    assert parse_sink_spec(text) == spec


@pytest.mark.parametrize("text", ["", "wav", "wav:", "device:", "null:x", "pulse", "DEVICE"])
def test_options_that_are_not(text):
    with pytest.raises(UsageError, match="device:NAME, wav:PATH or null"):
        parse_sink_spec(text)


def test_a_device_number_is_refused_with_the_reason():
    with pytest.raises(UsageError, match="boot"):
        parse_sink_spec("device:1")


def test_opener_makes_what_the_option_says(tmp_path):
    assert type(sink_opener(parse_sink_spec("null"), RATE)()) is NullSink
    path = tmp_path / "a.wav"
    sink = sink_opener(parse_sink_spec(f"wav:{path}"), RATE)()
    assert type(sink) is WavSink
    assert sink.sample_rate_hz == RATE
    sink.close()


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_paced_sink_plays_in_real_time():
    clock = Clock()
    sink = NullSink(RATE, clock=clock)
    assert sink.write(ramp(1000), timeout_s=0.0) == 480  # two blocks of 10 ms
    assert sink.written_samples == 480
    assert sink.played_samples() == 0
    assert sink.played_at(240) == pytest.approx(100.010)
    assert sink.played_at(480) is None
    clock.now_s += 0.010
    assert sink.played_samples() == 240
    assert sink.write(ramp(1000), timeout_s=0.0) == 240
    clock.now_s += 1.0
    assert sink.played_samples() == 720
    assert sink.consumed_samples() == round(1.01 * RATE)


def test_underruns_are_gaps_before_the_flush_only():
    clock = Clock()
    sink = NullSink(RATE, clock=clock)
    for flushed, underruns in [(True, 0), (False, 0), (False, 1), (True, 2), (True, 2)]:
        sink.write(ramp(100), timeout_s=0.0)
        assert sink.underruns == underruns
        if flushed:
            sink.flush()
        clock.now_s += 0.1
    late = sink.played_at(499)
    assert late == pytest.approx(100.4 + 99 / RATE)


def test_reclaim_leaves_the_block_under_way():
    clock = Clock()
    sink = NullSink(RATE, clock=clock)
    samples = ramp(480)
    sink.write(samples, timeout_s=0.0)
    clock.now_s += 0.004
    np.testing.assert_array_equal(sink.reclaim(), samples[240:])
    assert sink.written_samples == 240
    assert sink.write(samples[:10], timeout_s=0.0) == 10
    assert sink.played_at(240) == pytest.approx(100.010)
    assert sink.underruns == 0


@given(
    operations=st.lists(
        st.tuples(st.sampled_from(["write", "wait", "reclaim", "flush"]), st.integers(0, 900)),
        max_size=40,
    )
)
@settings(max_examples=100, deadline=None)
def test_no_sample_is_lost_or_repeated(operations):
    class Recorder(NullSink):
        def _commit(self, samples):
            played.append(samples)

    played: list[np.ndarray] = []
    clock = Clock()
    sink = Recorder(RATE, clock=clock)
    written = 0
    for name, count in operations:
        if name == "write":
            written += sink.write(ramp(written + count)[written:], timeout_s=0.0)
        elif name == "wait":
            clock.now_s += count / RATE
        elif name == "reclaim":
            reclaimed = sink.reclaim()
            written -= len(reclaimed)
            np.testing.assert_array_equal(reclaimed, ramp(written + len(reclaimed))[written:])
        else:
            sink.flush()
        assert sink.written_samples == written
        assert sink.played_samples() <= written
    clock.now_s += 1.0
    assert sink.played_samples() == written
    np.testing.assert_array_equal(np.concatenate([ramp(0), *played]), ramp(written))


def read_wav(path) -> np.ndarray:
    with wave.open(str(path)) as reader:
        assert (reader.getnchannels(), reader.getsampwidth()) == (1, 2)
        assert reader.getframerate() == RATE
        return np.frombuffer(reader.readframes(reader.getnframes()), "<i2")


def test_wav_file_holds_what_was_played(tmp_path):
    path = tmp_path / "a.wav"
    sink = WavSink(path, RATE, paced=False)
    sink.write(ramp(100))
    sink.write(ramp(200))
    assert sink.played_samples() == 300
    sink.close()
    np.testing.assert_array_equal(read_wav(path), np.concatenate([ramp(100), ramp(200)]))


def test_wav_file_of_a_killed_process_opens(tmp_path):
    path = tmp_path / "a.wav"
    sink = WavSink(path, RATE, paced=False)
    sink.write(ramp(500))
    sink.flush()
    np.testing.assert_array_equal(read_wav(path), ramp(500))
    for _ in range(3):
        sink.write(ramp(RATE))
    assert len(read_wav(path)) >= RATE
    sink.close()


def test_wav_sink_says_what_is_wrong_with_its_file(tmp_path):
    with pytest.raises(DeviceError, match=r"can't create .*nowhere"):
        WavSink(tmp_path / "nowhere" / "a.wav", RATE)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_wav_sink_on_a_full_disk():
    with pytest.raises(DeviceError, match="No space left"):
        WavSink("/dev/full", RATE)


def test_closed_sinks_take_nothing():
    sink = NullSink(RATE)
    sink.close()
    assert not sink.is_active()
    with pytest.raises(DeviceError, match="closed"):
        sink.write(ramp(10))
