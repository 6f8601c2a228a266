"""Letting go of file pages that an idle process does not need."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass

_MADV_DONTNEED = 4
_READ_ONLY = ("r-xp", "r--p", "r--s")
_HEAD = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ (\d+)")


@dataclass(frozen=True)
class _Mapping:
    begin: int
    end: int
    rights: str
    inode: int
    anonymous_kb: int


def release_library_pages() -> None:
    """Unmap pages of libraries and mapped tables that hold nothing but what is in the file.

    They stay in the system's page cache for as long as it has room, and come
    back on their next use without reading a disk; until then they don't count
    as this process's memory. Only read-only mappings without a page of their own
    are touched (relocated ones have some). Does nothing where the kernel does
    not tell (no ``/proc``).
    """
    try:
        with open("/proc/self/smaps", encoding="utf-8", errors="replace") as file:
            mappings = list(_read(file.read()))
        madvise = ctypes.CDLL(None, use_errno=True).madvise
    except (OSError, AttributeError):
        return
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for mapping in mappings:
        if mapping.inode and mapping.rights in _READ_ONLY and not mapping.anonymous_kb:
            madvise(mapping.begin, mapping.end - mapping.begin, _MADV_DONTNEED)


def _read(smaps: str) -> Iterator[_Mapping]:
    head: re.Match[str] | None = None
    for line in smaps.splitlines():
        if found := _HEAD.match(line):
            head = found
        elif head is not None and line.startswith("Anonymous:"):
            begin, end, rights, inode = head.groups()
            yield _Mapping(int(begin, 16), int(end, 16), rights, int(inode), int(line.split()[1]))
