"""Attention tones, coded by priority after the burst timing of IEC 60601-1-8.

A tone is a burst of pulses. The number of pulses, their length and their
spacing tell the priority (tables 3 and 4 of the standard); each pulse is a
fundamental of 150 to 1000 Hz with harmonics no more than 15 dB below it, so
that a tone stays audible where one frequency is masked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from edge_tts.audio.loudness import k_weighted, loudness_of_power
from edge_tts.errors import UsageError

Waveform = npt.NDArray[np.float32]

# Harmonics beyond the fundamental fall by 2 dB each: the sixth partial is 10 dB down.
_PARTIALS = 6
_PARTIAL_STEP_DB = 2.0


@dataclass(frozen=True)
class ToneSpec:
    """A burst of pulses; times in milliseconds, edge to edge of the pulses."""

    fundamental_hz: float
    pulses: int
    pulse_ms: float
    gap_ms: float
    # Pulses 3 and 4 of a group of five stand further apart: 2 gaps + 1 pulse.
    grouped: bool = False
    bursts: int = 1
    burst_gap_ms: float = 0.0
    tail_ms: float = 120.0

    def pulse_starts_ms(self) -> tuple[float, ...]:
        """The start of each pulse from the start of the tone."""
        starts: list[float] = []
        at_ms = 0.0
        for _ in range(self.bursts):
            for pulse in range(self.pulses):
                starts.append(at_ms)
                at_ms += self.pulse_ms + self.gap_ms
                if self.grouped and pulse == 2:
                    at_ms += self.pulse_ms + self.gap_ms
            at_ms += self.burst_gap_ms - self.gap_ms
        return tuple(starts)


TONES: dict[str, ToneSpec] = {
    "critical": ToneSpec(660.0, 5, 90.0, 55.0, grouped=True, bursts=2, burst_gap_ms=360.0),
    "high": ToneSpec(523.25, 5, 100.0, 70.0, grouped=True, bursts=2, burst_gap_ms=400.0),
    "medium": ToneSpec(440.0, 3, 160.0, 150.0),
    "low": ToneSpec(330.0, 2, 160.0, 200.0),
}


def attention_tone(priority: str, sample_rate_hz: int, level_lufs: float = -18.0) -> Waveform:
    """The tone of a priority, ``(N,)`` in [-1, 1]; each pulse has the loudness ``level_lufs``.

    Ends with 120 ms of silence before the speech. Rendered once and kept: the
    array is read-only.

    Raises:
        UsageError: no such priority.
    """
    if priority not in TONES:
        raise UsageError(f"no tone for priority {priority!r}; use one of {', '.join(TONES)}")
    return _cached(TONES[priority], sample_rate_hz, level_lufs)


@lru_cache(maxsize=16)
def _cached(spec: ToneSpec, sample_rate_hz: int, level_lufs: float) -> Waveform:
    return render_tone(spec, sample_rate_hz, level_lufs)


def render_tone(spec: ToneSpec, sample_rate_hz: int, level_lufs: float) -> Waveform:
    """Compute a tone, ``(N,)`` in [-1, 1], read-only."""
    pulse = _pulse(spec, sample_rate_hz)
    loudness = loudness_of_power(float(np.mean(k_weighted(pulse, sample_rate_hz) ** 2)))
    pulse *= np.float32(10 ** ((level_lufs - loudness) / 20))
    pulse *= np.float32(min(1.0, 0.98 / float(np.abs(pulse).max())))
    starts = [round(at_ms * sample_rate_hz / 1000) for at_ms in spec.pulse_starts_ms()]
    tail = round(spec.tail_ms * sample_rate_hz / 1000)
    tone = np.zeros(starts[-1] + len(pulse) + tail, np.float32)
    for start in starts:
        tone[start : start + len(pulse)] = pulse
    tone.setflags(write=False)
    return tone


def _pulse(spec: ToneSpec, sample_rate_hz: int) -> Waveform:
    samples = round(spec.pulse_ms * sample_rate_hz / 1000)
    seconds = (np.arange(samples) + 0.5) / sample_rate_hz
    wave = np.zeros(samples)
    for partial in range(1, _PARTIALS + 1):
        hz = partial * spec.fundamental_hz
        if hz < 0.45 * sample_rate_hz:
            # Schroeder phases keep the peak of the sum low for its loudness.
            phase = -math.pi * partial * (partial - 1) / _PARTIALS
            level = 10 ** (-_PARTIAL_STEP_DB * (partial - 1) / 20)
            wave += level * np.sin(2 * math.pi * hz * seconds + phase)
    return (wave * _envelope(samples)).astype(np.float32)


def _envelope(samples: int) -> npt.NDArray[np.float64]:
    """Raised-cosine edges of a third of the pulse.

    The standard counts rise and fall from 10 % to 90 % of the amplitude, which
    is 59 % of such an edge: 20 % of the pulse, amid the allowed 10 to 40 %.
    """
    edge = max(1, samples // 3)
    rise = 0.5 - 0.5 * np.cos(math.pi * (np.arange(edge) + 0.5) / edge)
    envelope = np.ones(samples)
    envelope[:edge] = rise
    envelope[-edge:] = rise[::-1]
    return envelope
