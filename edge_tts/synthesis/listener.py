"""How long somebody who hears the speech as it is made still has sound."""

from __future__ import annotations

import time
from collections.abc import Callable

# Many times what a GPU needs for a chunk. Before the first sound it leaves the CPU room within
# the 0.8 s after which the daemon of a Jetson takes another way.
LONGEST_WAIT_S = 0.5


class Listener:
    """Knows what was handed over and when, and from that when the next chunk is due.

    Sound can't be played before it was handed over, nor faster than real time:
    what is left of it is at least what was handed over less the time that has
    passed since. This holds for every player, and asks none.

    Args:
        clock: seconds of a clock that never goes back, ``time.monotonic``'s.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard_until_s: float | None = None

    def hand_over(self, duration_s: float) -> None:
        """Tell that a chunk goes to the player now."""
        now_s = self._clock()
        until_s = self._heard_until_s
        self._heard_until_s = (now_s if until_s is None else max(until_s, now_s)) + duration_s

    def due_s(self) -> float:
        """When to wait no longer for what is being computed, on the clock.

        At half of what is left to hear, for the other half is for computing it
        elsewhere; and after :data:`LONGEST_WAIT_S`, also while nothing sounds.
        """
        now_s = self._clock()
        left_s = 0.0 if self._heard_until_s is None else self._heard_until_s - now_s
        return now_s + (min(LONGEST_WAIT_S, left_s / 2) if left_s > 0 else LONGEST_WAIT_S)
