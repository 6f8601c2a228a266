"""The unit of audio that travels from the synthesizer to a sink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Via = Literal["neural", "dsp"]


@dataclass(frozen=True, eq=False)
class AudioChunk:
    """A stretch of mono sound and what it cost to make.

    Attributes:
        samples: ``(N,)`` float32 in [-1, 1]. May be used until the next chunk
            is asked for and longer; nobody writes to it again.
        sample_rate_hz: samples a second.
        index: 0 for the first chunk of a text.
        is_last: no chunk follows for this text.
        stage_ms: milliseconds by stage, for this chunk alone.
        via: the vocoder that made it: the network, or the fallback without one.
    """

    samples: npt.NDArray[np.float32]
    sample_rate_hz: int
    index: int
    is_last: bool
    stage_ms: Mapping[str, float]
    via: Via = "neural"

    @property
    def duration_ms(self) -> float:
        """Length in milliseconds at normal speed of playing."""
        return 1000.0 * len(self.samples) / self.sample_rate_hz
