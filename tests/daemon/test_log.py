"""One event is one line that shows what was received."""

from __future__ import annotations

import io
import logging
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.daemon import log


@pytest.fixture
def written(monkeypatch):
    monkeypatch.setenv("JOURNAL_STREAM", "8:1")
    stream = io.StringIO()
    writer = log.start_log("info", stream)

    def read() -> list[str]:
        writer.close()
        return stream.getvalue().splitlines()

    yield read
    writer.close()


def test_priorities_and_fields(written):
    log.event("alarm-accepted", id=7, key=None, text="7号罐 压力", ratio=0.5)
    log.event("device-lost", log.ERROR, card="USB=1")
    log.event("hidden", log.DEBUG)
    assert written() == [
        '<6>alarm-accepted id=7 text="7号罐 压力" ratio=0.5',
        '<3>device-lost card="USB=1"',
    ]


def test_a_foreign_record_with_a_traceback_stays_one_line(written):
    try:
        raise ValueError("two\nlines")
    except ValueError:
        logging.getLogger("edge_tts.inference").warning("fell\nback", exc_info=True)
    (line,) = written()
    assert line.startswith("<4>fell\\nback traceback=")
    assert "ValueError" in line


@given(st.text())
def test_no_text_breaks_the_line_or_turns_it_round(text):
    line = log.format_event("alarm", {"text": text, "id": 3})
    assert line.isprintable()
    assert line.startswith("alarm text=")
    assert line.endswith(" id=3")


def test_a_stuck_reader_costs_lines_and_not_time():
    class Stuck(io.StringIO):
        def __init__(self) -> None:
            super().__init__()
            self.gate = threading.Event()

        def write(self, text: str) -> int:
            self.gate.wait(30)
            return super().write(text)

    stream = Stuck()
    writer = log.start_log("info", stream)
    for number in range(5000):
        log.event("flood", n=number)
    assert writer.dropped_lines >= 2000
    stream.gate.set()
    writer.close()
