"""The alarm whose turn it is, and what becomes of it when its sound ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from edge_tts.daemon.alarm import EventKind, EventValue, Outcome
from edge_tts.daemon.queue_entry import Entry, State
from edge_tts.daemon.queue_ledger import Ledger
from edge_tts.daemon.repeat_window import RepeatWindow

_Details = Mapping[str, EventValue]
_RETURNED = EventKind.RETURNED


class Turn:
    """Holds at most one entry: the one that is spoken."""

    def __init__(self, ledger: Ledger, window: RepeatWindow, clock: Callable[[], float]) -> None:
        self._ledger = ledger
        self._window = window
        self._clock = clock
        self.entry: Entry | None = None

    def begin(self, entry: Entry) -> None:
        entry.state = State.SPEAKING
        self.entry = entry

    def is_on(self, alarm_id: int) -> bool:
        return self.entry is not None and self.entry.alarm.id == alarm_id

    def must_stop(self) -> bool:
        """Whether its sound shall end now."""
        entry = self.entry
        if entry is None or entry.stop_now:
            return True
        return not entry.is_critical and self._ledger.critical_waits()

    def stopped(self, reason: str = "") -> None:
        """Its sound broke off."""
        entry = self._give_up()
        if entry.stop_now and entry.end_as is None:
            self._end_or_rest(entry, Outcome.SILENCED, {})
        elif reason or not self._ledger.critical_waits():
            self._put_back(entry, _RETURNED, {"reason": reason or "stopped"})
        else:
            self._ledger.counts["cut"] += 1
            self._put_back(entry, EventKind.CUT, {})

    def finished(self, details: _Details) -> None:
        """It was told whole."""
        entry = self._give_up()
        for member in self._members(entry):
            self._told(member, Outcome.COUNTED, {"by": entry.alarm.id})
        self._window.remember(entry.alarm, self._clock(), entry.count)
        self._told(entry, Outcome.DONE, details)

    def failed(self, details: _Details) -> None:
        """Nothing could be put out for it, nor for those it counts."""
        entry = self._give_up()
        for member in self._members(entry):
            self._end_or_rest(member, Outcome.FAILED, details)
        self._end_or_rest(entry, Outcome.FAILED, details)

    def end(self, entry: Entry, outcome: Outcome, details: _Details) -> None:
        """End an alarm; those it counted and that were not told wait again."""
        members = self._members(entry)
        self._ledger.finish(entry, outcome, details)
        for member in members:
            self._put_back(member, _RETURNED, {"reason": "count-ended"})

    def _give_up(self) -> Entry:
        entry, self.entry = self.entry, None
        if entry is None:
            raise RuntimeError("no alarm is being spoken")
        return entry

    def _members(self, count: Entry) -> list[Entry]:
        entries = (self._ledger.get(alarm_id) for alarm_id in count.alarm.members)
        return [entry for entry in entries if entry is not None and entry.state is State.COUNTED]

    def _put_back(self, entry: Entry, kind: EventKind, details: _Details) -> None:
        """Let a broken-off alarm start again, if it still may."""
        if entry.alarm.members:
            # Its members are counted anew, or told one by one.
            self.end(entry, entry.end_as or Outcome.PREEMPTED, {})
        elif entry.end_as is not None:
            self.end(entry, entry.end_as, {})
        elif (newer := self._ledger.newer(entry)) is not None:
            self.end(entry, Outcome.SUPERSEDED, {"by": newer.alarm.id})
        else:
            entry.begun = entry.begun or entry.state is State.SPEAKING
            entry.cut = entry.cut or kind is EventKind.CUT
            entry.state = State.WAITING
            self._ledger.tell(entry.alarm, kind, details)

    def _told(self, entry: Entry, outcome: Outcome, details: _Details) -> None:
        entry.times_spoken += 1
        self._end_or_rest(entry, outcome, details)

    def _end_or_rest(self, entry: Entry, outcome: Outcome, details: _Details) -> None:
        """End, or rest until the next repeat where there is one."""
        repeat_s = entry.alarm.repeat_s
        if repeat_s is None:
            self.end(entry, outcome, details)
            return
        details = {"times": entry.times_spoken, **details}
        if entry.end_as is not None:
            self.end(entry, entry.end_as, details)
            return
        # It had its turn: from now on whatever is newer of its key takes its place.
        entry.rested = True
        newer = self._ledger.newer(entry)
        if newer is not None and outcome is not Outcome.FAILED:
            self.end(entry, Outcome.SUPERSEDED, {"by": newer.alarm.id, **details})
            return
        entry.ready_at = self._clock() + repeat_s
        if newer is not None or entry.is_overdue(entry.ready_at):
            self.end(entry, outcome, details)
            return
        entry.state = State.RESTING
        entry.begun = entry.cut = entry.stop_now = False
        if outcome in (Outcome.DONE, Outcome.COUNTED):
            self._ledger.tell(entry.alarm, EventKind.SPOKEN, {**details, "next_s": repeat_s})
        else:
            why = {"reason": outcome.value, **details, "next_s": repeat_s}
            self._ledger.tell(entry.alarm, _RETURNED, why)
