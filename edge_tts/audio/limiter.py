"""Gain and a true limiter: no sample leaves above the ceiling, no chunk seam is audible.

The limiter looks ahead a millisecond or two: the needed gain of every sample
is held over that window (sliding minimum) and averaged over it, so the gain
has come down smoothly when the peak arrives; then it recovers at a constant
rate in decibels. All gains are counted in integer microdecibels, which makes
the result exactly the same however the signal is cut into chunks.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Waveform = npt.NDArray[np.float32]
Gain = npt.NDArray[np.int64]

_UNITS_PER_DB = 1_000_000


class Limiter:
    """A constant gain followed by a look-ahead peak limiter, streaming.

    Give it one utterance: ``process`` each chunk, then ``flush``. The chunks
    returned add up to as many samples as went in; they run ``lookahead_ms``
    behind. After ``flush`` it is ready for the next utterance.

    Args:
        sample_rate_hz: of the signal.
        gain_db: applied before limiting (loudness target and priority).
        ceiling_dbfs: highest peak that leaves, at most 0.
        lookahead_ms: 0 to 10; the delay, and the time the gain takes to fall.
        release_db_per_s: how fast the gain recovers.
    """

    def __init__(
        self,
        sample_rate_hz: int,
        *,
        gain_db: float = 0.0,
        ceiling_dbfs: float = -1.0,
        lookahead_ms: float = 1.5,
        release_db_per_s: float = 120.0,
    ) -> None:
        if not (ceiling_dbfs <= 0.0 and 0.0 <= lookahead_ms <= 10.0 and release_db_per_s > 0.0):
            raise ValueError(
                f"limiter: ceiling_dbfs={ceiling_dbfs} must be at most 0, lookahead_ms="
                f"{lookahead_ms} in 0..10, release_db_per_s={release_db_per_s} above 0"
            )
        self._scale = np.float32(10 ** (gain_db / 20))
        self._ceiling = np.float32(10 ** (ceiling_dbfs / 20))
        self._delay = round(sample_rate_hz * lookahead_ms / 1000)
        self._step = max(1, round(release_db_per_s * _UNITS_PER_DB / sample_rate_hz))
        self.reset()

    def reset(self) -> None:
        """Forget the utterance under way."""
        # Samples not given out yet, and per sample the needed gain over the window before it.
        self._held: Waveform = np.zeros(0, np.float32)
        self._needed: Gain = np.zeros(self._delay, np.int64)
        self._minima: Gain = np.zeros(self._delay, np.int64)
        self._released = 0

    @property
    def gain_reduction_db(self) -> float:
        """What the limiter takes away at the moment, 0 or more."""
        return -self._released / _UNITS_PER_DB

    def process(self, samples: Waveform) -> Waveform:
        """Limit the next samples ``(N,)``; returns what is ready, at most N samples.

        Samples that are not finite come out as silence.
        """
        if not len(samples):
            return samples[:0]
        loud = np.nan_to_num(samples * self._scale, nan=0.0, posinf=0.0, neginf=0.0)
        gain = self._gain(np.abs(loud))
        # gain[i] belongs to the sample `delay` before input i.
        held = np.concatenate([self._held, loud])
        ready = max(0, len(held) - self._delay)
        self._held = held[ready:]
        return self._apply(held[:ready], gain[len(gain) - ready :])

    def flush(self) -> Waveform:
        """The last ``lookahead_ms`` of the utterance."""
        gain = self._gain(np.zeros(self._delay, np.float32))
        out = self._apply(self._held, gain[len(gain) - len(self._held) :])
        self.reset()
        return out

    def _gain(self, peaks: Waveform) -> Gain:
        """Gain ``(N,)`` in microdecibels for the samples ``delay`` before ``peaks (N,)``."""
        needed = np.zeros(len(peaks), np.int64)
        over = np.flatnonzero(peaks > self._ceiling)
        idle = not (len(over) or self._released or self._needed.any() or self._minima.any())
        if idle or not len(peaks):
            return needed
        ratio = self._ceiling / peaks[over].astype(np.float64)
        needed[over] = np.floor(20 * _UNITS_PER_DB * np.log10(ratio))
        needed = np.concatenate([self._needed, needed])
        minima = _sliding_minimum(needed, self._delay + 1)
        # Constant-rate recovery: r[n] = min(m[n], r[n-1] + step), as a running minimum.
        ramp = np.arange(1, len(minima) + 1, dtype=np.int64) * self._step
        lowest = np.minimum.accumulate(np.minimum(minima - ramp, self._released))
        released = lowest + ramp
        self._released = int(released[-1])
        window = np.concatenate([self._minima, released])
        if self._delay:
            self._needed, self._minima = needed[-self._delay :], window[-self._delay :]
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(window)])
        mean: Gain = (sums[self._delay + 1 :] - sums[: -self._delay - 1]) // (self._delay + 1)
        return mean

    def _apply(self, samples: Waveform, gain: Gain) -> Waveform:
        if not gain.any():
            return samples
        factor = np.exp(gain * (math.log(10) / 20 / _UNITS_PER_DB))
        limited = (samples * factor).astype(np.float32)
        # Rounding to float32 alone can reach past the ceiling, by half a unit in the last place.
        clipped: Waveform = np.clip(limited, -self._ceiling, self._ceiling)
        return clipped


def to_int16(samples: Waveform) -> npt.NDArray[np.int16]:
    """Samples ``(N,)`` in [-1, 1] as 16-bit integers; full scale is 32767."""
    whole: npt.NDArray[np.int16] = np.rint(np.clip(samples, -1.0, 1.0) * 32767).astype(np.int16)
    return whole


def _sliding_minimum(values: Gain, width: int) -> Gain:
    """Minimum over each window of ``width``: ``(N,)`` to ``(N - width + 1,)``, by doubling."""
    reach = 1
    while reach < width:
        shift = min(reach, width - reach)
        values = np.minimum(values[:-shift], values[shift:])
        reach += shift
    return values
