"""Logs for journald: one line an event, ``<priority>name key=value ...``.

Lines are written by a thread of their own out of a bounded queue: a log
reader that hangs must not hold up the speaker.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import sys
import threading
from collections.abc import Mapping
from typing import TextIO

DEBUG, INFO, WARNING, ERROR = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR

_ROOT = "edge_tts"
_MAX_WAITING_LINES = 2_000
_CLOSE_TIMEOUT_S = 2.0

# syslog(3) priorities.
_PRIORITIES = {
    logging.CRITICAL: 2,
    logging.ERROR: 3,
    logging.WARNING: 4,
    logging.INFO: 6,
    logging.DEBUG: 7,
}


def event(name: str, level: int = logging.INFO, /, **fields: object) -> None:
    """Log one event, for example ``event("alarm-accepted", id=7, priority="high")``."""
    logger = logging.getLogger(_ROOT)
    if logger.isEnabledFor(level):
        logger.log(level, "%s", format_event(name, fields))


def format_event(name: str, fields: Mapping[str, object]) -> str:
    words = [name]
    words += [f"{key}={_quote(value)}" for key, value in fields.items() if value is not None]
    return " ".join(words)


def _quote(value: object) -> str:
    """Write a value so that it stays one word on one line and can't be reordered.

    Control and bidirectional characters are escaped: a log line must show
    what was received, in the order in which it was received.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    text = str(value)
    if text and text.isprintable() and not any(c in ' "=\\' for c in text):
        return text
    return '"' + _escape(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _escape(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode("ascii")
        for c in text
    )


class LineFormatter(logging.Formatter):
    """One line a record, whatever the message holds; a traceback is folded into it."""

    def __init__(self, with_priority: bool) -> None:
        super().__init__()
        self._with_priority = with_priority

    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage()
        if record.exc_info:
            text += " traceback=" + _quote(self.formatException(record.exc_info))
        text = _escape(text)
        if self._with_priority:
            return f"<{_PRIORITIES.get(record.levelno, 6)}>{text}"
        return f"{self.formatTime(record, '%Y-%m-%d %H:%M:%S')} {record.levelname.lower()} {text}"


class LogWriter(logging.Handler):
    """Hands records to a thread that writes them; drops and counts what does not fit."""

    def __init__(self, output: logging.Handler) -> None:
        super().__init__()
        self.dropped_lines = 0
        self._output = output
        self._waiting: queue.Queue[logging.LogRecord | None] = queue.Queue(_MAX_WAITING_LINES)
        self._thread = threading.Thread(target=self._write, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._waiting.put_nowait(record)
        except queue.Full:
            self.dropped_lines += 1

    def close(self) -> None:
        """Write what waits, for a bounded time, and leave the logger."""
        logging.getLogger(_ROOT).removeHandler(self)
        with contextlib.suppress(queue.Full):
            self._waiting.put(None, timeout=_CLOSE_TIMEOUT_S)
            self._thread.join(_CLOSE_TIMEOUT_S)
        super().close()

    def _write(self) -> None:
        while (record := self._waiting.get()) is not None:
            self._output.handle(record)


def start_log(level: str = "info", stream: TextIO | None = None) -> LogWriter:
    """Send everything under ``edge_tts`` to a stream, with priorities under journald."""
    output = logging.StreamHandler(stream or sys.stderr)
    output.setFormatter(LineFormatter(with_priority="JOURNAL_STREAM" in os.environ))
    writer = LogWriter(output)
    logger = logging.getLogger(_ROOT)
    logger.setLevel(level.upper())
    logger.addHandler(writer)
    logger.propagate = False
    return writer
