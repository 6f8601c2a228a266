"""No bytes make the parser raise anything but a refusal."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from edge_tts.daemon.alarm import Priority
from edge_tts.daemon.protocol import (
    VERBS,
    format_say,
    format_stream,
    parse_reply,
    parse_request,
    quote_value,
)
from edge_tts.daemon.requests import Say, Stream, Wait
from tests.daemon.fuzz_protocol import check_line, check_piece, fuzz

WORDS = st.text(st.characters(codec="utf-8"), max_size=30)
LINES = st.one_of(
    st.binary(max_size=200),
    WORDS.map(str.encode),
    st.builds(lambda verb, rest: f"{verb} {rest}".encode(), st.sampled_from(VERBS), WORDS),
    st.builds(
        lambda verb, name, value, text: f"{verb} {name}={value} text={text}".encode(),
        st.sampled_from(VERBS),
        st.sampled_from(["prio", "key", "ttl", "repeat", "prefix", "tone", "gain", "for", "id"]),
        WORDS,
        WORDS,
    ),
)


@given(LINES, st.sampled_from(Priority))
@example(b"{" * 4096, Priority.LOW)
@example(b'{"a":' * 819, Priority.LOW)
@example(b"\xff" * 4096, Priority.CRITICAL)
@settings(max_examples=400, deadline=None)
def test_any_bytes_get_a_request_or_one_error_line(line: bytes, priority: Priority) -> None:
    check_line(line)
    check_piece(line, priority)


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_value_survives_its_reply_line(value: str) -> None:
    line = f"OK v={quote_value(value)} w=1"
    assert line.isprintable()
    assert dict(parse_reply(line).fields) == {"v": value, "w": "1"}


def rounded(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda value: round(value, 3))


LABELS = st.text(min_size=1, max_size=40).filter(str.isprintable)
SAYS = st.builds(
    Say,
    text=st.text(min_size=1, max_size=40)
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: text and len(text.splitlines()) == 1),
    priority=st.sampled_from(Priority),
    key=st.none() | LABELS,
    ttl_s=st.none() | rounded(0.001, 604_800),
    repeat_s=st.none() | rounded(0.001, 86_400),
    prefix=st.just("") | LABELS,
    tone=st.sampled_from(["auto", "off", "horn_2"]),
    gain_db=rounded(-40, 12),
    speed=rounded(0.5, 2),
    wait=st.sampled_from(Wait),
)


@given(SAYS)
@settings(max_examples=300, deadline=None)
def test_every_request_a_client_writes_is_read_back(say: Say) -> None:
    assert parse_request(format_say(say).encode()) == say
    header = replace(say, text="")
    assert parse_request(format_stream(header).encode()) == Stream(header)


@given(st.text(max_size=80), st.sampled_from(["OK ", "EV ", "ERR ", ""]))
@settings(max_examples=300, deadline=None)
def test_any_reply_is_read_or_is_a_value_error(text: str, kind: str) -> None:
    with contextlib.suppress(ValueError):
        assert parse_reply(kind + text).kind in ("OK", "EV", "ERR")


def test_seeded_lines_reach_every_kind_of_answer() -> None:
    answers = fuzz(20_000, seed=7)
    assert answers.total() == 20_000
    kinds = set(answers)
    assert {"Say", "Stream", "Ack", "Clear", "Shelve", "Silence", "Status", "Test"} <= kinds
    assert {"64 unknown-field", "64 bad-value", "65 encoding", "65 json", "65 empty-text"} <= kinds
