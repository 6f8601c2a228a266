"""The socket's bounds, over real Unix sockets."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from edge_tts.daemon.connection import Connection, ServerLimits
from edge_tts.daemon.listener import open_listener
from edge_tts.daemon.metrics import Metrics
from edge_tts.daemon.protocol import format_error
from edge_tts.daemon.server import Server
from edge_tts.errors import DaemonUnavailableError, OutputError, RequestError

FAST = ServerLimits(line_timeout_s=0.3, clients=4, idle_s=30.0)


class EchoHandler:
    """Answers ECHO at once, WAIT when told to, FLOOD for ever, BYE and closes."""

    def __init__(self) -> None:
        self.closed: list[Connection] = []
        self.waiting: list[Connection] = []

    def on_line(self, connection: Connection, line: bytes) -> None:
        if line == b"WAIT":
            connection.pending += 1
            self.waiting.append(connection)
        elif line == b"SUBSCRIBE":
            connection.subscribed = True
            connection.send("OK")
        elif line == b"BYE":
            connection.send("BYE")
            connection.close_when_sent()
        else:
            connection.send(line.decode())

    def on_refusal(self, connection: Connection, error: RequestError) -> None:
        connection.send(format_error(error))

    def on_close(self, connection: Connection) -> None:
        self.closed.append(connection)


class Running:
    def __init__(self, path: Path, limits: ServerLimits) -> None:
        self.path = path
        self.handler = EchoHandler()
        self.metrics = Metrics()
        self.server = Server([open_listener(path)], self.handler, limits, self.metrics)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()

    def connect(self) -> socket.socket:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.settimeout(20)
        client.connect(str(self.path))
        return client

    def dropped(self, reason: str) -> float:
        return self.metrics.value("clients_dropped_total", reason=reason)

    def stop(self) -> None:
        self.server.stop()
        self.thread.join(20)
        self.server.close()


@contextlib.contextmanager
def serving(path: Path, limits: ServerLimits = FAST) -> Iterator[Running]:
    running = Running(path, limits)
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def running(tmp_path):
    with serving(tmp_path / "socket") as running:
        yield running


def ask(client: socket.socket, data: bytes) -> str:
    client.sendall(data)
    return line_from(client)


def line_from(client: socket.socket) -> str:
    data = b""
    while not data.endswith(b"\n"):
        byte = client.recv(1)
        if not byte:
            break
        data += byte
    return data.decode().rstrip("\n")


def until(condition) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_lines_are_answered_in_order(running):
    with running.connect() as client:
        client.sendall(b"one\ntwo\r\n\nthree\n")
        assert [line_from(client) for _ in range(4)] == ["one", "two", "", "three"]


def test_half_a_line_holds_up_nobody_and_runs_out_of_time(running):
    with running.connect() as half, running.connect() as other:
        half.sendall(b"SAY text=hal")
        assert ask(other, b"hello\n") == "hello"
        assert line_from(half) == "ERR 65 line-timeout"
        assert half.recv(1) == b""


def test_a_line_beyond_the_bound_is_refused_and_the_next_one_heard(running):
    with running.connect() as client:
        client.sendall(b"x" * 4096 + b"yyy\nnext\n" + b"z" * 4095 + b"\n")
        assert line_from(client) == "ERR 65 line-too-long max_bytes=4096"
        assert line_from(client) == "next"
        assert line_from(client) == "z" * 4095


def test_a_line_cut_off_by_the_end_is_refused(running):
    with running.connect() as client:
        client.sendall("第1罐".encode())
        client.shutdown(socket.SHUT_WR)
        assert line_from(client) == "ERR 65 unterminated-line"
        assert client.recv(1) == b""


def test_a_client_that_shut_its_writing_side_still_gets_its_answer(running):
    with running.connect() as client:
        client.sendall(b"WAIT\n")
        client.shutdown(socket.SHUT_WR)
        until(lambda: running.handler.waiting)
        (connection,) = running.handler.waiting

        def answer() -> None:
            connection.pending -= 1
            connection.send("LATE")

        running.server.post(answer)
        assert line_from(client) == "LATE"
        assert client.recv(1) == b""


def test_a_client_that_vanished_while_waiting_is_noticed(running):
    client = running.connect()
    client.sendall(b"WAIT\n")
    client.shutdown(socket.SHUT_WR)
    until(lambda: running.handler.waiting)
    client.close()
    until(lambda: running.handler.closed == running.handler.waiting)


def test_too_many_clients_are_told_so(running):
    clients = [running.connect() for _ in range(4)]
    for client in clients:
        assert ask(client, b"hi\n") == "hi"
    with running.connect() as extra:
        assert line_from(extra) == "ERR 75 too-many-clients retry_ms=500"
    for client in clients:
        assert ask(client, b"still here\n") == "still here"
        client.close()
    until(lambda: not running.server.connections)
    with running.connect() as later:
        assert ask(later, b"hi\n") == "hi"


def test_the_quietest_client_makes_room(running):
    clients = [running.connect() for _ in range(4)]
    clients[0].sendall(b"WAIT\n")
    for client in clients[1:]:
        assert ask(client, b"hi\n") == "hi"
    time.sleep(1.1)
    for client in clients[2:]:
        assert ask(client, b"hi\n") == "hi"
    with running.connect() as newcomer:
        assert ask(newcomer, b"hi\n") == "hi"
        assert clients[1].recv(1) == b"", "the quiet one went"
        assert running.dropped("evicted") == 1
    for client in clients:
        client.close()


def test_idle_clients_go_and_waiting_ones_stay(tmp_path):
    with (
        serving(tmp_path / "s", ServerLimits(idle_s=0.3)) as running,
        running.connect() as idle,
        running.connect() as subscriber,
    ):
        assert ask(subscriber, b"SUBSCRIBE\n") == "OK"
        assert idle.recv(1) == b""
        assert running.dropped("idle") == 1
        assert ask(subscriber, b"hi\n") == "hi"


def test_a_slow_event_reader_is_dropped_and_others_are_served(running):
    with running.connect() as slow, running.connect() as other:
        assert ask(slow, b"SUBSCRIBE\n") == "OK"

        def tell_everybody() -> None:
            for connection in running.server.connections:
                if connection.subscribed:
                    connection.send("EV " + "x" * 1000)

        for _ in range(2000):
            running.server.post(tell_everybody)
            if running.dropped("slow-reader"):
                break
            assert ask(other, b"hi\n") == "hi"
        until(lambda: running.dropped("slow-reader") == 1)
        assert ask(other, b"hi\n") == "hi"


def test_a_flood_that_reads_no_answers_is_held_back_and_loses_nothing(running):
    count = 20_000
    with running.connect() as flood, running.connect() as other:
        sender = threading.Thread(target=flood.sendall, args=(b"PING-PING-PING\n" * count,))
        sender.start()
        for _ in range(20):
            assert ask(other, b"hi\n") == "hi"
        answers = b""
        while answers.count(b"\n") < count:
            answers += flood.recv(65536)
        sender.join(20)
        assert answers == b"PING-PING-PING\n" * count


def test_a_late_answer_keeps_its_place(running):
    with running.connect() as client:
        client.sendall(b"WAIT\n")
        until(lambda: running.handler.waiting)
        (connection,) = running.handler.waiting
        for name in ("first", "second"):
            count = len(connection._later)
            running.server.post(lambda name=name: connection.send_later(lambda: f"late {name}"))
            until(lambda count=count: len(connection._later) > count)
            client.sendall(f"after {name}\n".encode())
            until(lambda name=name: f"after {name}" in connection._later)
        client.settimeout(0.3)
        with pytest.raises(TimeoutError):
            client.recv(1)
        client.settimeout(20)
        running.server.post(connection.release)
        assert [line_from(client) for _ in range(2)] == ["late first", "after first"]
        running.server.post(connection.release)
        assert [line_from(client) for _ in range(2)] == ["late second", "after second"]


def test_posted_calls_run_in_order_in_the_servers_thread(running):
    seen: list[tuple[int, int | None]] = []
    for number in range(100):
        running.server.post(lambda n=number: seen.append((n, threading.get_ident())))
    until(lambda: len(seen) == 100)
    assert seen == [(n, running.thread.ident) for n in range(100)]


def test_closing_after_a_farewell(running):
    with running.connect() as client:
        client.sendall(b"BYE\nignored\n")
        assert line_from(client) == "BYE"
        assert client.recv(1) == b""


def test_peer_credentials(running):
    with running.connect() as client:
        client.sendall(b"WAIT\n")
        until(lambda: running.handler.waiting)
        peer = running.handler.waiting[0].peer
        assert (peer.pid, peer.uid, peer.gid) == (os.getpid(), os.getuid(), os.getgid())


def test_descriptors_do_not_grow(running):
    def churn() -> None:
        for _ in range(50):
            with running.connect() as client:
                client.sendall(b"half")
        until(lambda: not running.server.connections)

    churn()
    before = len(os.listdir("/proc/self/fd"))
    churn()
    # Fewer are no fault: what earlier tests left may be closed meanwhile.
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_stale_socket_is_replaced_and_a_live_one_is_not(tmp_path):
    path = tmp_path / "folder" / "socket"
    open_listener(path).close()
    assert path.is_socket()
    with open_listener(path):
        assert path.stat().st_mode & 0o777 == 0o660
        with pytest.raises(DaemonUnavailableError, match="already answers"):
            open_listener(path)


def test_an_impossible_socket_path_says_what_to_do(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="--socket"):
        open_listener(tmp_path / "file" / "socket")
