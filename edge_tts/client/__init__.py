"""Talk to the daemon over its Unix socket; the standard library alone.

::

    with Client() as client:
        spoken = client.say("7号罐压力过高", priority="critical", wait="finished")
        print(spoken.outcome, spoken.exit_code)
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from edge_tts.client.connection import FOREVER, LineConnection, usual_socket
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

    def describe(self) -> str:
        """One line for a person."""
        words = [f"id={self.alarm_id}", self.state]
        words += [f"outcome={self.outcome.value}"] if self.outcome else []
        words += [f"via={self.via}"] if self.via else []
        words += [f"warning={self.warning}"] if self.warning else []
        return " ".join(words)

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
        socket_path: None takes ``EDGETTS_SOCKET``, else that of the settings
            file, else the user's own daemon, else the system's.
        timeout_s: longest wait for an answer.
    """

    def __init__(
        self, socket_path: str | Path | None = None, *, timeout_s: float = DEFAULT_TIMEOUT_S
    ) -> None:
        path = Path(socket_path) if socket_path else usual_socket()
        self._lines = LineConnection(path, timeout_s)
        self._early_events: deque[Reply] = deque()

    def __enter__(self) -> Client:
        self._lines.connect()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        self._lines.close()
        self._early_events.clear()

    def request(self, verb: str, **fields: str | float | None) -> Reply:
        """Send one request and return its ``OK`` reply; fields that are None are left out.

        Raises:
            RequestError: the daemon answered ``ERR``.
            DaemonUnavailableError, WaitTimeoutError: no answer came.
        """
        words = [verb] + [
            f"{name}={quote_value(value)}" for name, value in fields.items() if value is not None
        ]
        self._lines.send(" ".join(words))
        return self._reply()

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
        if len(line.encode("utf-8", "replace")) < MAX_LINE_BYTES:
            self._lines.send(line)
        else:
            self._lines.send(format_stream(header))
            self._reply(deadline_s)
            for piece in _pieces(text):
                self._lines.send(piece)
            self._lines.send("")
        return self.follow(self._reply(deadline_s), wait, deadline_s)

    def test(
        self, *, priority: str = "low", wait: str = "accepted", timeout_s: float | None = None
    ) -> Spoken:
        """Speak the daemon's test sentence; waits and raises as `say` does."""
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        return self.follow(self.request("TEST", prio=priority, wait=wait), wait, deadline_s)

    def status(self, form: str = "text") -> str:
        """What the daemon is doing, as ``text``, ``json`` or ``prometheus``."""
        reply = self.request("STATUS", format=form)
        lines = [self._lines.read_line() for _ in range(int(reply.fields["lines"]))]
        return "\n".join(lines) + "\n"

    def event_lines(self, *, key: str | None = None, priority: str | None = None) -> Iterator[str]:
        """Every later event that passes the filter, for as long as the daemon runs."""
        self.request("EVENTS", key=key, prio=priority)
        while True:
            yield self._lines.read_line(FOREVER)

    def events(self, *, key: str | None = None, priority: str | None = None) -> Iterator[Reply]:
        """As `event_lines`, read."""
        return map(parse_reply, self.event_lines(key=key, priority=priority))

    def _reply(self, deadline_s: float | None = None) -> Reply:
        """The next ``OK``; an ``ERR`` is raised, events on the way are kept.

        Raises:
            RequestError: with the code, the reason and the details of the ``ERR``.
        """
        bound_s = time.monotonic() + self._lines.timeout_s if deadline_s is None else deadline_s
        while (reply := self._read_reply(bound_s)).kind == "EV":
            self._early_events.append(reply)
        return reply

    def follow(
        self,
        first: Reply,
        wait: str,
        deadline_s: float | None = None,
        on_event: Callable[[Reply], None] = lambda event: None,
    ) -> Spoken:
        """Read on from the reply of a SAY or TEST until the alarm is in the state asked for."""
        alarm_id = first.fields["id"]
        spoken = Spoken(
            int(alarm_id),
            first.fields.get("state", "accepted"),
            _outcome(first),
            first.fields.get("via", ""),
            first.fields.get("warn", ""),
        )
        while wait != "accepted" and spoken.outcome is None:
            event = self.next_event(deadline_s)
            if event.fields.get("id") != alarm_id:
                continue
            on_event(event)
            if "finished" in event.words:
                via = event.fields.get("via", "")
                spoken = replace(spoken, state="finished", outcome=_outcome(event), via=via)
            elif "started" in event.words:
                spoken = replace(spoken, state="started")
                if wait == "started":
                    break
        return spoken

    def next_event(self, deadline_s: float | None = None) -> Reply:
        """The next event that this connection is told; waits for ever without a deadline."""
        if self._early_events:
            return self._early_events.popleft()
        while True:
            reply = self._read_reply(FOREVER if deadline_s is None else deadline_s)
            if reply.kind == "EV":
                return reply

    def _read_reply(self, deadline_s: float) -> Reply:
        line = self._lines.read_line(deadline_s)
        try:
            reply = parse_reply(line)
        except ValueError as exc:
            raise DaemonUnavailableError(
                f"what answers on {self._lines.socket_path} is not this daemon: {line[:80]!r}"
            ) from exc
        if reply.kind == "ERR":
            raise _refusal(reply)
        return reply


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
