"""An installation's own WAV: every PCM width, any rate, and no way to harm by a bad file."""

from __future__ import annotations

import struct
import wave
from pathlib import Path

import numpy as np
import pytest

from edge_tts.audio.alarm_wav import load_alarm_wav
from edge_tts.audio.loudness import integrated_loudness_lufs
from edge_tts.errors import InputError


def write_wav(
    path: Path, samples: np.ndarray, rate: int, width: int = 2, channels: int = 1
) -> Path:
    """Samples ``(N,)`` in [-1, 1) into every channel."""
    values = np.round(samples * (2 ** (8 * width - 1) - 1)).astype("<i8")
    if width == 1:
        values += 128
    data = np.repeat(values, channels).view(np.uint8).reshape(-1, 8)[:, :width].tobytes()
    with wave.open(str(path), "wb") as writer:
        writer.setnchannels(channels)
        writer.setsampwidth(width)
        writer.setframerate(rate)
        writer.writeframes(data)
    return path


def sine(rate: int, seconds: float = 0.5, level: float = 0.5) -> np.ndarray:
    return level * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("channels", [1, 2])
def test_every_width_reads_the_same(tmp_path, width, channels):
    path = write_wav(tmp_path / "a.wav", sine(24000), 24000, width, channels)
    np.testing.assert_allclose(
        load_alarm_wav(path, 24000), sine(24000), atol=1.01 / 2 ** (8 * width - 1)
    )


@pytest.mark.parametrize("rate", [8000, 44100, 96000])
def test_other_rates_are_converted(tmp_path, rate):
    loaded = load_alarm_wav(write_wav(tmp_path / "a.wav", sine(rate), rate), 24000)
    middle = slice(1000, 11000)
    np.testing.assert_allclose(loaded[middle], sine(24000)[middle], atol=0.002)


def test_brought_to_the_level_but_not_past_full_scale(tmp_path):
    path = write_wav(tmp_path / "a.wav", sine(24000, 1.0, 0.05), 24000)
    loaded = load_alarm_wav(path, 24000, level_lufs=-20)
    assert integrated_loudness_lufs(loaded, 24000) == pytest.approx(-20, abs=0.1)
    assert np.abs(load_alarm_wav(path, 24000, level_lufs=20)).max() <= 1.0
    silent = write_wav(tmp_path / "s.wav", np.zeros(24000), 24000)
    assert not load_alarm_wav(silent, 24000, level_lufs=-20).any()


def test_too_long_even_if_the_header_says_less(tmp_path):
    path = write_wav(tmp_path / "a.wav", sine(24000, 1.2), 24000)
    with pytest.raises(InputError, match="longer than 1 s"):
        load_alarm_wav(path, 24000, max_s=1.0)


def header(rate: int = 24000, channels: int = 1, coding: int = 1, bits: int = 16) -> bytes:
    block = channels * bits // 8
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 44, b"WAVE", b"fmt ", 16, coding, channels, rate, rate * block, block, bits),
        *(b"data", 8),
    ) + bytes(8)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"RIFF",
        b"not a wav file at all, just text",
        header()[:30],
        header(coding=3, bits=32),
        header(channels=0),
        header(channels=200),
        header(rate=0),
        header(rate=4_000_000),
        header(bits=64),
    ],
)
def test_bad_files_are_refused_with_their_name(tmp_path, content):
    path = tmp_path / "bad.wav"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.wav"):
        load_alarm_wav(path, 24000)


def test_missing_and_folder(tmp_path):
    for path in (tmp_path / "none.wav", tmp_path):
        with pytest.raises(InputError, match="can't read"):
            load_alarm_wav(path, 24000)


def test_torn_last_frame_is_dropped(tmp_path):
    path = tmp_path / "torn.wav"
    path.write_bytes(write_wav(tmp_path / "a.wav", sine(24000), 24000, 3, 2).read_bytes()[:-5])
    assert len(load_alarm_wav(path, 24000)) == 11999
