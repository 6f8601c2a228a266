"""Talk to a service manager: readiness, status, watchdog, inherited sockets.

The protocol is that of sd_notify(3) and sd_listen_fds(3): datagrams of
``NAME=value`` lines to the socket named by ``NOTIFY_SOCKET``, and file
descriptors from 3 on, counted by ``LISTEN_FDS``. Without a service manager
every call does nothing.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass

_FIRST_LISTEN_FD = 3


class Notifier:
    """Sends state changes to the service manager; never raises, never blocks."""

    def __init__(self, address: str | None = None) -> None:
        self._address = address
        self._socket: socket.socket | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Notifier:
        return cls(environment.get("NOTIFY_SOCKET") or None)

    @property
    def enabled(self) -> bool:
        return self._address is not None

    def ready(self, status: str = "") -> None:
        self._send({"READY": "1", "STATUS": status})

    def status(self, text: str) -> None:
        """Show one line in ``systemctl status``."""
        self._send({"STATUS": text})

    def reloading(self) -> None:
        """Announce a reload; `ready` ends it.

        ``MONOTONIC_USEC`` is what ``Type=notify-reload`` asks for.
        """
        self._send({"RELOADING": "1", "MONOTONIC_USEC": str(time.monotonic_ns() // 1000)})

    def stopping(self, status: str = "") -> None:
        self._send({"STOPPING": "1", "STATUS": status})

    def extend_timeout(self, seconds: float) -> None:
        """Ask for more time before start, reload or stop counts as hung."""
        self._send({"EXTEND_TIMEOUT_USEC": str(int(seconds * 1e6))})

    def feed_watchdog(self) -> None:
        self._send({"WATCHDOG": "1"})

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(self, fields: Mapping[str, str]) -> None:
        if self._address is None:
            return
        address = self._address
        if address.startswith("@"):
            address = "\0" + address[1:]
        # A newline inside a value would start a field of its own.
        lines = [f"{name}={value}".replace("\n", " ") for name, value in fields.items() if value]
        # A service manager that is restarting must not take the speaker down.
        with contextlib.suppress(OSError):
            if self._socket is None:
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                self._socket.setblocking(False)
            self._socket.sendto("\n".join(lines).encode(), address)


def watchdog_period_s(environment: Mapping[str, str] = os.environ) -> float | None:
    """Time in seconds within which the manager wants a sign of life, or None."""
    for_pid = environment.get("WATCHDOG_PID")
    if for_pid is not None and for_pid != str(os.getpid()):
        return None
    try:
        period_us = int(environment.get("WATCHDOG_USEC", "0"))
    except ValueError:
        return None
    return period_us / 1e6 if period_us > 0 else None


def listen_sockets(environment: MutableMapping[str, str] = os.environ) -> list[socket.socket]:
    """Take the sockets that the service manager opened for this process.

    The variables are removed, so that child processes don't claim them.
    """
    for_pid = environment.pop("LISTEN_PID", None)
    count_text = environment.pop("LISTEN_FDS", "0")
    environment.pop("LISTEN_FDNAMES", None)
    if for_pid != str(os.getpid()) or not count_text.isdigit():
        return []
    sockets = []
    for descriptor in range(_FIRST_LISTEN_FD, _FIRST_LISTEN_FD + int(count_text)):
        os.set_inheritable(descriptor, False)
        sockets.append(socket.socket(fileno=descriptor))
    return sockets


@dataclass(frozen=True)
class ProgressProbe:
    """One part of the daemon that must keep moving.

    ``progress`` returns a value that changes whenever the part does something
    real; ``idle`` says that standing still is right at the moment.
    """

    name: str
    progress: Callable[[], object]
    idle: Callable[[], bool] = lambda: False


class Watchdog:
    """Feeds the service manager while every probe moves or may rest.

    A probe that stands still for longer than ``period_s`` stops the feeding,
    so that the manager restarts the process.
    """

    def __init__(
        self,
        notifier: Notifier,
        probes: list[ProgressProbe],
        period_s: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._notifier = notifier
        self._probes = probes
        self._period_s = period_s
        self._clock = clock
        self._seen: dict[str, tuple[object, float]] = {}
        self._next_feed_s = 0.0

    @property
    def interval_s(self) -> float | None:
        """How often `tick` should be called; a third of the period."""
        return None if self._period_s is None else self._period_s / 3

    def stalled(self) -> list[str]:
        """Names of the parts that have stood still for too long."""
        now_s = self._clock()
        limit_s = self._period_s or 10.0
        names = []
        for probe in self._probes:
            value = probe.progress()
            last_value, since_s = self._seen.get(probe.name, (None, now_s))
            if value != last_value or probe.idle():
                since_s = now_s
            self._seen[probe.name] = (value, since_s)
            if now_s - since_s >= limit_s / 2:
                names.append(probe.name)
        return names

    def tick(self) -> list[str]:
        """Feed when it is due and nothing is stalled; returns what is stalled."""
        names = self.stalled()
        now_s = self._clock()
        interval_s = self.interval_s
        if interval_s is not None and not names and now_s >= self._next_feed_s:
            self._notifier.feed_watchdog()
            self._next_feed_s = now_s + interval_s
        return names
