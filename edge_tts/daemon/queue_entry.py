"""One live alarm inside the queue: where it stands and when it is due."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from edge_tts.daemon.alarm import Alarm, Outcome
from edge_tts.daemon.requests import Say


class State(enum.Enum):
    """Where a live alarm stands."""

    WAITING = "waiting"
    SPEAKING = "speaking"
    RESTING = "resting"
    """Told at least once, waiting for its next repeat."""
    COUNTED = "counted"
    """Part of a count that is being spoken."""


def _same(alarm: Alarm, request: Say) -> bool:
    return (
        alarm.key == request.key
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
    times_spoken: int = 0
    started: bool = False
    cut: bool = False
    stop_outcome: Outcome | None = None
    """Stop the sound now and end so."""
    after_outcome: Outcome | None = None
    """Let the sentence end, then end so."""

    @property
    def deadline(self) -> float | None:
        """When its time to live is over; None: never."""
        ttl_s = self.alarm.ttl_s
        return None if ttl_s is None else self.alarm.accepted_at + ttl_s

    @property
    def expiry_outcome(self) -> Outcome:
        """How it ends when its time to live passes."""
        if self.times_spoken:
            return Outcome.DONE
        return Outcome.PREEMPTED if self.cut else Outcome.EXPIRED

    @property
    def takes_room(self) -> bool:
        """Whether it counts against the bound of waiting alarms."""
        return self.state is not State.SPEAKING

    def rank(self) -> tuple[int, float, int]:
        """Order of speaking: the smallest first."""
        return (-self.alarm.priority, self.ready_at, self.alarm.id)

    def is_same(self, request: Say) -> bool:
        """Whether the request asks for what this alarm tells already."""
        return _same(self.alarm, request)

    def prolong(self, ttl_s: float | None, now: float) -> None:
        """Let the alarm live ``ttl_s`` from ``now``, if that is longer."""
        if ttl_s is not None and self.deadline is not None and now + ttl_s > self.deadline:
            self.alarm = replace(self.alarm, ttl_s=now + ttl_s - self.alarm.accepted_at)


@dataclass
class Spoken:
    """What was last spoken for a key, and when."""

    alarm: Alarm
    at: float
    count: int

    def is_same(self, request: Say) -> bool:
        """Whether the request asks for what was spoken."""
        return _same(self.alarm, request)
