"""Plain one-shot versions, in float64, of what the streaming code computes in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

RATE, N_FFT, HOP = 24000, 600, 300
# The voice has the first; a longer window is as right.
WINDOWS = (600, 1200)
Array = npt.NDArray[Any]


def window(n_fft: int = N_FFT) -> Array:
    """The root of a periodic Hann window."""
    return np.sqrt(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n_fft) / n_fft))


def pulse_train(f0_hz: Array) -> Array:
    """Pulses ``(F * HOP,)``, harmonic by harmonic."""
    turns = np.cumsum(f0_hz.astype(np.float64) / RATE * HOP)
    samples = np.arange(len(f0_hz) * HOP)
    position = (samples + 0.5) / HOP - 0.5
    phase = 2 * np.pi * np.interp(position, np.arange(len(f0_hz)), turns)
    f0_of_sample = np.repeat(f0_hz.astype(np.float64), HOP)
    pulses = np.zeros(len(samples))
    for harmonic in range(1, 276):
        sounding = (f0_of_sample > 40) & (
            harmonic <= np.floor(11000 / np.maximum(f0_of_sample, 40))
        )
        pulses[sounding] += np.cos(harmonic * phase[sounding])
    return pulses


def stft(samples: Array, n_fft: int = N_FFT) -> Array:
    """Spectra ``(F, bins)`` of ``F * HOP`` samples, centred, mirrored at both ends."""
    padded = np.pad(samples, n_fft // 2, mode="reflect")
    count = len(samples) // HOP
    frames = np.stack([padded[f * HOP : f * HOP + n_fft] * window(n_fft) for f in range(count)])
    return np.fft.rfft(frames)


def istft(spectra: Array) -> Array:
    """Samples ``(F * HOP,)`` of ``F`` spectra; frames beyond both ends are silence."""
    count, n_fft = len(spectra), 2 * (spectra.shape[1] - 1)
    total = np.zeros(count * HOP + n_fft)
    for frame, values in enumerate(np.fft.irfft(spectra.astype(np.complex128), n=n_fft)):
        place = slice(frame * HOP, frame * HOP + n_fft)
        total[place] += values * window(n_fft)
    kept = slice(n_fft // 2, n_fft // 2 + count * HOP)
    return total[kept] / (n_fft / HOP / 2)


def cut(total: int, lengths: list[int]) -> list[tuple[int, int]]:
    """``(start, stop)`` pairs that cover ``total`` with these lengths, the last one repeated."""
    spans, start = [], 0
    while start < total:
        length = lengths[min(len(spans), len(lengths) - 1)]
        spans.append((start, min(total, start + length)))
        start += length
    return spans
