"""One client of the socket: its buffers, its peer and what it still waits for."""

from __future__ import annotations

import selectors
import socket
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from edge_tts.daemon.line_buffer import LineBuffer
from edge_tts.daemon.roles import peer_credentials

_READ_BYTES = 4096


@dataclass(frozen=True)
class ServerLimits:
    """Bounds of one connection and of all of them."""

    line_bytes: int = 4096
    line_timeout_s: float = 2.0
    clients: int = 32
    idle_s: float = 60.0
    output_bytes: int = 64 * 1024


class Connection:
    """A client.

    ``pending`` counts the answers that it still waits for.
    """

    def __init__(
        self, sock: socket.socket, limits: ServerLimits, clock: Callable[[], float]
    ) -> None:
        sock.setblocking(False)
        self.socket = sock
        self.peer = peer_credentials(sock)
        self.pending = 0
        self.subscribed = False
        self.closing = False
        self.read_closed = False
        self.registered_events = 0
        self.lines = LineBuffer(limits.line_bytes, clock)
        self.output = bytearray()
        self._later: deque[str | Callable[[], str]] = deque()
        self._limits = limits
        self._clock = clock
        self.last_active_s = clock()

    def send(self, line: str) -> None:
        """Queue one line, the LF is added; it leaves at the end of the round."""
        if self._later:
            self._later.append(line)
        else:
            self.output += line.encode("utf-8", "replace") + b"\n"

    def send_later(self, line: Callable[[], str]) -> None:
        """Queue a line that is known only at `release`; what is sent meanwhile follows it."""
        self._later.append(line)

    def release(self) -> None:
        """The oldest line of `send_later` is known now."""
        late = self._later.popleft()
        lines = [late() if callable(late) else late]
        while self._later and not callable(self._later[0]):
            lines.append(str(self._later.popleft()))
        self.output += "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")

    def close_when_sent(self) -> None:
        self.closing = True

    @property
    def waits(self) -> bool:
        """An answer or an event is still to come."""
        return self.pending > 0 or self.subscribed or bool(self._later)

    @property
    def quiet_s(self) -> float:
        return self._clock() - self.last_active_s

    @property
    def overflowed(self) -> bool:
        waiting = sum(len(line) for line in self._later if isinstance(line, str))
        return len(self.output) + waiting > self._limits.output_bytes

    @property
    def wanted_events(self) -> int:
        """What to wait for; a client that reads no answers is not read from either."""
        events = selectors.EVENT_WRITE if self.output else 0
        backed_up = len(self.output) > self._limits.output_bytes // 2
        if not (self.closing or self.read_closed or backed_up):
            events |= selectors.EVENT_READ
        return events

    def read(self) -> Iterator[bytes | None]:
        """Read once and yield whole lines; None for a line beyond the bound.

        Raises:
            OSError: the client is gone.
        """
        try:
            data = self.socket.recv(_READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            self.read_closed = True
            return
        self.last_active_s = self._clock()
        yield from self.lines.feed(data)

    def flush(self) -> None:
        """Send what the socket takes now.

        Raises:
            OSError: the client is gone.
        """
        if not (self.output or self.read_closed):
            return
        try:
            # With nothing to send this still finds out whether a client that
            # has closed its writing side is there to read.
            sent = self.socket.send(self.output)
        except BlockingIOError:
            return
        if sent:
            del self.output[:sent]
            self.last_active_s = self._clock()
