"""Which connection is sending the text of which STREAM alarm, piece by piece."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from edge_tts.daemon.alarm import Alarm, Priority
from edge_tts.daemon.connection import Connection
from edge_tts.daemon.protocol import parse_piece
from edge_tts.daemon.text_stream import TextStream
from edge_tts.errors import RequestError


@dataclass
class OpenStream:
    """A text on its way in; ``last_piece_s`` by the intake's clock."""

    alarm_id: int
    priority: Priority
    text: TextStream
    last_piece_s: float


class StreamIntake:
    """Belongs to the server's thread; `texts` alone is read by the speaker too."""

    def __init__(
        self, piece_timeout_s: float = 10.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._piece_timeout_s = piece_timeout_s
        self._clock = clock
        self._open: dict[Connection, OpenStream] = {}
        self._texts: dict[int, TextStream] = {}

    @property
    def texts(self) -> Mapping[int, TextStream]:
        """Text by alarm id, until the alarm has ended."""
        return self._texts

    def reads_from(self, connection: Connection) -> bool:
        """The lines of this connection are pieces of a text."""
        return connection in self._open

    def open(self, connection: Connection, alarm: Alarm) -> None:
        """Expect pieces; call it before the speaker can take the alarm."""
        text = TextStream()
        self._texts[alarm.id] = text
        self._open[connection] = OpenStream(alarm.id, alarm.priority, text, self._clock())
        connection.pending += 1

    def take_piece(self, connection: Connection, line: bytes) -> bool:
        """Add a line to the text; False at the empty line that ends it.

        Raises:
            RequestError: the bytes are not UTF-8, or the text is too long.
        """
        stream = self._open[connection]
        stream.last_piece_s = self._clock()
        piece, _ = parse_piece(line, stream.priority)
        if piece and not stream.text.add(piece):
            raise RequestError(65, "text-too-long", "more than can be spoken at once")
        return bool(piece)

    def close(self, connection: Connection) -> OpenStream:
        """No pieces follow."""
        stream = self._open.pop(connection)
        connection.pending -= 1
        stream.text.end()
        return stream

    def overdue(self) -> list[Connection]:
        """Connections that have sent no piece for too long."""
        limit_s = self._clock() - self._piece_timeout_s
        return [c for c, stream in self._open.items() if stream.last_piece_s < limit_s]

    def forget(self, alarm_id: int) -> None:
        """The alarm has ended."""
        self._texts.pop(alarm_id, None)
