"""Waits for the disk in a thread of its own: a slow card delays answers, never the socket."""

from __future__ import annotations

import threading
from collections.abc import Callable

from edge_tts.daemon import log
from edge_tts.daemon.connection import Connection
from edge_tts.daemon.journal import Journal
from edge_tts.daemon.metrics import Metrics

_STOP_S = 2.0


class JournalSyncer:
    """Holds back the answer to an alarm until the disk has had its chance to keep it.

    Args:
        post: runs a function in the server's thread.
    """

    def __init__(
        self, journal: Journal, metrics: Metrics, post: Callable[[Callable[[], None]], None]
    ) -> None:
        self._journal = journal
        self._metrics = metrics
        self._post = post
        self._changed = threading.Condition()
        self._waiting: list[Connection] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def answer(self, connection: Connection, line: str, alarm_id: int) -> None:
        """Send a line once the journal has been synced; it says when the alarm is not safe.

        Called in the server's thread, after the journal was given the alarm.
        """

        def late() -> str:
            # One that has ended meanwhile is not in the journal, and need not be.
            safe = self._journal.holds(alarm_id) or not self._journal.status().degraded
            return line if safe else f"{line} journal=off"

        connection.send_later(late)
        with self._changed:
            self._waiting.append(connection)
            self._changed.notify_all()

    def stop(self) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join(_STOP_S)

    def _run(self) -> None:
        degraded = False
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stopping)
                if not self._waiting:
                    return
                batch, self._waiting = self._waiting, []
            safe = self._journal.sync()
            if not safe:
                self._metrics.count("journal_failures_total")
            if degraded == safe:
                degraded = not safe
                reason = self._journal.status().reason or None
                level = log.ERROR if degraded else log.INFO
                log.event("journal", level, degraded=degraded, reason=reason)
            self._post(lambda batch=batch: _release(batch))  # type: ignore[misc]


def _release(batch: list[Connection]) -> None:
    for connection in batch:
        connection.release()
