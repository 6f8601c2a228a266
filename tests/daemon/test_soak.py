"""Minutes, or hours with ``--soak-minutes N``, of everything at once: nothing may grow.

Prints resident memory, file descriptors, threads and underruns. What must not
grow is compared between two quiet moments, half way and at the end: while what is
allocated stays the same, the heap around it takes half an hour to find its size.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from edge_tts.client import Client
from edge_tts.errors import EdgeTtsError, WaitTimeoutError
from tests.audio_rig import missing, pulse_rig
from tests.daemon.daemon_process import DaemonProcess, daemon_process

# In one minute the allocator still settles; over hours nothing may grow by a hundredth.
SHORT_GROWTH, LONG_GROWTH, LONG_MINUTES = 0.05, 0.01, 10.0
NASTY = (b"\xff\xfe\n", b"{\n", b"SAY prio=x text=y\n", b"A" * 9000 + b"\n", b"\n\n\n", b"SAY")


@dataclass(frozen=True)
class Footprint:
    """``resident_kb`` as the kernel counts it, shared libraries included."""

    resident_kb: int
    descriptors: int
    threads: int


def footprint(daemon: DaemonProcess) -> Footprint:
    root = Path(f"/proc/{daemon.pid}")
    match = re.search(r"VmRSS:\s+(\d+)", (root / "status").read_text())
    assert match
    return Footprint(int(match[1]), len(os.listdir(root / "fd")), len(os.listdir(root / "task")))


class Load:
    """Callers, vandals and watchers, each in a thread, until ``stop``."""

    def __init__(self, daemon: DaemonProcess, seed: int) -> None:
        self._daemon = daemon
        self._random = random.Random(seed)
        self._stop = threading.Event()
        self.events = 0
        workers = [self._call, self._call, self._vandalise, self._watch, self._ask]
        self._threads = [threading.Thread(target=worker) for worker in workers]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()

    def _call(self) -> None:
        choose = self._random.choice
        while not self._stop.wait(self._random.uniform(0.05, 0.5)):
            number = self._random.randrange(100)
            text = choose([f"{number}号泵故障", "警告", f"Tank {number} is full", "水" * 40])
            with contextlib.suppress(EdgeTtsError), self._daemon.client() as client:
                client.say(
                    text, priority=choose(["low", "medium", "high", "critical"]), tone="off",
                    key=choose([None, "a", "b"]), prefix=choose(["", "", "注意"]),
                    wait=choose(["accepted", "started"]), ttl_s=20.0, timeout_s=5.0,
                )  # fmt: skip

    def _vandalise(self) -> None:
        while not self._stop.wait(self._random.uniform(0.02, 0.2)):
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            with sock, contextlib.suppress(OSError):
                sock.connect(str(self._daemon.socket_path))
                sock.sendall(self._random.choice(NASTY))
                if self._random.random() < 0.3:
                    sock.settimeout(0.1)
                    sock.recv(100)

    def _watch(self) -> None:
        while not self._stop.is_set():
            client = Client(self._daemon.socket_path, timeout_s=1.0)
            with contextlib.suppress(EdgeTtsError), client:
                client.request("EVENTS")
                while not self._stop.is_set():
                    with contextlib.suppress(WaitTimeoutError):
                        client.next_event(time.monotonic() + 0.5)
                        self.events += 1

    def _ask(self) -> None:
        while not self._stop.wait(1.0):
            for form in ("text", "json", "prometheus"):
                with contextlib.suppress(EdgeTtsError), self._daemon.client() as client:
                    client.status(form)


def quiet(daemon: DaemonProcess) -> Footprint:
    """Wait until nothing is left to do, and look."""
    with daemon.client() as client:
        client.request("CLEAR", all="yes")

    def idle() -> bool:
        picture = daemon.status()
        return picture["state"] == "idle" and picture["clients"] == 1

    daemon.wait(idle)
    time.sleep(1.0)
    return footprint(daemon)


def test_nothing_grows(request: pytest.FixtureRequest, tmp_path, tiny_voice):
    minutes = float(request.config.getoption("--soak-minutes"))
    with contextlib.ExitStack() as stack:
        sink, environment = "null", {}
        if missing() is None:
            rig = stack.enter_context(pulse_rig(24_000))
            sink, environment = "device", rig.environment
        settings = {"log": {"level": "warning"}}
        daemon = stack.enter_context(
            daemon_process(tmp_path, tiny_voice, settings, sink=sink, environment=environment)
        )
        with Load(daemon, seed=1):
            time.sleep(30 * minutes)
        before = quiet(daemon)
        with Load(daemon, seed=2) as load:
            time.sleep(30 * minutes)
        after = quiet(daemon)
        picture = daemon.status()
    counts, outcomes = picture["queue"]["counts"], picture["queue"]["outcomes"]
    growth = after.resident_kb / before.resident_kb - 1
    print(f"{minutes:g} minutes on {sink}: {before} -> {after}, memory {growth:+.2%}")
    print(f"alarms {counts}, outcomes {outcomes}, {load.events} events watched")
    underruns = picture["counters"].get("underruns_total", 0)
    print(f"underruns {underruns:g}, device losses {picture['device']['losses']}")
    assert counts["accepted"] == sum(outcomes.values())
    assert outcomes["done"] > 10 * minutes
    assert (after.descriptors, after.threads) == (before.descriptors, before.threads)
    assert growth < (LONG_GROWTH if minutes >= LONG_MINUTES else SHORT_GROWTH)
    assert "fault" not in daemon.log()
