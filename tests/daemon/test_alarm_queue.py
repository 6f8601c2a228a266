"""The rules of the queue, one by one, against a clock that the test turns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from edge_tts.daemon.alarm import Alarm, Event, EventKind, Outcome, Priority
from edge_tts.daemon.alarm_queue import AlarmQueue, QueueLimits
from edge_tts.daemon.requests import Say, Target
from edge_tts.errors import QueueFullError

pytestmark = pytest.mark.core

CRITICAL, HIGH, MEDIUM, LOW = Priority.CRITICAL, Priority.HIGH, Priority.MEDIUM, Priority.LOW


class Bench:
    """A queue, its clock, and every event it told."""

    def __init__(self, **limits: object) -> None:
        self.now = 100.0
        self.queue = AlarmQueue(lambda: self.now, QueueLimits(**limits))
        self.events: list[Event] = []

    def say(self, text: str, priority: Priority = MEDIUM, **fields: object) -> int:
        return self.queue.submit(Say(text, priority, **fields)).alarm.id

    def next_text(self) -> str | None:
        alarm = self.queue.next()
        return alarm.text if alarm else None

    def speak_all(self) -> list[str]:
        texts = []
        while (alarm := self.queue.next()) is not None:
            texts.append(alarm.text)
            self.queue.started(alarm.id)
            self.queue.finished(alarm.id)
        return texts

    def news(self, alarm_id: int) -> list[str]:
        """What was told of one alarm: its events, the last with its outcome."""
        self.events += self.queue.take_events()
        return [
            event.outcome.value if event.outcome else event.kind.value
            for event in self.events
            if event.alarm_id == alarm_id
        ]

    def details(self, alarm_id: int, kind: EventKind) -> dict[str, object]:
        self.news(alarm_id)
        found = [e for e in self.events if e.alarm_id == alarm_id and e.kind is kind]
        return dict(found[-1].details)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_higher_priority_first_then_first_come(bench: Bench) -> None:
    for text, priority in [
        ("l", LOW),
        ("m1", MEDIUM),
        ("h", HIGH),
        ("m2", MEDIUM),
        ("c", CRITICAL),
    ]:
        bench.say(text, priority)
    assert bench.speak_all() == ["c", "h", "m1", "m2", "l"]


def test_critical_cuts_in_and_the_cut_one_starts_again_first(bench: Bench) -> None:
    cut = bench.say("cut", MEDIUM)
    assert bench.next_text() == "cut"
    bench.say("later", MEDIUM)
    assert not bench.queue.must_stop(cut)
    critical = bench.say("critical", CRITICAL)
    assert bench.queue.must_stop(cut)
    assert bench.next_text() == "critical"
    assert not bench.queue.must_stop(critical)
    bench.queue.finished(critical)
    assert bench.speak_all() == ["cut", "later"]
    assert bench.news(cut) == ["accepted", "cut", "started", "done"]


@pytest.mark.parametrize("priority", [HIGH, MEDIUM, LOW])
def test_nothing_else_cuts_in(bench: Bench, priority: Priority) -> None:
    speaking = bench.say("speaking", LOW)
    bench.queue.next()
    bench.say("other", priority)
    assert bench.queue.next() is None
    assert not bench.queue.must_stop(speaking)


def test_critical_is_not_cut_by_critical(bench: Bench) -> None:
    first = bench.say("first", CRITICAL)
    bench.queue.next()
    bench.say("second", CRITICAL)
    assert not bench.queue.must_stop(first)
    assert bench.queue.next() is None
    bench.queue.finished(first)
    assert bench.next_text() == "second"


def test_a_cut_alarm_past_its_time_to_live_is_preempted(bench: Bench) -> None:
    cut = bench.say("cut", ttl_s=5.0)
    bench.queue.next()
    critical = bench.say("critical", CRITICAL)
    bench.queue.next()
    bench.now += 6.0
    bench.queue.finished(critical)
    assert bench.next_text() is None
    assert bench.news(cut) == ["accepted", "cut", "preempted"]
    assert Outcome.PREEMPTED.exit_code == 10


def test_speaking_begun_in_time_is_not_ended_by_the_time_to_live(bench: Bench) -> None:
    alarm = bench.say("long", ttl_s=5.0)
    bench.queue.next()
    bench.now += 60.0
    bench.queue.tick()
    assert not bench.queue.must_stop(alarm)
    bench.queue.finished(alarm)
    assert bench.news(alarm) == ["accepted", "done"]


def test_waiting_past_the_time_to_live_expires(bench: Bench) -> None:
    alarm = bench.say("stale", ttl_s=5.0)
    assert bench.queue.wake_in_s() == pytest.approx(5.0)
    bench.now += 5.0
    assert bench.next_text() is None
    assert bench.news(alarm) == ["accepted", "expired"]
    assert Outcome.EXPIRED.exit_code == 11


def test_default_time_to_live_spares_critical_and_repeating() -> None:
    bench = Bench(default_ttl_s=10.0)
    ids = [bench.say("m"), bench.say("c", CRITICAL), bench.say("r", repeat_s=30.0)]
    bench.now += 11.0
    bench.queue.tick()
    assert [bench.queue.is_live(alarm_id) for alarm_id in ids] == [False, True, True]


def test_newer_text_of_a_key_supersedes_a_waiting_one(bench: Bench) -> None:
    old = bench.say("level 3", key="tank")
    other = bench.say("pump", key="pump")
    new = bench.say("level 4", key="tank")
    assert bench.news(old) == ["accepted", "superseded"]
    assert bench.details(old, EventKind.FINISHED) == {"by": new}
    assert bench.speak_all() == ["pump", "level 4"]
    assert bench.news(other)[-1] == "done"


def test_a_less_urgent_text_does_not_hide_a_more_urgent_unheard_one(bench: Bench) -> None:
    bench.say("too high", CRITICAL, key="tank")
    bench.say("normal", LOW, key="tank")
    assert bench.speak_all() == ["too high", "normal"]


def test_a_less_urgent_text_ends_the_repeating_of_an_older_one(bench: Bench) -> None:
    old = bench.say("too high", CRITICAL, key="tank", repeat_s=30.0)
    assert bench.speak_all() == ["too high"]
    bench.say("normal", LOW, key="tank")
    assert bench.news(old)[-1] == "superseded"
    bench.now += 100.0
    assert bench.speak_all() == ["normal"]


def test_a_cut_alarm_yields_to_a_newer_text_of_its_key(bench: Bench) -> None:
    old = bench.say("level 3", key="tank")
    bench.queue.next()
    bench.say("level 4", CRITICAL, key="tank")
    assert bench.speak_all() == ["level 4"]
    assert bench.news(old) == ["accepted", "superseded"]


def test_alarms_without_key_are_neither_folded_nor_superseded(bench: Bench) -> None:
    bench.say("same")
    bench.say("same")
    assert bench.speak_all() == ["same", "same"]


def test_identical_text_is_folded_while_waiting_speaking_and_shortly_after(bench: Bench) -> None:
    first = bench.queue.submit(Say("level", key="tank"))
    waiting = bench.queue.submit(Say("level", key="tank"))
    assert (waiting.alarm.id, waiting.folded, waiting.count) == (first.alarm.id, True, 2)
    bench.queue.next()
    assert bench.queue.submit(Say("level", key="tank")).count == 3
    bench.queue.finished(first.alarm.id)
    bench.now += 9.9
    after = bench.queue.submit(Say("level", key="tank"))
    assert (after.folded, after.live, after.outcome, after.count) == (
        True, False, Outcome.FOLDED, 4,
    )  # fmt: skip
    bench.now += 0.2
    again = bench.queue.submit(Say("level", key="tank"))
    assert not again.folded
    assert again.alarm.id != first.alarm.id
    assert bench.details(first.alarm.id, EventKind.FINISHED)["count"] == 3


@pytest.mark.parametrize(
    "change", [{"text": "other"}, {"repeat_s": 30.0}, {"prefix": "警告"}, {"priority": HIGH}]
)
def test_what_asks_for_something_else_is_not_folded(
    bench: Bench, change: dict[str, object]
) -> None:
    first = Say("level", MEDIUM, key="tank")
    bench.queue.submit(first)
    bench.queue.next()
    assert not bench.queue.submit(replace(first, **change)).folded


def test_said_again_after_its_acknowledgement_is_a_new_alarm(bench: Bench) -> None:
    first = bench.say("level", key="tank")
    bench.queue.next()
    bench.queue.acknowledge(Target(key="tank"))
    again = bench.queue.submit(Say("level", key="tank"))
    assert not again.folded
    bench.queue.finished(first)
    assert bench.next_text() == "level"


def test_folding_prolongs_the_time_to_live(bench: Bench) -> None:
    first = bench.say("level", key="tank", ttl_s=10.0)
    bench.now += 8.0
    folded = bench.queue.submit(Say("level", key="tank", ttl_s=10.0))
    assert folded.alarm.ttl_s == pytest.approx(18.0)
    bench.now += 8.0
    assert bench.next_text() == "level"
    bench.queue.finished(first)


def test_identical_but_more_urgent_is_not_folded(bench: Bench) -> None:
    low = bench.say("level", LOW, key="tank")
    bench.say("level", CRITICAL, key="tank")
    assert bench.news(low) == ["accepted", "superseded"]
    assert bench.queue.next().priority is CRITICAL


def test_an_older_text_said_again_is_news(bench: Bench) -> None:
    bench.say("high", HIGH, key="tank")
    bench.say("normal", LOW, key="tank")
    bench.say("high", HIGH, key="tank")
    assert bench.speak_all() == ["high"]


def test_cleared_text_said_again_within_the_window_is_news(bench: Bench) -> None:
    bench.say("open", key="door")
    bench.speak_all()
    bench.queue.clear(Target(key="door"))
    bench.say("open", key="door")
    assert bench.speak_all() == ["open"]


def test_repeats_until_acknowledged(bench: Bench) -> None:
    alarm = bench.say("leak", HIGH, key="leak", repeat_s=30.0)
    assert bench.speak_all() == ["leak"]
    assert bench.queue.wake_in_s() == pytest.approx(30.0)
    bench.now += 29.0
    assert bench.speak_all() == []
    bench.now += 1.0
    assert bench.speak_all() == ["leak"]
    assert bench.queue.acknowledge(Target(key="leak")) == 1
    bench.now += 60.0
    assert bench.speak_all() == []
    assert bench.news(alarm) == [
        "accepted", "started", "spoken", "started", "spoken", "acknowledged",
    ]  # fmt: skip
    assert bench.details(alarm, EventKind.SPOKEN) == {"times": 2, "next_s": 30.0}


def test_repeating_ends_as_done_with_its_time_to_live(bench: Bench) -> None:
    alarm = bench.say("leak", key="leak", repeat_s=30.0, ttl_s=70.0)
    assert bench.speak_all() == ["leak"]
    for texts in (["leak"], ["leak"], []):
        bench.now += 31.0
        assert bench.speak_all() == texts
    assert bench.news(alarm)[-1] == "done"
    assert bench.details(alarm, EventKind.FINISHED)["times"] == 3


def test_repeat_interval_has_a_least_value(bench: Bench) -> None:
    assert bench.queue.submit(Say("x", key="k", repeat_s=0.01)).alarm.repeat_s == 5.0


def test_acknowledged_while_spoken_ends_whole_and_never_repeats(bench: Bench) -> None:
    alarm = bench.say("leak", key="leak", repeat_s=30.0)
    bench.queue.next()
    bench.queue.acknowledge(Target(id=alarm))
    assert not bench.queue.must_stop(alarm)
    bench.queue.finished(alarm)
    assert bench.news(alarm) == ["accepted", "acknowledged"]


def test_acknowledged_while_spoken_once_is_done(bench: Bench) -> None:
    alarm = bench.say("leak")
    bench.queue.next()
    bench.queue.acknowledge(Target(all=True))
    bench.queue.finished(alarm)
    assert bench.news(alarm) == ["accepted", "done"]


def test_clear_cuts_what_is_spoken_but_not_critical(bench: Bench) -> None:
    medium = bench.say("medium", key="m")
    bench.queue.next()
    bench.queue.clear(Target(key="m"))
    assert bench.queue.must_stop(medium)
    bench.queue.stopped(medium)
    assert bench.news(medium) == ["accepted", "cleared"]
    critical = bench.say("critical", CRITICAL, key="c", repeat_s=10.0)
    bench.queue.next()
    bench.queue.clear(Target(key="c"))
    assert not bench.queue.must_stop(critical)
    bench.queue.finished(critical)
    assert bench.news(critical) == ["accepted", "cleared"]


def test_clear_reaches_only_the_alarms_of_its_user(bench: Bench) -> None:
    mine = bench.queue.submit(Say("mine", key="k"), owner_uid=1000).alarm.id
    theirs = bench.queue.submit(Say("theirs", HIGH, key="other"), owner_uid=0).alarm.id
    assert bench.queue.clear(Target(all=True), owner_uid=1000) == 1
    assert not bench.queue.is_live(mine)
    assert bench.queue.is_live(theirs)


def test_silence_stops_the_sound_and_keeps_what_waits(bench: Bench) -> None:
    speaking = bench.say("speaking", CRITICAL)
    bench.queue.next()
    bench.say("waiting", HIGH)
    assert bench.queue.silence(20.0) == 1
    assert bench.queue.must_stop(speaking)
    bench.queue.stopped(speaking)
    assert bench.news(speaking) == ["accepted", "silenced"]
    assert bench.next_text() is None
    assert bench.queue.wake_in_s() == pytest.approx(20.0)
    bench.say("critical", CRITICAL)
    assert bench.speak_all() == ["critical"]
    bench.now += 20.0
    assert bench.speak_all() == ["waiting"]


def test_silence_is_ended_by_hand(bench: Bench) -> None:
    bench.queue.silence()
    bench.say("waiting")
    assert bench.next_text() is None
    bench.queue.silence(0.0)
    assert bench.next_text() == "waiting"


def test_silenced_repeating_alarm_comes_back(bench: Bench) -> None:
    alarm = bench.say("leak", key="leak", repeat_s=30.0)
    bench.queue.next()
    bench.queue.silence(10.0)
    assert bench.next_text() is None
    assert bench.details(alarm, EventKind.RETURNED)["reason"] == "silenced"
    bench.now += 30.0
    assert bench.next_text() == "leak"
    assert not bench.queue.must_stop(alarm)


def test_clear_after_silence_takes_the_silence_not_back(bench: Bench) -> None:
    critical = bench.say("critical", CRITICAL, key="c")
    bench.queue.next()
    bench.queue.silence()
    bench.queue.clear(Target(key="c"))
    assert bench.queue.must_stop(critical)
    bench.queue.stopped(critical)
    assert bench.news(critical) == ["accepted", "cleared"]


def test_shelving_leaves_a_waiting_critical_alarm_alone(bench: Bench) -> None:
    bench.say("waiting", CRITICAL, key="door")
    assert bench.queue.shelve("door", 60.0) == 0
    assert bench.queue.shelve("door", 60.0, critical=True) == 1
    assert bench.next_text() is None


def test_shelved_key_is_quiet_for_a_time_but_not_its_critical_alarms(bench: Bench) -> None:
    waiting = bench.say("old", key="door")
    assert bench.queue.shelve("door", 60.0) == 1
    admission = bench.queue.submit(Say("new", HIGH, key="door"))
    assert (admission.live, admission.outcome) == (False, Outcome.SHELVED)
    assert bench.news(waiting) == ["accepted", "shelved"]
    assert bench.news(admission.alarm.id) == ["accepted", "shelved"]
    bench.say("critical", CRITICAL, key="door")
    assert bench.speak_all() == ["critical"]
    bench.now += 60.0
    bench.say("back", key="door")
    assert bench.speak_all() == ["back"]


def test_critical_can_be_shelved_on_purpose_and_taken_off(bench: Bench) -> None:
    bench.queue.shelve("door", 60.0, critical=True)
    assert bench.queue.submit(Say("c", CRITICAL, key="door")).outcome is Outcome.SHELVED
    bench.queue.shelve("door", 0.0)
    assert bench.queue.submit(Say("c", CRITICAL, key="door")).live


def test_shelves_are_bounded() -> None:
    bench = Bench(max_shelved=1)
    bench.queue.shelve("a", 60.0)
    bench.queue.shelve("a", 90.0)
    with pytest.raises(QueueFullError):
        bench.queue.shelve("b", 60.0)


def test_flood_becomes_one_spoken_count_after_the_urgent_ones() -> None:
    bench = Bench(flood_threshold=3)
    ids = [bench.say(f"{number}号泵停机") for number in range(1, 6)]
    bench.say("high", HIGH)
    assert bench.speak_all() == ["high", "还有5条报警"]
    for alarm_id in ids:
        assert bench.news(alarm_id) == ["accepted", "counted"]


def test_no_flood_at_the_threshold() -> None:
    bench = Bench(flood_threshold=3)
    for number in range(3):
        bench.say(f"pump {number}")
    assert bench.speak_all() == ["pump 0", "pump 1", "pump 2"]


def test_count_speaks_the_language_of_the_alarms() -> None:
    bench = Bench(flood_threshold=2)
    for text in ("pump one", "pump two", "三号泵"):
        bench.say(text)
    assert bench.speak_all() == ["3 more alarms"]


def test_cut_count_is_counted_anew() -> None:
    bench = Bench(flood_threshold=2)
    ids = [bench.say(f"pump {number}") for number in range(3)]
    count = bench.queue.next()
    assert count.members == tuple(ids)
    bench.say("critical", CRITICAL)
    bench.queue.acknowledge(Target(id=ids[0]))
    assert bench.speak_all() == ["critical", "pump 1", "pump 2"]
    assert bench.news(count.id) == ["accepted", "preempted"]
    assert bench.news(ids[0]) == ["accepted", "acknowledged"]
    assert bench.news(ids[1]) == ["accepted", "returned", "started", "done"]


def test_what_a_critical_alarm_cut_is_told_itself_even_in_a_flood() -> None:
    bench = Bench(flood_threshold=2)
    bench.say("cut")
    bench.queue.next()
    bench.say("critical", CRITICAL)
    for number in range(4):
        bench.say(f"pump {number}")
    assert bench.speak_all() == ["critical", "cut", "4 more alarms"]


def test_failed_count_ends_its_members() -> None:
    bench = Bench(flood_threshold=2)
    ids = [bench.say(f"pump {number}") for number in range(3)]
    count = bench.queue.next()
    bench.queue.failed(count.id, "no-output")
    assert [bench.news(i)[-1] for i in (*ids, count.id)] == ["failed"] * 4
    assert bench.queue.next() is None


def test_silenced_count_keeps_its_members() -> None:
    bench = Bench(flood_threshold=2)
    for number in range(3):
        bench.say(f"pump {number}")
    bench.queue.next()
    bench.queue.silence(5.0)
    assert bench.next_text() is None
    bench.now += 5.0
    assert bench.speak_all() == ["3 more alarms"]


def test_counted_repeating_alarm_goes_on() -> None:
    bench = Bench(flood_threshold=2)
    for number in range(3):
        bench.say(f"pump {number}", key=f"p{number}", repeat_s=20.0 if number == 0 else None)
    bench.speak_all()
    bench.now += 20.0
    assert bench.speak_all() == ["pump 0"]


def test_room_is_kept_for_critical() -> None:
    bench = Bench(max_waiting=4, reserved_critical=2, flood_threshold=100)
    bench.say("m1", key="k")
    bench.say("m2")
    with pytest.raises(QueueFullError) as refusal:
        bench.say("m3", HIGH)
    assert refusal.value.retry_ms == 500
    bench.say("c1", CRITICAL)
    bench.say("c2", CRITICAL)
    with pytest.raises(QueueFullError):
        bench.say("c3", CRITICAL)
    bench.say("m1 newer", key="k")  # takes the place of m1
    assert bench.queue.status().counts["refused"] == 2
    assert bench.speak_all() == ["c1", "c2", "m2", "m1 newer"]


def test_spoken_alarm_takes_no_room() -> None:
    bench = Bench(max_waiting=3, reserved_critical=1)
    bench.say("speaking")
    bench.queue.next()
    bench.say("w1")
    bench.say("w2")
    with pytest.raises(QueueFullError):
        bench.say("w3")


def test_lost_device_starts_the_alarm_again(bench: Bench) -> None:
    alarm = bench.say("whole")
    bench.queue.next()
    bench.queue.stopped(alarm, "device-lost")
    assert bench.details(alarm, EventKind.RETURNED) == {"reason": "device-lost"}
    assert bench.speak_all() == ["whole"]


def test_lost_device_past_the_time_to_live_is_expired_not_preempted(bench: Bench) -> None:
    alarm = bench.say("stale", ttl_s=5.0)
    bench.queue.next()
    bench.queue.stopped(alarm, "device-lost")
    bench.now += 5.0
    bench.queue.tick()
    assert bench.news(alarm) == ["accepted", "returned", "expired"]


def test_failed_alarm_ends_and_a_repeating_one_is_tried_again(bench: Bench) -> None:
    once = bench.say("once")
    bench.queue.next()
    bench.queue.failed(once, "no-output", via="tone")
    assert bench.news(once) == ["accepted", "failed"]
    assert Outcome.FAILED.exit_code == 74
    again = bench.say("again", key="k", repeat_s=10.0)
    bench.queue.next()
    bench.queue.failed(again, "no-output")
    bench.now += 10.0
    assert bench.speak_all() == ["again"]


def test_late_news_from_the_speaker_is_ignored(bench: Bench) -> None:
    old = bench.say("old")
    bench.queue.next()
    critical = bench.say("critical", CRITICAL)
    bench.queue.next()
    bench.queue.finished(old)
    bench.queue.started(old)
    bench.queue.stopped(old)
    bench.queue.failed(old, "late")
    assert bench.queue.speaking.id == critical
    assert bench.news(old) == ["accepted", "cut"]


def test_restored_alarms_keep_id_age_and_order(bench: Bench) -> None:
    bench.queue.restore(Alarm(7, "first", ttl_s=10.0), age_s=4.0)
    bench.queue.restore(Alarm(9, "stale", ttl_s=10.0), age_s=40.0)
    bench.queue.restore(Alarm(12, "second", HIGH), age_s=1.0)
    assert bench.news(9) == ["accepted", "expired"]
    assert bench.say("new") == 13
    assert bench.speak_all() == ["second", "first", "new"]


def test_restored_older_text_yields_to_the_newer_of_its_key(bench: Bench) -> None:
    bench.queue.restore(Alarm(7, "level 3", key="tank"), age_s=4.0)
    bench.queue.restore(Alarm(8, "level 4", key="tank"), age_s=2.0)
    assert bench.speak_all() == ["level 4"]
    assert bench.news(7) == ["accepted", "superseded"]


def test_stream_is_completed_with_its_text(bench: Bench) -> None:
    alarm = bench.queue.submit(Say("", key="s"), streaming=True).alarm
    assert alarm.streaming
    bench.queue.next()
    whole = bench.queue.complete_stream(alarm.id, "one two")
    assert (whole.text, whole.streaming) == ("one two", False)
    bench.queue.finished(alarm.id)
    assert bench.queue.complete_stream(alarm.id, "late") is None


def test_status_tells_what_is_there(bench: Bench) -> None:
    bench.say("speaking", HIGH, key="a")
    bench.queue.next()
    bench.say("waiting", key="b")
    bench.now += 3.0
    bench.queue.shelve("z", 60.0)
    status = bench.queue.status()
    assert [(s.alarm.text, s.state, s.age_s) for s in status.alarms] == [
        ("speaking", "speaking", 3.0),
        ("waiting", "waiting", 3.0),
    ]
    assert status.speaking_id == status.alarms[0].alarm.id
    assert (status.waiting, status.resting) == (1, 0)
    assert status.shelved_for_s == {"z": 60.0}
    assert status.counts == {"accepted": 2, "folded": 0, "refused": 0, "cut": 0}
