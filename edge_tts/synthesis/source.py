"""The voiced excitation: band-limited pulses at the fundamental, as spectra."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from edge_tts.synthesis.inverse_stft import sine_window

Float32 = npt.NDArray[np.float32]
Complex64 = npt.NDArray[np.complex64]

HIGHEST_HARMONIC_HZ = 11000.0
LOWEST_F0_HZ = 40.0


def lookahead_frames(n_fft: int, hop_length: int) -> int:
    """Frames beyond a chunk that half a window and the interpolation of phase reach."""
    return n_fft // hop_length // 2


class PulseSource:
    """Short-time spectra of a pulse train that follows F0, in a stream.

    The phase is the running sum of F0, linear between the centres of frames and
    held at both ends of the utterance. At phase ``t`` the pulse is the sum of
    its ``H`` harmonics up to 11 kHz, ``sum(cos(h t), h = 1..H)`` in Dirichlet's
    closed form ``sin((H + 1/2) t) / (2 sin(t / 2)) - 1/2``. Samples before the
    first and after the last are mirrored. Spectra are divided by half of the
    window's sum, so that a harmonic of amplitude 1 has magnitude 1.

    Args:
        sample_rate_hz: samples a second.
        n_fft: length of the :func:`~edge_tts.synthesis.inverse_stft.sine_window`, a
            multiple of two hops.
        hop_length: samples between two frames, an even number.
    """

    def __init__(self, sample_rate_hz: int, n_fft: int, hop_length: int) -> None:
        self._hop = hop_length
        self._n_fft = n_fft
        self._overlap = n_fft // hop_length
        # Hops beyond its own that the window of a frame reaches.
        self._ahead = lookahead_frames(n_fft, hop_length) - 1
        self._frames_per_s = sample_rate_hz / hop_length
        window = sine_window(n_fft)
        # numpy's transform stays in float32 only with a factor, here 1 / n_fft.
        self._window = window * np.float32(2.0 * n_fft / window.sum(dtype=np.float64))
        # Phase of each sample of a hop, in increments, from the frame's centre.
        self._ramp = (np.arange(hop_length) + 0.5) / hop_length - 0.5
        self._started = False
        self._cycles = 0.0  # phase at the centre of the last frame, in turns, wrapped
        self._tail = np.zeros((self._overlap - 1, hop_length), np.float32)
        self._silent_tail = True

    def spectra(self, f0_hz: Float32, count: int) -> Complex64:
        """Spectra ``(count, n_fft // 2 + 1)`` of the next ``count`` frames.

        Args:
            f0_hz: F0 of these frames and of the :func:`lookahead_frames` after them,
                fewer only where the utterance ends; 40 Hz and less is unvoiced.
            count: frames asked for.
        """
        overlap = self._overlap
        is_first = not self._started
        is_end = len(f0_hz) <= count + self._ahead
        begin = 0 if is_first else self._ahead
        stop = len(f0_hz) if is_end else count + self._ahead
        new = self._pulses(f0_hz, begin, stop, ends=is_end)
        silent = self._silent_tail and not new.any()
        hops = np.zeros((count + overlap - 1, self._hop), np.float32)
        hops[: overlap - 1] = self._tail
        at = overlap - 1 - (self._ahead if is_first else 0)
        hops[at : at + len(new)] = new[: len(hops) - at]
        samples = hops.reshape(-1)
        if is_first:
            edge = (overlap // 2) * self._hop
            mirrored = samples[edge + 1 : 2 * edge + 1]
            samples[edge - len(mirrored) : edge] = mirrored[::-1]
        written = (at + len(new)) * self._hop
        if is_end and written < len(samples):
            missing = len(samples) - written
            samples[written:] = samples[written - 1 - missing : written - 1][::-1]
        self._tail = hops[count:]
        self._silent_tail = not self._tail.any()
        self._started = True
        if silent:
            return np.zeros((count, self._n_fft // 2 + 1), np.complex64)
        step = samples.strides[0]
        frames = np.lib.stride_tricks.as_strided(
            samples, (count, self._n_fft), (self._hop * step, step), writeable=False
        )
        return np.asarray(np.fft.rfft(frames * self._window, norm="forward"), np.complex64)

    def _pulses(self, f0_hz: Float32, begin: int, stop: int, *, ends: bool) -> Float32:
        """Pulse samples ``(stop - begin, hop)`` of frames ``begin`` to ``stop``."""
        turns = f0_hz.astype(np.float64) / self._frames_per_s
        centre = self._cycles + np.cumsum(turns[begin:stop])
        if stop > begin:
            self._cycles = float(centre[-1]) % 1.0
        before = turns[begin:stop].copy()
        after = np.zeros(stop - begin)
        following = turns[begin + 1 : stop + 1]
        after[: len(following)] = following
        if not self._started and len(before):
            before[0] = 0.0  # the phase is held before the first frame's centre
        voiced = np.flatnonzero(f0_hz[begin:stop] > LOWEST_F0_HZ)
        pulses = np.zeros((stop - begin, self._hop), np.float32)
        if not len(voiced):
            return pulses
        half = self._hop // 2
        phase = np.empty((len(voiced), self._hop))
        np.multiply(before[voiced, None], self._ramp[:half], out=phase[:, :half])
        np.multiply(after[voiced, None], self._ramp[half:], out=phase[:, half:])
        phase += centre[voiced, None]
        phase -= np.rint(phase)
        harmonics = np.floor(HIGHEST_HARMONIC_HZ / f0_hz[begin:stop][voiced].astype(np.float64))
        pulses[voiced] = _dirichlet(phase, harmonics[:, None])
        return pulses


def _dirichlet(phase: npt.NDArray[np.float64], harmonics: npt.NDArray[np.float64]) -> Float32:
    """Sum of ``harmonics`` cosines at ``phase`` (turns in [-1/2, 1/2])."""
    # Whole turns leave the argument in float64; float32 then keeps the rest exact enough.
    inner = (harmonics + 0.5) * phase
    inner -= np.rint(inner)
    numerator = inner.astype(np.float32)
    numerator *= np.float32(2.0 * np.pi)
    np.sin(numerator, out=numerator)
    denominator = phase.astype(np.float32)
    denominator *= np.float32(np.pi)
    np.sin(denominator, out=denominator)
    at_pulse = np.abs(denominator) < 1e-4
    denominator[at_pulse] = 1.0
    numerator /= denominator
    numerator -= 1.0
    numerator *= 0.5
    if at_pulse.any():
        np.copyto(numerator, harmonics.astype(np.float32), where=at_pulse)
    return numerator
