"""One live alarm inside the queue: where it stands and when it is due."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from edge_tts.daemon.alarm import Alarm, Outcome, Priority
from edge_tts.daemon.requests import Say, Target


class State(enum.Enum):
    """Where a live alarm stands."""

    WAITING = "waiting"
    SPEAKING = "speaking"
    RESTING = "resting"
    """Told at least once, waiting for its next repeat."""
    COUNTED = "counted"
    """Part of a count that is being spoken."""


def tells_the_same(alarm: Alarm, request: Say) -> bool:
    """Whether the alarm says all that the request asks for, as urgently."""
    return (
        alarm.key is not None
        and alarm.key == request.key
        and alarm.text == request.text
        and alarm.prefix == request.prefix
        and alarm.repeat_s == request.repeat_s
        and alarm.priority >= request.priority
        and not alarm.streaming
    )


@dataclass
class Entry:
    """Mutable state of one alarm; ``ready_at`` is monotonic seconds."""

    alarm: Alarm
    ready_at: float
    state: State = State.WAITING
    count: int = 1
    """Identical requests that it stands for."""
    times_spoken: int = 0
    rested: bool = False
    """It had its first turn and is told again."""
    begun: bool = False
    """Its sound broke off; it starts again from its beginning."""
    cut: bool = False
    """It broke off for a critical alarm."""
    stop_now: bool = False
    """Its sound shall end at once."""
    end_as: Outcome | None = None
    """ACK, CLEAR or SHELVE met it while it was spoken."""

    @property
    def deadline(self) -> float | None:
        """When its time to live is over; None: never."""
        ttl_s = self.alarm.ttl_s
        return None if ttl_s is None else self.alarm.accepted_at + ttl_s

    @property
    def is_critical(self) -> bool:
        return self.alarm.priority is Priority.CRITICAL

    @property
    def is_idle(self) -> bool:
        """Neither spoken nor part of a spoken count."""
        return self.state in (State.WAITING, State.RESTING)

    @property
    def is_leaving(self) -> bool:
        """It will end with the sound that is on."""
        return self.stop_now or self.end_as is not None

    @property
    def expiry_outcome(self) -> Outcome:
        """How it ends when its time to live passes."""
        if self.times_spoken:
            return Outcome.DONE
        return Outcome.PREEMPTED if self.cut else Outcome.EXPIRED

    def is_overdue(self, now: float) -> bool:
        """Whether its time to live is over."""
        return self.deadline is not None and self.deadline <= now

    def rank(self) -> tuple[int, float, int]:
        """Order of speaking: the smallest first."""
        return (-self.alarm.priority, self.ready_at, self.alarm.id)

    def yields_to(self, priority: Priority) -> bool:
        """Whether a newer text of its key with this priority takes its place."""
        return priority >= self.alarm.priority or self.rested

    def meets(self, target: Target, owner_uid: int | None) -> bool:
        """Whether ACK or CLEAR with this target means it."""
        named = target.names(self.alarm.id, self.alarm.key)
        return named and owner_uid in (None, self.alarm.owner_uid)

    def prolong(self, ttl_s: float | None, now: float) -> None:
        """Let the alarm live ``ttl_s`` from ``now``, if that is longer; None: for ever."""
        if ttl_s is None or self.deadline is None:
            self.alarm = replace(self.alarm, ttl_s=None)
        elif now + ttl_s > self.deadline:
            self.alarm = replace(self.alarm, ttl_s=now + ttl_s - self.alarm.accepted_at)
