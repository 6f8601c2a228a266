"""The fields of every verb: names, forms, ranges, and how a request is built from them.

Field values arrive as text, whether a line carried ``key=value`` words or JSON.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from edge_tts.daemon.alarm import Priority
from edge_tts.daemon.requests import (
    Ack,
    Clear,
    Events,
    Hello,
    Ping,
    Reload,
    Request,
    Say,
    Shelve,
    Silence,
    Status,
    StatusFormat,
    Stream,
    Target,
    Test,
    Wait,
)
from edge_tts.errors import RequestError

MAX_KEY_CHARS = 64
MAX_PREFIX_CHARS = 64
MAX_TTL_S = 7 * 86400.0
MAX_REPEAT_S = 86400.0
MAX_HOLD_S = 3600.0
MAX_SHELVE_S = 7 * 86400.0
MAX_GAIN_DB = 12.0
MIN_GAIN_DB = -40.0
MIN_SPEED, MAX_SPEED = 0.5, 2.0
MAX_ID = 2**63 - 1
MAX_NUMBER_CHARS = 24

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,32}", re.ASCII)

_E = TypeVar("_E", bound=enum.Enum)


def bad_value(name: str, allowed: str) -> RequestError:
    """The error for a field whose value has a wrong form or is out of range."""
    return RequestError(
        64,
        "bad-value",
        f"field {name} has a wrong value; allowed: {allowed}",
        {"field": name, "allowed": allowed},
    )


def _number(name: str, value: str, low: float, high: float, unit: str) -> float:
    allowed = f"{low:g}..{high:g} {unit}".rstrip()
    if len(value) > MAX_NUMBER_CHARS or not _NUMBER.fullmatch(value):
        raise bad_value(name, allowed)
    number = float(value)
    if not (math.isfinite(number) and low <= number <= high):
        raise bad_value(name, allowed)
    return number


def _positive(name: str, value: str, high: float) -> float | None:
    """Seconds above 0, or None for 0, which means `no limit` or `once`."""
    seconds = _number(name, value, 0.0, high, "s")
    return seconds if seconds > 0.0 else None


def _choice(name: str, value: str, choices: type[_E]) -> _E:
    for choice in choices:
        if choice.value == value.lower():
            return choice
    raise bad_value(name, "|".join(str(choice.value) for choice in choices))


def _priority(name: str, value: str) -> Priority:
    try:
        return Priority.from_word(value)
    except KeyError:
        raise bad_value(name, "critical|high|medium|low") from None


def _label(name: str, value: str, max_chars: int) -> str:
    """Text of one line without control or format characters."""
    if not 0 < len(value) <= max_chars or not value.isprintable():
        raise bad_value(name, f"1..{max_chars} printable characters")
    return value


def _id(name: str, value: str) -> int:
    if len(value) <= MAX_NUMBER_CHARS and value.isascii() and value.isdigit():
        number = int(value)
        if 0 < number <= MAX_ID:
            return number
    raise bad_value(name, "a positive whole number")


def _flag(name: str, value: str) -> bool:
    if value in ("yes", "true", "1"):
        return True
    if value in ("no", "false", "0"):
        return False
    raise bad_value(name, "yes|no")


def _tone(name: str, value: str) -> str:
    if not _NAME.fullmatch(value):
        raise bad_value(name, "auto|off|the name of a configured tone")
    return value


def _say(fields: Mapping[str, str]) -> Say:
    get = fields.get
    text = get("text", "").strip()
    return Say(
        text=text,
        priority=_priority("prio", get("prio", "medium")),
        key=_label("key", fields["key"], MAX_KEY_CHARS) if "key" in fields else None,
        ttl_s=_positive("ttl", get("ttl", "0"), MAX_TTL_S),
        repeat_s=_positive("repeat", get("repeat", "0"), MAX_REPEAT_S),
        prefix=_label("prefix", fields["prefix"], MAX_PREFIX_CHARS) if "prefix" in fields else "",
        tone=_tone("tone", get("tone", "auto")),
        gain_db=_number("gain", get("gain", "0"), MIN_GAIN_DB, MAX_GAIN_DB, "dB"),
        speed=_number("speed", get("speed", "1"), MIN_SPEED, MAX_SPEED, ""),
        wait=_choice("wait", get("wait", "accepted"), Wait),
    )


def _spoken(fields: Mapping[str, str]) -> Say:
    if "text" not in fields:
        raise RequestError(64, "missing-field", "SAY needs text=, last", {"field": "text"})
    if not fields["text"].strip():
        raise RequestError(65, "empty-text", "the text is empty: there is nothing to speak")
    return _say(fields)


def _target(fields: Mapping[str, str]) -> Target:
    given = [name for name in ("key", "id", "all") if name in fields]
    if len(given) != 1:
        raise RequestError(
            64,
            "missing-field" if not given else "conflicting-fields",
            "say which alarms: exactly one of key=, id= and all=yes",
            {"field": "key|id|all"},
        )
    if "all" in fields and not _flag("all", fields["all"]):
        raise bad_value("all", "yes")
    return Target(
        key=_label("key", fields["key"], MAX_KEY_CHARS) if "key" in fields else None,
        id=_id("id", fields["id"]) if "id" in fields else None,
        all="all" in fields,
    )


def _shelve(fields: Mapping[str, str]) -> Shelve:
    for name in ("key", "for"):
        if name not in fields:
            raise RequestError(64, "missing-field", f"SHELVE needs {name}=", {"field": name})
    return Shelve(
        key=_label("key", fields["key"], MAX_KEY_CHARS),
        duration_s=_number("for", fields["for"], 0.0, MAX_SHELVE_S, "s"),
        critical=_flag("critical", fields.get("critical", "no")),
    )


def _silence(fields: Mapping[str, str]) -> Silence:
    if "for" not in fields:
        return Silence()
    return Silence(_number("for", fields["for"], 0.0, MAX_HOLD_S, "s"))


def _events(fields: Mapping[str, str]) -> Events:
    return Events(
        key=_label("key", fields["key"], MAX_KEY_CHARS) if "key" in fields else None,
        min_priority=_priority("prio", fields.get("prio", "low")),
    )


def _test(fields: Mapping[str, str]) -> Test:
    return Test(
        priority=_priority("prio", fields.get("prio", "low")),
        wait=_choice("wait", fields.get("wait", "accepted"), Wait),
    )


def _hello(fields: Mapping[str, str]) -> Hello:
    return Hello(
        protocol=int(_number("proto", fields.get("proto", "1"), 1, 999, "")),
        client=_label("client", fields["client"], 64) if "client" in fields else "",
    )


_SAY_FIELDS = ("prio", "key", "ttl", "repeat", "wait", "prefix", "tone", "gain", "speed")

FIELDS: Mapping[str, tuple[str, ...]] = {
    "SAY": (*_SAY_FIELDS, "text"),
    "STREAM": _SAY_FIELDS,
    "CLEAR": ("key", "id", "all"),
    "ACK": ("key", "id", "all"),
    "SILENCE": ("for",),
    "SHELVE": ("key", "for", "critical"),
    "STATUS": ("format",),
    "EVENTS": ("key", "prio"),
    "RELOAD": (),
    "TEST": ("prio", "wait"),
    "PING": (),
    "HELLO": ("proto", "client"),
}
"""Fields allowed, verb by verb; the verbs in the order they are documented."""

_BUILDERS: Mapping[str, Callable[[Mapping[str, str]], Request]] = {
    "SAY": _spoken,
    "STREAM": lambda fields: Stream(_say(fields)),
    "CLEAR": lambda fields: Clear(_target(fields)),
    "ACK": lambda fields: Ack(_target(fields)),
    "SILENCE": _silence,
    "SHELVE": _shelve,
    "STATUS": lambda fields: Status(_choice("format", fields.get("format", "text"), StatusFormat)),
    "EVENTS": _events,
    "RELOAD": lambda fields: Reload(),
    "TEST": _test,
    "PING": lambda fields: Ping(),
    "HELLO": _hello,
}


def check_field_name(verb: str, name: str) -> None:
    """Refuse a field that ``verb`` does not have.

    Raises:
        RequestError: 64 ``unknown-field``, with the fields that are allowed.
    """
    allowed = FIELDS[verb]
    if name not in allowed:
        listed = ",".join(allowed) or "none"
        raise RequestError(
            64,
            "unknown-field",
            f"{verb} has no field {name}; it has: {listed}",
            {"field": name[:MAX_KEY_CHARS], "allowed": listed},
        )


def build_request(verb: str, fields: Mapping[str, str]) -> Request:
    """Build the request of ``verb`` (in capitals) from field names and values as text.

    Raises:
        RequestError: 64 for a field that is missing or wrong, 65 for an empty text.
    """
    for name in fields:
        check_field_name(verb, name)
    return _BUILDERS[verb](fields)
