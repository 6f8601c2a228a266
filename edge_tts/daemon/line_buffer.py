"""Cut a byte stream into lines without ever holding more than one line's bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator


class LineBuffer:
    """Collects bytes and gives whole lines; a line beyond the bound is skipped whole."""

    def __init__(self, max_line_bytes: int, clock: Callable[[], float]) -> None:
        self._max_line_bytes = max_line_bytes
        self._clock = clock
        self._bytes = bytearray()
        self._skipping = False
        self.started_s: float | None = None

    @property
    def unfinished(self) -> bool:
        """A line has begun and its LF has not come."""
        return bool(self._bytes) or self._skipping

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield each line that is now whole, without LF or CR LF.

        Yields None once for each line that is longer than the bound, LF
        included; the rest of such a line is thrown away as it comes.
        """
        buffer = self._bytes
        buffer += data
        start = 0
        while (end := buffer.find(b"\n", start)) >= 0:
            line = bytes(buffer[start:end])
            start = end + 1
            if self._skipping:
                self._skipping = False
            elif len(line) >= self._max_line_bytes:
                yield None
            else:
                yield line.removesuffix(b"\r")
        if start:
            del buffer[:start]
            self.started_s = None
        if self._skipping or len(buffer) >= self._max_line_bytes:
            buffer.clear()
            if not self._skipping:
                self._skipping = True
                yield None
        if self.unfinished and self.started_s is None:
            self.started_s = self._clock()

    def overdue(self, limit_s: float) -> bool:
        """The line in progress began longer than ``limit_s`` ago."""
        return self.started_s is not None and self._clock() - self.started_s > limit_s

    def clear(self) -> None:
        self._bytes.clear()
        self._skipping = False
        self.started_s = None
