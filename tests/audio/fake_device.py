"""A device that a test can freeze, unplug and make hang; plays into memory in real time."""

from __future__ import annotations

import threading
import time

import numpy as np

from edge_tts.audio.sink import Samples
from edge_tts.audio.virtual_sinks import NullSink
from edge_tts.errors import DeviceError


class FreezableClock:
    """``time.monotonic()``, but it can stand still."""

    def __init__(self) -> None:
        self._behind_s = 0.0
        self._frozen_s: float | None = None

    def __call__(self) -> float:
        frozen_s = self._frozen_s
        return time.monotonic() - self._behind_s if frozen_s is None else frozen_s

    def freeze(self) -> None:
        self._frozen_s = self()


class MemorySink(NullSink):
    """Keeps what it played; ``active`` False is a device that ended by itself."""

    def __init__(self, device: FakeDevice) -> None:
        self.clock = FreezableClock()
        # Long blocks: a busy machine must not cause underruns that the test didn't.
        super().__init__(device.sample_rate_hz, block_ms=40.0, clock=self.clock)
        self._device = device
        self._parts: list[Samples] = []
        self.active = True

    @property
    def played(self) -> Samples:
        return np.concatenate([np.zeros(0, np.int16), *self._parts])

    def _commit(self, samples: Samples) -> None:
        self._parts.append(samples)

    def is_active(self) -> bool:
        return self.active and super().is_active()

    def close(self) -> None:
        self._device.close_gate.wait()
        super().close()


class FakeDevice:
    """What a player opens: ``present`` says whether that works, the gates make calls hang."""

    def __init__(self, sample_rate_hz: int = 24000) -> None:
        self.sample_rate_hz = sample_rate_hz
        self.present = True
        self.sinks: list[MemorySink] = []
        self.tries = 0
        self.open_gate = threading.Event()
        self.close_gate = threading.Event()
        self.open_gate.set()
        self.close_gate.set()

    def open(self) -> MemorySink:
        self.tries += 1
        self.open_gate.wait()
        if not self.present:
            raise DeviceError("the fake device is missing")
        self.sinks.append(MemorySink(self))
        return self.sinks[-1]

    @property
    def sink(self) -> MemorySink:
        return self.sinks[-1]

    @property
    def played(self) -> Samples:
        """By all its sinks, one after the other."""
        return np.concatenate([np.zeros(0, np.int16), *(sink.played for sink in self.sinks)])
