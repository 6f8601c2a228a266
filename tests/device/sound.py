"""What left the sound card: a WAV file read even when its writer was cut off, and searched.

Sounds are found by normalised cross-correlation, so neither level nor the card's
sample rate conversion matters, and a sound that isn't there scores near 0.
"""

from __future__ import annotations

import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.signal import resample_poly

Signal = npt.NDArray[np.float64]

_HEADER_BYTES = 44
# Quieter than this, of full scale, counts as silence: -60 dBFS.
_SILENCE = 1e-3


def read_capture(path: Path) -> Signal:
    """The left channel ``(N,)`` in [-1, 1] of QEMU's 16-bit stereo WAV.

    Its header has no lengths when the machine was cut off.
    """
    data = path.read_bytes()[_HEADER_BYTES:]
    frames = np.frombuffer(data[: len(data) // 4 * 4], "<i2").reshape(-1, 2)
    return frames[:, 0] / 32768.0


def read_captures(folder: Path) -> dict[str, Signal]:
    """What left each card in each boot, by ``BOOT.CARD``, over all times it was plugged in."""
    parts: dict[str, list[tuple[float, Path]]] = {}
    for path in folder.glob("*.*.wav"):
        boot, card, *number = path.stem.split(".")
        order = float(number[0]) if number else float("inf")
        parts.setdefault(f"{boot}.{card}", []).append((order, path))
    return {
        key: np.concatenate([read_capture(path) for _, path in sorted(those)])
        for key, those in sorted(parts.items())
    }


def read_mono(path: Path, sample_rate_hz: int) -> Signal:
    """A mono 16-bit WAV, ``(N,)`` in [-1, 1], brought to a rate."""
    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768.0
        return at_rate(samples, file.getframerate(), sample_rate_hz)


def at_rate(samples: Signal, rate_hz: int, wanted_hz: int) -> Signal:
    divisor = int(np.gcd(rate_hz, wanted_hz))
    converted: Signal = resample_poly(samples, wanted_hz // divisor, rate_hz // divisor)
    return converted


def trimmed(samples: Signal) -> Signal:
    """Without silence before and after."""
    loud = np.flatnonzero(np.abs(samples) > _SILENCE)
    return samples[loud[0] : loud[-1] + 1] if len(loud) else samples[:0]


@dataclass(frozen=True)
class Match:
    """Where a sound lies best: sample index, and its likeness (1: the same but for level)."""

    index: int
    likeness: float


def find(capture: Signal, sound: Signal, start: int = 0) -> Match:
    """The best place of ``sound`` in ``capture`` from ``start`` on."""
    heard = capture[start:]
    if len(heard) < len(sound) or not len(sound):
        return Match(start, 0.0)
    size = 1 << (len(heard) + len(sound)).bit_length()
    product = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(sound, size))
    places = len(heard) - len(sound) + 1
    correlation = np.fft.irfft(product, size)[:places]
    energy = np.concatenate([[0.0], np.cumsum(heard**2)])
    power = energy[len(sound) :][:places] - energy[:places]
    # Where next to nothing sounds, rounding errors would correlate.
    floor = 1e-4 * float((sound**2).sum())
    likeness = correlation / np.sqrt(np.maximum(power, floor) * float((sound**2).sum()))
    index = int(likeness.argmax())
    return Match(start + index, float(likeness[index]))


def likeness_at(capture: Signal, sound: Signal, index: int, slack: int = 48) -> float:
    """Likeness of ``sound`` at ``index``, give or take ``slack`` samples."""
    first = max(0, index - slack)
    return find(capture[first : index + len(sound) + slack], sound).likeness
