"""Write and read reply lines, and write request lines as a client does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from edge_tts.daemon.alarm import Event, EventValue
from edge_tts.daemon.requests import Say
from edge_tts.errors import RequestError

_BARE_VALUE = re.compile(r'[^\s"=]+')
_REPLY_WORD = re.compile(r'([A-Za-z_][A-Za-z0-9_-]*)=("(?:[^"\\]|\\.)*"|\S*)|(\S+)')


@dataclass(frozen=True)
class Reply:
    """One reply line, read: ``kind`` OK, EV or ERR, plain words, and fields."""

    kind: str
    words: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


def format_ok(**fields: EventValue) -> str:
    """``OK id=7 state=accepted``; like every line formatted here without its LF."""
    return _line("OK", fields)


def format_error(error: RequestError) -> str:
    """``ERR 75 queue-full retry_ms=500``."""
    return _line(f"ERR {error.exit_code} {error.reason}", error.details)


def format_event(event: Event, *, full: bool = False) -> str:
    """``EV id=7 finished outcome=done ...``.

    ``full`` adds ``key`` and ``prio``, as EVENTS subscribers get them.
    """
    fields: dict[str, EventValue] = {}
    if event.outcome is not None:
        fields["outcome"] = event.outcome.value
    if full:
        fields["prio"] = event.priority.word
        if event.key is not None:
            fields["key"] = event.key
    fields.update(event.details)
    return _line(f"EV id={event.alarm_id} {event.kind.value}", fields)


def _line(head: str, fields: Mapping[str, EventValue]) -> str:
    return " ".join([head, *(f"{name}={quote_value(value)}" for name, value in fields.items())])


def quote_value(value: EventValue) -> str:
    """A reply value: bare where it can be, else a JSON string in double quotes.

    Characters that are not printable are written ``\\uXXXX``, so that no value
    can break a line or turn its direction on a terminal.
    """
    if isinstance(value, float):
        # Never an exponent: requests do not take one, and small programs do not read one.
        return f"{value:.6f}".rstrip("0").rstrip(".")
    text = str(value)
    if text.isprintable() and _BARE_VALUE.fullmatch(text):
        return text
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    return json.dumps(text)


def parse_reply(line: str) -> Reply:
    """Read a reply line, as a client does.

    Raises:
        ValueError: the line is no reply of this protocol.
    """
    kind, _, rest = line.strip().partition(" ")
    if kind not in ("OK", "EV", "ERR"):
        raise ValueError(f"not a reply: {line[:80]!r}")
    words: list[str] = []
    fields: dict[str, str] = {}
    for match in _REPLY_WORD.finditer(rest):
        name, value, word = match.groups()
        if word is not None:
            words.append(word)
        elif value.startswith('"'):
            fields[name] = str(json.loads(value))
        else:
            fields[name] = value
    return Reply(kind, tuple(words), fields)


def format_say(request: Say) -> str:
    """The SAY line of a request; :func:`parse_request` reads it back."""
    text = " ".join(request.text.splitlines())
    return f"{_head('SAY', request)} text={text}"


def format_stream(request: Say) -> str:
    """The STREAM line of a request; its text is not in it."""
    return _head("STREAM", request)


def _head(verb: str, request: Say) -> str:
    default = Say(text="")
    fields: dict[str, EventValue] = {}
    if request.priority != default.priority:
        fields["prio"] = request.priority.word
    for name, attribute in _SAY_ATTRIBUTES.items():
        value = getattr(request, attribute)
        if value != getattr(default, attribute):
            fields[name] = value
    if request.wait != default.wait:
        fields["wait"] = request.wait.value
    return " ".join([verb, *(f"{name}={quote_value(value)}" for name, value in fields.items())])


_SAY_ATTRIBUTES = {
    "key": "key",
    "ttl": "ttl_s",
    "repeat": "repeat_s",
    "prefix": "prefix",
    "tone": "tone",
    "gain": "gain_db",
    "speed": "speed",
}
