"""Where samples go: the protocol that devices, files and test doubles share."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt


class AudioSink(Protocol):
    """A mono int16 output that consumes samples at its own pace."""

    @property
    def sample_rate_hz(self) -> int: ...

    def write(self, samples: npt.NDArray[np.int16]) -> None:
        """Hand over samples ``(N,)``; blocks while the sink's buffer is full.

        Raises:
            DeviceError: the device is gone or does not take samples any more.
        """
        ...

    def played_samples(self) -> int:
        """Samples that left the device so far, by the device's own clock."""
        ...

    def close(self) -> None: ...
