"""Spectra to samples, frame by frame, with no seam between calls."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Complex64 = npt.NDArray[np.complex64]


@lru_cache(maxsize=4)
def hann(length: int) -> Float32:
    """Periodic Hann window ``(length,)``, read-only."""
    phase = 2.0 * np.pi * np.arange(length) / length
    window = (0.5 - 0.5 * np.cos(phase)).astype(np.float32)
    window.setflags(write=False)
    return window


@lru_cache(maxsize=4)
def _window_power(n_fft: int, hop_length: int) -> npt.NDArray[np.float64]:
    """What the squared window adds to each hop it covers, ``(n_fft // hop_length, hop_length)``."""
    return np.square(hann(n_fft), dtype=np.float64).reshape(-1, hop_length)


@lru_cache(maxsize=4)
def _synthesis_window(n_fft: int, hop_length: int) -> Float32:
    """The window over the sum of all squared windows at a sample."""
    sums = np.tile(_window_power(n_fft, hop_length).sum(axis=0), n_fft // hop_length)
    window: Float32 = (hann(n_fft) / sums).astype(np.float32)
    return window


class InverseStft:
    """Streaming inverse short-time Fourier transform of one utterance.

    Frame ``f`` is centred on sample ``f * hop_length`` and weighted with a
    periodic Hann window; overlapping frames are added and divided by the sum of
    the squared windows (Griffin and Lim 1984). ``F`` frames give the samples
    ``[0, F * hop_length)``; the last ones of them appear with :meth:`finish`.

    Args:
        n_fft: window length in samples, a multiple of ``2 * hop_length``.
        hop_length: samples between two frames.
    """

    def __init__(self, n_fft: int, hop_length: int) -> None:
        self._n_fft = n_fft
        self._hop = hop_length
        self._overlap = n_fft // hop_length
        self._window = _synthesis_window(n_fft, hop_length)
        self._tail = np.zeros((self._overlap - 1, hop_length), np.float32)
        self._frames = 0

    @property
    def delay_frames(self) -> int:
        """Frames by which the samples lag behind: half a window."""
        return self._overlap // 2

    def push(self, spectra: Complex64) -> Float32:
        """Add frames ``(K, n_fft // 2 + 1)``; the samples ``(N,)`` that are complete now."""
        count = len(spectra)
        if not count:
            return np.empty(0, np.float32)
        frames = np.fft.irfft(spectra, n=self._n_fft)
        frames *= self._window
        pieces = frames.reshape(count, self._overlap, self._hop)
        hops = np.zeros((count + self._overlap - 1, self._hop), np.float32)
        hops[: self._overlap - 1] = self._tail
        for position in range(self._overlap):
            hops[position : position + count] += pieces[:, position]
        self._tail = hops[count:]
        first = self._frames
        self._frames += count
        # Hops before the centre of the first frame lie before the first sample.
        begin = max(0, self.delay_frames - first)
        for hop in range(begin, min(count, self._overlap - 1 - first)):
            self._renormalise(hops[hop], first + hop, total=None)
        return hops[begin:count].reshape(-1)

    def finish(self) -> Float32:
        """The samples that waited for frames which don't come; the stream ends here."""
        total = self._frames
        hops = np.concatenate((np.zeros_like(self._tail), self._tail))
        # Row r of hops is hop number total - (overlap - 1) + r of the whole stream.
        begin = max(self.delay_frames, total)
        offset = self._overlap - 1 - total
        for hop in range(begin, total + self.delay_frames):
            self._renormalise(hops[hop + offset], hop, total=total)
        return hops[begin + offset : total + self.delay_frames + offset].reshape(-1)

    def _renormalise(self, hop: Float32, number: int, total: int | None) -> None:
        """Replace the full window sum by that of the frames which exist."""
        power = _window_power(self._n_fft, self._hop)
        present = [
            position
            for position in range(self._overlap)
            if number >= position and (total is None or number - position < total)
        ]
        hop *= (power.sum(axis=0) / power[present].sum(axis=0)).astype(np.float32)
