"""When each block that a device took is heard."""

from __future__ import annotations

from collections import deque

_BLOCKS_KEPT = 512


class BlockTimes:
    """The newest blocks' places in what was written, and the times of their first samples.

    Times are those of ``time.monotonic()``. One thread adds, any thread asks.
    """

    def __init__(self) -> None:
        # (position, count, time of its first sample), newest last.
        self._blocks: deque[tuple[int, int, float]] = deque(maxlen=_BLOCKS_KEPT)

    def add(self, position: int, count: int, heard_s: float) -> None:
        """``count`` samples from ``position`` on are heard from ``heard_s`` on."""
        self._blocks.append((position, count, heard_s))

    def heard_at(self, position: int, sample_rate_hz: int) -> float | None:
        """When the sample at ``position`` is heard; None where no block holds it.

        A position before all that is kept has the time of the oldest block.
        """
        blocks = list(self._blocks)
        for start, count, heard_s in reversed(blocks):
            if start <= position:
                if position >= start + count:
                    return None
                return heard_s + (position - start) / sample_rate_hz
        return blocks[0][2] if blocks else None

    def heard_samples(self, now_s: float, sample_rate_hz: int) -> int:
        """How many samples have been heard at ``now_s``."""
        for start, count, heard_s in reversed(list(self._blocks)):
            if heard_s <= now_s:
                return start + min(count, int((now_s - heard_s) * sample_rate_hz))
        return 0
