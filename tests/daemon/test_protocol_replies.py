"""Reply lines, and the request lines that a client writes."""

from __future__ import annotations

import pytest

from edge_tts.daemon.alarm import Event, EventKind, Outcome, Priority
from edge_tts.daemon.protocol import (
    format_error,
    format_event,
    format_ok,
    format_say,
    format_stream,
    parse_reply,
    parse_request,
    quote_value,
)
from edge_tts.daemon.requests import Say, Stream, Wait
from edge_tts.errors import RequestError

pytestmark = pytest.mark.core


def test_replies_as_the_documentation_shows_them() -> None:
    assert format_ok(id=7, state="accepted") == "OK id=7 state=accepted"
    full = RequestError(75, "queue-full", "full", {"retry_ms": 500})
    assert format_error(full) == "ERR 75 queue-full retry_ms=500"
    started = Event(7, EventKind.STARTED, "tank 7", Priority.HIGH)
    assert format_event(started) == "EV id=7 started"
    assert format_event(started, full=True) == 'EV id=7 started prio=high key="tank 7"'
    done = Event(
        7,
        EventKind.FINISHED,
        outcome=Outcome.DONE,
        details={"via": "neural", "underruns": 0, "first_ms": 31.25},
    )
    assert (
        format_event(done) == "EV id=7 finished outcome=done via=neural underruns=0 first_ms=31.25"
    )


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain", "plain"),
        ("tank=7", '"tank=7"'),
        ("a b", '"a b"'),
        ("", '""'),
        ('say "x"', '"say \\"x\\""'),
        ("line\nbreak", '"line\\nbreak"'),
        ("a\u202eb", '"a\\u202eb"'),
        ("\x1b[31m", '"\\u001b[31m"'),
        ("水\u3000位", '"\\u6c34\\u3000\\u4f4d"'),
        (0.1 + 0.2, "0.3"),
        (12345678, "12345678"),
        (604799.5, "604799.5"),
        (0.00001, "0.00001"),
        (1e-9, "0"),
        (30.0, "30"),
    ],
)
def test_values_are_quoted_so_that_no_line_breaks(value: str | float, written: str) -> None:
    assert quote_value(value) == written
    read = parse_reply(f"OK v={written} w=1").fields
    assert read["w"] == "1"
    if isinstance(value, str):
        assert read["v"] == value


def test_reading_replies() -> None:
    reply = parse_reply("ERR 75 queue-full retry_ms=500\n")
    assert (reply.kind, reply.words, dict(reply.fields)) == (
        "ERR", ("75", "queue-full"), {"retry_ms": "500"},
    )  # fmt: skip
    for line in ("", "HI", "OKAY x=1", 'OK v="open'):
        with pytest.raises(ValueError, match=r"reply|quot|string"):
            parse_reply(line)


def test_client_lines_read_back() -> None:
    say = Say(
        "7号罐 压力=高",
        Priority.CRITICAL,
        key="tank 7",
        ttl_s=0.5,
        repeat_s=30.0,
        prefix="警告",
        tone="off",
        gain_db=-2.5,
        speed=1.1,
        wait=Wait.FINISHED,
    )
    assert parse_request(format_say(say).encode()) == say
    assert parse_request(format_say(Say("two\nlines")).encode()) == Say("two lines")
    assert parse_request(format_stream(Say("", key="k")).encode()) == Stream(Say("", key="k"))
