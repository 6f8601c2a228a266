"""Unpacking a voice pack that nobody vouches for: ``.tar``, ``.tar.gz``, ``.zip`` or a folder.

Nothing but regular files of bounded number and size is written, and nothing
outside the target folder, whatever the archive says.
"""

from __future__ import annotations

import gzip
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from edge_tts.errors import VoiceError

MAX_FILES = 256
MAX_UNPACKED_BYTES = 256 << 20
_BLOCK_BYTES = 1 << 18
# Everything that reading a damaged archive was seen or is documented to raise.
_ARCHIVE_ERRORS = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)


def unpack_voice(source: Path, target: Path) -> Path:
    """Unpack an archive, or copy a folder, into an empty folder; everything is synced to disk.

    Returns:
        The folder under ``target`` that holds ``voice.json``.

    Raises:
        VoiceError: the source is missing, damaged, too large, holds something
            other than files and folders, or names a path outside of itself.
    """
    try:
        for name, stream in _members(source):
            _write(target, name, stream)
    except VoiceError:
        raise
    except _ARCHIVE_ERRORS as exc:
        raise VoiceError(f"can't unpack {source}: {exc or type(exc).__name__}") from exc
    found = sorted(target.rglob("voice.json"), key=lambda path: len(path.parts))
    if not found:
        raise VoiceError(f"{source} holds no voice.json: it is not a voice pack")
    for folder, _, _ in os.walk(target):
        sync_folder(Path(folder))
    return found[0].parent


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power loss."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _members(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if source.is_dir():
        return _folder_members(source)
    if not source.is_file():
        raise VoiceError(f"{source} is not there")
    with open(source, "rb") as stream:
        magic = stream.read(4)
    if magic == b"PK\x03\x04":
        return _zip_members(source)
    return _tar_members(source, compressed=magic[:2] == b"\x1f\x8b")


def _folder_members(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    for path in sorted(source.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise VoiceError(f"{path} is neither a file nor a folder; a pack holds nothing else")
        if path.is_file():
            with open(path, "rb") as stream:
                yield path.relative_to(source).as_posix(), stream


def _zip_members(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(source) as archive:
        for entry in archive.infolist():
            mode = entry.external_attr >> 16
            if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise VoiceError(f"{source}: {entry.filename!r} is not a regular file")
            if not entry.is_dir():
                with archive.open(entry) as stream:
                    yield entry.filename, stream


def _tar_members(source: Path, compressed: bool) -> Iterator[tuple[str, IO[bytes]]]:
    open_source: Callable[..., Any] = gzip.open if compressed else open
    with (
        open_source(source, "rb") as opened,
        tarfile.open(fileobj=cast("Any", _Bounded(opened)), mode="r|") as archive,
    ):
        for entry in archive:
            if entry.isdir():
                continue
            stream = archive.extractfile(entry) if entry.isreg() else None
            if stream is None:
                raise VoiceError(f"{source}: {entry.name!r} is not a regular file")
            yield entry.name, stream


class _Bounded:
    """A stream that ends in an error when an archive's headers and data are too much."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._left = MAX_UNPACKED_BYTES + MAX_FILES * 4096

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise VoiceError(_too_large())
        return data


def _too_large() -> str:
    return (
        f"the pack unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB or {MAX_FILES} files; "
        "it is not a voice pack"
    )


def _write(target: Path, name: str, stream: IO[bytes]) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise VoiceError(f"the pack names a path outside of itself: {name!r}")
    place = target.joinpath(*path.parts)
    place.parent.mkdir(parents=True, exist_ok=True)
    used_bytes, count = _used(target)
    if count >= MAX_FILES:
        raise VoiceError(_too_large())
    # "x": an archive that names a file twice is not one that was packed as a voice.
    with open(place, "xb") as file:
        while block := stream.read(_BLOCK_BYTES):
            used_bytes += len(block)
            if used_bytes > MAX_UNPACKED_BYTES:
                raise VoiceError(_too_large())
            file.write(block)
        file.flush()
        os.fsync(file.fileno())


def _used(target: Path) -> tuple[int, int]:
    sizes = [path.stat().st_size for path in target.rglob("*") if path.is_file()]
    return sum(sizes), len(sizes)
