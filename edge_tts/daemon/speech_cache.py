"""Speech that was rendered before, on disk: int16 PCM by the fingerprint of what was said.

One file an entry, named by a hash alone: no text reaches a file name or the
file. An entry is written aside and renamed, and carries a checksum; one that
is torn, cut or altered is dropped when it is read. There is no fsync: after a
power cut a torn entry costs one rendering, which is cheaper than wearing the
card out.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import struct
import time
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

_MAGIC = b"EDGEPCM1"
# magic, sample rate in Hz, number of samples, CRC-32 of the key, these and the samples
_HEADER = struct.Struct("<8sIII")
_SUFFIX = ".pcm"
_ASIDE = ".new"
_OURS = re.compile(r"(?P<key>[0-9a-f]{64})(?P<suffix>\.pcm|\.new)")
# Reading an entry refreshes its time on disk at most this often.
_TOUCH_INTERVAL_S = 86400.0


@dataclass(frozen=True)
class CachedSpeech:
    """``pcm``: mono int16 samples, little-endian, for ``numpy.frombuffer(pcm, "<i2")``."""

    pcm: bytes
    sample_rate_hz: int


def fingerprint(
    text: str, *, voice: str, voice_version: str, speed: float, variant: str = ""
) -> str:
    """64 hexadecimal digits that stand for this text as this voice says it.

    ``variant`` is whatever else changes the samples: precision, package
    version, lexicon stamp.
    """
    digest = hashlib.sha256()
    for part in (voice, voice_version, f"{speed:.4f}", variant, text):
        data = part.encode("utf-8", errors="surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


class SpeechCache:
    """Bounded store of rendered speech; the entry used longest ago goes first.

    Nothing raises for a disk that is full, read-only or gone: a read misses,
    a write returns False. One thread at a time.

    Args:
        folder: made on :meth:`open` when missing.
        max_bytes: bound of all entries together, headers included.
    """

    def __init__(self, folder: Path, max_bytes: int = 64 * 1024 * 1024) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._sizes: OrderedDict[str, int] = OrderedDict()  # used longest ago first
        self._touched: dict[str, float] = {}
        self.total_bytes = 0
        self.hits = self.misses = self.dropped = 0
        self.last_error = ""

    def open(self) -> None:
        """Read the list of entries, sweep leftovers, keep to the bound."""
        found: list[tuple[float, str, int]] = []
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with os.scandir(self._folder) as listing:
                for item in listing:
                    ours = _OURS.fullmatch(item.name)
                    if ours is None or not item.is_file(follow_symlinks=False):
                        continue
                    if ours["suffix"] == _ASIDE:
                        self._unlink(item.name)
                    else:
                        stat = item.stat()
                        found.append((stat.st_mtime, ours["key"], stat.st_size))
        except OSError as exc:
            self.last_error = str(exc)
        self._sizes.clear()
        self._touched.clear()
        for mtime, name, size in sorted(found):
            self._sizes[name] = size
            self._touched[name] = mtime
        self.total_bytes = sum(self._sizes.values())
        self._make_room(0)

    def __contains__(self, key: str) -> bool:
        return key in self._sizes

    def __len__(self) -> int:
        return len(self._sizes)

    def get(self, key: str) -> CachedSpeech | None:
        """The entry of a fingerprint; None when there is none or it is damaged."""
        if key not in self._sizes:
            self.misses += 1
            return None
        try:
            data = (self._folder / f"{key}{_SUFFIX}").read_bytes()
        except OSError as exc:
            self.last_error = str(exc)
            data = b""
        speech = _decode(key, data)
        if speech is None:
            self.misses += 1
            self.dropped += 1
            self.drop(key)
            return None
        self.hits += 1
        self._sizes.move_to_end(key)
        self._touch(key)
        return speech

    def put(self, key: str, pcm: bytes, sample_rate_hz: int) -> bool:
        """Store mono int16 samples; whether they are on disk now.

        Raises:
            ValueError: ``pcm`` is no whole number of samples.
        """
        if len(pcm) % 2:
            raise ValueError(f"{len(pcm)} bytes are no whole number of int16 samples")
        size = _HEADER.size + len(pcm)
        if not pcm or size > self._max_bytes:
            return False
        self.drop(key)
        self._make_room(size)
        header = _HEADER.pack(_MAGIC, sample_rate_hz, len(pcm) // 2, _crc(key, sample_rate_hz, pcm))
        path = self._folder / f"{key}{_SUFFIX}"
        aside = self._folder / f"{key}{_ASIDE}"
        try:
            with aside.open("wb") as file:
                file.write(header)
                file.write(pcm)
            aside.replace(path)
        except OSError as exc:
            self.last_error = str(exc)
            self._unlink(aside.name)
            return False
        self._sizes[key] = size
        self._touched[key] = time.time()
        self.total_bytes += size
        return True

    def drop(self, key: str) -> None:
        """Remove an entry, if it is there."""
        self.total_bytes -= self._sizes.pop(key, 0)
        self._touched.pop(key, None)
        self._unlink(f"{key}{_SUFFIX}")

    def _make_room(self, size: int) -> None:
        while self._sizes and self.total_bytes + size > self._max_bytes:
            self.drop(next(iter(self._sizes)))

    def _touch(self, key: str) -> None:
        """Keep the order of use over a restart without a write for every use."""
        now = time.time()
        if abs(now - self._touched.get(key, 0.0)) > _TOUCH_INTERVAL_S:
            self._touched[key] = now
            with contextlib.suppress(OSError):
                os.utime(self._folder / f"{key}{_SUFFIX}", (now, now))

    def _unlink(self, name: str) -> None:
        with contextlib.suppress(OSError):
            (self._folder / name).unlink()


def _crc(key: str, sample_rate_hz: int, pcm: bytes) -> int:
    return zlib.crc32(pcm, zlib.crc32(f"{key} {sample_rate_hz} {len(pcm)}".encode()))


def _decode(key: str, data: bytes) -> CachedSpeech | None:
    if len(data) <= _HEADER.size:
        return None
    magic, sample_rate_hz, samples, crc = _HEADER.unpack_from(data)
    pcm = data[_HEADER.size :]
    if magic != _MAGIC or len(pcm) != 2 * samples or crc != _crc(key, sample_rate_hz, pcm):
        return None
    return CachedSpeech(pcm, sample_rate_hz)
