"""Clients at their worst: half lines, crowds, floods, nasty texts."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from edge_tts.errors import RequestError
from tests.daemon.daemon_process import (
    DaemonProcess,
    answer,
    daemon_process,
    id_of,
    outcomes_in,
    say_line,
)

CASES = Path(__file__).resolve().parents[1] / "cases" / "nasty.tsv"


def test_clients_that_send_half_a_line_hold_up_nobody(tmp_path, tiny_voice):
    with daemon_process(tmp_path, tiny_voice) as daemon:
        halves = []
        for _ in range(20):
            half = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            half.connect(str(daemon.socket_path))
            half.sendall(b"SAY prio=critical text=\xe6")
            halves.append(half)
        assert daemon.say("水泵故障", tone="off").exit_code == 0
        daemon.wait(lambda: daemon.status()["clients"] == 1)
        for half in halves:
            assert half.recv(100) == b"ERR 65 line-timeout\n"
            half.close()


def test_a_hundred_clients_at_once(tmp_path, tiny_voice):
    accepted: list[int] = []
    refused: list[str] = []
    with daemon_process(tmp_path, tiny_voice) as daemon:
        gate = threading.Barrier(100)

        def client(number: int) -> None:
            gate.wait(30)
            for _ in range(200):
                with contextlib.suppress(OSError):
                    sock = say_line(daemon, f"prio=high tone=off key=k{number % 10} text={number}")
                    line = answer(sock)
                    sock.close()
                    if line.startswith("OK"):
                        accepted.append(id_of(line))
                        return
                    if line:
                        refused.append(line)
                time.sleep(0.05)

        threads = [threading.Thread(target=client, args=(n,)) for n in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(accepted) == 100
        assert all(line.startswith("ERR 75 ") for line in refused)
        daemon.wait(lambda: set(accepted) <= set(outcomes_in(daemon.log())), 90.0)


def test_ten_thousand_lines_as_fast_as_they_go(tmp_path, tiny_voice):
    count = 10_000
    with daemon_process(tmp_path, tiny_voice, {"log": {"level": "error"}}) as daemon:
        flood = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        flood.settimeout(60)
        flood.connect(str(daemon.socket_path))
        lines = b"".join(f"SAY prio=low tone=off text={n}\n".encode() for n in range(count))
        began_s = time.monotonic()
        sender = threading.Thread(target=flood.sendall, args=(lines,))
        sender.start()
        answers = b""
        critical = None
        while answers.count(b"\n") < count:
            answers += flood.recv(65536)
            if critical is None:
                critical = say_line(daemon, "prio=critical tone=off wait=started text=着火")
        took_s = time.monotonic() - began_s
        sender.join(60)
        assert "state=accepted" in answer(critical)
        heads = [line.split()[:3] for line in answers.decode().splitlines()]
        accepted = sum(head[0] == "OK" for head in heads)
        assert accepted + sum(head[:3] == ["ERR", "75", "queue-full"] for head in heads) == count
        print(f"{count} lines in {took_s:.2f} s, {accepted} accepted")
        with daemon.client() as client:
            client.request("CLEAR", all="yes")
        daemon.wait(lambda: balance(daemon) == 0)


def balance(daemon: DaemonProcess) -> int:
    """Accepted alarms that have neither ended nor are alive: must be 0, and so must the living."""
    queue = daemon.status()["queue"]
    alive = len(queue["alarms"])
    lost = queue["counts"]["accepted"] - sum(queue["outcomes"].values()) - alive
    assert lost == 0, queue
    return alive


def nasty_rows() -> list[tuple[str, bytes]]:
    rows = []
    for line in CASES.read_text(encoding="utf-8").splitlines()[1:]:
        name, _, how_to_make, _ = line.split("\t")
        rows.append((name, eval(how_to_make, {"__builtins__": {}})))
    return rows


@pytest.fixture(scope="module")
def robust(tmp_path_factory, tiny_voice):
    with daemon_process(tmp_path_factory.mktemp("nasty"), tiny_voice) as daemon:
        yield daemon


# Rows that must be refused as they are: nothing to speak, bad bytes, too long for a line.
UNSPEAKABLE = {"X01", "X03", "X05"}
REFUSED = UNSPEAKABLE | {"X07", "X11", "X13", "X35"}


@pytest.mark.parametrize(
    ("name", "data"), nasty_rows(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_nasty_text(robust, name, data):
    line = b"SAY prio=low tone=off text=" + data.replace(b"\n", b" ")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(30)
    sock.connect(str(robust.socket_path))
    sock.sendall(line + b"\n")
    reply = answer(sock)
    assert reply.startswith("ERR 65 " if name in REFUSED else "OK id="), reply
    # Urgent speech is made of whatever is usable, in pieces when it is long.
    with robust.client() as client:
        text = data.decode("utf-8", "surrogateescape")
        client.request("CLEAR", all="yes")
        if name in UNSPEAKABLE:
            with pytest.raises(RequestError, match=r"nothing-to-speak|empty-text"):
                client.say(text, priority="high", tone="off")
        else:
            spoken = client.say(text, priority="high", tone="off", wait="started")
            assert spoken.state in ("started", "finished")
        client.request("CLEAR", all="yes")
        assert client.request("PING").fields["pong"] == "1"
    assert "fault" not in robust.log()


def test_descriptors_threads_and_children_are_where_they_were(robust):
    def count() -> tuple[int, int]:
        root = Path(f"/proc/{robust.pid}")
        return len(os.listdir(root / "fd")), len(os.listdir(root / "task"))

    robust.say("好", tone="off")
    before = count()
    for _ in range(30):
        with contextlib.suppress(RequestError), robust.client() as client:
            client.say("好", tone="off", key="same")
    robust.say("好了", tone="off")
    robust.wait(lambda: count() <= before)
