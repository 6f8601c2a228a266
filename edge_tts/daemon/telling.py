"""One alarm being told once, and what shapes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from edge_tts.daemon.alarm import Alarm, Priority
from edge_tts.daemon.synthesis_worker import SynthesisJob

Waveform = npt.NDArray[np.float32]

_VIA_BY_RANK = ("tone", "dsp", "neural", "cache")


@dataclass(frozen=True)
class SpeakerOptions:
    """What a reload may change.

    Attributes:
        deadline_s: longest wait for speech once nothing else sounds.
        loading_s: added while the networks are not loaded yet.
        speed: of the voice, times that of the alarm.
        gain_db: by priority, added to that of the alarm.
    """

    deadline_s: float = 1.5
    loading_s: float = 5.0
    speed: float = 1.0
    ceiling_dbfs: float = -1.0
    gain_db: Mapping[Priority, float] = field(default_factory=dict)


class Telling:
    """One alarm being told once."""

    def __init__(self, alarm: Alarm, speed: float, turn_s: float) -> None:
        self.alarm = alarm
        self.speed = min(2.0, max(0.5, alarm.speed * speed))
        self.turn_s = turn_s
        self.vias: set[str] = set()
        self.job: SynthesisJob | None = None
        self.interrupted = False
        self.failure = ""
        self.first_ms: float | None = None

    @property
    def via(self) -> str:
        """What spoke: the lowest step that had to help."""
        return next((via for via in _VIA_BY_RANK if via in self.vias), "none")


def slices(samples: Waveform, length: int) -> Iterator[Waveform]:
    """Parts of a long waveform: its beginning shall not wait for work on its end."""
    for begin in range(0, len(samples), length):
        yield samples[begin : begin + length]
