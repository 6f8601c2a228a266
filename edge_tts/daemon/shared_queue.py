"""The alarm queue as several threads share it: one lock, wake-ups, events handed on."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from edge_tts.daemon.alarm import Event
from edge_tts.daemon.alarm_queue import AlarmQueue


class SharedQueue:
    """Every use of the queue goes through `use`.

    Args:
        queue: the logic.
        on_events: gets the events of each use, in order, under the lock; must
            return at once and not use the queue.
    """

    def __init__(self, queue: AlarmQueue, on_events: Callable[[list[Event]], None]) -> None:
        self._queue = queue
        self._on_events = on_events
        self._changed = threading.Condition(threading.RLock())
        self._changes = 0

    @contextlib.contextmanager
    def use(self) -> Iterator[AlarmQueue]:
        """Hold the lock; what happened is told and waiters wake when it is given back."""
        with self._changed:
            try:
                yield self._queue
            finally:
                events = self._queue.take_events()
                if events:
                    self._on_events(events)
                self._changes += 1
                self._changed.notify_all()

    @property
    def changes(self) -> int:
        """Grows with every use; pass it to `wait`."""
        return self._changes

    def wait(self, since: int, timeout_s: float) -> None:
        """Wait until somebody used the queue after ``since``, or time may have changed it."""
        with self._changed:
            wake_in_s = self._queue.wake_in_s()
            if wake_in_s is not None:
                timeout_s = min(timeout_s, wake_in_s)
            self._changed.wait_for(lambda: self._changes != since, timeout_s)

    def wake(self) -> None:
        """Make `wait` return."""
        with self._changed:
            self._changes += 1
            self._changed.notify_all()
