"""The alarm queue as several threads share it: one lock, wake-ups, events handed on."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from edge_tts.daemon.alarm import Alarm, Event
from edge_tts.daemon.alarm_queue import AlarmQueue


class SharedQueue:
    """Every use of the queue goes through here.

    Args:
        queue: the logic.
        on_events: gets the events of each use, in order, under the lock; must
            return at once and not use the queue.
    """

    def __init__(self, queue: AlarmQueue, on_events: Callable[[list[Event]], None]) -> None:
        self._queue = queue
        self._on_events = on_events
        self._on_change: Callable[[AlarmQueue], None] = lambda queue: None
        self._changed = threading.Condition(threading.RLock())

    def watch(self, on_change: Callable[[AlarmQueue], None]) -> None:
        """Call a function under the lock after each use, as soon as something may have changed."""
        self._on_change = on_change

    @contextlib.contextmanager
    def use(self) -> Iterator[AlarmQueue]:
        """Hold the lock; at its end what happened is told and who waits wakes."""
        with self._changed:
            try:
                yield self._queue
            finally:
                self._on_change(self._queue)
                self._hand_on()
                self._changed.notify_all()

    def next(self, timeout_s: float, on_taken: Callable[[Alarm], None]) -> Alarm | None:
        """The alarm to speak now; waits for one if there is none yet.

        ``on_taken`` runs under the lock, before anything else can happen to the alarm.
        """
        with self._changed:
            alarm = self._queue.next()
            self._hand_on()
            if alarm is not None:
                on_taken(alarm)
                return alarm
            wake_in_s = self._queue.wake_in_s()
            self._changed.wait(timeout_s if wake_in_s is None else min(timeout_s, wake_in_s))
            return None

    def wake(self) -> None:
        """Make `next` return."""
        with self._changed:
            self._changed.notify_all()

    def _hand_on(self) -> None:
        events = self._queue.take_events()
        if events:
            self._on_events(events)
