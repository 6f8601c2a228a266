"""How long somebody who hears the speech as it is made still has sound."""

from __future__ import annotations

import time
from collections.abc import Callable


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

    def due_s(self) -> float | None:
        """When to wait no longer for what is being computed, on the clock.

        At half of what is left to hear: the other half is for computing it
        elsewhere. ``None`` while nothing sounds, for then there is no gap to fear.
        """
        now_s = self._clock()
        if self._heard_until_s is None or self._heard_until_s <= now_s:
            return None
        return now_s + (self._heard_until_s - now_s) / 2
