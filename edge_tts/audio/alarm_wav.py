"""Loads a WAV file that an installation plays as its own alarm tone."""

from __future__ import annotations

import math
import wave
from pathlib import Path

import numpy as np
import numpy.typing as npt

from edge_tts.audio.loudness import integrated_loudness_lufs
from edge_tts.audio.resampler import Resampler
from edge_tts.errors import InputError

Waveform = npt.NDArray[np.float32]

_RATES_HZ = (8000, 192_000)
_MAX_CHANNELS = 8
_MAX_WIDTH = 4
_LEVEL_LIMIT_DB = 24.0


def load_alarm_wav(
    path: Path | str,
    sample_rate_hz: int,
    *,
    level_lufs: float | None = None,
    max_s: float = 10.0,
) -> Waveform:
    """Read PCM of 8 to 32 bits, mix it to mono and convert its rate: ``(N,)`` in [-1, 1].

    With ``level_lufs`` it is brought to that loudness, by 24 dB at most and
    never past full scale.

    Raises:
        InputError: not a PCM WAV file, too long, or of an odd format.
    """
    path = Path(path)
    try:
        with path.open("rb") as file, wave.open(file) as reader:
            channels, width, rate_hz = (
                reader.getnchannels(),
                reader.getsampwidth(),
                reader.getframerate(),
            )
            rate_fits = _RATES_HZ[0] <= rate_hz <= _RATES_HZ[1]
            if not (rate_fits and channels <= _MAX_CHANNELS and width <= _MAX_WIDTH):
                raise InputError(
                    f"{path}: {rate_hz} Hz, {channels} channels, {8 * width} bits; use "
                    f"{_RATES_HZ[0]} to {_RATES_HZ[1]} Hz, at most {_MAX_CHANNELS} channels "
                    f"and {8 * _MAX_WIDTH} bits"
                )
            frames = int(max_s * rate_hz)
            # One frame more than allowed tells a long file; the header may lie about it.
            data = reader.readframes(frames + 1)
    except OSError as exc:
        raise InputError(f"can't read {path}: {exc.strerror}") from exc
    except (wave.Error, EOFError, ValueError) as exc:
        reason = str(exc) or "it ends too early"
        raise InputError(f"{path} is not a PCM WAV file ({reason}); convert it first") from exc
    if len(data) > frames * channels * width:
        raise InputError(f"{path} is longer than {max_s:g} s; shorten it")
    samples = _to_float(data, width)
    mono = samples[: len(samples) // channels * channels].reshape(-1, channels).mean(axis=1)
    try:
        converted = _converted(mono.astype(np.float32), rate_hz, sample_rate_hz)
    except ValueError as exc:
        raise InputError(f"{path}: {exc}") from exc
    return _levelled(converted, sample_rate_hz, level_lufs)


def _to_float(data: bytes, width: int) -> npt.NDArray[np.float64]:
    """Little-endian PCM to [-1, 1); 8 bits are unsigned, more are signed."""
    data = data[: len(data) // width * width]
    if width == 1:
        return np.frombuffer(data, np.uint8).astype(np.float64) / 128 - 1
    # To 32 bits with the sample in the upper bytes.
    raw = np.frombuffer(data, np.uint8).reshape(-1, width)
    wide = np.zeros((len(raw), 4), np.uint8)
    wide[:, 4 - width :] = raw
    return wide.view("<i4")[:, 0].astype(np.float64) / 2**31


def _converted(samples: Waveform, rate_hz: int, wanted_hz: int) -> Waveform:
    if rate_hz == wanted_hz:
        return samples
    resampler = Resampler(rate_hz, wanted_hz)
    return np.concatenate([resampler.process(samples), resampler.flush()])


def _levelled(samples: Waveform, sample_rate_hz: int, level_lufs: float | None) -> Waveform:
    gain = 1.0
    if level_lufs is not None:
        loudness = integrated_loudness_lufs(samples, sample_rate_hz)
        if math.isfinite(loudness):
            limit = _LEVEL_LIMIT_DB
            gain = 10 ** (max(-limit, min(limit, level_lufs - loudness)) / 20)
    peak = float(np.abs(samples).max(initial=0.0)) * gain
    levelled: Waveform = (samples * (gain / max(1.0, peak))).astype(np.float32)
    return levelled
