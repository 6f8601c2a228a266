"""The books of the queue: live alarms, events about them, and how they ended.

An alarm enters by :meth:`Ledger.add` and leaves by :meth:`Ledger.finish`
alone, so that each one ends once, with one outcome that is told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from edge_tts.daemon.alarm import Alarm, Event, EventKind, EventValue, Outcome, Priority
from edge_tts.daemon.queue_entry import Entry, State


class Ledger:
    """Entries by id, oldest first."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}
        self._events: deque[Event] = deque()
        self.outcomes: dict[str, int] = {}
        self.counts = dict.fromkeys(("accepted", "folded", "refused", "cut"), 0)

    def __iter__(self) -> Iterator[Entry]:
        return iter(list(self._entries.values()))

    def __contains__(self, alarm_id: object) -> bool:
        return alarm_id in self._entries

    def get(self, alarm_id: int) -> Entry | None:
        return self._entries.get(alarm_id)

    def add(self, alarm: Alarm, ready_at: float, **details: int) -> Entry:
        """Take an alarm in."""
        entry = Entry(alarm, ready_at)
        self._entries[alarm.id] = entry
        self.counts["accepted"] += 1
        self.tell(alarm, EventKind.ACCEPTED, details)
        return entry

    def finish(
        self, entry: Entry, outcome: Outcome, details: Mapping[str, EventValue] | None = None
    ) -> None:
        """Let an alarm out, once."""
        del self._entries[entry.alarm.id]
        self.outcomes[outcome.value] = self.outcomes.get(outcome.value, 0) + 1
        folded: dict[str, EventValue] = {"count": entry.count} if entry.count > 1 else {}
        self.tell(entry.alarm, EventKind.FINISHED, {**folded, **(details or {})}, outcome)

    def tell(
        self,
        alarm: Alarm,
        kind: EventKind,
        details: Mapping[str, EventValue],
        outcome: Outcome | None = None,
    ) -> None:
        """Add an event."""
        self._events.append(Event(alarm.id, kind, alarm.key, alarm.priority, outcome, details))

    def take_events(self) -> list[Event]:
        """Events since the last call, oldest first."""
        events = list(self._events)
        self._events.clear()
        return events

    def of_key(self, key: str | None) -> list[Entry]:
        """Live alarms of a key, oldest first; none for no key."""
        return [] if key is None else [entry for entry in self if entry.alarm.key == key]

    def in_state(self, state: State) -> list[Entry]:
        return [entry for entry in self if entry.state is state]

    def newer(self, entry: Entry) -> Entry | None:
        """A later alarm of the same key that ``entry`` would have yielded to while waiting."""
        for other in self.of_key(entry.alarm.key):
            if other.alarm.id > entry.alarm.id and entry.yields_to(other.alarm.priority):
                return other
        return None

    def critical_waits(self) -> bool:
        return any(e.state is State.WAITING and e.is_critical for e in self._entries.values())

    def has_room(self, priority: Priority, leaving: int, limit: int, reserved: int) -> bool:
        """Whether one more may wait when ``leaving`` lower ones go for it.

        ``limit`` bounds all that wait, ``limit - reserved`` those below critical.
        """
        waiting = [entry for entry in self if entry.state is not State.SPEAKING]
        below = sum(not entry.is_critical for entry in waiting)
        if priority is Priority.CRITICAL:
            return len(waiting) - leaving < limit
        return len(waiting) - leaving < limit and below - leaving < limit - reserved
