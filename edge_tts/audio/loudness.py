"""Loudness after ITU-R BS.1770-4, and the one gain that brings an utterance to its target.

An utterance can't be measured before it is spoken, so its gain comes from the
known level of the voice: constant over the utterance, no pumping.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_ABSOLUTE_GATE_LUFS = -70.0
_RELATIVE_GATE_LU = -10.0
_OFFSET_LUFS = -0.691
_BLOCK_S = 0.4
_BLOCKS_PER_WINDOW = 4  # 75 % overlap


def static_gain_db(
    target_lufs: float, voice_lufs: float, priority_gain_db: float = 0.0, limit_db: float = 24.0
) -> float:
    """The gain that brings a voice of known loudness to the target, plus that of the priority.

    Never more than ``limit_db`` either way, so that a wrong figure in a voice
    can neither mute nor deafen.
    """
    gain_db = target_lufs - voice_lufs + priority_gain_db
    return max(-limit_db, min(limit_db, gain_db))


def integrated_loudness_lufs(samples: npt.NDArray[np.float32], sample_rate_hz: int) -> float:
    """Gated loudness of a mono signal ``(N,)`` in [-1, 1]; ``-inf`` for silence.

    Signals shorter than one 400 ms block are measured as one block.
    """
    weighted = k_weighted(samples, sample_rate_hz)
    hop = round(sample_rate_hz * _BLOCK_S / _BLOCKS_PER_WINDOW)
    energy = np.concatenate([np.zeros(1), np.cumsum(weighted**2)])
    width = hop * _BLOCKS_PER_WINDOW
    if len(weighted) < width:
        return loudness_of_power(float(energy[-1]) / max(1, len(weighted)))
    starts = np.arange(0, len(weighted) - width + 1, hop)
    power = (energy[starts + width] - energy[starts]) / width
    for gate_lu in (None, _RELATIVE_GATE_LU):
        gate = _ABSOLUTE_GATE_LUFS
        if gate_lu is not None and len(power):
            gate = loudness_of_power(float(power.mean())) + gate_lu
        power = power[power > 10 ** ((gate - _OFFSET_LUFS) / 10)]
    return loudness_of_power(float(power.mean())) if len(power) else -math.inf


def k_weighted(samples: npt.NDArray[np.float32], sample_rate_hz: int) -> Array:
    """The signal ``(N,)`` through the K-weighting filter of BS.1770-4."""
    response = _k_weighting(sample_rate_hz)
    size = 1 << (len(samples) + len(response) - 1).bit_length()
    spectrum = np.fft.rfft(np.asarray(samples, np.float64), size)
    spectrum *= np.fft.rfft(response, size)
    return np.asarray(np.fft.irfft(spectrum, size)[: len(samples)])


def loudness_of_power(power: float) -> float:
    """LUFS of the mean square of a K-weighted mono signal; ``-inf`` for 0."""
    return _OFFSET_LUFS + 10 * math.log10(power) if power > 0 else -math.inf


@lru_cache(maxsize=4)
def _k_weighting(sample_rate_hz: int) -> Array:
    """Impulse response of half a second, past which it is below -120 dB.

    The standard tabulates the two biquads at 48 kHz; these are the analogue
    prototypes behind that table, by the bilinear transform at any rate.
    """
    rate = float(sample_rate_hz)
    # Stage 1, high shelf: +4 dB above about 1.7 kHz.
    gain = 10 ** (3.999843853973347 / 20)
    k = math.tan(math.pi * 1681.974450955533 / rate)
    q = 0.7071752369554196
    band = gain**0.4996667741545416
    shelf_b = (gain + band * k / q + k * k, 2 * (k * k - gain), gain - band * k / q + k * k)
    shelf_a = (1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k)
    # Stage 2, high pass at 38 Hz; its numerator is not normalised in the standard.
    k = math.tan(math.pi * 38.13547087602444 / rate)
    q = 0.5003270373238773
    pass_a = (1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k)
    impulse = [1.0] + [0.0] * (round(rate / 2) - 1)
    scale = pass_a[0]
    return np.array(_biquad((scale, -2 * scale, scale), pass_a, _biquad(shelf_b, shelf_a, impulse)))


def _biquad(
    b: tuple[float, float, float], a: tuple[float, float, float], signal: list[float]
) -> list[float]:
    b0, b1, b2 = (value / a[0] for value in b)
    a1, a2 = a[1] / a[0], a[2] / a[0]
    out: list[float] = []
    s1 = s2 = 0.0
    for x in signal:
        y = b0 * x + s1
        s1 = b1 * x - a1 * y + s2
        s2 = b2 * x - a2 * y
        out.append(y)
    return out
