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
  live; CLEAR cuts it short, ACK lets the sentence end.
* In a flood, those waiting below high become one spoken count.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from edge_tts.daemon.alarm import Admission, Alarm, Event, EventKind, EventValue, Outcome, Priority
from edge_tts.daemon.flood import count_text
from edge_tts.daemon.queue_entry import Entry, Spoken, State
from edge_tts.daemon.requests import Say, Target
from edge_tts.errors import QueueFullError

_MAX_REMEMBERED = 256


@dataclass(frozen=True)
class QueueLimits:
    """Bounds and times of the queue; times in seconds."""

    max_waiting: int = 64
    reserved_for_critical: int = 8
    repeat_window_s: float = 10.0
    """An identical text of the same key this soon after it was spoken is folded."""
    default_ttl_s: float | None = 300.0
    """For alarms without ``ttl`` that are neither critical nor repeating."""
    flood_threshold: int = 10
    """More than this many waiting is a flood. Source: ISA-18.2, ten alarms in ten minutes."""
    silence_hold_s: float = 30.0
    max_shelved: int = 256
    retry_ms: int = 500


@dataclass(frozen=True)
class AlarmState:
    """One live alarm, for STATUS."""

    alarm: Alarm
    state: str
    age_s: float
    count: int
    times_spoken: int


@dataclass(frozen=True)
class QueueStatus:
    """The whole queue at one moment, for STATUS and metrics."""

    alarms: tuple[AlarmState, ...]
    speaking_id: int | None
    waiting: int
    resting: int
    silenced_for_s: float
    shelved_s: dict[str, float]
    outcomes: dict[str, int]
    accepted: int
    folded: int
    refused: int
    cut: int


class AlarmQueue:
    """Waiting, speaking and repeating alarms.

    Args:
        clock: seconds, never going back (``time.monotonic``).
        limits: bounds and times.
        first_id: the id of the first new alarm; ``journal.next_id`` after a restart.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        limits: QueueLimits | None = None,
        first_id: int = 1,
    ) -> None:
        self._clock = clock
        self.limits = limits or QueueLimits()
        self._next_id = first_id
        self._entries: dict[int, Entry] = {}
        self._speaking: Entry | None = None
        self._recent: OrderedDict[str, Spoken] = OrderedDict()
        self._shelves: dict[str, tuple[float, bool]] = {}
        self._hold_until = float("-inf")
        self._events: deque[Event] = deque()
        self._outcomes: dict[str, int] = {}
        self._accepted = self._folded = self._refused = self._cut = 0

    # Coming in

    def submit(self, request: Say, *, owner_uid: int = -1, streaming: bool = False) -> Admission:
        """Accept a request, or fold it into an identical alarm.

        The caller journals ``admission.alarm`` when ``admission.live`` (a fold
        may have prolonged its time to live), then answers.

        Raises:
            QueueFullError: no room for this priority; nothing was changed.
        """
        now = self._tick()
        folded = None if streaming else self._fold(request, now)
        if folded is not None:
            self._folded += 1
            return folded
        shelf = self._shelves.get(request.key) if request.key is not None else None
        shelved = shelf is not None and (request.priority < Priority.CRITICAL or shelf[1])
        replaced = [] if shelved else self._superseded_by(request)
        if not shelved:
            self._check_room(request.priority, replaced)
        alarm = self._new_alarm(request, owner_uid, streaming, now)
        entry = Entry(alarm, ready_at=now)
        self._entries[alarm.id] = entry
        self._accepted += 1
        self._emit(entry, EventKind.ACCEPTED)
        if shelved:
            self._finish(entry, Outcome.SHELVED)
            return Admission(alarm, live=False, outcome=Outcome.SHELVED)
        for old in replaced:
            self._finish(old, Outcome.SUPERSEDED, by=alarm.id)
        return Admission(alarm)

    def restore(self, alarm: Alarm, age_s: float) -> None:
        """Take back an alarm that the journal carried over a restart.

        ``age_s`` is the time since it was accepted; past its time to live it
        ends as ``expired``. Bounds don't refuse it: it was accepted.
        """
        now = self._tick()
        alarm = replace(alarm, accepted_at=now - age_s)
        self._next_id = max(self._next_id, alarm.id + 1)
        entry = Entry(alarm, ready_at=alarm.accepted_at)
        self._entries[alarm.id] = entry
        self._accepted += 1
        self._emit(entry, EventKind.ACCEPTED, restored=1)
        self._tick()

    # Being spoken

    def next(self) -> Alarm | None:
        """The alarm to speak now, from its beginning; None when there is none.

        While an alarm is spoken this is None, except that a critical alarm
        cuts in: the cut one is put back (as :meth:`stopped` does) and the
        critical one returned. Ask between two chunks.
        """
        now = self._tick()
        if self._speaking is not None:
            if not self.must_stop(self._speaking.alarm.id):
                return None
            self.stopped(self._speaking.alarm.id)
        entry = self._best(now)
        if entry is None:
            return None
        if self._is_flood(entry, now):
            entry = self._count(now)
        entry.state = State.SPEAKING
        self._speaking = entry
        return entry.alarm

    def must_stop(self, alarm_id: int) -> bool:
        """Whether this alarm's sound shall end now (10 ms fade, then :meth:`stopped`)."""
        entry = self._speaking
        if entry is None or entry.alarm.id != alarm_id:
            return True
        if entry.stop_outcome is not None:
            return True
        return entry.alarm.priority < Priority.CRITICAL and self._critical_waits()

    def started(self, alarm_id: int, **details: EventValue) -> None:
        """The first non-silent sample of the alarm reached the device."""
        entry = self._speaking
        if entry is not None and entry.alarm.id == alarm_id:
            entry.started = True
            self._emit(entry, EventKind.STARTED, **details)

    def stopped(self, alarm_id: int, reason: str = "") -> None:
        """The alarm's sound ended early: it was told to stop, or the device was lost.

        It ends if ACK, CLEAR, SILENCE or SHELVE asked for that, else it waits
        to start again from its beginning. ``reason`` goes into the event.
        """
        entry = self._take_speaking(alarm_id)
        if entry is None:
            return
        if entry.stop_outcome is not None:
            self._end_or_rest(entry, entry.stop_outcome)
            return
        if reason or not self._critical_waits():
            self._put_back(entry, EventKind.RETURNED, reason=reason or "stopped")
        else:
            self._cut += 1
            self._put_back(entry, EventKind.CUT)

    def finished(self, alarm_id: int, **details: EventValue) -> None:
        """The last sample of the alarm left the device."""
        entry = self._take_speaking(alarm_id)
        if entry is None:
            return
        entry.times_spoken += 1
        self._told(entry, Outcome.DONE, details)

    def failed(self, alarm_id: int, reason: str, **details: EventValue) -> None:
        """Nothing could be put out for the alarm, not even a tone. It ends."""
        entry = self._take_speaking(alarm_id)
        if entry is None:
            return
        self._finish(entry, Outcome.FAILED, reason=reason, **details)
        self._release_members(entry)

    # What people ask for

    def acknowledge(self, target: Target, *, owner_uid: int | None = None) -> int:
        """ACK: end waiting and repeating; a sentence being spoken ends whole.

        Returns how many alarms it met. ``owner_uid`` restricts it to that
        user's alarms.
        """
        self._tick()
        entries = self._targets(target, owner_uid)
        for entry in entries:
            if entry.state is State.SPEAKING:
                entry.after_outcome = Outcome.ACKNOWLEDGED
            else:
                self._finish(entry, Outcome.ACKNOWLEDGED)
        return len(entries)

    def clear(self, target: Target, *, owner_uid: int | None = None) -> int:
        """CLEAR: as ACK, but a sentence being spoken is cut, unless critical."""
        self._tick()
        entries = self._targets(target, owner_uid)
        for entry in entries:
            self._withdraw(entry, Outcome.CLEARED)
            self._recent.pop(entry.alarm.key or "", None)
        return len(entries)

    def silence(self, hold_s: float | None = None) -> int:
        """SILENCE: stop the sound now, of whatever priority; keep what waits.

        The alarm that was sounding ends as ``silenced``, or rests until its
        next repeat. For ``hold_s`` seconds nothing below critical starts.
        Returns how many alarms were stopped (0 or 1).
        """
        now = self._tick()
        hold_s = self.limits.silence_hold_s if hold_s is None else hold_s
        self._hold_until = now + hold_s
        if hold_s <= 0 or self._speaking is None:
            return 0
        if self._speaking.stop_outcome is None:
            self._speaking.stop_outcome = Outcome.SILENCED
        return 1

    def shelve(self, key: str, duration_s: float, *, critical: bool = False) -> int:
        """SHELVE: alarms of ``key`` end as ``shelved`` for ``duration_s`` seconds; 0 ends it.

        Critical alarms are not shelved unless ``critical``. Shelves don't
        outlive the process. Returns how many waiting alarms it ended.

        Raises:
            QueueFullError: too many keys are shelved.
        """
        now = self._tick()
        if duration_s <= 0:
            self._shelves.pop(key, None)
            return 0
        if key not in self._shelves and len(self._shelves) >= self.limits.max_shelved:
            raise QueueFullError(
                f"{len(self._shelves)} keys are shelved already; take one off first",
                self.limits.retry_ms,
            )
        self._shelves[key] = (now + duration_s, critical)
        ended = [
            entry
            for entry in self._targets(Target(key=key), None)
            if critical or entry.alarm.priority < Priority.CRITICAL
        ]
        for entry in ended:
            self._withdraw(entry, Outcome.SHELVED)
        return len(ended)

    # Looking in

    def take_events(self) -> list[Event]:
        """Events since the last call, oldest first; the caller hands them on."""
        events = list(self._events)
        self._events.clear()
        return events

    def tick(self) -> None:
        """End what has expired, wake what is due; the other methods do it by themselves."""
        self._tick()

    def wake_in_s(self) -> float | None:
        """Seconds until time alone changes something; None: nothing will."""
        now = self._clock()
        times = [until for until, _ in self._shelves.values()]
        if self._hold_until > now:
            times.append(self._hold_until)
        for entry in self._entries.values():
            if entry.state is State.RESTING:
                times.append(entry.ready_at)
            if entry.deadline is not None and entry.state in (State.WAITING, State.RESTING):
                times.append(entry.deadline)
        return max(0.0, min(times) - now) if times else None

    @property
    def speaking(self) -> Alarm | None:
        """The alarm that :meth:`next` returned and that has not ended."""
        return self._speaking.alarm if self._speaking else None

    def is_live(self, alarm_id: int) -> bool:
        """Whether the alarm has not ended."""
        return alarm_id in self._entries

    def status(self) -> QueueStatus:
        """A consistent picture of the queue."""
        now = self._tick()
        return QueueStatus(
            alarms=tuple(
                AlarmState(
                    entry.alarm,
                    entry.state.value,
                    now - entry.alarm.accepted_at,
                    entry.count,
                    entry.times_spoken,
                )
                for entry in self._entries.values()
            ),
            speaking_id=self._speaking.alarm.id if self._speaking else None,
            waiting=sum(entry.state is State.WAITING for entry in self._entries.values()),
            resting=sum(entry.state is State.RESTING for entry in self._entries.values()),
            silenced_for_s=max(0.0, self._hold_until - now),
            shelved_s={key: until - now for key, (until, _) in self._shelves.items()},
            outcomes=dict(self._outcomes),
            accepted=self._accepted,
            folded=self._folded,
            refused=self._refused,
            cut=self._cut,
        )

    # Inside

    def _tick(self) -> float:
        now = self._clock()
        for key in [key for key, (until, _) in self._shelves.items() if until <= now]:
            del self._shelves[key]
        for entry in list(self._entries.values()):
            if entry.state not in (State.WAITING, State.RESTING):
                continue
            if entry.deadline is not None and entry.deadline <= now:
                self._finish(entry, entry.expiry_outcome)
            elif entry.state is State.RESTING and entry.ready_at <= now:
                entry.state = State.WAITING
        return now

    def _new_alarm(self, request: Say, owner_uid: int, streaming: bool, now: float) -> Alarm:
        ttl_s = request.ttl_s
        if ttl_s is None and request.repeat_s is None and request.priority < Priority.CRITICAL:
            ttl_s = self.limits.default_ttl_s
        alarm = Alarm(
            id=self._take_id(),
            text=request.text,
            priority=request.priority,
            key=request.key,
            ttl_s=ttl_s,
            repeat_s=request.repeat_s,
            prefix=request.prefix,
            tone=request.tone,
            gain_db=request.gain_db,
            speed=request.speed,
            owner_uid=owner_uid,
            accepted_at=now,
            streaming=streaming,
        )
        return alarm

    def _take_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _fold(self, request: Say, now: float) -> Admission | None:
        if request.key is None:
            return None
        for entry in self._entries.values():
            if entry.is_same(request) and entry.stop_outcome is None:
                entry.count += 1
                entry.prolong(request.ttl_s, now)
                self._emit(entry, EventKind.FOLDED, count=entry.count)
                return Admission(entry.alarm, folded=True, count=entry.count)
        spoken = self._recent.get(request.key)
        if spoken is None or not spoken.is_same(request):
            return None
        if now - spoken.at > self.limits.repeat_window_s:
            return None
        if any(entry.alarm.key == request.key for entry in self._entries.values()):
            return None
        spoken.count += 1
        self._events.append(
            Event(
                spoken.alarm.id,
                EventKind.FOLDED,
                request.key,
                spoken.alarm.priority,
                details={"count": spoken.count},
            )
        )
        return Admission(
            spoken.alarm, folded=True, count=spoken.count, live=False, outcome=Outcome.FOLDED
        )

    def _superseded_by(self, request: Say) -> list[Entry]:
        if request.key is None:
            return []
        return [
            entry
            for entry in self._entries.values()
            if entry.alarm.key == request.key
            and entry.state in (State.WAITING, State.RESTING)
            and (request.priority >= entry.alarm.priority or entry.times_spoken > 0)
        ]

    def _check_room(self, priority: Priority, leaving: Iterable[Entry]) -> None:
        gone = {entry.alarm.id for entry in leaving}
        waiting = [
            entry
            for entry in self._entries.values()
            if entry.takes_room and entry.alarm.id not in gone
        ]
        below = sum(entry.alarm.priority < Priority.CRITICAL for entry in waiting)
        limit = self.limits.max_waiting
        full = len(waiting) >= limit or (
            priority < Priority.CRITICAL and below >= limit - self.limits.reserved_for_critical
        )
        if full:
            self._refused += 1
            raise QueueFullError(
                f"{len(waiting)} alarms wait already; try again in {self.limits.retry_ms} ms",
                self.limits.retry_ms,
            )

    def _best(self, now: float) -> Entry | None:
        held = now < self._hold_until
        ready = (
            entry
            for entry in self._entries.values()
            if entry.state is State.WAITING
            and (not held or entry.alarm.priority is Priority.CRITICAL)
        )
        return min(ready, key=Entry.rank, default=None)

    def _critical_waits(self) -> bool:
        return any(
            entry.state is State.WAITING and entry.alarm.priority is Priority.CRITICAL
            for entry in self._entries.values()
        )

    def _is_flood(self, best: Entry, now: float) -> bool:
        if best.alarm.priority >= Priority.HIGH or best.cut:
            return False
        waiting = sum(entry.state is State.WAITING for entry in self._entries.values())
        return waiting > self.limits.flood_threshold

    def _count(self, now: float) -> Entry:
        members = [
            entry
            for entry in self._entries.values()
            if entry.state is State.WAITING and entry.alarm.priority < Priority.HIGH
        ]
        for entry in members:
            entry.state = State.COUNTED
        alarm = Alarm(
            id=self._take_id(),
            text=count_text([entry.alarm.text for entry in members]),
            priority=max(entry.alarm.priority for entry in members),
            accepted_at=now,
            members=tuple(entry.alarm.id for entry in members),
        )
        entry = Entry(alarm, ready_at=now)
        self._entries[alarm.id] = entry
        self._emit(entry, EventKind.ACCEPTED, members=len(members))
        return entry

    def _take_speaking(self, alarm_id: int) -> Entry | None:
        entry = self._speaking
        if entry is None or entry.alarm.id != alarm_id:
            return None
        self._speaking = None
        return entry

    def _put_back(self, entry: Entry, kind: EventKind, **details: EventValue) -> None:
        """Let a broken-off alarm start again, if it still may."""
        entry.cut = True
        if entry.alarm.members:
            self._finish(entry, Outcome.PREEMPTED)
            self._release_members(entry)
            return
        if entry.after_outcome is not None:
            self._finish(entry, entry.after_outcome)
        elif (newer := self._newer(entry)) is not None:
            self._finish(entry, Outcome.SUPERSEDED, by=newer.alarm.id)
        elif entry.deadline is not None and entry.deadline <= self._clock():
            self._finish(entry, entry.expiry_outcome)
        else:
            entry.state = State.WAITING
            self._emit(entry, kind, **details)

    def _newer(self, entry: Entry) -> Entry | None:
        """A later alarm of the same key that would have superseded ``entry`` if it had waited."""
        if entry.alarm.key is None:
            return None
        for other in self._entries.values():
            if (
                other.alarm.key == entry.alarm.key
                and other.alarm.id > entry.alarm.id
                and (other.alarm.priority >= entry.alarm.priority or entry.times_spoken > 0)
            ):
                return other
        return None

    def _release_members(self, count: Entry) -> None:
        for member_id in count.alarm.members:
            entry = self._entries.get(member_id)
            if entry is not None and entry.state is State.COUNTED:
                cut = entry.cut
                self._put_back(entry, EventKind.RETURNED, reason="count-cut")
                entry.cut = cut

    def _told(self, entry: Entry, outcome: Outcome, details: dict[str, EventValue]) -> None:
        """An alarm was told whole, by itself or in a count: end it or let it rest."""
        for member_id in entry.alarm.members:
            member = self._entries.get(member_id)
            if member is not None and member.state is State.COUNTED:
                self._told(member, Outcome.COUNTED, {"by": entry.alarm.id})
        if entry.alarm.key is not None and outcome is Outcome.DONE:
            self._recent[entry.alarm.key] = Spoken(entry.alarm, self._clock(), entry.count)
            self._recent.move_to_end(entry.alarm.key)
            if len(self._recent) > _MAX_REMEMBERED:
                self._recent.popitem(last=False)
        self._end_or_rest(entry, entry.after_outcome or outcome, **details)

    def _end_or_rest(self, entry: Entry, outcome: Outcome, **details: EventValue) -> None:
        rests = outcome in (Outcome.DONE, Outcome.COUNTED, Outcome.SILENCED)
        if entry.alarm.repeat_s is None or not rests:
            self._finish(entry, outcome, **details)
            return
        newer = self._newer(entry)
        if newer is not None:
            self._finish(entry, Outcome.SUPERSEDED, by=newer.alarm.id)
            return
        now = self._clock()
        entry.ready_at = now + entry.alarm.repeat_s
        if entry.deadline is not None and entry.ready_at >= entry.deadline:
            self._finish(entry, outcome, times=entry.times_spoken, **details)
            return
        entry.state = State.RESTING
        entry.cut = False
        entry.stop_outcome = None
        self._emit(
            entry,
            EventKind.SPOKEN,
            times=entry.times_spoken,
            next_s=entry.alarm.repeat_s,
            **details,
        )

    def _withdraw(self, entry: Entry, outcome: Outcome) -> None:
        if entry.state is not State.SPEAKING:
            self._finish(entry, outcome)
        elif entry.alarm.priority is Priority.CRITICAL:
            entry.after_outcome = outcome
        elif entry.stop_outcome is None:
            entry.stop_outcome = outcome

    def _targets(self, target: Target, owner_uid: int | None) -> list[Entry]:
        return [
            entry
            for entry in self._entries.values()
            if (target.all or entry.alarm.id == target.id or
                (target.key is not None and entry.alarm.key == target.key))
            and (owner_uid is None or entry.alarm.owner_uid == owner_uid)
        ]  # fmt: skip

    def _emit(self, entry: Entry, kind: EventKind, **details: EventValue) -> None:
        alarm = entry.alarm
        self._events.append(Event(alarm.id, kind, alarm.key, alarm.priority, None, details))

    def _finish(self, entry: Entry, outcome: Outcome, **details: EventValue) -> None:
        del self._entries[entry.alarm.id]
        self._outcomes[outcome.value] = self._outcomes.get(outcome.value, 0) + 1
        if entry.count > 1:
            details.setdefault("count", entry.count)
        alarm = entry.alarm
        self._events.append(
            Event(alarm.id, EventKind.FINISHED, alarm.key, alarm.priority, outcome, details)
        )
