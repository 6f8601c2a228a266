from __future__ import annotations

import contextlib
import os
import struct
import threading
import wave
from pathlib import Path

import numpy as np
import pytest

from edge_tts.audio.pcm_file import PcmFile
from edge_tts.errors import OutputError

SAMPLES = np.arange(-1000, 1000, dtype=np.int16)


def test_wav_can_be_read_by_others(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with PcmFile(path, 24000) as file:
        file.write(SAMPLES[:700])
        file.write(SAMPLES[700:])
    with wave.open(str(path)) as reader:
        assert reader.getparams()[:4] == (1, 2, 24000, len(SAMPLES))
        data = reader.readframes(len(SAMPLES))
    np.testing.assert_array_equal(np.frombuffer(data, "<i2"), SAMPLES)
    assert path.stat().st_size == 44 + 2 * len(SAMPLES)


def test_nothing_written_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with PcmFile(path, 24000):
        pass
    assert not path.exists()


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"x" * 100_000)
    with PcmFile(path, 8000) as file:
        file.write(SAMPLES)
    assert path.stat().st_size == 44 + 2 * len(SAMPLES)


def test_an_interrupted_file_is_whole_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with contextlib.suppress(RuntimeError), PcmFile(path, 24000) as file:
        file.write(SAMPLES)
        raise RuntimeError
    with wave.open(str(path)) as reader:
        assert reader.getnframes() == len(SAMPLES)


def test_a_pipe_gets_a_header_that_ends_with_the_pipe(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()))
    reader.start()
    with PcmFile(path, 24000) as file:
        file.write(SAMPLES)
    reader.join()
    assert received[0][44:] == SAMPLES.tobytes()
    assert received[0][:4] == b"RIFF"
    assert struct.unpack("<I", received[0][40:44]) == (0xFFFFFFFF,)


@pytest.mark.parametrize("path", ["/dev/full", "/nonexistent/folder/a.wav", "/"])
def test_what_cannot_be_written_is_named(path: str) -> None:
    with pytest.raises(OutputError, match=path), PcmFile(path, 24000) as file:
        file.write(SAMPLES)


def test_a_reader_that_has_gone_is_a_broken_pipe(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    file = PcmFile(path, 24000)
    file.write(SAMPLES)
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        file.write(SAMPLES)
    file.close()
