"""The alarm queue: what is spoken next, and how every alarm ends.

Pure logic without threads, files or sound: the caller holds one lock around
every call. Time comes from the clock it is given, a monotonic one.

The rules:

* Higher priority first, within one priority the one that is ready longest.
* Critical cuts in at once; only SILENCE cuts a critical alarm.
* What was cut starts again from its beginning, unless its time to live has
  passed (``preempted``) or a newer text of its key is there (``superseded``).
* A newer text of a key takes the place of a waiting one, unless that one is
  more urgent and was never heard: then both wait, the older is spoken first.
* The same text of a key, while it lives or within the repeat window after it
  was spoken, is folded into it. Alarms without a key are never folded.
* A repeating alarm is told again until ACK, CLEAR or the end of its time to
  live. ACK lets the sentence end, CLEAR cuts it, unless critical.
* In a flood, those waiting below high become one spoken count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from edge_tts.daemon.alarm import Admission, Alarm, Event, EventKind, EventValue, Outcome, Priority
from edge_tts.daemon.flood import count_alarm
from edge_tts.daemon.queue_entry import Entry, State
from edge_tts.daemon.queue_intake import Intake
from edge_tts.daemon.queue_ledger import Ledger
from edge_tts.daemon.queue_status import AlarmState, QueueLimits, QueueStatus
from edge_tts.daemon.queue_turn import Turn
from edge_tts.daemon.repeat_window import RepeatWindow
from edge_tts.daemon.requests import Say, Target
from edge_tts.daemon.shelves import Shelves

__all__ = ["AlarmQueue", "AlarmState", "QueueLimits", "QueueStatus"]


class AlarmQueue:
    """Waiting, speaking and repeating alarms.

    Args:
        clock: seconds, never going back (``time.monotonic``).
        limits: bounds and times.
        first_id: the id of the first new alarm; ``journal.next_id`` after a restart.
    """

    def __init__(
        self, clock: Callable[[], float], limits: QueueLimits | None = None, first_id: int = 1
    ) -> None:
        self.limits = limits or QueueLimits()
        self._clock = clock
        self._ledger = Ledger()
        self._window = RepeatWindow(self.limits.repeat_window_s)
        self._shelves = Shelves(self.limits.max_shelved, self.limits.retry_ms)
        self._intake = Intake(self._ledger, self._window, self._shelves, self.limits, first_id)
        self._turn = Turn(self._ledger, self._window, clock)
        self._hold_until = float("-inf")

    # Coming in

    def submit(self, request: Say, *, owner_uid: int = -1, streaming: bool = False) -> Admission:
        """Accept a request, or fold it into an identical alarm.

        The caller journals ``admission.alarm`` when ``admission.live`` (a fold
        may have prolonged its time to live), then answers.

        Raises:
            QueueFullError: no room for this priority; nothing was changed.
        """
        return self._intake.admit(request, owner_uid, streaming, self._tick())

    def complete_stream(self, alarm_id: int, text: str) -> Alarm | None:
        """All pieces of a streaming alarm are in: it can be journalled now.

        Returns the alarm with its whole text; None when it has ended already.
        """
        entry = self._ledger.get(alarm_id)
        if entry is None:
            return None
        entry.alarm = replace(entry.alarm, text=text, streaming=False)
        return entry.alarm

    def restore(self, alarm: Alarm, age_s: float) -> None:
        """Take back an alarm that the journal carried over a restart, oldest first.

        ``age_s`` is the time since it was accepted; past its time to live it
        ends as ``expired``. Bounds don't refuse it: it was accepted.
        """
        now = self._tick()
        self._intake.restore(alarm, now - age_s, now)

    # Being spoken

    def next(self) -> Alarm | None:
        """The alarm to speak now, from its beginning; None when there is none.

        While an alarm is spoken this is None, unless that one must stop (see
        :meth:`must_stop`): then it is stopped, and what comes next returned.
        Ask between two chunks.
        """
        now = self._tick()
        if self._turn.entry is not None:
            if not self._turn.must_stop():
                return None
            self._turn.stopped()
        ready = [
            entry
            for entry in self._ledger.in_state(State.WAITING)
            if entry.is_critical or now >= self._hold_until
        ]
        if not ready:
            return None
        best = min(ready, key=Entry.rank)
        below_high = best.alarm.priority < Priority.HIGH
        if below_high and not best.begun and len(ready) > self.limits.flood_threshold:
            # Nothing above is ready: the best is the most urgent.
            best = self._count(ready, now)
        self._turn.begin(best)
        return best.alarm

    def must_stop(self, alarm_id: int) -> bool:
        """Whether this alarm's sound shall end now (10 ms fade, then :meth:`stopped`).

        True too for an alarm that is not the one being spoken.
        """
        return not self._turn.is_on(alarm_id) or self._turn.must_stop()

    def started(self, alarm_id: int, **details: EventValue) -> None:
        """The first non-silent sample of the alarm reached the device."""
        if self._turn.entry is not None and self._turn.is_on(alarm_id):
            self._ledger.tell(self._turn.entry.alarm, EventKind.STARTED, details)

    def stopped(self, alarm_id: int, reason: str = "") -> None:
        """The alarm's sound ended early: it was told to stop, or the device was lost.

        It ends if ACK, CLEAR, SILENCE or SHELVE asked for that, else it waits
        to start again from its beginning. ``reason`` goes into the event.
        """
        if self._turn.is_on(alarm_id):
            self._turn.stopped(reason)

    def finished(self, alarm_id: int, **details: EventValue) -> None:
        """The last sample of the alarm left the device."""
        if self._turn.is_on(alarm_id):
            self._turn.finished(details)

    def failed(self, alarm_id: int, reason: str, **details: EventValue) -> None:
        """Nothing could be put out for the alarm, not even a tone.

        It ends; a repeating one is tried again at its next repeat.
        """
        if self._turn.is_on(alarm_id):
            self._turn.failed({"reason": reason, **details})

    # What people ask for

    def acknowledge(self, target: Target, *, owner_uid: int | None = None) -> int:
        """ACK: end waiting and repeating; a sentence being spoken ends whole.

        Returns how many alarms it met. ``owner_uid`` restricts it to that
        user's alarms.
        """
        return self._withdraw(target, owner_uid, Outcome.ACKNOWLEDGED, stop=False)

    def clear(self, target: Target, *, owner_uid: int | None = None) -> int:
        """CLEAR: as ACK, but a sentence being spoken is cut, unless critical."""
        self._window.forget(target, owner_uid)
        return self._withdraw(target, owner_uid, Outcome.CLEARED, stop=True)

    def silence(self, hold_s: float | None = None) -> int:
        """SILENCE: stop the sound now, of whatever priority; keep what waits.

        The alarm that was sounding ends as ``silenced``, or rests until its
        next repeat. For ``hold_s`` seconds nothing below critical starts; 0
        ends a silence and stops nothing. Returns how many were stopped, 0 or 1.
        """
        now = self._tick()
        hold_s = self.limits.silence_hold_s if hold_s is None else hold_s
        self._hold_until = now + hold_s
        if hold_s <= 0.0 or self._turn.entry is None:
            return 0
        self._turn.entry.stop_now = True
        return 1

    def shelve(self, key: str, duration_s: float, *, critical: bool = False) -> int:
        """SHELVE: alarms of ``key`` end as ``shelved`` for ``duration_s`` seconds; 0 ends it.

        Critical alarms are not shelved unless ``critical``. Shelves don't
        outlive the process. Returns how many live alarms it met.

        Raises:
            QueueFullError: too many keys are shelved.
        """
        now = self._tick()
        if duration_s <= 0.0:
            self._shelves.take_off(key)
            return 0
        self._shelves.put(key, now + duration_s, critical)
        highest = Priority.CRITICAL if critical else Priority.HIGH
        return self._withdraw(Target(key=key), None, Outcome.SHELVED, stop=True, highest=highest)

    # Looking in

    def take_events(self) -> list[Event]:
        """Events since the last call, oldest first; the caller hands them on."""
        return self._ledger.take_events()

    def tick(self) -> None:
        """End what has expired, wake what is due; the other methods do it by themselves."""
        self._tick()

    def wake_in_s(self) -> float | None:
        """Seconds until time alone changes something; None: it never will."""
        now = self._clock()
        times = [self._hold_until] if self._hold_until > now else []
        for entry in self._ledger:
            if entry.state is State.RESTING:
                times.append(entry.ready_at)
            if entry.is_idle and entry.deadline is not None:
                times.append(entry.deadline)
        return max(0.0, min(times) - now) if times else None

    @property
    def speaking(self) -> Alarm | None:
        """The alarm that :meth:`next` returned and that has not ended."""
        return self._turn.entry.alarm if self._turn.entry else None

    def is_live(self, alarm_id: int) -> bool:
        """Whether the alarm has not ended."""
        return alarm_id in self._ledger

    def status(self) -> QueueStatus:
        """A consistent picture of the queue."""
        now = self._tick()
        return QueueStatus(
            alarms=tuple(
                AlarmState(e.alarm, e.state.value, now - e.alarm.accepted_at, e.count,
                           e.times_spoken)
                for e in self._ledger
            ),
            speaking_id=self._turn.entry.alarm.id if self._turn.entry else None,
            waiting=len(self._ledger.in_state(State.WAITING)),
            resting=len(self._ledger.in_state(State.RESTING)),
            silenced_for_s=max(0.0, self._hold_until - now),
            shelved_for_s={key: until - now for key, until in self._shelves.until().items()},
            outcomes=dict(self._ledger.outcomes),
            counts=dict(self._ledger.counts),
        )  # fmt: skip

    # Inside

    def _tick(self) -> float:
        now = self._clock()
        self._shelves.expire(now)
        for entry in self._ledger:
            if entry.is_idle and entry.is_overdue(now):
                self._ledger.finish(entry, entry.expiry_outcome)
            elif entry.state is State.RESTING and entry.ready_at <= now:
                entry.state = State.WAITING
        return now

    def _count(self, members: list[Entry], now: float) -> Entry:
        for entry in members:
            entry.state = State.COUNTED
        alarm = count_alarm(self._intake.take_id(), [entry.alarm for entry in members], now)
        return self._ledger.add(alarm, now, members=len(members))

    def _withdraw(
        self,
        target: Target,
        owner_uid: int | None,
        outcome: Outcome,
        *,
        stop: bool,
        highest: Priority = Priority.CRITICAL,
    ) -> int:
        self._tick()
        met = 0
        for entry in self._ledger:
            if not entry.meets(target, owner_uid) or entry.alarm.priority > highest:
                continue
            met += 1
            if entry.state is State.SPEAKING:
                entry.end_as = outcome
                entry.stop_now = entry.stop_now or (stop and not entry.is_critical)
            else:
                self._turn.end(entry, outcome, {})
        return met
