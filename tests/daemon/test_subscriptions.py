"""Who hears of an alarm: each caller once, until the state it waits for."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from edge_tts.daemon.alarm import Event, EventKind, Outcome
from edge_tts.daemon.connection import Connection, ServerLimits
from edge_tts.daemon.requests import Wait
from edge_tts.daemon.subscriptions import Subscriptions


@pytest.fixture
def connection() -> Iterator[Connection]:
    near, far = socket.socketpair()
    with near, far:
        yield Connection(near, ServerLimits(), time.monotonic)


def test_requests_folded_into_one_alarm_do_not_add_up(connection: Connection) -> None:
    subscriptions = Subscriptions()
    for _ in range(1000):
        subscriptions.follow(7, connection, Wait.FINISHED)
    assert connection.pending == 1
    subscriptions.deliver(Event(7, EventKind.STARTED))
    subscriptions.deliver(Event(7, EventKind.FINISHED, outcome=Outcome.DONE))
    assert connection.output.count(b"\n") == 2
    assert connection.pending == 0


@pytest.mark.parametrize("order", [(Wait.STARTED, Wait.FINISHED), (Wait.FINISHED, Wait.STARTED)])
def test_a_caller_that_waits_for_both_hears_the_end(
    connection: Connection, order: tuple[Wait, Wait]
) -> None:
    subscriptions = Subscriptions()
    for until in order:
        subscriptions.follow(7, connection, until)
    subscriptions.deliver(Event(7, EventKind.STARTED))
    assert connection.pending == 1
    subscriptions.deliver(Event(7, EventKind.FINISHED, outcome=Outcome.DONE))
    assert connection.pending == 0
    assert b"finished" in connection.output
