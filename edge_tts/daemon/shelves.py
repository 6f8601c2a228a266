"""Keys that an operator has put aside for a time."""

from __future__ import annotations

from edge_tts.daemon.alarm import Priority
from edge_tts.errors import QueueFullError


class Shelves:
    """Shelved keys, at most ``max_keys``. Times are monotonic seconds."""

    def __init__(self, max_keys: int, retry_ms: int) -> None:
        self._max_keys = max_keys
        self._retry_ms = retry_ms
        self._shelved: dict[str, tuple[float, bool]] = {}

    def put(self, key: str, until: float, critical: bool) -> None:
        """Shelve a key, or change how long.

        Raises:
            QueueFullError: too many keys are shelved.
        """
        if key not in self._shelved and len(self._shelved) >= self._max_keys:
            raise QueueFullError(
                f"{self._max_keys} keys are shelved already; take one off first", self._retry_ms
            )
        self._shelved[key] = (until, critical)

    def take_off(self, key: str) -> None:
        self._shelved.pop(key, None)

    def covers(self, key: str | None, priority: Priority) -> bool:
        """Whether an alarm of this key and priority is kept quiet."""
        if key is None or key not in self._shelved:
            return False
        return priority < Priority.CRITICAL or self._shelved[key][1]

    def expire(self, now: float) -> None:
        for key in [key for key, (until, _) in self._shelved.items() if until <= now]:
            del self._shelved[key]

    def until(self) -> dict[str, float]:
        """When each shelved key comes back."""
        return {key: until for key, (until, _) in self._shelved.items()}
