"""An alarm, its priority, the ways it can end, and what its caller is told."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

EventValue = str | int | float


class Priority(enum.IntEnum):
    """Urgency, ordered: a higher value is spoken first."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2
    CRITICAL = 3

    @property
    def word(self) -> str:
        """The priority as the protocol writes it: ``critical``, ``high`` ..."""
        return self.name.lower()

    @classmethod
    def from_word(cls, word: str) -> Priority:
        """Read a priority word in any case.

        Raises:
            KeyError: there is no such priority.
        """
        return cls[word.upper()]


class Outcome(str, enum.Enum):
    """How an accepted alarm ended. Every alarm gets exactly one."""

    DONE = "done"
    """Spoken whole (a repeating one: at least once, and its time to live is over)."""
    PREEMPTED = "preempted"
    """Cut by a critical alarm, and its time to live passed before it could start again."""
    SUPERSEDED = "superseded"
    """A newer text of the same key took its place."""
    EXPIRED = "expired"
    """Its time to live passed before it was spoken."""
    SILENCED = "silenced"
    """SILENCE stopped it while it was spoken."""
    SHELVED = "shelved"
    """Its key is shelved."""
    ACKNOWLEDGED = "acknowledged"
    """ACK ended its waiting or its repeating."""
    CLEARED = "cleared"
    """CLEAR: what it told of is over."""
    COUNTED = "counted"
    """In a flood, told of in one spoken count instead of by its own text."""
    FOLDED = "folded"
    """The same text of the same key was spoken within the repeat window."""
    FAILED = "failed"
    """Nothing could be put out for it."""

    @property
    def exit_code(self) -> int:
        """Exit status of a client that waited for the end of the alarm."""
        return _EXIT_CODES.get(self, 10)


_EXIT_CODES = {
    Outcome.DONE: 0,
    Outcome.FOLDED: 0,
    Outcome.EXPIRED: 11,
    Outcome.SHELVED: 11,
    Outcome.FAILED: 74,
}


class EventKind(str, enum.Enum):
    """What happened to an alarm."""

    ACCEPTED = "accepted"
    FOLDED = "folded"
    STARTED = "started"
    CUT = "cut"
    """A critical alarm cut in; this one will start again from its beginning."""
    RETURNED = "returned"
    """Playing broke off (a lost device); it will start again from its beginning."""
    SPOKEN = "spoken"
    """A repeating alarm was told once more, and will be again."""
    FINISHED = "finished"
    """The end; the only kind that carries an outcome."""


@dataclass(frozen=True)
class Alarm:
    """One thing to be spoken, as it was accepted.

    Times are seconds of the queue's monotonic clock.
    """

    id: int
    text: str
    priority: Priority = Priority.MEDIUM
    key: str | None = None
    ttl_s: float | None = None
    """Seconds after ``accepted_at`` in which speaking may begin; None: no limit."""
    repeat_s: float | None = None
    """Seconds from the end of one telling to the next, until ACK or CLEAR; None: once."""
    prefix: str = ""
    """Words said first, taken from the cache."""
    tone: str = "auto"
    """``auto`` (by priority), ``off``, or the name of a configured tone."""
    gain_db: float = 0.0
    speed: float = 1.0
    owner_uid: int = -1
    """User that sent it; -1: the daemon itself."""
    accepted_at: float = 0.0
    streaming: bool = False
    """Text comes in pieces (STREAM) and ``text`` may still be empty."""
    members: tuple[int, ...] = ()
    """Ids that a spoken count stands for; empty for every other alarm."""


@dataclass(frozen=True)
class Event:
    """One line of news about one alarm; ``details`` keep the order they are written in."""

    alarm_id: int
    kind: EventKind
    key: str | None = None
    priority: Priority = Priority.MEDIUM
    outcome: Outcome | None = None
    details: Mapping[str, EventValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Admission:
    """What the queue did with a request.

    ``alarm`` is the alarm whose events the caller shall hear: a new one, or
    the identical one that the request was folded into. ``live`` is False when
    that alarm has ended already (spoken within the repeat window, or its key
    is shelved): then ``outcome`` says how, and nothing needs the journal.
    """

    alarm: Alarm
    folded: bool = False
    count: int = 1
    """How many identical requests the alarm stands for, this one included."""
    live: bool = True
    outcome: Outcome | None = None
