"""Outputs without a device: a WAV file, or nothing at all, both with the pace of one."""

from __future__ import annotations

import queue
import struct
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from edge_tts.audio.sink import Samples
from edge_tts.audio.timed_queue import get_within
from edge_tts.errors import DeviceError

_WAV_HEADER_BYTES = 44
_WAV_MAX_DATA_BYTES = 0xFFFF_FFFF - _WAV_HEADER_BYTES


class _VirtualSink:
    """A device made of a clock: takes two blocks ahead and plays them in real time.

    Not ``paced``, it takes everything at once and counts it as played.
    """

    def __init__(
        self,
        sample_rate_hz: int,
        *,
        paced: bool = True,
        block_ms: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sample_rate_hz = sample_rate_hz
        self._paced = paced
        self._clock = clock
        self._block_samples = max(1, round(sample_rate_hz * block_ms / 1000))
        self._capacity = 2 * self._block_samples
        self._pending: deque[Samples] = deque()
        self._committed = 0
        self._written = 0
        self._underruns = 0
        self._in_run = False
        self._closed = False
        self._opened_s = clock()
        # (position, time): from that position on samples leave evenly from that time.
        self._anchors: deque[tuple[int, float]] = deque([(0, self._opened_s)], maxlen=256)
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()

    @property
    def sample_rate_hz(self) -> int:
        return self._sample_rate_hz

    @property
    def written_samples(self) -> int:
        return self._written

    @property
    def underruns(self) -> int:
        return self._underruns

    @property
    def latency_s(self) -> float:
        return 0.0

    def write(self, samples: Samples, timeout_s: float | None = None) -> int:
        """Take samples ``(N,)``, in real time when paced; see ``AudioSink``."""
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        taken = 0
        while taken < len(samples):
            if self._closed:
                raise DeviceError("the sink is closed; open a new one")
            taken += self._take(samples[taken:])
            if taken == len(samples):
                break
            wait_s = self._block_samples / self._sample_rate_hz / 2
            if deadline_s is not None:
                wait_s = min(wait_s, deadline_s - time.monotonic())
            if wait_s <= 0 or self._interrupted(wait_s):
                break
        return taken

    def _take(self, samples: Samples) -> int:
        now_s = self._clock()
        played = self._advance(now_s)
        if played == self._written and (not self._paced or now_s > self._end_s()):
            self._underruns += self._in_run and self._paced
            self._anchors.append((self._written, now_s))
        room = self._capacity - (self._written - played) if self._paced else len(samples)
        part = samples[: max(0, room)].copy()
        if len(part):
            self._pending.append(part)
            self._written += len(part)
            self._in_run = True
            if not self._paced:
                self._advance(now_s)
        return len(part)

    def _interrupted(self, wait_s: float) -> bool:
        try:
            get_within(self._wake, wait_s)
        except queue.Empty:
            return False
        return True

    def _end_s(self) -> float:
        position, at_s = self._anchors[-1]
        return at_s + (self._written - position) / self._sample_rate_hz

    def _advance(self, now_s: float) -> int:
        """Commit what has left by ``now_s`` and return that position."""
        position, at_s = self._anchors[-1]
        played = self._written
        if self._paced:
            left = int((now_s - at_s) * self._sample_rate_hz)
            played = max(self._committed, min(self._written, position + left))
        while self._pending and self._committed < played:
            part = self._pending.popleft()
            count = min(len(part), played - self._committed)
            if count < len(part):
                self._pending.appendleft(part[count:])
            self._commit(part[:count])
            self._committed += count
        return played

    def _commit(self, samples: Samples) -> None:
        """Samples ``(N,)`` that just left."""

    def flush(self) -> None:
        self._in_run = False

    def reclaim(self) -> Samples:
        # The block under way stays, as it would in a device.
        played = self._advance(self._clock())
        under_way = -(played - self._anchors[-1][0]) % self._block_samples
        pending = np.concatenate([np.zeros(0, np.int16), *self._pending])
        kept, taken_back = pending[:under_way], pending[under_way:]
        self._pending = deque([kept]) if len(kept) else deque()
        self._written -= len(taken_back)
        return taken_back

    def interrupt(self) -> None:
        self._wake.put(None)

    def played_samples(self) -> int:
        return self._advance(self._clock())

    def played_at(self, position: int) -> float | None:
        self._advance(self._clock())
        if position >= self._written:
            return None
        for start, at_s in reversed(self._anchors):
            if start <= position:
                return at_s + (position - start) / self._sample_rate_hz if self._paced else at_s
        return self._anchors[0][1]

    def consumed_samples(self) -> int:
        # Asked for now and then, also in silence: what has left by now is in the file soon.
        self.played_samples()
        return int((self._clock() - self._opened_s) * self._sample_rate_hz)

    def is_active(self) -> bool:
        return not self._closed

    def close(self) -> None:
        self._advance(self._clock())
        self._closed = True


class NullSink(_VirtualSink):
    """Plays into nothing, in real time when ``paced``."""


class WavSink(_VirtualSink):
    """Plays into a mono 16-bit PCM WAV file, in real time when ``paced``.

    Holds the written samples alone, without the silence between utterances.
    The header is brought up to date at every ``flush`` and at least once a
    second of audio, so that the file of a killed process opens too.

    Raises:
        DeviceError: the file can't be created or written.
    """

    def __init__(
        self,
        path: Path | str,
        sample_rate_hz: int,
        *,
        paced: bool = True,
        block_ms: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(sample_rate_hz, paced=paced, block_ms=block_ms, clock=clock)
        self._path = Path(path)
        self._data_bytes = 0
        self._header_bytes = -1
        try:
            self._file: BinaryIO = self._path.open("wb", buffering=0)
            self._write_header()
        except OSError as exc:
            raise DeviceError(
                f"can't create {self._path}: {exc.strerror}; check the folder and its rights"
            ) from exc

    def _commit(self, samples: Samples) -> None:
        data = samples.astype("<i2", copy=False).tobytes()
        if self._data_bytes + len(data) > _WAV_MAX_DATA_BYTES:
            raise DeviceError(f"{self._path} reached 4 GiB, the limit of WAV; use another file")
        try:
            self._file.write(data)
            self._data_bytes += len(data)
            if self._data_bytes - self._header_bytes > 2 * self._sample_rate_hz:
                self._write_header()
        except OSError as exc:
            raise DeviceError(f"can't write {self._path}: {exc.strerror}; free some room") from exc

    def _write_header(self) -> None:
        if self._header_bytes == self._data_bytes:
            return
        rate, size = self._sample_rate_hz, self._data_bytes
        header = b"RIFF" + struct.pack("<I", 36 + size) + b"WAVEfmt "
        header += struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16)
        header += b"data" + struct.pack("<I", size)
        self._file.seek(0)
        self._file.write(header)
        self._file.seek(0, 2)
        self._header_bytes = size

    def flush(self) -> None:
        super().flush()
        self._update_header()

    def played_samples(self) -> int:
        played = super().played_samples()
        if not self._in_run and played == self._written:
            self._update_header()
        return played

    def _update_header(self) -> None:
        try:
            self._write_header()
        except OSError as exc:
            raise DeviceError(f"can't write {self._path}: {exc.strerror}; free some room") from exc

    def close(self) -> None:
        if self._closed:
            return
        try:
            super().close()
            self._update_header()
        finally:
            self._file.close()
