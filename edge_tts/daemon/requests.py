"""Requests of the socket protocol, one frozen dataclass a verb."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from edge_tts.daemon.alarm import Priority


class Wait(str, enum.Enum):
    """The state a caller waits for before its request counts as answered."""

    ACCEPTED = "accepted"
    STARTED = "started"
    FINISHED = "finished"


@dataclass(frozen=True)
class Say:
    """SAY, and any line with neither verb nor brace.

    ``warnings`` holds ``encoding`` when bytes that are not UTF-8 were dropped.
    """

    text: str
    priority: Priority = Priority.MEDIUM
    key: str | None = None
    ttl_s: float | None = None
    repeat_s: float | None = None
    prefix: str = ""
    tone: str = "auto"
    gain_db: float = 0.0
    speed: float = 1.0
    wait: Wait = Wait.ACCEPTED
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stream:
    """STREAM: as SAY, but the text follows, a piece a line, until an empty line.

    ``header.text`` is empty.
    """

    header: Say


@dataclass(frozen=True)
class Target:
    """Which alarms ACK and CLEAR mean: exactly one of the three is given."""

    key: str | None = None
    id: int | None = None
    all: bool = False

    def names(self, alarm_id: int, key: str | None) -> bool:
        """Whether an alarm with this id and key is meant."""
        return self.all or alarm_id == self.id or (self.key is not None and key == self.key)


@dataclass(frozen=True)
class Clear:
    """CLEAR: what the alarms told of is over."""

    target: Target


@dataclass(frozen=True)
class Ack:
    """ACK: a person knows; stop repeating."""

    target: Target


@dataclass(frozen=True)
class Silence:
    """SILENCE: no sound now. ``hold_s`` None takes the configured time, 0 ends a silence."""

    hold_s: float | None = None


@dataclass(frozen=True)
class Shelve:
    """SHELVE: keep a key quiet for ``duration_s`` seconds; 0 takes it off the shelf."""

    key: str
    duration_s: float
    critical: bool = False
    """Shelve critical alarms of the key too."""


class StatusFormat(str, enum.Enum):
    """How STATUS is written."""

    TEXT = "text"
    JSON = "json"
    PROMETHEUS = "prometheus"


@dataclass(frozen=True)
class Status:
    """STATUS: the state of the daemon, ``OK lines=N`` and then N lines."""

    format: StatusFormat = StatusFormat.TEXT


@dataclass(frozen=True)
class Events:
    """EVENTS: every later event that passes the filter, until the client goes away."""

    key: str | None = None
    min_priority: Priority = Priority.LOW


@dataclass(frozen=True)
class Reload:
    """RELOAD: read settings and pronunciations again."""


@dataclass(frozen=True)
class Test:
    """TEST: speak the configured test sentence."""

    __test__ = False  # pytest would take the class for a test case

    priority: Priority = Priority.LOW
    wait: Wait = Wait.ACCEPTED


@dataclass(frozen=True)
class Ping:
    """PING: ``OK pong=1``."""


@dataclass(frozen=True)
class Hello:
    """HELLO: names the client, asks what the daemon speaks."""

    protocol: int = 1
    client: str = ""


Request = (
    Say | Stream | Clear | Ack | Silence | Shelve | Status | Events | Reload | Test | Ping | Hello
)
