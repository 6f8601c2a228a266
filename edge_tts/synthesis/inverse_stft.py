"""Spectra to samples, frame by frame, with no seam between calls."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Complex64 = npt.NDArray[np.complex64]


@lru_cache(maxsize=4)
def sine_window(length: int) -> Float32:
    """The root of a periodic Hann window ``(length,)``, read-only.

    Its squares add up to a constant where windows overlap by half or more, so noise of
    random phase keeps an even level from frame to frame (Princen and Bradley 1986).
    """
    window = np.sin(np.pi * np.arange(length) / length).astype(np.float32)
    window.setflags(write=False)
    return window


class InverseStft:
    """Streaming inverse short-time Fourier transform of one utterance.

    Frame ``f`` is centred on sample ``f * hop_length`` and weighted with
    :func:`sine_window`; overlapping frames are added and divided by the sum of
    the squared windows (Griffin and Lim 1984), a constant. ``F`` frames give the
    samples ``[0, F * hop_length)``; the last ones of them appear with :meth:`finish`
    and fade out, as frames that don't come are silence.

    Args:
        n_fft: window length in samples, a multiple of ``2 * hop_length``.
        hop_length: samples between two frames.
    """

    def __init__(self, n_fft: int, hop_length: int) -> None:
        self._n_fft = n_fft
        self._hop = hop_length
        self._overlap = n_fft // hop_length
        self._window = sine_window(n_fft) * np.float32(2.0 / self._overlap)
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
        return hops[begin:count].reshape(-1)

    def finish(self) -> Float32:
        """The samples that waited for frames which don't come; the stream ends here."""
        skipped = max(0, self.delay_frames - self._frames)
        return self._tail[skipped : self.delay_frames].reshape(-1)
