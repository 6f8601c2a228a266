"""The text of a STREAM alarm: its connection writes it, each telling reads it from the start."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

_POLL_S = 0.1


class TextStream:
    """Pieces of text that arrive over time; bounded by ``max_chars``."""

    def __init__(self, max_chars: int = 65_536) -> None:
        self._max_chars = max_chars
        self._changed = threading.Condition()
        self._pieces: list[str] = []
        self._chars = 0
        self._ended = False
        self._readers_waiting = 0

    @property
    def text(self) -> str:
        """Everything that has arrived."""
        with self._changed:
            return "".join(self._pieces)

    @property
    def ended(self) -> bool:
        return self._ended

    @property
    def waits_for_text(self) -> bool:
        """Synthesis has read everything and the end has not come."""
        return self._readers_waiting > 0

    def add(self, piece: str) -> bool:
        """Add a piece; False when the bound is reached and it was not added."""
        with self._changed:
            if self._ended or self._chars + len(piece) > self._max_chars:
                return False
            self._pieces.append(piece)
            self._chars += len(piece)
            self._changed.notify_all()
            return True

    def end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def read(self, cancelled: Callable[[], bool]) -> Iterator[str]:
        """Every piece from the first, waiting for those to come; ends once ``cancelled``."""
        position = 0
        while True:
            with self._changed:
                self._readers_waiting += 1
                try:
                    while position == len(self._pieces) and not (self._ended or cancelled()):
                        self._changed.wait(_POLL_S)
                finally:
                    self._readers_waiting -= 1
                if position == len(self._pieces) or cancelled():
                    return
                piece = self._pieces[position]
            position += 1
            yield piece
