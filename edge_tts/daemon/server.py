"""The Unix socket: connections and their bounds; what a line means is not known here.

One thread runs `Server.run`. A client that sends half a line, reads nothing,
or floods the socket costs two buffers of fixed size and holds up nobody.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from edge_tts.daemon import log
from edge_tts.daemon.connection import Connection, ServerLimits
from edge_tts.daemon.metrics import Metrics
from edge_tts.errors import RequestError

_MAX_SLEEP_S = 0.25
# A client that has been quiet for this long makes room for a new one.
_EVICTABLE_AFTER_S = 1.0


class LineHandler(Protocol):
    """What the server calls, always from its own thread."""

    def on_line(self, connection: Connection, line: bytes) -> None:
        """One whole line without its LF."""
        ...

    def on_refusal(self, connection: Connection, error: RequestError) -> None:
        """A line that broke the bounds was thrown away."""
        ...

    def on_close(self, connection: Connection) -> None: ...


class Server:
    """Accepts clients on listening sockets and hands their lines to a handler."""

    def __init__(
        self,
        listeners: list[socket.socket],
        handler: LineHandler,
        limits: ServerLimits,
        metrics: Metrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listeners = listeners
        self._handler = handler
        self._limits = limits
        self._metrics = metrics
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        self._connections: set[Connection] = set()
        self._calls: deque[Callable[[], None]] = deque()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._running = True
        for sock in (*listeners, self._wake_reader, self._wake_writer):
            sock.setblocking(False)
        for sock in (*listeners, self._wake_reader):
            self._selector.register(sock, selectors.EVENT_READ, sock)

    @property
    def connections(self) -> frozenset[Connection]:
        return frozenset(self._connections)

    @property
    def wakeup_fd(self) -> int:
        """For `signal.set_wakeup_fd`, so that a signal ends a wait at once."""
        return self._wake_writer.fileno()

    def post(self, call: Callable[[], None]) -> None:
        """Run a function in the server's thread; from any thread, in order."""
        self._calls.append(call)
        self._wake()

    def run(self, on_round: Callable[[], None] = lambda: None) -> None:
        """Serve until `stop`; ``on_round`` runs at least four times a second."""
        while self._running:
            for key, events in self._selector.select(0 if self._calls else _MAX_SLEEP_S):
                if key.data is self._wake_reader:
                    self._drain_wakeups()
                elif isinstance(key.data, Connection):
                    self._serve(key.data, events)
                else:
                    self._accept(key.data)
            self._run_calls()
            for connection in self.connections:
                self._settle(connection)
            on_round()
        self._run_calls()

    def _run_calls(self) -> None:
        # Calls posted while these run wait for the next round.
        for _ in range(len(self._calls)):
            self._calls.popleft()()

    def stop(self) -> None:
        """End `run` after the round in progress; from any thread."""
        self._running = False
        self._wake()

    def stop_accepting(self) -> None:
        for listener in self._listeners:
            self._selector.unregister(listener)
            listener.close()
        self._listeners = []

    def close(self) -> None:
        """Run what was posted last, send what can be sent at once, close every socket."""
        self._run_calls()
        self.stop_accepting()
        for connection in self.connections:
            self._attempt(connection, connection.flush)
            self._drop(connection, "shutdown")
        self._selector.close()
        self._wake_reader.close()
        self._wake_writer.close()

    def _wake(self) -> None:
        # A full pipe means that a wake-up is already on its way.
        with contextlib.suppress(OSError):
            self._wake_writer.send(b"\0")

    def _drain_wakeups(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._wake_reader.recv(4096):
                pass

    def _accept(self, listener: socket.socket) -> None:
        try:
            sock, _ = listener.accept()
            if len(self._connections) < self._limits.clients or self._evict():
                connection = Connection(sock, self._limits, self._clock)
            else:
                self._turn_away(sock)
                return
        except OSError as exc:
            # Out of file descriptors, or the client is gone already.
            log.event("accept-failed", log.WARNING, error=exc)
            return
        self._connections.add(connection)
        self._set_interest(connection)
        self._metrics.count("clients_total")

    def _turn_away(self, sock: socket.socket) -> None:
        self._metrics.count("clients_dropped_total", reason="too-many")
        with contextlib.suppress(OSError):
            sock.send(b"ERR 75 too-many-clients retry_ms=500\n")
        sock.close()

    def _evict(self) -> bool:
        """Make room by closing the client that has been quiet for longest."""
        idle = [c for c in self._connections if not (c.waits or c.lines.unfinished or c.output)]
        oldest = max(idle, key=lambda c: c.quiet_s, default=None)
        if oldest is None or oldest.quiet_s < _EVICTABLE_AFTER_S:
            return False
        self._drop(oldest, "evicted")
        return True

    def _serve(self, connection: Connection, events: int) -> None:
        if events & selectors.EVENT_READ and connection in self._connections:
            self._attempt(connection, lambda: self._read(connection))

    def _read(self, connection: Connection) -> None:
        for line in connection.read():
            if line is None:
                self._refuse(connection, "line-too-long", max_bytes=self._limits.line_bytes)
            elif not connection.closing:
                self._handler.on_line(connection, line)
        if connection.read_closed and connection.lines.unfinished:
            # What is cut short may mean something else: it is not spoken.
            connection.lines.clear()
            self._refuse(connection, "unterminated-line")

    def _refuse(self, connection: Connection, reason: str, **details: int) -> None:
        message = f"the line was thrown away: {reason}"
        self._handler.on_refusal(connection, RequestError(65, reason, message, details))

    def _settle(self, connection: Connection) -> None:
        """Send what is waiting, then apply the bounds of time and space."""
        self._attempt(connection, connection.flush)
        if connection not in self._connections:
            return
        ended = connection.closing or (connection.read_closed and not connection.waits)
        if connection.overflowed:
            self._drop(connection, "slow-reader")
        elif ended and not connection.output:
            self._drop(connection, "")
        elif connection.lines.overdue(self._limits.line_timeout_s):
            connection.lines.clear()
            self._refuse(connection, "line-timeout")
            connection.close_when_sent()
        elif not connection.waits and connection.quiet_s > self._limits.idle_s:
            self._drop(connection, "idle")
        if connection in self._connections:
            self._set_interest(connection)

    def _set_interest(self, connection: Connection) -> None:
        wanted, registered = connection.wanted_events, connection.registered_events
        if wanted == registered:
            return
        if not registered:
            self._selector.register(connection.socket, wanted, connection)
        elif not wanted:
            self._selector.unregister(connection.socket)
        else:
            self._selector.modify(connection.socket, wanted, connection)
        connection.registered_events = wanted

    def _attempt(self, connection: Connection, operation: Callable[[], None]) -> None:
        try:
            operation()
        except OSError:
            self._drop(connection, "")

    def _drop(self, connection: Connection, reason: str) -> None:
        if connection not in self._connections:
            return
        self._connections.discard(connection)
        if reason and reason != "shutdown":
            self._metrics.count("clients_dropped_total", reason=reason)
            log.event("client-dropped", reason=reason, pid=connection.peer.pid)
        if connection.registered_events:
            self._selector.unregister(connection.socket)
        connection.socket.close()
        self._handler.on_close(connection)
