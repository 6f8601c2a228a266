"""Whatever comes in whatever order: no alarm vanishes, critical waits for nobody, bounds hold."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from edge_tts.daemon.alarm import Alarm, EventKind, Outcome, Priority
from edge_tts.daemon.alarm_queue import AlarmQueue, QueueLimits
from edge_tts.daemon.requests import Say, Target
from edge_tts.errors import QueueFullError

pytestmark = pytest.mark.core

LIMITS = QueueLimits(
    max_waiting=7,
    reserved_critical=2,
    flood_threshold=3,
    repeat_window_s=10.0,
    min_repeat_s=1.0,
    silence_hold_s=5.0,
    max_shelved=2,
)
KEYS = st.sampled_from([None, None, "a", "b", "c"])
TEXTS = st.sampled_from(["水位过高", "水位正常", "pump stopped"])
TARGETS = st.one_of(
    st.builds(Target, key=st.sampled_from(["a", "b", "c"])),
    st.builds(Target, id=st.integers(1, 30)),
    st.just(Target(all=True)),
)


class QueueMachine(RuleBasedStateMachine):
    """Drives the queue as callers, a speaker, operators, a device and a clock do."""

    @initialize()
    def start(self) -> None:
        self.now = 1000.0
        self.queue = AlarmQueue(lambda: self.now, LIMITS)
        self.accepted: dict[int, Alarm] = {}
        self.outcomes: dict[int, Outcome] = {}
        self.newest_spoken: dict[str, int] = {}
        self.told_whole: set[int] = set()
        self.speaking: Alarm | None = None

    @rule(
        text=TEXTS,
        key=KEYS,
        priority=st.sampled_from(Priority),
        ttl_s=st.sampled_from([None, None, 1.0, 4.0, 20.0]),
        repeat_s=st.sampled_from([None, None, 1.0, 6.0]),
    )
    def say(
        self,
        text: str,
        key: str | None,
        priority: Priority,
        ttl_s: float | None,
        repeat_s: float | None,
    ) -> None:
        request = Say(text, priority, key=key, ttl_s=ttl_s, repeat_s=repeat_s)
        before = self.live_ids()
        try:
            admission = self.queue.submit(request)
        except QueueFullError:
            assert self.live_ids() <= before
            waiting = self.not_speaking()
            below = [alarm for alarm in waiting if alarm.priority < Priority.CRITICAL]
            room = LIMITS.max_waiting - LIMITS.reserved_critical
            if priority is Priority.CRITICAL:
                assert len(waiting) >= LIMITS.max_waiting
            else:
                assert len(below) >= room or len(waiting) >= LIMITS.max_waiting
            return
        assert admission.alarm.text == text
        assert admission.alarm.key == key
        assert admission.alarm.priority >= priority
        assert admission.live == (admission.alarm.id in self.live_ids())
        if admission.folded:
            assert key is not None
            assert admission.count > 1
        if not admission.folded and admission.live:
            # Room is left for a cut alarm on top: at most one.
            assert len(self.not_speaking()) <= LIMITS.max_waiting

    @rule(seconds=st.sampled_from([0.0, 0.5, 1.0, 3.0, 30.0]))
    def let_time_pass(self, seconds: float) -> None:
        self.now += seconds
        self.queue.tick()

    @rule()
    def ask_for_next(self) -> None:
        critical_waiting = any(
            state.alarm.priority is Priority.CRITICAL and state.state == "waiting"
            for state in self.queue.status().alarms
        )
        speaking = self.queue.speaking
        alarm = self.queue.next()
        if critical_waiting and (speaking is None or speaking.priority < Priority.CRITICAL):
            assert alarm is not None, "a critical alarm waits and did not get its turn"
            assert alarm.priority is Priority.CRITICAL
        if alarm is None:
            return
        assert self.queue.speaking == alarm
        self.speaking = alarm
        if alarm.ttl_s is not None:
            assert alarm.accepted_at + alarm.ttl_s > self.now, "spoken past its time to live"
        if alarm.key is not None:
            newest = self.newest_spoken.get(alarm.key, 0)
            assert alarm.id >= newest, "an older text of the key is told after a newer one"
            self.newest_spoken[alarm.key] = alarm.id

    @precondition(lambda self: self.queue.speaking is not None)
    @rule()
    def start_sound(self) -> None:
        self.queue.started(self.queue.speaking.id, first_ms=12)

    @precondition(lambda self: self.queue.speaking is not None)
    @rule()
    def end_sound(self) -> None:
        alarm = self.queue.speaking
        self.told_whole |= {alarm.id, *alarm.members}
        self.queue.finished(alarm.id, via="neural")
        assert self.queue.speaking is None

    @precondition(lambda self: self.queue.speaking is not None)
    @rule(reason=st.sampled_from(["", "device-lost"]))
    def break_off(self, reason: str) -> None:
        self.queue.stopped(self.queue.speaking.id, reason)
        assert self.queue.speaking is None

    @precondition(lambda self: self.queue.speaking is not None)
    @rule()
    def fail(self) -> None:
        self.queue.failed(self.queue.speaking.id, "no-output")

    @rule(which=TARGETS)
    def acknowledge(self, which: Target) -> None:
        self.queue.acknowledge(which)
        for state in self.queue.status().alarms:
            named = which.names(state.alarm.id, state.alarm.key)
            assert not named or state.state == "speaking"

    @rule(which=TARGETS)
    def clear(self, which: Target) -> None:
        self.queue.clear(which)
        speaking = self.queue.speaking
        if speaking is not None and which.names(speaking.id, speaking.key):
            assert speaking.priority is Priority.CRITICAL or self.queue.must_stop(speaking.id)

    @rule(hold_s=st.sampled_from([None, 0.0, 2.0]))
    def silence(self, hold_s: float | None) -> None:
        speaking = self.queue.speaking
        self.queue.silence(hold_s)
        if speaking is not None and hold_s != 0.0:
            assert self.queue.must_stop(speaking.id)

    @rule(
        key=st.sampled_from(["a", "b", "c"]),
        duration_s=st.sampled_from([0.0, 2.0, 20.0]),
        critical=st.booleans(),
    )
    def shelve(self, key: str, duration_s: float, critical: bool) -> None:
        try:
            self.queue.shelve(key, duration_s, critical=critical)
        except QueueFullError:
            assert len(self.queue.status().shelved_for_s) == LIMITS.max_shelved

    @rule()
    def restart(self) -> None:
        """kill -9 and the journal: what is live is taken back by a new process."""
        states = self.queue.status().alarms
        self.queue_events()
        carried = [state for state in states if not state.alarm.members]
        for state in states:
            if state.alarm.members:
                del self.accepted[state.alarm.id]  # counts are not journalled
        self.queue = AlarmQueue(
            lambda: self.now, LIMITS, first_id=max((*self.accepted, *self.outcomes, 0)) + 1
        )
        for state in carried:
            self.queue.restore(state.alarm, state.age_s)
        for key in list(self.newest_spoken):
            del self.newest_spoken[key]

    def live_ids(self) -> set[int]:
        return {state.alarm.id for state in self.queue.status().alarms}

    def not_speaking(self) -> list[Alarm]:
        return [s.alarm for s in self.queue.status().alarms if s.state != "speaking"]

    def queue_events(self) -> None:
        for event in self.queue.take_events():
            if event.kind is EventKind.ACCEPTED:
                assert event.alarm_id not in self.outcomes
                self.accepted.setdefault(event.alarm_id, event)
            elif event.kind is EventKind.FINISHED:
                assert event.alarm_id in self.accepted
                assert event.alarm_id not in self.outcomes, "an alarm ended twice"
                assert event.outcome is not None
                self.outcomes[event.alarm_id] = event.outcome
            elif event.kind is not EventKind.FOLDED:
                assert event.alarm_id not in self.outcomes, "news of an alarm that has ended"
                assert event.outcome is None

    @invariant()
    def no_alarm_vanishes(self) -> None:
        self.queue_events()
        assert set(self.accepted) - set(self.outcomes) == self.live_ids()
        self.queue_events()

    @invariant()
    def only_what_was_told_is_done(self) -> None:
        for alarm_id, outcome in self.outcomes.items():
            if outcome in (Outcome.DONE, Outcome.COUNTED):
                assert alarm_id in self.told_whole

    @invariant()
    def bounds_hold(self) -> None:
        # One more than the bound: the alarm that was being spoken and was put back.
        assert len(self.not_speaking()) <= LIMITS.max_waiting + 1
        assert len(self.queue.status().shelved_for_s) <= LIMITS.max_shelved

    @invariant()
    def a_critical_alarm_is_never_held_up(self) -> None:
        status = self.queue.status()
        critical_waits = any(
            s.state == "waiting" and s.alarm.priority is Priority.CRITICAL for s in status.alarms
        )
        speaking = self.queue.speaking
        if critical_waits and speaking is not None and speaking.priority < Priority.CRITICAL:
            assert self.queue.must_stop(speaking.id)

    @invariant()
    def counted_alarms_belong_to_the_count_that_is_spoken(self) -> None:
        counted = {s.alarm.id for s in self.queue.status().alarms if s.state == "counted"}
        speaking = self.queue.speaking
        assert counted <= set(speaking.members if speaking else ())

    def teardown(self) -> None:
        if not hasattr(self, "queue"):
            return
        self.queue.silence(0.0)
        for _ in range(100):
            alarm = self.queue.next() or self.queue.speaking
            if alarm is None:
                break
            self.told_whole |= {alarm.id, *alarm.members}
            self.queue.finished(alarm.id)
        self.queue.acknowledge(Target(all=True))
        self.queue_events()
        assert set(self.accepted) == set(self.outcomes)


QueueMachine.TestCase.settings = settings(
    max_examples=120,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestQueue = QueueMachine.TestCase
