"""The journal: accepted alarms that have not ended, kept over crashes and power cuts.

An append-only file. A record is safe once :meth:`Journal.sync` returned True;
the answer ``state=accepted`` goes out after that. When the file has grown to
its bound it is written anew with the live alarms alone: aside, fsync, rename,
fsync of the folder. A disk that is full or read-only makes the journal
*degraded*: the daemon goes on without it, STATUS says so, and every few
seconds the journal tries to write itself anew.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from edge_tts.daemon.alarm import Alarm
from edge_tts.daemon.durable_file import lock_file, replace_file
from edge_tts.daemon.journal_record import (
    Moment,
    encode_alarm,
    encode_end,
    encode_head,
    read_journal,
)

_NAME = "alarms.journal"
_LOCK = "alarms.lock"
_FIRST_RETRY_S = 1.0
_LAST_RETRY_S = 60.0
# Room for the first record of the file.
_HEAD_BYTES = 128


@dataclass(frozen=True)
class CarriedAlarm:
    """An alarm from before the restart; ``age_s`` since it was accepted."""

    alarm: Alarm
    age_s: float


@dataclass(frozen=True)
class JournalStatus:
    """For STATUS: ``reason`` is empty while all is well; ``left_out``: too long to be kept."""

    degraded: bool
    reason: str
    size_bytes: int
    live: int
    damaged_records: int
    left_out: int
    compactions: int


@dataclass(frozen=True)
class _Live:
    record: bytes
    accepted: Moment


class Journal:
    """Append-only store of live alarms. Safe to use from several threads.

    Args:
        folder: made on :meth:`open` when missing; one process at a time.
        max_bytes: bound of the file; twice that on disk while it is written anew.
        clock: monotonic seconds, for the time between retries.
        moment: the clocks that tell ages over a restart.
    """

    def __init__(
        self,
        folder: Path,
        max_bytes: int = 1024 * 1024,
        *,
        clock: Callable[[], float] = time.monotonic,
        moment: Callable[[], Moment] = Moment.now,
    ) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._clock = clock
        self._moment = moment
        # Order of the two: _sync_lock before _lock. fsync runs under the first
        # alone, so that appending never waits for the disk.
        self._sync_lock = threading.Lock()
        self._lock = threading.Lock()
        self._live: dict[int, _Live] = {}
        self._file: int | None = None
        self._lock_file: int | None = None
        self._size_bytes = 0
        self._unsynced = False
        self._reason = "not open"
        self._retry_s = _FIRST_RETRY_S
        self._retry_at = 0.0
        self._damaged = self._left_out = self._compactions = 0
        self._next_id = 1

    @property
    def next_id(self) -> int:
        """An id above every one that the journal has seen."""
        with self._lock:
            return self._next_id

    def open(self) -> list[CarriedAlarm]:
        """Read what the last process left, oldest first, and write the file anew.

        Raises nothing for a disk that can't be read or written: see :meth:`status`.
        """
        with self._sync_lock, self._lock:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._take_lock()
            except BlockingIOError:
                # The other process speaks what is in there, and owns the file.
                self._reason = "in use by another process"
                self._retry_at = math.inf
                return []
            except OSError as exc:
                # A read-only disk can still be read.
                self._degrade(exc)
            carried: list[CarriedAlarm] = []
            try:
                carried = self._replay((self._folder / _NAME).read_bytes())
            except OSError as exc:
                if not isinstance(exc, FileNotFoundError):
                    self._degrade(exc)
                    return carried
            self._rewrite()
            return carried

    def accept(self, alarm: Alarm) -> None:
        """Append an accepted alarm, or a longer time to live of one that is there already.

        One that would not fit beside the live ones is left out: see :meth:`holds`.
        """
        with self._lock:
            self._next_id = max(self._next_id, alarm.id + 1)
            known = self._live.get(alarm.id)
            accepted = known.accepted if known else self._moment()
            live = _Live(encode_alarm(alarm, accepted), accepted)
            if self._live_bytes() + len(live.record) > self._max_bytes - _HEAD_BYTES:
                self._left_out += 1
                return
            self._live[alarm.id] = live
            self._append(live.record)

    def holds(self, alarm_id: int) -> bool:
        """Whether the last :meth:`sync` made this alarm safe, if it has not ended."""
        with self._lock:
            return self._file is not None and alarm_id in self._live

    def end(self, alarm_id: int) -> None:
        """Append that an alarm ended. Needs no sync: at worst it is told twice."""
        with self._lock:
            if self._live.pop(alarm_id, None) is not None:
                self._append(encode_end(alarm_id))

    def sync(self) -> bool:
        """Make everything appended so far safe; False while the journal is degraded.

        One call serves every record before it: gather requests, then sync once.
        """
        with self._sync_lock:
            with self._lock:
                file = self._file
                due = self._clock() >= self._retry_at
                if (file is None and due) or (file is not None and self._is_big()):
                    self._rewrite()
                    return self._file is not None
                if file is None or not self._unsynced:
                    return file is not None
                self._unsynced = False
            try:
                os.fdatasync(file)
            except OSError as exc:
                with self._lock:
                    self._degrade(exc)
                return False
            with self._lock:
                # An append that failed meanwhile has closed the file.
                return self._file == file

    def status(self) -> JournalStatus:
        """How the journal stands."""
        with self._lock:
            return JournalStatus(
                self._file is None,
                self._reason,
                self._size_bytes,
                len(self._live),
                self._damaged,
                self._left_out,
                self._compactions,
            )

    def close(self) -> None:
        """Sync and close; live alarms stay in the file."""
        with contextlib.suppress(OSError):
            self.sync()
        with self._sync_lock, self._lock:
            self._close_file()
            self._reason = "closed"
            self._retry_at = math.inf
            if self._lock_file is not None:
                os.close(self._lock_file)
                self._lock_file = None

    def _take_lock(self) -> None:
        if self._lock_file is None:
            self._lock_file = lock_file(self._folder / _LOCK)

    def _replay(self, data: bytes) -> list[CarriedAlarm]:
        now = self._moment()
        replay = read_journal(data)
        self._damaged += replay.damaged_records
        self._next_id = max(self._next_id, replay.next_id)
        carried = []
        for alarm, accepted in replay.alarms:
            age_s = now.since(accepted)
            # From here on its age counts from a moment of this boot.
            moment = replace(now, wall_s=now.wall_s - age_s, boot_s=now.boot_s - age_s)
            self._live[alarm.id] = _Live(encode_alarm(alarm, moment), moment)
            carried.append(CarriedAlarm(alarm, age_s))
        return carried

    def _is_big(self) -> bool:
        """Half full, and writing it anew would halve it at least."""
        half = self._max_bytes // 2
        return self._size_bytes > half and self._size_bytes > 2 * self._live_bytes()

    def _live_bytes(self) -> int:
        return sum(len(live.record) for live in self._live.values())

    def _append(self, record: bytes) -> None:
        if self._file is None:
            return
        try:
            if self._size_bytes + len(record) > self._max_bytes:
                raise OSError(errno.EFBIG, "the journal is at its bound")
            written = os.write(self._file, record)
            self._size_bytes += written
            self._unsynced = True
            if written < len(record):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as exc:
            self._degrade(exc)
            # What lives may still fit where the history of what ended did not.
            self._retry_at = self._clock()

    def _rewrite(self) -> None:
        """Write the live alarms to a new file and put it in place of the old one."""
        data = encode_head(self._next_id) + b"".join(live.record for live in self._live.values())
        try:
            if len(data) > self._max_bytes:
                raise OSError(errno.EFBIG, "live alarms are beyond the bound of the journal")
            self._folder.mkdir(parents=True, exist_ok=True)
            self._take_lock()
            file = replace_file(self._folder / _NAME, data)
        except OSError as exc:
            self._degrade(exc)
            return
        self._close_file()
        self._file = file
        self._size_bytes = len(data)
        self._unsynced = False
        self._reason = ""
        self._retry_s = _FIRST_RETRY_S
        self._compactions += 1

    def _degrade(self, exc: OSError) -> None:
        self._close_file()
        self._reason = exc.strerror or str(exc)
        self._retry_at = self._clock() + self._retry_s
        self._retry_s = min(2.0 * self._retry_s, _LAST_RETRY_S)

    def _close_file(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None
