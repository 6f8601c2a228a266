"""Speech into a file or a pipe, as WAV or raw PCM, as fast as it is made."""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from edge_tts.errors import OutputError

_HEADER_BYTES = 44
# What the size fields hold where they can't be filled in afterwards: until the end.
_UNKNOWN_BYTES = 0xFFFF_FFFF
_LONGEST_DATA_BYTES = _UNKNOWN_BYTES - _HEADER_BYTES


class PcmFile:
    """Mono int16 samples into a WAV file, or raw and little-endian to standard output.

    The file is made by the first write, so that a text that can't be spoken leaves
    nothing behind. In a regular file the header is made true by :meth:`close`;
    a pipe gets one that says "until the end".

    Args:
        path: of the WAV file; ``-`` writes raw PCM to standard output.
        sample_rate_hz: of the samples.
    """

    def __init__(self, path: str | Path, sample_rate_hz: int) -> None:
        self._path = str(path)
        self._is_raw = self._path == "-"
        self._name = "standard output" if self._is_raw else self._path
        self._sample_rate_hz = sample_rate_hz
        self._descriptor: int | None = None
        self._data_bytes = 0

    def write(self, samples: npt.NDArray[np.int16]) -> None:
        """Append samples ``(N,)``.

        Raises:
            OutputError: the file can't be made, or not be written to.
            BrokenPipeError: the reader of the pipe has gone.
        """
        if self._descriptor is None:
            self._open()
        data = samples.astype("<i2", copy=False).tobytes()
        if not self._is_raw and self._data_bytes + len(data) > _LONGEST_DATA_BYTES:
            raise OutputError(f"{self._name} reached 4 GiB, the limit of WAV; write raw PCM to -")
        self._write(data)
        self._data_bytes += len(data)

    def close(self) -> None:
        """Complete the header and close; calling it twice is harmless.

        Raises:
            OutputError: the last of it can't be written.
        """
        if self._descriptor is None or self._is_raw:
            return
        descriptor, self._descriptor = self._descriptor, None
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.pwrite(descriptor, _wav_header(self._sample_rate_hz, self._data_bytes), 0)
        except OSError as exc:
            raise self._error("written to", exc) from exc
        finally:
            os.close(descriptor)

    def __enter__(self) -> PcmFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self) -> None:
        if self._is_raw:
            self._descriptor = 1
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        try:
            self._descriptor = os.open(self._path, flags, 0o666)
        except OSError as exc:
            raise self._error("made", exc) from exc
        self._write(_wav_header(self._sample_rate_hz, _UNKNOWN_BYTES))

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._descriptor or 1, view) :]
            except BrokenPipeError:
                raise
            except OSError as exc:
                raise self._error("written to", exc) from exc

    def _error(self, what: str, exc: OSError) -> OutputError:
        return OutputError(f"{self._name} can't be {what}: {exc.strerror}; choose another --output")


def _wav_header(sample_rate_hz: int, data_bytes: int) -> bytes:
    riff_bytes = min(_UNKNOWN_BYTES, data_bytes + _HEADER_BYTES - 8)
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", riff_bytes, b"WAVE", b"fmt ", 16, 1, 1),
        *(sample_rate_hz, 2 * sample_rate_hz, 2, 16, b"data", data_bytes),
    )
