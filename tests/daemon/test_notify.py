"""sd_notify and socket activation against real datagram sockets and real processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from edge_tts.daemon.notify import (
    Notifier,
    ProgressProbe,
    Watchdog,
    listen_sockets,
    watchdog_period_s,
)


@pytest.fixture
def manager(tmp_path: Path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        sock.settimeout(5)
        yield sock


def received(manager: socket.socket) -> dict[str, str]:
    return dict(line.split("=", 1) for line in manager.recv(4096).decode().splitlines())


def notifier_for(manager: socket.socket) -> Notifier:
    return Notifier.from_environment({"NOTIFY_SOCKET": manager.getsockname()})


def test_ready_carries_a_status(manager):
    notifier_for(manager).ready("speaking through default")
    assert received(manager) == {"READY": "1", "STATUS": "speaking through default"}


def test_reloading_carries_the_monotonic_time_in_microseconds(manager):
    notifier_for(manager).reloading()
    fields = received(manager)
    assert fields["RELOADING"] == "1"
    assert int(fields["MONOTONIC_USEC"]) > 1_000_000


def test_a_newline_in_a_status_does_not_start_a_field(manager):
    notifier_for(manager).status("line\nREADY=1")
    assert received(manager) == {"STATUS": "line READY=1"}


def test_abstract_address():
    name = f"edge-tts-notify-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind("\0" + name)
        sock.settimeout(5)
        Notifier("@" + name).stopping("bye")
        assert received(sock) == {"STOPPING": "1", "STATUS": "bye"}


def test_no_manager_and_a_vanished_manager_are_harmless(tmp_path):
    Notifier(None).ready()
    Notifier(str(tmp_path / "gone")).ready()


def test_a_manager_that_reads_nothing_blocks_nobody(manager):
    notifier = notifier_for(manager)
    for _ in range(5000):
        notifier.status("x" * 200)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "3000000"}, 3.0),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": str(os.getpid())}, 3.0),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
    ],
)
def test_watchdog_period(environment, expected):
    assert watchdog_period_s(environment) == expected


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class CountingNotifier(Notifier):
    def __init__(self, clock: Clock) -> None:
        super().__init__(None)
        self.clock = clock
        self.fed_at_s: list[float] = []

    def feed_watchdog(self) -> None:
        self.fed_at_s.append(self.clock.now_s)


def test_watchdog_is_fed_by_progress_alone():
    clock, state = Clock(), {"steps": 0, "idle": False}
    notifier = CountingNotifier(clock)
    probe = ProgressProbe("speaker", lambda: state["steps"], lambda: state["idle"])
    watchdog = Watchdog(notifier, [probe], period_s=6.0, clock=clock)
    assert watchdog.tick() == []
    assert notifier.fed_at_s == [100.0]

    clock.now_s += 3.0
    assert watchdog.tick() == ["speaker"]
    state["steps"] += 1
    assert watchdog.tick() == []
    assert notifier.fed_at_s == [100.0, 103.0]

    clock.now_s += 30.0
    assert watchdog.tick() == ["speaker"]
    state["idle"] = True
    assert watchdog.tick() == []
    assert notifier.fed_at_s == [100.0, 103.0, 133.0]


def test_feeding_reaches_the_manager(manager):
    probe = ProgressProbe("speaker", lambda: 0)
    Watchdog(notifier_for(manager), [probe], period_s=6.0, clock=Clock()).tick()
    assert received(manager) == {"WATCHDOG": "1"}


def test_feeding_stops_before_the_period_ends():
    """From the last step to the last feed less than a period passes."""
    clock = Clock()
    notifier = CountingNotifier(clock)
    watchdog = Watchdog(notifier, [ProgressProbe("queue", lambda: 0)], 3.0, clock)
    for _ in range(100):
        watchdog.tick()
        clock.now_s += 0.25
    assert notifier.fed_at_s
    assert notifier.fed_at_s[-1] - 100.0 < 3.0


def test_without_a_period_nothing_is_fed_and_stalls_still_show():
    clock = Clock()
    watchdog = Watchdog(Notifier(None), [ProgressProbe("audio", lambda: 0)], None, clock)
    assert watchdog.interval_s is None
    watchdog.tick()
    clock.now_s += 60
    assert watchdog.tick() == ["audio"]


def test_sockets_of_another_process_are_left_alone():
    environment = {"LISTEN_PID": "1", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "x"}
    assert listen_sockets(environment) == []
    assert environment == {}


AS_THIRD = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.execv(sys.executable, [sys.executable, "-c", sys.argv[2]])
"""

ACTIVATED = """
import os, sys
os.environ["LISTEN_PID"] = str(os.getpid())
from edge_tts.daemon.notify import listen_sockets
(listener,) = listen_sockets()
assert "LISTEN_FDS" not in os.environ
assert not os.get_inheritable(listener.fileno())
client, _ = listener.accept()
client.sendall(client.recv(100).upper())
"""


def test_an_inherited_socket_is_accepted_on(tmp_path):
    path = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen()
        child = subprocess.Popen(
            [sys.executable, "-c", AS_THIRD, str(listener.fileno()), ACTIVATED],
            pass_fds=[listener.fileno()],
            env={**os.environ, "LISTEN_FDS": "1", "PYTHONPATH": os.getcwd()},
        )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(20)
        client.connect(path)
        client.sendall(b"ping")
        assert client.recv(100) == b"PING"
    assert child.wait(20) == 0
