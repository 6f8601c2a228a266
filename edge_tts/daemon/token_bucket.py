"""Rate limits: a token bucket a user."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable


class TokenBucket:
    """Fills with ``rate_per_s`` tokens a second up to ``burst``; starts full.

    Args:
        clock: seconds, never going back.
    """

    def __init__(self, rate_per_s: float, burst: float, clock: Callable[[], float]) -> None:
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._clock = clock
        self._tokens = burst
        self._filled_at = clock()

    def _fill(self) -> None:
        now = self._clock()
        grown = self._tokens + max(0.0, now - self._filled_at) * self._rate_per_s
        self._tokens = min(self._burst, grown)
        self._filled_at = now

    @property
    def full(self) -> bool:
        """Whether nothing was taken that has not come back."""
        self._fill()
        return self._tokens >= self._burst

    def take(self, tokens: float = 1.0) -> float:
        """Take tokens: 0.0 when taken, else the seconds until there are enough.

        Nothing is taken on refusal. More than ``burst`` at once waits for ever
        (``inf``), as does everything when ``rate_per_s`` is 0 and none are left.
        """
        self._fill()
        # Refilling in small steps may end a rounding error short of a whole token.
        if self._tokens >= tokens - 1e-9:
            self._tokens = max(0.0, self._tokens - tokens)
            return 0.0
        if tokens > self._burst or self._rate_per_s <= 0.0:
            return math.inf
        return (tokens - self._tokens) / self._rate_per_s


class TokenBuckets:
    """One bucket a user, at most ``max_users`` of them in memory.

    When there are more users, a full bucket is forgotten before one in use:
    forgetting a full one changes nothing for its user.
    """

    def __init__(
        self,
        rate_per_s: float,
        burst: float,
        clock: Callable[[], float],
        max_users: int = 256,
    ) -> None:
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._clock = clock
        self._max_users = max_users
        self._buckets: OrderedDict[Hashable, TokenBucket] = OrderedDict()

    def take(self, user: Hashable, tokens: float = 1.0) -> float:
        """As :meth:`TokenBucket.take`, from the bucket of ``user``."""
        bucket = self._buckets.get(user)
        if bucket is None:
            if len(self._buckets) >= self._max_users:
                self._forget_one()
            bucket = TokenBucket(self._rate_per_s, self._burst, self._clock)
            self._buckets[user] = bucket
        self._buckets.move_to_end(user)
        return bucket.take(tokens)

    def _forget_one(self) -> None:
        oldest = next(iter(self._buckets))
        del self._buckets[next((user for user, b in self._buckets.items() if b.full), oldest)]

    def __len__(self) -> int:
        return len(self._buckets)
