"""Bounds of the alarm queue, and a picture of it for STATUS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edge_tts.daemon.alarm import Alarm


@dataclass(frozen=True)
class QueueLimits:
    """Bounds and times of the queue; times in seconds."""

    max_waiting: int = 64
    """Alarms that may wait, repeating ones at rest included, the spoken one not."""
    reserved_critical: int = 8
    """Places of these that only critical alarms may take."""
    flood_threshold: int = 10
    """More than this many waiting is a flood. Source: ISA-18.2, ten alarms in ten minutes."""
    repeat_window_s: float = 10.0
    """An identical text of the same key this soon after it was spoken is folded."""
    min_repeat_s: float = 5.0
    """A shorter repeat interval is lengthened to this."""
    default_ttl_s: float | None = None
    """For alarms without ``ttl`` that are neither critical nor repeating; None: no limit."""
    silence_hold_s: float = 30.0
    """How long SILENCE holds back what is below critical, unless it says."""
    max_shelved: int = 256
    retry_ms: int = 500
    """What a refused caller is told to wait."""


@dataclass(frozen=True)
class AlarmState:
    """One live alarm. ``state``: waiting, speaking, resting or counted."""

    alarm: Alarm
    state: str
    age_s: float
    count: int
    times_spoken: int


@dataclass(frozen=True)
class QueueStatus:
    """The queue at one moment. ``counts``: accepted, folded, refused, cut since the start."""

    alarms: tuple[AlarmState, ...]
    speaking_id: int | None
    waiting: int
    resting: int
    silenced_for_s: float
    shelved_for_s: Mapping[str, float]
    outcomes: Mapping[str, int]
    counts: Mapping[str, int]
