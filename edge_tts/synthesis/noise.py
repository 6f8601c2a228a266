"""The noise that breathes in every voice: a fixed table, so that a text has one sound."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Complex64 = npt.NDArray[np.complex64]

TABLE_FRAMES = 256
_SEED = 0x5EED


class NoiseTable:
    """Complex Gaussian noise of unit power, indexed by the frame of an utterance.

    The table repeats after 256 frames (3.2 s at 80 frames a second), too far
    apart to be heard as a pattern. It is made on first use, from integers alone
    (a Weyl sequence through the SplitMix64 finaliser, Steele et al. 2014, then
    Box and Muller's transform), so it needs no random module and is the same
    with every numpy.

    Args:
        bins: frequency bins of a frame.
    """

    def __init__(self, bins: int) -> None:
        self._bins = bins
        self._table: Complex64 | None = None

    def rows(self, start: int, stop: int) -> Complex64:
        """Noise ``(stop - start, bins)`` of frames ``[start, stop)``; not to be written to."""
        if self._table is None:
            self._table = _gaussian_table(TABLE_FRAMES, self._bins)
        first = start % TABLE_FRAMES
        if first + stop - start <= TABLE_FRAMES:
            return self._table[first : first + stop - start]
        return self._table[np.arange(start, stop) % TABLE_FRAMES]

    def clear(self) -> None:
        """Free the table; the next use makes it again."""
        self._table = None


def _gaussian_table(frames: int, bins: int) -> Complex64:
    size = frames * bins
    state = np.arange(1, 2 * size + 1, dtype=np.uint64)
    state *= np.uint64(0x9E3779B97F4A7C15)
    state += np.uint64(_SEED)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state ^= state >> np.uint64(shift)
        state *= np.uint64(factor)
    state ^= state >> np.uint64(31)
    # 24 bits each, half a step off zero, where the logarithm has no value.
    uniform = (state >> np.uint64(40)).astype(np.float32)
    uniform += np.float32(0.5)
    uniform *= np.float32(2.0**-24)
    radius = np.sqrt(-np.log(uniform[:size]))
    angle = uniform[size:] * np.float32(2.0 * np.pi)
    table = np.empty(size, np.complex64)
    table.real = radius * np.cos(angle)
    table.imag = radius * np.sin(angle)
    return table.reshape(frames, bins)
