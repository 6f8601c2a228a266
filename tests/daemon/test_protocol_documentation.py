"""docs/protocol.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from edge_tts.daemon.alarm import EventKind, Outcome
from edge_tts.daemon.protocol import VERBS, format_error, parse_reply, parse_request
from edge_tts.daemon.protocol_fields import FIELDS
from edge_tts.daemon.queue_status import QueueLimits
from edge_tts.daemon.requests import Request
from edge_tts.errors import RequestError

TEXT = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
LINES = [
    line for block in re.findall(r"```\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()
]
EXCHANGES = [
    (line[2:], LINES[number + 1][2:]) for number, line in enumerate(LINES) if line.startswith("> ")
]


def answer_to(line: str) -> Request | str:
    try:
        return parse_request(line.encode())
    except RequestError as exc:
        return format_error(exc)


@pytest.mark.parametrize(("request_line", "reply_line"), EXCHANGES)
def test_examples(request_line: str, reply_line: str) -> None:
    answer = answer_to(request_line)
    if isinstance(answer, str):
        assert answer == reply_line
    else:
        assert reply_line.startswith("OK ")


def test_every_reply_shown_can_be_read() -> None:
    shown = [line[2:] for line in LINES if line.startswith("< ")]
    assert len(shown) > 20
    for line in shown:
        reply = parse_reply(line)
        if reply.kind == "EV" and "id" in reply.fields:
            assert EventKind(reply.words[0])
        if "outcome" in reply.fields:
            assert Outcome(reply.fields["outcome"])


def table_rows(heading: str) -> list[list[str]]:
    section = TEXT.split(heading, 1)[1]
    lines = section[section.index("|") :].splitlines()
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows[2:]


def test_every_verb_with_its_fields_is_described() -> None:
    rows = {
        row[0].strip("`"): set(re.findall(r"`(\w+)`", row[1])) for row in table_rows("## Verbs")
    }
    rows["STREAM"] = rows["SAY"] - {"text"}
    assert rows == {verb: set(fields) for verb, fields in FIELDS.items()}
    assert tuple(rows) == VERBS
    assert {row[0].strip("`") for row in table_rows("### SAY")} == set(FIELDS["SAY"])


def test_every_outcome_and_event_is_described() -> None:
    outcomes = {row[0].strip("`"): row[2] for row in table_rows("| outcome |")}
    assert outcomes == {outcome.value: str(outcome.exit_code) for outcome in Outcome}
    events = {row[0].strip("`") for row in table_rows("| event |")}
    assert events == {kind.value for kind in EventKind}


def test_bounds_are_those_of_the_code() -> None:
    limits = QueueLimits()
    bounds = {row[0]: row[1] for row in table_rows("## Bounds")}
    assert bounds["waiting alarms"] == (
        f"{limits.max_waiting}, of which {limits.reserved_critical} are kept for critical ones"
    )
    assert f"{limits.silence_hold_s:g} when it is missing" in TEXT
    assert f"repeat window ({limits.repeat_window_s:g} s)" in TEXT
    assert f"More than {limits.flood_threshold} waiting" in TEXT
    sources = Path(__file__).parents[2] / "edge_tts" / "daemon"
    documented = {
        word for row in table_rows("## Errors") for word in re.findall(r"`([a-z-]+)`", row[1])
    }
    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted(sources.glob("*.py")))
    for reason in documented:
        assert f'"{reason}"' in code or reason in code, f"{reason} is described and not used"
