"""How alarms come into the queue: folded, shelved, refused, or taken in place of older ones."""

from __future__ import annotations

from dataclasses import replace

from edge_tts.daemon.alarm import Admission, Alarm, EventKind, Outcome, Priority
from edge_tts.daemon.queue_entry import tells_the_same
from edge_tts.daemon.queue_ledger import Ledger
from edge_tts.daemon.queue_status import QueueLimits
from edge_tts.daemon.repeat_window import RepeatWindow
from edge_tts.daemon.requests import Say
from edge_tts.daemon.shelves import Shelves
from edge_tts.errors import QueueFullError


class Intake:
    """Gives ids and decides what becomes of a request. Times are monotonic seconds."""

    def __init__(
        self,
        ledger: Ledger,
        window: RepeatWindow,
        shelves: Shelves,
        limits: QueueLimits,
        first_id: int,
    ) -> None:
        self._ledger = ledger
        self._window = window
        self._shelves = shelves
        self._limits = limits
        self._next_id = first_id

    def take_id(self) -> int:
        """A new id, above every one before."""
        self._next_id += 1
        return self._next_id - 1

    def admit(self, request: Say, owner_uid: int, streaming: bool, now: float) -> Admission:
        """Take a request in.

        Raises:
            QueueFullError: no room; nothing was changed.
        """
        request = self._with_defaults(request)
        folded = None if streaming else self._fold(request, now)
        if folded is not None:
            self._ledger.counts["folded"] += 1
            return folded
        if self._shelves.covers(request.key, request.priority):
            entry = self._ledger.add(self._new_alarm(request, owner_uid, streaming, now), now)
            self._ledger.finish(entry, Outcome.SHELVED)
            return Admission(entry.alarm, live=False, outcome=Outcome.SHELVED)
        replaced = [
            entry
            for entry in self._ledger.of_key(request.key)
            if entry.is_idle and entry.yields_to(request.priority)
        ]
        self._check_room(request.priority, len(replaced))
        alarm = self._new_alarm(request, owner_uid, streaming, now)
        self._ledger.add(alarm, now)
        for entry in replaced:
            self._ledger.finish(entry, Outcome.SUPERSEDED, {"by": alarm.id})
        return Admission(alarm)

    def restore(self, alarm: Alarm, accepted_at: float, now: float) -> None:
        """Take back an alarm that was accepted before a restart."""
        self._next_id = max(self._next_id, alarm.id + 1)
        alarm = replace(alarm, accepted_at=accepted_at)
        older = self._ledger.of_key(alarm.key)
        entry = self._ledger.add(alarm, accepted_at, restored=1)
        for old in older:
            if old.is_idle and old.yields_to(alarm.priority):
                self._ledger.finish(old, Outcome.SUPERSEDED, {"by": alarm.id})
        if entry.is_overdue(now):
            self._ledger.finish(entry, entry.expiry_outcome)

    def _with_defaults(self, request: Say) -> Say:
        repeat_s, ttl_s = request.repeat_s, request.ttl_s
        if repeat_s is not None:
            repeat_s = max(repeat_s, self._limits.min_repeat_s)
        elif ttl_s is None and request.priority < Priority.CRITICAL:
            ttl_s = self._limits.default_ttl_s
        return replace(request, repeat_s=repeat_s, ttl_s=ttl_s)

    def _new_alarm(self, request: Say, owner_uid: int, streaming: bool, now: float) -> Alarm:
        return Alarm(
            id=self.take_id(),
            text=request.text,
            priority=request.priority,
            key=request.key,
            ttl_s=request.ttl_s,
            repeat_s=request.repeat_s,
            prefix=request.prefix,
            tone=request.tone,
            gain_db=request.gain_db,
            speed=request.speed,
            owner_uid=owner_uid,
            accepted_at=now,
            streaming=streaming,
        )

    def _fold(self, request: Say, now: float) -> Admission | None:
        """Fold into the newest alarm of the key: an older text said again is news."""
        live = self._ledger.of_key(request.key)
        if live:
            entry = live[-1]
            if entry.is_leaving or not tells_the_same(entry.alarm, request):
                return None
            entry.count += 1
            entry.prolong(request.ttl_s, now)
            self._ledger.tell(entry.alarm, EventKind.FOLDED, {"count": entry.count})
            return Admission(entry.alarm, folded=True, count=entry.count)
        spoken = self._window.match(request, now)
        if spoken is None:
            return None
        spoken.count += 1
        self._ledger.tell(spoken.alarm, EventKind.FOLDED, {"count": spoken.count})
        return Admission(
            spoken.alarm, folded=True, count=spoken.count, live=False, outcome=Outcome.FOLDED
        )

    def _check_room(self, priority: Priority, leaving: int) -> None:
        limits = self._limits
        if not self._ledger.has_room(
            priority, leaving, limits.max_waiting, limits.reserved_critical
        ):
            self._ledger.counts["refused"] += 1
            raise QueueFullError(
                f"the queue of {limits.max_waiting} is full; try again in {limits.retry_ms} ms",
                limits.retry_ms,
            )
