"""Where samples go: the protocol that every output shares, and how one is chosen.

A *position* counts the samples written to a sink, from 0 and without the
silence that a sink plays while nothing is written. Times are seconds of
``time.monotonic()``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from edge_tts.errors import UsageError

Samples = npt.NDArray[np.int16]


class AudioSink(Protocol):
    """A mono int16 output that consumes samples at its own pace.

    One thread writes; ``interrupt`` alone may be called from another one.
    """

    @property
    def sample_rate_hz(self) -> int: ...

    @property
    def written_samples(self) -> int:
        """The position that the next written sample will have."""
        ...

    @property
    def underruns(self) -> int:
        """How often the output ran dry between a write and its ``flush``."""
        ...

    @property
    def latency_s(self) -> float:
        """How long a sample takes from the device's request to the ear, as last measured."""
        ...

    def write(self, samples: Samples, timeout_s: float | None = None) -> int:
        """Hand over samples ``(N,)`` and return how many were taken.

        Blocks while the buffer is full. Fewer than N are taken only after
        ``timeout_s`` or an ``interrupt``.

        Raises:
            DeviceError: the device is gone or does not take samples any more.
        """
        ...

    def flush(self) -> None:
        """Say that nothing follows for now: what was written is played to its end."""
        ...

    def reclaim(self) -> Samples:
        """Take back, in order, the written samples that the device has not got yet."""
        ...

    def interrupt(self) -> None:
        """Make a blocked ``write`` return early."""
        ...

    def played_samples(self) -> int:
        """Written samples that left the device so far, by the device's own clock."""
        ...

    def played_at(self, position: int) -> float | None:
        """When the sample at ``position`` leaves the device; None while unknown."""
        ...

    def consumed_samples(self) -> int:
        """Samples the device asked for since it was opened, silence included.

        Stands still when the device does: a watchdog compares it to the clock.
        """
        ...

    def is_active(self) -> bool:
        """False once the output has ended by itself."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class SinkSpec:
    """A parsed ``--sink`` option: ``argument`` is a device name or a file path."""

    kind: Literal["device", "wav", "null"]
    argument: str | None = None


def parse_sink_spec(spec: str) -> SinkSpec:
    """Parse ``device[:NAME]``, ``wav:PATH`` or ``null``.

    Raises:
        UsageError: another form, an empty name or path, or a device number.
    """
    kind, colon, argument = spec.partition(":")
    if kind == "null" and not colon:
        return SinkSpec("null")
    if kind == "wav" and argument:
        return SinkSpec("wav", argument)
    if kind == "device" and (argument or not colon):
        if argument.isdecimal():
            raise UsageError(
                f"sink device {argument!r} is a number, and numbers change from boot to boot; "
                "give a device name or an ALSA card id (edgetts doctor lists them)"
            )
        return SinkSpec("device", argument or None)
    raise UsageError(f"unknown sink {spec!r}; use device, device:NAME, wav:PATH or null")


def sink_opener(
    spec: SinkSpec,
    sample_rate_hz: int,
    *,
    block_ms: float = 10.0,
    device_rate_hz: int | None = None,
) -> Callable[[], AudioSink]:
    """What a player calls to open the sink of a ``--sink`` option, again after each loss.

    ``device_rate_hz`` forces the rate of a device; by default it runs at
    ``sample_rate_hz`` if it can. WAV and null sinks play in real time.
    """
    # Imported where it is used, so that a machine without PortAudio can play into a file.
    if spec.kind == "device":
        from edge_tts.audio.pyaudio_sink import PyAudioSink

        rate_hz = device_rate_hz or sample_rate_hz
        return lambda: PyAudioSink(spec.argument, rate_hz, block_ms=block_ms)

    from edge_tts.audio.virtual_sinks import NullSink, WavSink

    if spec.kind == "wav":
        path = spec.argument or ""
        return lambda: WavSink(path, sample_rate_hz, block_ms=block_ms)
    return lambda: NullSink(sample_rate_hz, block_ms=block_ms)
