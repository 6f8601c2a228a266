"""Sample-rate conversion by a polyphase windowed-sinc filter, streaming.

Kaiser window design after Oppenheim and Schafer, "Discrete-Time Signal
Processing", 7.6: length and shape follow from the wanted stop band.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Waveform = npt.NDArray[np.float32]

_STOP_BAND_DB = 90.0
# Half width of the transition around the lower Nyquist frequency, as a part of it.
_TRANSITION = 0.09
_MAX_TABLE = 2_000_000


class Resampler:
    """Converts one mono stream; chunks add up to exactly the one-shot result.

    Args:
        input_rate_hz, output_rate_hz: 1 kHz to 400 kHz; ratio of small integers.
    """

    def __init__(self, input_rate_hz: int, output_rate_hz: int) -> None:
        if not (1000 <= input_rate_hz <= 400_000 and 1000 <= output_rate_hz <= 400_000):
            raise ValueError(f"can't resample {input_rate_hz} Hz to {output_rate_hz} Hz")
        common = math.gcd(input_rate_hz, output_rate_hz)
        self._up = output_rate_hz // common
        self._down = input_rate_hz // common
        self._taps = _polyphase_taps(self._up, self._down)  # (up, width)
        self._half: int = self._taps.shape[1] // 2
        self.reset()

    def reset(self) -> None:
        """Forget the stream under way."""
        # Input from index `_base` on that later output still needs; starts in silence.
        self._history: Waveform = np.zeros(self._half - 1, np.float32)
        self._base = -(self._half - 1)
        self._consumed = 0
        self._produced = 0

    @property
    def delay_samples(self) -> int:
        """Input samples that the output runs behind."""
        return self._half

    def process(self, samples: Waveform) -> Waveform:
        """Convert the next samples ``(N,)``; returns those that are ready, float32."""
        self._consumed += len(samples)
        return self._convert(samples, self._consumed - self._half)

    def flush(self) -> Waveform:
        """The end of the stream: ``ceil(inputs * output_rate / input_rate)`` samples in all."""
        out = self._convert(np.zeros(self._half, np.float32), self._consumed)
        self.reset()
        return out

    def _convert(self, samples: Waveform, end: int) -> Waveform:
        """Output whose centre lies before input index ``end``."""
        history = np.concatenate([self._history, samples])
        total = max(self._produced, -(-end * self._up // self._down))
        steps = np.arange(self._produced, total, dtype=np.int64) * self._down
        # Output n lies at input time n * down / up: `centre` and a phase between samples.
        centre, phase = steps // self._up, steps % self._up
        width = self._taps.shape[1]
        starts = centre - (self._half - 1) - self._base
        self._produced = total
        if not len(steps):
            self._history = history
            return np.zeros(0, np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(history, width)[starts]
        out: Waveform = np.einsum("nk,nk->n", windows, self._taps[phase])
        keep = total * self._down // self._up - (self._half - 1) - self._base
        keep = max(0, min(keep, len(history)))
        self._history = history[keep:]
        self._base += keep
        return out


class Int16Resampler:
    """The same for int16 samples; passes them through when the rates are equal."""

    def __init__(self, input_rate_hz: int, output_rate_hz: int) -> None:
        same = input_rate_hz == output_rate_hz
        self._resampler = None if same else Resampler(input_rate_hz, output_rate_hz)

    def reset(self) -> None:
        if self._resampler is not None:
            self._resampler.reset()

    def process(self, samples: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
        if self._resampler is None:
            return samples
        return _rounded(self._resampler.process(samples.astype(np.float32)))

    def flush(self) -> npt.NDArray[np.int16]:
        if self._resampler is None:
            return np.zeros(0, np.int16)
        return _rounded(self._resampler.flush())


def _rounded(samples: Waveform) -> npt.NDArray[np.int16]:
    return np.clip(np.rint(samples), -32768, 32767).astype(np.int16)


def _polyphase_taps(up: int, down: int) -> Waveform:
    """Filter ``(up, width)``: row p weighs the input around an output at phase p / up."""
    # Frequencies in cycles an input sample; the lower of both Nyquist limits counts.
    cutoff = 0.5 * min(1.0, up / down)
    transition = 2 * _TRANSITION * cutoff
    half = math.ceil((_STOP_BAND_DB - 7.95) / (2.285 * 2 * math.pi * transition) / 2)
    if 2 * half * up > _MAX_TABLE:
        raise ValueError(f"the ratio {up}/{down} needs too large a filter; use common rates")
    beta = 0.1102 * (_STOP_BAND_DB - 8.7)
    offset = np.arange(-half + 1, half + 1)[None, :] - np.arange(up)[:, None] / up
    window = np.i0(beta * np.sqrt(np.clip(1 - (offset / half) ** 2, 0, 1))) / np.i0(beta)
    taps = 2 * cutoff * np.sinc(2 * cutoff * offset) * window
    # Each phase passes a constant unchanged, so that no hum appears at the input rate.
    normal: Waveform = (taps / taps.sum(axis=1, keepdims=True)).astype(np.float32)
    return normal
