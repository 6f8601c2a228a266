"""Talk to the daemon over its Unix socket; the standard library alone.

::

    with Client() as client:
        spoken = client.say("7号罐压力过高", priority="critical", wait="finished")
        print(spoken.outcome, spoken.exit_code)
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from edge_tts.config.environment import client_socket_path
from edge_tts.daemon.alarm import Outcome, Priority
from edge_tts.daemon.protocol import (
    MAX_LINE_BYTES,
    Reply,
    format_say,
    format_stream,
    parse_reply,
    quote_value,
)
from edge_tts.daemon.requests import Say, Wait
from edge_tts.errors import (
    DaemonUnavailableError,
    RequestError,
    UsageError,
    WaitTimeoutError,
)

__all__ = ["Client", "Reply", "Spoken"]

DEFAULT_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class Spoken:
    """How far an alarm came while its caller waited.

    ``state`` is ``accepted``, ``started`` or ``finished``; ``outcome`` and
    ``via`` are known once it is finished.
    """

    alarm_id: int
    state: str
    outcome: Outcome | None = None
    via: str = ""
    warning: str = ""

    @property
    def exit_code(self) -> int:
        """0 when the state asked for was reached, else how the alarm ended.

        74 also when nothing but a tone could be put out for it.
        """
        if self.outcome is None:
            return 0
        return 74 if self.via == "tone" else self.outcome.exit_code


class Client:
    """One connection to the daemon. Not thread-safe.

    Args:
        socket_path: None takes ``EDGETTS_SOCKET``, else the user's own
            daemon, else the system's.
        timeout_s: longest wait for an answer.
    """

    def __init__(
        self, socket_path: str | Path | None = None, *, timeout_s: float = DEFAULT_TIMEOUT_S
    ) -> None:
        self.socket_path = Path(socket_path) if socket_path else client_socket_path()
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._buffer = b""

    def __enter__(self) -> Client:
        self.connect()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def connect(self) -> None:
        """Connect now; every request does it when it is needed.

        Raises:
            DaemonUnavailableError: nobody listens, or this user may not connect.
        """
        if self._socket is not None:
            return
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(self._timeout_s)
        try:
            sock.connect(str(self.socket_path))
        except OSError as exc:
            sock.close()
            hint = "start it with: edgetts serve"
            if isinstance(exc, PermissionError):
                hint = "join the group that owns the socket, usually edge-tts"
            raise DaemonUnavailableError(
                f"no daemon answers on {self.socket_path} ({exc.strerror or exc}); {hint}"
            ) from exc
        self._socket = sock
        self._buffer = b""

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def request(self, verb: str, **fields: str | float | None) -> Reply:
        """Send one request and return its ``OK`` reply; fields that are None are left out.

        Raises:
            RequestError: the daemon answered ``ERR``.
            DaemonUnavailableError, WaitTimeoutError: no answer came.
        """
        words = [verb] + [
            f"{name}={quote_value(value)}" for name, value in fields.items() if value is not None
        ]
        self.send(" ".join(words))
        return self.reply()

    def say(
        self,
        text: str,
        *,
        priority: str = "medium",
        key: str | None = None,
        ttl_s: float | None = None,
        repeat_s: float | None = None,
        prefix: str = "",
        tone: str = "auto",
        gain_db: float = 0.0,
        speed: float = 1.0,
        wait: str = "accepted",
        timeout_s: float | None = None,
    ) -> Spoken:
        """Speak an alarm and wait for ``accepted``, ``started`` or ``finished``.

        A text that is too long for one line is sent in pieces. ``timeout_s``
        bounds the whole wait; without it only the answer is bounded.

        Raises:
            UsageError: no such priority or state.
            RequestError: the daemon refused the alarm.
            DaemonUnavailableError: no daemon, or it went away.
            WaitTimeoutError: the state was not reached in time.
        """
        try:
            header = Say(
                text=text,
                priority=Priority.from_word(priority),
                key=key,
                ttl_s=ttl_s,
                repeat_s=repeat_s,
                prefix=prefix,
                tone=tone,
                gain_db=gain_db,
                speed=speed,
                wait=Wait(wait),
            )
        except (KeyError, ValueError) as exc:
            raise UsageError(f"{exc} is no priority or state to wait for") from exc
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        line = format_say(header)
        if len(line.encode("utf-8", "replace")) >= MAX_LINE_BYTES:
            self.send(format_stream(header))
            first = self.reply(deadline_s)
            for piece in _pieces(text):
                self.send(piece)
            self.send("")
        else:
            self.send(line)
            first = self.reply(deadline_s)
        return self.follow(first, wait, deadline_s)

    def follow(self, first: Reply, wait: str, deadline_s: float | None = None) -> Spoken:
        """Read on from the reply of a SAY or TEST until the alarm is in the state asked for."""
        alarm_id = int(first.fields["id"])
        warning = first.fields.get("warn", "")
        outcome = _outcome(first)
        if wait == "accepted" or outcome is not None:
            state = first.fields.get("state", "accepted")
            return Spoken(alarm_id, state, outcome, first.fields.get("via", ""), warning)
        while True:
            event = self._next_event(deadline_s)
            if event.fields.get("id") != str(alarm_id):
                continue
            if "finished" in event.words:
                return Spoken(
                    alarm_id, "finished", _outcome(event), event.fields.get("via", ""), warning
                )
            if "started" in event.words and wait == "started":
                return Spoken(alarm_id, "started", None, "", warning)

    def status(self, form: str = "text") -> str:
        """What the daemon is doing, as ``text``, ``json`` or ``prometheus``."""
        reply = self.request("STATUS", format=form)
        lines = [self.read_line() for _ in range(int(reply.fields["lines"]))]
        return "\n".join(lines) + "\n"

    def events(self, *, key: str | None = None, priority: str | None = None) -> Iterator[Reply]:
        """Every later event that passes the filter, for as long as the daemon runs."""
        self.request("EVENTS", key=key, prio=priority)
        while True:
            yield self._next_event(None)

    def send(self, line: str) -> None:
        """Send one line as it is; the LF is added."""
        self.connect()
        assert self._socket is not None
        self._socket.settimeout(self._timeout_s)
        try:
            self._socket.sendall(line.encode("utf-8", "replace") + b"\n")
        except TimeoutError as exc:
            raise self._no_answer() from exc
        except OSError as exc:
            # What it said before it closed the connection is still to be read.
            if not self._has_input():
                raise self._gone() from exc

    def reply(self, deadline_s: float | None = None) -> Reply:
        """The next ``OK``; an ``ERR`` is raised.

        Raises:
            RequestError: with the code, the reason and the details of the ``ERR``.
        """
        bound_s = time.monotonic() + self._timeout_s
        reply = self._read_reply(bound_s if deadline_s is None else min(bound_s, deadline_s))
        if reply.kind == "ERR":
            raise _refusal(reply)
        return reply

    def read_line(self, deadline_s: float | None = None) -> str:
        """The next line without its LF; waits until ``deadline_s`` of the monotonic clock."""
        if self._socket is None:
            raise self._gone()
        while b"\n" not in self._buffer:
            remaining_s = self._timeout_s
            if deadline_s is not None:
                remaining_s = deadline_s - time.monotonic()
                if remaining_s <= 0:
                    raise self._no_answer()
            self._socket.settimeout(remaining_s)
            try:
                data = self._socket.recv(65536)
            except TimeoutError as exc:
                raise self._no_answer() from exc
            except OSError as exc:
                raise self._gone() from exc
            if not data:
                raise self._gone()
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode("utf-8", "replace")

    def _next_event(self, deadline_s: float | None) -> Reply:
        while True:
            reply = self._read_reply(float("inf") if deadline_s is None else deadline_s)
            if reply.kind == "ERR":
                raise _refusal(reply)
            if reply.kind == "EV":
                return reply

    def _read_reply(self, deadline_s: float) -> Reply:
        if deadline_s == float("inf"):
            # settimeout takes no infinity; a year is long enough to wait for an event.
            deadline_s = time.monotonic() + 365 * 86400.0
        line = self.read_line(deadline_s)
        try:
            return parse_reply(line)
        except ValueError as exc:
            raise DaemonUnavailableError(
                f"what answers on {self.socket_path} is not this daemon: {line[:80]!r}"
            ) from exc

    def _has_input(self) -> bool:
        assert self._socket is not None
        try:
            return b"\n" in self._buffer or bool(self._socket.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def _no_answer(self) -> WaitTimeoutError:
        return WaitTimeoutError(
            f"the daemon on {self.socket_path} did not answer in time; see: edgetts status"
        )

    def _gone(self) -> DaemonUnavailableError:
        return DaemonUnavailableError(
            f"the daemon on {self.socket_path} closed the connection; "
            "alarms that it accepted are spoken after its restart"
        )


def _outcome(reply: Reply) -> Outcome | None:
    word = reply.fields.get("outcome")
    return Outcome(word) if word in {outcome.value for outcome in Outcome} else None


def _refusal(reply: Reply) -> RequestError:
    code = int(reply.words[0]) if reply.words and reply.words[0].isdigit() else 70
    reason = reply.words[1] if len(reply.words) > 1 else "unknown"
    details = " ".join(f"{name}={value}" for name, value in reply.fields.items())
    hint = _HINTS.get(code, "see: edgetts status")
    message = f"the daemon refused: {reason}{' (' + details + ')' if details else ''}; {hint}"
    return RequestError(code, reason, message, reply.fields)


_HINTS = {
    64: "correct the request",
    65: "correct the text",
    69: "the daemon is stopping, try again after its restart",
    75: "try again after retry_ms milliseconds",
    77: "ask the device's administrator for the role",
}


def _pieces(text: str) -> Iterator[str]:
    """Lines of a STREAM: none is empty, none is too long, none cuts a character or a word."""
    words = " ".join(text.split())
    while words:
        piece = words[: MAX_LINE_BYTES // 4 - 1]
        if len(piece) < len(words) and " " in piece:
            piece = piece[: piece.rindex(" ") + 1]
        yield piece
        words = words[len(piece) :]
