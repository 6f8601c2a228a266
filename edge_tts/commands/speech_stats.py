"""What speaking cost: times by stage, speed and memory."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edge_tts.audio_chunk import AudioChunk


@dataclass
class SpeechStats:
    """Watches the chunks of one text go by; times in milliseconds.

    Attributes:
        first_audio_ms: from the text to its first chunk; None before it.
        first_stages_ms: what the first chunk took, by stage.
        stages_ms: what all chunks took, by stage.
        work_ms: time spent making chunks, without the waits of the listener.
        audio_s: seconds of sound.
        via: the vocoders that spoke.
    """

    first_audio_ms: float | None = None
    first_stages_ms: dict[str, float] = field(default_factory=dict)
    stages_ms: dict[str, float] = field(default_factory=dict)
    work_ms: float = 0.0
    audio_s: float = 0.0
    chunks: int = 0
    via: set[str] = field(default_factory=set)

    def watch(self, chunks: Iterator[AudioChunk]) -> Iterator[AudioChunk]:
        """Pass the chunks on. The clock starts when the first one is asked for."""
        asked_s = time.perf_counter()
        for chunk in chunks:
            took_ms = 1000.0 * (time.perf_counter() - asked_s)
            self.work_ms += took_ms
            if self.first_audio_ms is None:
                self.first_audio_ms = took_ms
                self.first_stages_ms = dict(chunk.stage_ms)
            for stage, stage_ms in chunk.stage_ms.items():
                self.stages_ms[stage] = self.stages_ms.get(stage, 0.0) + stage_ms
            self.audio_s += chunk.duration_ms / 1000.0
            self.chunks += 1
            self.via.add(chunk.via)
            yield chunk
            asked_s = time.perf_counter()

    @property
    def x_real_time(self) -> float:
        """Seconds of sound made in a second of work."""
        return 1000.0 * self.audio_s / self.work_ms if self.work_ms else 0.0


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which ``percent`` of the values lie, interpolated; 0 without values."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    place = (len(ordered) - 1) * percent / 100.0
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def peak_rss_mb() -> float:
    """Highest resident memory of this process so far, in MB of 1024 * 1024 bytes.

    From the kernel's own mark: ``getrusage`` also counts what the parent held
    before this program was started.
    """
    return _memory_mb("VmHWM")


def rss_mb() -> float:
    """Resident memory of this process now."""
    return _memory_mb("VmRSS")


def process_age_ms() -> float:
    """Time since this process was started, true to the kernel's clock tick (10 ms)."""
    with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
        # The program's name, in parentheses, may hold spaces.
        started_ticks = int(file.read().rpartition(")")[2].split()[19])
    started_s = started_ticks / os.sysconf("SC_CLK_TCK")
    return 1000.0 * (time.clock_gettime(time.CLOCK_BOOTTIME) - started_s)


def _memory_mb(key: str) -> float:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1]) / 1024.0
    return 0.0
