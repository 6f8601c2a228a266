"""The player against a device in memory that keeps real time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from edge_tts.audio.player import Player
from edge_tts.audio.resampler import Int16Resampler
from edge_tts.errors import DeviceError
from tests.audio.fake_device import FakeDevice

RATE = 24000
PATIENCE_S = 20.0


def noise(seconds: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(1000, 20000, round(seconds * RATE)).astype(np.int16)


class States:
    """Collects ``on_state`` calls and lets a test wait for one."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self._changed = threading.Condition()

    def __call__(self, state: str, detail: str) -> None:
        with self._changed:
            self.seen.append((state, detail))
            self._changed.notify_all()

    def wait_for(self, state: str) -> str:
        with self._changed:
            assert self._changed.wait_for(
                lambda: any(seen == state for seen, _ in self.seen), PATIENCE_S
            ), self.seen
        return next(detail for seen, detail in self.seen if seen == state)


@pytest.fixture
def device() -> FakeDevice:
    return FakeDevice()


@pytest.fixture
def states() -> States:
    return States()


@pytest.fixture
def make_player(device: FakeDevice, states: States) -> Iterator[Callable[..., Player]]:
    players: list[Player] = []

    def make(wait_s: float = PATIENCE_S, **options: object) -> Player:
        player = Player(device.open, sample_rate_hz=RATE, on_state=states, **options)
        players.append(player)
        player.open(wait_s)
        return player

    yield make
    device.open_gate.set()
    device.close_gate.set()
    for player in players:
        player.close()


def play(player: Player, *chunks: np.ndarray):
    with player.start() as utterance:
        for chunk in chunks:
            assert utterance.write(chunk)
    report = utterance.wait(PATIENCE_S)
    assert report is not None
    return report


def test_plays_every_sample_once_and_reports(make_player, device):
    player = make_player()
    samples = noise(0.3)
    report = play(player, samples[:1000], samples[1000:1001], samples[1001:1001], samples[1001:])
    np.testing.assert_array_equal(device.played, samples)
    assert (report.written_samples, report.underruns, report.cut) == (len(samples), 0, False)
    length_s = len(samples) / RATE
    assert report.finished_s - report.started_s == pytest.approx(length_s, abs=1e-3)
    assert report.finished_s <= time.monotonic()


def test_started_means_the_first_sample_that_is_not_silent(make_player):
    player = make_player()
    samples = np.concatenate([np.zeros(4800, np.int16), np.full(960, 30, np.int16), noise(0.05)])
    calls: list[float] = []
    with player.start(calls.append) as utterance:
        utterance.write(samples)
    report = utterance.wait(PATIENCE_S)
    assert calls == [report.started_s]
    ending_s = (len(samples) - 4800 - 960) / RATE
    assert report.finished_s - report.started_s == pytest.approx(ending_s, abs=1e-3)


def test_silent_and_empty_utterances_finish(make_player):
    player = make_player()
    assert play(player).started_s is None
    assert play(player, np.zeros(480, np.int16)).started_s is None
    assert play(player, noise(0.02)).started_s is not None


def test_a_lead_of_silence_goes_ahead_of_what_breaks_a_silence(make_player, device):
    player = make_player(lead_ms=50.0)
    lead = np.zeros(1200, np.int16)
    first, second = noise(0.1, 1), noise(0.1, 2)
    with player.start() as one:
        one.write(first)
    with player.start() as two:
        two.write(second)
    assert (one.wait(PATIENCE_S), two.wait(PATIENCE_S)) != (None, None)
    np.testing.assert_array_equal(device.played, np.concatenate([lead, first, second]))
    assert two.started_s - one.started_s == pytest.approx(0.1, abs=1e-3)


def test_a_lead_is_there_before_the_first_samples_are(make_player, device):
    player = make_player(lead_ms=50.0)
    with player.start() as utterance:
        wait_until(lambda: device.sink.written_samples == 1200)
        utterance.write(noise(0.05))
    report = utterance.wait(PATIENCE_S)
    assert (report.cut, report.underruns) == (False, 0)
    assert len(device.played) >= 1200 + 1200


def test_utterances_follow_each_other_without_a_gap(make_player, device):
    player = make_player()
    first, second = noise(0.1, 1), noise(0.1, 2)
    with player.start() as one:
        one.write(first)
    with player.start() as two:
        two.write(second)
    reports = one.wait(PATIENCE_S), two.wait(PATIENCE_S)
    np.testing.assert_array_equal(device.played, np.concatenate([first, second]))
    assert reports[1].started_s - reports[0].finished_s == pytest.approx(0, abs=1e-5)
    assert reports[0].underruns == reports[1].underruns == 0


def wait_until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.002)


def test_cut_fades_out_in_10_ms_and_the_next_follows_at_once(make_player, device):
    player = make_player()
    first, second = noise(5.0, 1), noise(0.1, 2)
    cut = player.start()
    assert cut.write(first)
    wait_until(lambda: cut.started_s is not None)
    player.fade_out()
    assert cut.write(first) is False
    with player.start() as follower:
        follower.write(second)
    report, following = cut.wait(PATIENCE_S), follower.wait(PATIENCE_S)
    assert report.cut
    assert not following.cut
    played = device.played
    np.testing.assert_array_equal(played[-len(second) :], second)
    before = played[: -len(second)]
    fade = round(0.010 * RATE)
    steady = len(before) - fade
    np.testing.assert_array_equal(before[:steady], first[:steady])
    ratio = before[steady:] / first[steady : len(before)]
    assert (np.diff(ratio) < 0.002).all()
    assert ratio[0] > 0.99
    assert ratio[-1] < 0.01
    assert following.started_s - report.finished_s == pytest.approx(0, abs=1e-5)
    assert following.underruns == 0


def test_cut_reaches_what_waits_and_frees_a_blocked_writer(make_player):
    player = make_player(ahead_s=0.1)
    playing, waiting = player.start(), player.start()
    answers: list[bool] = []

    def write() -> None:
        playing.write(noise(0.2))
        answers.append(playing.write(noise(0.2)))

    writer = threading.Thread(target=write)
    writer.start()
    waiting.write(noise(0.05))
    wait_until(lambda: playing.started_s is not None)
    player.fade_out()
    writer.join(PATIENCE_S)
    assert answers in ([False], [True])
    assert playing.write(noise(0.01)) is False
    report = waiting.wait(PATIENCE_S)
    assert report.cut
    assert report.started_s is None
    assert playing.wait(PATIENCE_S).cut


def test_a_cut_that_comes_too_late_cuts_nothing(make_player):
    player = make_player()
    report = play(player, noise(0.05))
    player.fade_out()
    assert not report.cut
    assert not play(player, noise(0.05)).cut


def test_cuts_and_starts_in_quick_succession_hit_the_right_ones(make_player, device):
    player = make_player()
    rng = np.random.default_rng(5)
    kept = []
    for seed in range(60):
        samples = noise(0.012, seed)
        with player.start() as utterance:
            utterance.write(samples)
        if rng.random() < 0.5:
            player.fade_out()
        else:
            kept.append((utterance, samples))
        time.sleep(rng.random() * 0.02)
    reports = [(utterance.wait(PATIENCE_S), samples) for utterance, samples in kept]
    played = device.played.tobytes()
    whole = [samples for report, samples in reports if not report.cut]
    assert whole
    end = 0
    for samples in whole:
        end = played.index(samples.tobytes(), end) + 2 * len(samples)
    # The last one started after every cut, so nothing may have touched it.
    last = player.start()
    last.write(noise(0.012, 99))
    last.end()
    assert not last.wait(PATIENCE_S).cut


def test_writer_is_held_back_when_far_ahead(make_player):
    player = make_player(ahead_s=0.2)
    utterance = player.start()
    for _ in range(10):
        utterance.write(noise(0.05))
        assert utterance.buffered_samples <= 0.2 * RATE
    utterance.end()
    assert utterance.wait(PATIENCE_S).underruns == 0


def test_a_late_writer_is_an_underrun_and_loses_nothing(make_player, device):
    player = make_player()
    samples = noise(0.2)
    with player.start() as utterance:
        utterance.write(samples[:1234])
        wait_until(lambda: device.sink.played_samples() >= 1200)
        time.sleep(0.05)
        utterance.write(samples[1234:])
    assert utterance.wait(PATIENCE_S).underruns == 1
    np.testing.assert_array_equal(device.played, samples)


def test_converts_to_the_rate_of_the_device(make_player, device):
    device.sample_rate_hz = 44100
    player = make_player()
    samples = noise(0.2)
    play(player, samples[:100], samples[100:])
    resampler = Int16Resampler(RATE, 44100)
    expected = np.concatenate([resampler.process(samples), resampler.flush()])
    np.testing.assert_array_equal(device.played, expected)


def test_missing_at_start_then_plugged_in(make_player, device, states):
    device.present = False
    player = make_player(wait_s=0.1)
    assert "missing" in states.wait_for("lost")
    with pytest.raises(DeviceError, match=r"not ready.*missing"):
        player.start()
    assert player.losses == 0
    device.present = True
    assert player.wait_ready(PATIENCE_S)
    play(player, noise(0.05))
    # One line for the log, however often it tried.
    assert [state for state, _ in states.seen] == ["lost", "ready"]


@pytest.mark.parametrize("how", ["stands still", "ended by itself"])
def test_lost_in_the_middle_then_spoken_again(make_player, device, states, how):
    player = make_player()
    samples = noise(1.0)
    utterance = player.start()
    utterance.write(samples)
    wait_until(lambda: utterance.started_s is not None)
    waiting = player.start()
    lost_s = time.monotonic()
    if how == "stands still":
        device.sink.clock.freeze()
    else:
        device.sink.active = False
    for victim in (utterance, waiting):
        with pytest.raises(DeviceError, match=how):
            victim.wait(PATIENCE_S)
    print(f"{how}: noticed after {time.monotonic() - lost_s:.2f} s")
    with pytest.raises(DeviceError, match=how):
        utterance.write(samples)
    assert player.wait_ready(PATIENCE_S)
    assert player.losses == 1
    report = play(player, samples[:2400])
    assert not report.cut
    np.testing.assert_array_equal(device.sink.played, samples[:2400])
    assert [state for state, _ in states.seen] == ["ready", "lost", "ready"]


def test_open_that_hangs_is_fatal(make_player, device, states):
    device.open_gate.clear()
    player = make_player(wait_s=0.0, fatal_after_s=0.2)
    assert "new process" in states.wait_for("fatal")
    assert player.fatal
    assert not player.wait_ready(PATIENCE_S)
    with pytest.raises(DeviceError, match="hangs"):
        player.start()


def test_close_that_hangs_is_fatal(make_player, device, states):
    player = make_player(fatal_after_s=0.2)
    utterance = player.start()
    device.close_gate.clear()
    device.sink.active = False
    with pytest.raises(DeviceError, match="ended by itself"):
        utterance.wait(PATIENCE_S)
    states.wait_for("lost")
    assert "closing" in states.wait_for("fatal")
    assert player.fatal
    assert player.losses == 1


def test_sleeps_on_silence_and_wakes_for_an_utterance(make_player, device, states):
    player = make_player(sleep_after_s=0.1)
    play(player, noise(0.05))
    states.wait_for("asleep")
    assert player.wait_ready(0)
    play(player, noise(0.05))
    assert len(device.sinks) == 2


def test_faults_of_the_owner_do_not_silence_the_device(device, caplog):
    def fail(*_: object) -> None:
        raise RuntimeError("owner")

    player = Player(device.open, sample_rate_hz=RATE, on_state=fail)
    assert player.open(PATIENCE_S)
    try:
        with player.start(fail) as utterance:
            utterance.write(noise(0.05))
        assert utterance.wait(PATIENCE_S).started_s is not None
        play(player, noise(0.05))
    finally:
        player.close()
    assert "on_started callback" in caplog.text
    assert "on_state callback" in caplog.text


def test_close_fades_what_plays_and_ends_the_thread(make_player, device, states):
    threads_before = set(threading.enumerate())
    player = make_player()
    utterance = player.start()
    utterance.write(noise(2.0))
    wait_until(lambda: utterance.started_s is not None)
    player.close()
    assert utterance.wait(PATIENCE_S).cut
    assert player.state == "closed"
    with pytest.raises(DeviceError):
        player.start()
    with pytest.raises(DeviceError, match="closed"):
        device.sink.write(noise(0.1))
    wait_until(lambda: set(threading.enumerate()) <= threads_before)


def test_wrong_samples_and_writing_past_the_end(make_player):
    player = make_player()
    with player.start() as utterance, pytest.raises(ValueError, match="int16"):
        utterance.write(np.zeros(10, np.float32))
    with pytest.raises(ValueError, match="ended"):
        utterance.write(noise(0.01))
