"""Files that are whole after a power cut: written aside, synced, renamed, the folder synced."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path


def replace_file(path: Path, data: bytes) -> int:
    """Put a file with ``data`` in the place of ``path``; returns it, open for appending.

    Until the rename the old file stands untouched, after it the new one is safe.

    Raises:
        OSError: it can't be written; the old file is as it was.
    """
    aside = path.with_name(f"{path.name}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
    file = os.open(aside, flags, 0o640)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
        aside.rename(path)
        sync_folder(path.parent)
    except OSError:
        os.close(file)
        with contextlib.suppress(OSError):
            aside.unlink()
        raise
    return file


def sync_folder(folder: Path) -> None:
    """Make renames in a folder safe.

    Raises:
        OSError: the disk refused.
    """
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def lock_file(path: Path) -> int:
    """Hold a lock for this process until the returned file is closed.

    Raises:
        BlockingIOError: another process holds it.
        OSError: the file can't be made.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise
    return file
