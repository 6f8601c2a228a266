"""Read request lines: bytes in, one frozen dataclass or a RequestError out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from edge_tts.daemon.alarm import Priority
from edge_tts.daemon.protocol_fields import FIELDS, build_request, check_field_name
from edge_tts.daemon.requests import Request, Say, Stream
from edge_tts.errors import RequestError

MAX_LINE_BYTES = 4096

_BOM = "\ufeff"
_FIELD_START = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*=")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BARE = re.compile(r"\S+")


def parse_request(line: bytes, *, max_line_bytes: int = MAX_LINE_BYTES) -> Request:
    """Read one request line, with or without its line end.

    Bytes that are not UTF-8 are dropped from a critical or high SAY or STREAM,
    whose ``warnings`` then hold ``encoding``; every other request is refused.

    Raises:
        RequestError: the line can't be carried out; never anything else, for
            any bytes. Codes: 64 usage, 65 bad data.
    """
    line = line.rstrip(b"\r\n")
    if len(line) > max_line_bytes:
        raise RequestError(
            65,
            "line-too-long",
            f"a line holds at most {max_line_bytes} bytes; send long text with STREAM",
            {"max_bytes": max_line_bytes},
        )
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as exc:
        repaired = line.decode("utf-8", errors="ignore")
        error = RequestError(
            65,
            "encoding",
            f"byte {exc.start} of the line is not UTF-8; send UTF-8",
            {"offset": exc.start},
        )
        return _urgent_only(lambda: _parse_text(repaired), error)
    return _parse_text(text)


def _urgent_only(parse: Callable[[], Request], error: RequestError) -> Request:
    """Parse what lost its bad bytes; let urgent speech through, raise ``error`` for the rest."""
    try:
        request = parse()
    except RequestError:
        raise error from None
    header = request.header if isinstance(request, Stream) else request
    if not isinstance(header, Say) or header.priority < Priority.HIGH:
        raise error
    header = replace(header, warnings=("encoding",))
    return Stream(header) if isinstance(request, Stream) else header


def parse_piece(line: bytes, priority: Priority) -> tuple[str, tuple[str, ...]]:
    """Read one line of text that follows STREAM: ``(text, warnings)``.

    An empty text ends the stream. Bad bytes are treated as in :func:`parse_request`.

    Raises:
        RequestError: 65 ``encoding``, below high priority.
    """
    line = line.rstrip(b"\r\n")
    try:
        return line.decode("utf-8"), ()
    except UnicodeDecodeError as exc:
        if priority < Priority.HIGH:
            raise RequestError(
                65, "encoding", f"byte {exc.start} is not UTF-8", {"offset": exc.start}
            ) from None
        # A piece of nothing but bad bytes must not look like the end of the stream.
        return line.decode("utf-8", errors="ignore") or " ", ("encoding",)


def _parse_text(text: str) -> Request:
    stripped = text.removeprefix(_BOM).strip()
    if not stripped:
        raise RequestError(65, "empty-text", "the line is empty: there is nothing to speak")
    if stripped.startswith("{"):
        return _parse_json(stripped)
    word = stripped.split(maxsplit=1)[0]
    verb = word.upper()
    rest = stripped[len(word) :].lstrip()
    if verb in FIELDS and (_FIELD_START.match(rest) or (word == verb and not rest)):
        return _build(verb, _read_fields(verb, rest))
    return Say(text=stripped)


def _build(verb: str, fields: Mapping[str, str]) -> Request:
    """Build a request; ``\\ud800`` in a JSON string is no character and treated as a bad byte."""
    damaged = [name for name, value in fields.items() if _SURROGATE.search(value)]
    if not damaged:
        return build_request(verb, fields)
    repaired = {name: _SURROGATE.sub("", value) for name, value in fields.items()}
    error = RequestError(
        65,
        "encoding",
        f"field {damaged[0]} holds half of a surrogate pair, which is no character",
        {"field": damaged[0]},
    )
    return _urgent_only(lambda: build_request(verb, repaired), error)


def _read_fields(verb: str, rest: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    while rest:
        match = _FIELD_START.match(rest)
        if match is None:
            raise RequestError(
                64,
                "bad-field",
                "after the verb come name=value words; a text goes last, after text=",
                {"verb": verb},
            )
        name = match.group()[:-1].lower()
        check_field_name(verb, name)
        if name in fields:
            raise RequestError(
                64, "duplicate-field", f"field {name} is given twice", {"field": name}
            )
        rest = rest[match.end() :]
        if name == "text":
            fields[name] = rest
            break
        fields[name], rest = _read_value(name, rest)
    return fields


def _read_value(name: str, rest: str) -> tuple[str, str]:
    """One value and what follows it; a value in double quotes is a JSON string."""
    if rest.startswith('"'):
        try:
            value, end = json.JSONDecoder().raw_decode(rest)
        except ValueError:
            value, end = None, 0
        if not isinstance(value, str) or (rest[end:] and not rest[end].isspace()):
            raise RequestError(
                64, "bad-value", f"the quotes of field {name} do not close", {"field": name}
            )
        return value, rest[end:].lstrip()
    match = _BARE.match(rest)
    end = match.end() if match else 0
    return rest[:end], rest[end:].lstrip()


def _parse_json(text: str) -> Request:
    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        fields: dict[str, object] = {}
        for name, value in items:
            if name in fields:
                raise RequestError(
                    64, "duplicate-field", f"field {name} is given twice", {"field": name[:64]}
                )
            fields[name] = value
        return fields

    try:
        # Numbers stay text: their form and range are checked with all other values.
        data = json.loads(
            text, object_pairs_hook=pairs, parse_int=str, parse_float=str, parse_constant=str
        )
    except (ValueError, RecursionError):
        raise RequestError(
            65, "json", "the line starts with { and is not a JSON object; check its quotes"
        ) from None
    verb = data.pop("verb", "SAY")
    if not isinstance(verb, str) or verb.upper() not in FIELDS:
        raise RequestError(
            64, "unknown-verb", "there is no such verb", {"allowed": ",".join(FIELDS)}
        )
    fields: dict[str, str] = {}
    for name, value in data.items():
        check_field_name(verb.upper(), name)
        fields[name] = _json_value(name, value)
    return _build(verb.upper(), fields)


def _json_value(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    raise RequestError(
        64, "bad-value", f"field {name} must be a string, a number or a truth value",
        {"field": name},
    )  # fmt: skip
