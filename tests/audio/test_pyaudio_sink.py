"""Real PortAudio onto the rig's PulseAudio: what was heard, and when, against what was reported."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

pytest.importorskip("pyaudio", reason="needs PyAudio (pip install PyAudio)")

from edge_tts.audio.player import PlaybackReport, Player
from edge_tts.audio.pyaudio_sink import PyAudioSink
from edge_tts.audio.resampler import Int16Resampler
from edge_tts.errors import DeviceError
from tests.audio_rig import PulseRig, needs_rig, pulse_rig

pytestmark = needs_rig

RIG_RATE = 48000
PATIENCE_S = 30.0


@pytest.fixture(scope="module")
def rig() -> Iterator[PulseRig]:
    with pulse_rig(RIG_RATE) as rig:
        yield rig


@pytest.fixture
def make_player() -> Iterator[Callable[..., tuple[Player, list[PyAudioSink]]]]:
    players: list[Player] = []

    def make(
        rate: int = RIG_RATE, device_rate: int = RIG_RATE, device: str | None = None
    ) -> tuple[Player, list[PyAudioSink]]:
        sinks: list[PyAudioSink] = []

        def open_sink() -> PyAudioSink:
            # Long blocks: a busy machine must not cause underruns that the test didn't.
            sinks.append(PyAudioSink(device, device_rate, block_ms=20.0))
            return sinks[-1]

        player = Player(open_sink, sample_rate_hz=rate)
        players.append(player)
        assert player.open(PATIENCE_S), player.detail
        return player, sinks

    yield make
    for player in players:
        player.close()


def noise(seconds: float, seed: int, rate: int = RIG_RATE) -> np.ndarray:
    """Never zero, so that a gap shows."""
    rng = np.random.default_rng(seed)
    sign = rng.choice([-1, 1], round(seconds * rate))
    return (sign * rng.integers(500, 9000, round(seconds * rate))).astype(np.int16)


def play(player: Player, samples: np.ndarray) -> PlaybackReport:
    with player.start() as utterance:
        assert utterance.write(samples)
    report = utterance.wait(PATIENCE_S)
    assert report is not None
    time.sleep(0.1)  # the pipe's reader is a step behind
    return report


def heard(rig: PulseRig, since_s: float) -> np.ndarray:
    """What sounded since then, without the silence around it."""
    recording = rig.recording(since_s)
    sounding = np.flatnonzero(recording)
    return recording[sounding[0] : sounding[-1] + 1] if len(sounding) else recording[:0]


def test_every_sample_is_heard_and_the_report_tells_when(rig, make_player):
    player, sinks = make_player()
    start_errors, end_errors, latencies = [], [], []
    for seed in range(5):
        samples = noise(0.2, seed)
        written_s = time.monotonic()
        report = play(player, samples)
        np.testing.assert_array_equal(heard(rig, written_s), samples)
        assert report.underruns == 0
        first, _ = rig.find(samples, written_s)
        first_s = rig.time_of(first, written_s)
        last_s = rig.time_of(first + len(samples) - 1, written_s)
        start_errors.append(abs(report.started_s - first_s))
        end_errors.append(abs(report.finished_s - last_s))
        latencies.append(first_s - written_s)
    shortest, longest = min(latencies) * 1e3, max(latencies) * 1e3
    start_ms, end_ms = np.median(start_errors) * 1e3, np.median(end_errors) * 1e3
    print(
        f"write to first sample heard: {shortest:.1f} to {longest:.1f} ms, of which "
        f"{sinks[0].latency_s * 1e3:.1f} ms lie behind the callback; the report is off by "
        f"{start_ms:.1f} ms at the start and {end_ms:.1f} ms at the end"
    )
    # The pipe gets 10 ms at a time; a busy machine may delay its reader now and then.
    assert min(start_errors) < 0.015
    assert min(end_errors) < 0.025


def test_converted_to_the_rate_of_the_device(rig, make_player):
    player, _ = make_player(rate=24000)
    samples = noise(0.2, 1, 24000)
    since_s = time.monotonic()
    play(player, samples)
    resampler = Int16Resampler(24000, RIG_RATE)
    expected = np.concatenate([resampler.process(samples), resampler.flush()])
    index, same = rig.find(expected, since_s)
    assert same == len(expected), index


def test_takes_another_rate_when_the_device_refuses_ours(rig, make_player):
    player, sinks = make_player(rate=24000, device_rate=1_000_000)
    assert sinks[0].sample_rate_hz == 44100
    assert play(player, noise(0.05, 1, 24000)).underruns == 0


def test_mono_when_the_device_refuses_stereo(rig, make_player, monkeypatch):
    import pyaudio

    asked: list[int] = []
    really_open = pyaudio.PyAudio.open

    def refuse_stereo(self, **options):
        asked.append(options["channels"])
        if options["channels"] == 2:
            raise OSError(pyaudio.paInvalidChannelCount, "Invalid number of channels")
        return really_open(self, **options)

    monkeypatch.setattr(pyaudio.PyAudio, "open", refuse_stereo)
    player, _ = make_player()
    samples = noise(0.1, 3)
    since_s = time.monotonic()
    play(player, samples)
    assert asked == [2, 1]
    np.testing.assert_array_equal(heard(rig, since_s), samples)


def test_stays_awake_on_silence_and_leaves_when_closed(rig, make_player):
    player, sinks = make_player()
    assert len(rig.pactl("list", "short", "sink-inputs").splitlines()) == 1
    before = sinks[0].consumed_samples()
    time.sleep(0.3)
    assert sinks[0].consumed_samples() > before
    player.close()
    assert rig.pactl("list", "short", "sink-inputs") == ""


def test_cut_in_is_heard_as_fade_and_follower(rig, make_player):
    player, _ = make_player()
    first, second = noise(3.0, 1), noise(0.2, 2)
    since_s = time.monotonic()
    cut = player.start()
    cut.write(first)
    while cut.started_s is None:
        time.sleep(0.005)
    asked_s = time.monotonic()
    player.fade_out()
    follower = player.start()
    follower.write(second)
    follower.end()
    report = follower.wait(PATIENCE_S)
    time.sleep(0.1)
    recording = heard(rig, since_s)
    np.testing.assert_array_equal(recording[-len(second) :], second)
    before = recording[: -len(second)]
    fade = round(0.010 * RIG_RATE)
    same = before == first[: len(before)]
    assert same[: len(before) - fade].all()
    assert np.abs(before[-10:]).max() < 20
    print(f"cut-in to first sample of the follower: {(report.started_s - asked_s) * 1e3:.1f} ms")


def test_late_writer_is_one_underrun_and_a_gap(rig, make_player):
    player, _ = make_player()
    samples = noise(0.3, 4)
    since_s = time.monotonic()
    with player.start() as utterance:
        utterance.write(samples[:4800])
        time.sleep(0.4)
        utterance.write(samples[4800:])
    assert utterance.wait(PATIENCE_S).underruns == 1
    time.sleep(0.1)
    recording = heard(rig, since_s)
    np.testing.assert_array_equal(recording[recording != 0], samples)
    assert (recording == 0).sum() > 0.1 * RIG_RATE


def test_stalled_callback_is_counted_by_the_devices_clock(rig, make_player):
    player, _ = make_player()
    with player.start() as utterance:
        utterance.write(noise(0.8, 5))
        while utterance.started_s is None:
            time.sleep(0.005)
        # A C function that keeps the interpreter lock: neither callback nor player can run.
        ctypes.PyDLL(None).usleep(300_000)
    assert utterance.wait(PATIENCE_S).underruns >= 1


def test_unknown_device_names_the_known_ones(rig):
    message = r"no output device 'Kitchen'; there are: (?=.*pulse)(?=.*default)"
    with pytest.raises(DeviceError, match=message):
        PyAudioSink("Kitchen", RIG_RATE)


def test_opening_is_quiet(rig, capfd):
    PyAudioSink("pulse", RIG_RATE).close()
    assert capfd.readouterr().err == ""


def test_audio_thread_gets_real_time_priority_where_allowed(rig):
    sink = PyAudioSink("pulse", RIG_RATE, realtime_priority=3)
    try:
        thread_id = sink.callback_thread_id
        assert thread_id is not None
        allowed = may_be_real_time()
        expected = os.SCHED_FIFO if allowed else os.SCHED_OTHER
        assert os.sched_getscheduler(thread_id) == expected
        if allowed:
            assert os.sched_getparam(thread_id).sched_priority == 3
        assert os.sched_getscheduler(0) == os.SCHED_OTHER
    finally:
        sink.close()


def may_be_real_time() -> bool:
    """Whether a thread of this process may have SCHED_FIFO; tried in a thread that ends."""
    answers: list[bool] = []

    def ask() -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(3))
            answers.append(True)
        except OSError:
            answers.append(False)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return answers[0]


def test_nothing_leaks_over_many_losses():
    def resources() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    with pulse_rig(RIG_RATE) as rig:
        player = Player(lambda: PyAudioSink("pulse", RIG_RATE), sample_rate_hz=RIG_RATE)
        try:
            assert player.open(PATIENCE_S)
            counts = []
            for loss in range(1, 7):
                rig.unload_sink()
                wait_until(lambda loss=loss: player.losses == loss)
                rig.load_sink()
                assert player.wait_ready(PATIENCE_S)
                play(player, noise(0.02, loss))
                counts.append(resources())
            assert max(counts[2:]) <= counts[1], counts
        finally:
            player.close()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.005)


LOSSES = {
    "sink unloaded": (PulseRig.unload_sink, PulseRig.load_sink),
    "server killed": (PulseRig.kill_server, PulseRig.start),
    "sink suspended": (
        lambda rig: rig.suspend_sink(True),
        lambda rig: rig.suspend_sink(False),
    ),
}


@pytest.mark.parametrize("how", LOSSES)
def test_device_lost_in_mid_word_comes_back_and_plays_again(make_player, how):
    lose, restore = LOSSES[how]
    with pulse_rig(RIG_RATE) as rig:
        player, _ = make_player()
        samples = noise(4.0, 6)
        utterance = player.start()
        utterance.write(samples)
        while utterance.started_s is None:
            time.sleep(0.005)
        lose(rig)
        lost_s = time.monotonic()
        with pytest.raises(DeviceError):
            utterance.wait(PATIENCE_S)
        noticed_s = time.monotonic() - lost_s
        time.sleep(0.5)
        assert not player.wait_ready(0)
        restore(rig)
        back_s = time.monotonic()
        assert player.wait_ready(PATIENCE_S)
        report = play(player, samples[:9600])
        np.testing.assert_array_equal(heard(rig, back_s), samples[:9600])
        assert player.losses == 1
        assert not player.fatal
        print(
            f"{how}: noticed after {noticed_s:.2f} s, "
            f"speaking again {report.started_s - back_s:.2f} s after the device came back"
        )
        player.close()
