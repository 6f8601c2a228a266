"""What each verb does. Everything here runs in the server's thread."""

from __future__ import annotations

import time
from collections.abc import Callable

from edge_tts.daemon import log
from edge_tts.daemon.alarm import Alarm, Event, EventKind, EventValue, Priority
from edge_tts.daemon.connection import Connection
from edge_tts.daemon.journal import Journal
from edge_tts.daemon.metrics import Metrics
from edge_tts.daemon.protocol import (
    PROTOCOL_VERSION,
    format_error,
    format_ok,
    parse_request,
)
from edge_tts.daemon.requests import (
    Ack,
    Clear,
    Events,
    Hello,
    Ping,
    Reload,
    Request,
    Say,
    Shelve,
    Silence,
    Status,
    StatusFormat,
    Stream,
    Test,
)
from edge_tts.daemon.roles import Role, RoleTable, check_role
from edge_tts.daemon.shared_queue import SharedQueue
from edge_tts.daemon.speakable import TEST_TEXT, is_speakable
from edge_tts.daemon.stream_intake import StreamIntake
from edge_tts.daemon.subscriptions import Subscriptions
from edge_tts.daemon.token_bucket import TokenBuckets
from edge_tts.errors import EdgeTtsError, QueueFullError, RequestError

_LOGGED_CHARS = 200


class RequestHandler:
    """The server's `LineHandler`: checks a request, carries it out, answers.

    Args:
        journal: None when it is switched off; comes with ``answer_when_safe``.
        report: STATUS in the format asked for.
        reload: reads settings and pronunciations again; raises ConfigError.
    """

    def __init__(
        self,
        queue: SharedQueue,
        journal: Journal | None,
        roles: RoleTable,
        buckets: TokenBuckets,
        metrics: Metrics,
        streams: StreamIntake,
        *,
        version: str,
        answer_when_safe: Callable[[Connection, str, int], None],
        report: Callable[[StatusFormat], str],
        reload: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._queue = queue
        self._journal = journal
        self.roles = roles
        self.buckets = buckets
        self._metrics = metrics
        self._streams = streams
        self._version = version
        self._answer_when_safe = answer_when_safe
        self._report = report
        self._reload = reload
        self._clock = clock
        self._subscriptions = Subscriptions()
        self._unsynced = False
        self.draining = False

    # Called by the server

    def on_line(self, connection: Connection, line: bytes) -> None:
        try:
            if self._streams.reads_from(connection):
                self._stream_piece(connection, line)
            else:
                self._carry_out(connection, line)
        except QueueFullError as exc:
            details = {"retry_ms": exc.retry_ms}
            self.on_refusal(connection, RequestError(75, "queue-full", str(exc), details))
        except RequestError as exc:
            self.on_refusal(connection, exc)

    def on_refusal(self, connection: Connection, error: RequestError) -> None:
        self._metrics.count("requests_refused_total", code=str(error.exit_code))
        log.event(
            "request-refused", log.DEBUG, reason=error.reason, code=error.exit_code,
            pid=connection.peer.pid, uid=connection.peer.uid,
        )  # fmt: skip
        connection.send(format_error(error))

    def on_close(self, connection: Connection) -> None:
        self._subscriptions.forget(connection)
        if self._streams.reads_from(connection):
            # What has arrived is spoken: part of an alarm is better than none.
            self._complete(connection)

    # Called by the app

    def deliver(self, events: list[Event]) -> None:
        """Hand events of the queue to callers, subscribers, journal, metrics and log."""
        for event in events:
            self._subscriptions.deliver(event)
            if event.kind is EventKind.ACCEPTED:
                self._metrics.count("alarms_accepted_total", priority=event.priority.word)
            if event.outcome is not None:
                self._streams.forget(event.alarm_id)
                via = str(event.details.get("via", "none"))
                self._metrics.count("alarms_finished_total", outcome=event.outcome.value, via=via)
                if self._journal is not None:
                    self._journal.end(event.alarm_id)
            outcome = event.outcome.value if event.outcome else None
            log.event(
                f"alarm-{event.kind.value}", id=event.alarm_id, prio=event.priority.word,
                key=event.key, outcome=outcome, **event.details,
            )  # fmt: skip

    def announce(self, **fields: EventValue) -> None:
        """Tell subscribers of something that belongs to no alarm, such as a lost device."""
        self._subscriptions.announce("EV" + format_ok(**fields).removeprefix("OK"))

    def tick(self) -> None:
        """End streams whose writer has fallen silent."""
        for connection in self._streams.overdue():
            self._complete(connection)
            connection.send(format_error(RequestError(65, "stream-timeout", "no piece in time")))
            connection.close_when_sent()

    # Inside

    def _carry_out(self, connection: Connection, line: bytes) -> None:
        request = parse_request(line)
        verb = type(request).__name__.upper()
        self._metrics.count("requests_total", verb=verb)
        self._check_rate(connection, request)
        roles = self.roles.roles_of(connection.peer)
        check_role(request, roles)
        match request:
            case Say():
                self._say(connection, request)
            case Test():
                say = Say(text=TEST_TEXT, priority=request.priority, wait=request.wait)
                self._say(connection, say)
            case Stream():
                self._open_stream(connection, request.header)
            case Events():
                self._subscriptions.subscribe(connection, request)
                connection.send(format_ok(events=1))
            case Status():
                lines = self._report(request.format).splitlines()
                connection.send("\n".join([format_ok(lines=len(lines)), *lines]))
            case Ping():
                connection.send(format_ok(pong=1))
            case Hello():
                self._hello(connection, roles)
            case Reload():
                connection.send(self._reloaded())
            case _:
                self._operate(connection, request, roles)

    def _check_rate(self, connection: Connection, request: Request) -> None:
        # A user's flood must not use up what the same user's critical alarms need.
        critical = isinstance(request, Say) and request.priority is Priority.CRITICAL
        wait_s = self.buckets.take((connection.peer.uid, critical))
        if wait_s > 0:
            retry_ms = int(min(wait_s, 60.0) * 1000) + 1
            raise RequestError(75, "rate-limited", "too many requests", {"retry_ms": retry_ms})

    def _say(self, connection: Connection, request: Say) -> None:
        self._check_open()
        if not is_speakable(request.text):
            raise RequestError(65, "nothing-to-speak", "the text holds nothing that is spoken")
        with self._queue.use() as queue:
            admission = queue.submit(request, owner_uid=connection.peer.uid)
        alarm = admission.alarm
        fields: dict[str, EventValue] = {"id": alarm.id, "state": "accepted"}
        if admission.folded:
            fields |= {"state": "folded", "count": admission.count}
        if request.warnings:
            fields["warn"] = ",".join(request.warnings)
        if admission.outcome is not None:
            fields["outcome"] = admission.outcome.value
        if admission.live:
            self._subscriptions.follow(alarm.id, connection, request.wait)
        peer = connection.peer
        log.event(
            "request-say", id=alarm.id, prio=alarm.priority.word, key=alarm.key,
            text=alarm.text[:_LOGGED_CHARS], pid=peer.pid, uid=peer.uid, gid=peer.gid,
        )  # fmt: skip
        self._answer(connection, format_ok(**fields), alarm if admission.live else None)

    def _answer(self, connection: Connection, line: str, alarm: Alarm | None) -> None:
        """Answer once a live alarm is safe, and at once without a journal."""
        if self._journal is None or alarm is None:
            connection.send(line)
        else:
            self._journal.accept(alarm)
            self._answer_when_safe(connection, line, alarm.id)

    def _operate(self, connection: Connection, request: Request, roles: Role) -> None:
        own = None if Role.OPERATOR in roles else connection.peer.uid
        with self._queue.use() as queue:
            match request:
                case Ack(target):
                    fields = {"count": queue.acknowledge(target)}
                case Clear(target):
                    fields = {"count": queue.clear(target, owner_uid=own)}
                case Silence(hold_s):
                    fields = {"count": queue.silence(hold_s)}
                case Shelve(key, duration_s, critical):
                    fields = {"count": queue.shelve(key, duration_s, critical=critical)}
                case _:
                    raise RequestError(64, "unknown-verb", "the daemon does not know this verb")
        verb = type(request).__name__.lower()
        log.event(f"operator-{verb}", uid=connection.peer.uid, request=request, **fields)
        connection.send(format_ok(**fields))

    def _hello(self, connection: Connection, roles: Role) -> None:
        server, held = f"edge-tts-runtime/{self._version}", roles.words or "none"
        connection.send(format_ok(proto=PROTOCOL_VERSION, server=server, roles=held))

    def _reloaded(self) -> str:
        try:
            self._reload()
        except EdgeTtsError as exc:
            raise RequestError(exc.exit_code, "reload-failed", str(exc), {"why": str(exc)}) from exc
        return format_ok(reloaded=1)

    def _check_open(self) -> None:
        if self.draining:
            raise RequestError(69, "stopping", "the daemon is stopping", {"retry_ms": 3000})

    def _open_stream(self, connection: Connection, header: Say) -> None:
        self._check_open()
        with self._queue.use() as queue:
            alarm = queue.submit(header, owner_uid=connection.peer.uid, streaming=True).alarm
            self._streams.open(connection, alarm)
        self._subscriptions.follow(alarm.id, connection, header.wait)
        connection.send(format_ok(id=alarm.id, state="receiving"))

    def _stream_piece(self, connection: Connection, line: bytes) -> None:
        try:
            if self._streams.take_piece(connection, line):
                return
        except RequestError:
            connection.close_when_sent()
            self._complete(connection)
            raise
        self._complete(connection)

    def _complete(self, connection: Connection) -> None:
        stream = self._streams.close(connection)
        with self._queue.use() as queue:
            alarm = queue.complete_stream(stream.alarm_id, stream.text.text)
        self._answer(connection, format_ok(id=stream.alarm_id, state="accepted"), alarm)
