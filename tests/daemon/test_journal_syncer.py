"""A disk that takes its time delays the answer it concerns, and nothing else."""

from __future__ import annotations

import selectors
import socket
import threading
import time

import pytest

from edge_tts.daemon.alarm import Alarm
from edge_tts.daemon.connection import Connection, ServerLimits
from edge_tts.daemon.journal import Journal
from edge_tts.daemon.journal_syncer import JournalSyncer
from edge_tts.daemon.metrics import Metrics


class SlowJournal(Journal):
    """Syncs when the test lets it; ``broken`` makes it fail as a full disk would."""

    def __init__(self, folder) -> None:
        super().__init__(folder)
        self.gate = threading.Event()
        self.syncs = 0

    def sync(self) -> bool:
        self.gate.wait(20)
        self.syncs += 1
        return super().sync()


@pytest.fixture
def parts(tmp_path):
    journal = SlowJournal(tmp_path / "journal")
    journal.open()
    calls: list = []
    metrics = Metrics()
    syncer = JournalSyncer(journal, metrics, calls.append)
    syncer.start()
    yield journal, syncer, calls, metrics
    journal.gate.set()
    syncer.stop()
    journal.close()


@pytest.fixture
def connection():
    ours, theirs = socket.socketpair()
    with theirs:
        yield Connection(ours, ServerLimits(), time.monotonic)


def run(calls: list, count: int) -> None:
    deadline_s = time.monotonic() + 20
    done = 0
    while done < count:
        assert time.monotonic() < deadline_s
        if calls:
            calls.pop(0)()
            done += 1
        time.sleep(0.005)


def test_the_answer_waits_for_the_disk_and_the_rest_follows_it(parts, connection):
    journal, syncer, calls, _ = parts
    journal.accept(Alarm(7, "火"))
    syncer.answer(connection, "OK id=7", 7)
    connection.send("EV id=7 started")
    assert connection.output == b""
    assert connection.waits
    assert connection.wanted_events == selectors.EVENT_READ
    journal.gate.set()
    run(calls, 1)
    assert bytes(connection.output) == b"OK id=7\nEV id=7 started\n"


def test_one_sync_serves_all_that_wait(parts, connection):
    journal, syncer, calls, _ = parts
    for number in range(1, 6):
        journal.accept(Alarm(number, "火"))
        syncer.answer(connection, f"OK id={number}", number)
    time.sleep(0.1)
    journal.gate.set()
    while bytes(connection.output).count(b"\n") < 5:
        run(calls, 1)
    assert bytes(connection.output) == b"".join(b"OK id=%d\n" % n for n in range(1, 6))
    assert journal.syncs <= 2


def test_an_alarm_that_is_not_safe_is_told_so(parts, connection, monkeypatch):
    journal, syncer, calls, metrics = parts

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fdatasync", full)
    journal.accept(Alarm(7, "火"))
    journal.gate.set()
    syncer.answer(connection, "OK id=7", 7)
    run(calls, 1)
    assert bytes(connection.output) == b"OK id=7 journal=off\n"
    assert metrics.value("journal_failures_total") == 1


def test_an_alarm_that_ended_meanwhile_needs_no_journal(parts, connection):
    journal, syncer, calls, _ = parts
    journal.accept(Alarm(7, "火"))
    syncer.answer(connection, "OK id=7", 7)
    journal.end(7)
    journal.gate.set()
    run(calls, 1)
    assert bytes(connection.output) == b"OK id=7\n"
