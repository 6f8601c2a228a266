"""Waiting for a ``SimpleQueue`` with a limit that holds."""

from __future__ import annotations

import queue
from typing import TypeVar

Item = TypeVar("Item")


def get_within(items: queue.SimpleQueue[Item], timeout_s: float) -> Item:
    """The next item, for the only reader of a queue; 0 or less does not wait.

    Up to Python 3.12 ``get(timeout=...)`` may wait for ever: where the limit passes after it took
    the queue's lock at once and before it looks at the clock again, it waits with a negative
    limit, which means none. An attempt that finds nothing leaves the lock taken, so that the
    wait after it has no such moment.

    Raises:
        queue.Empty: nothing came in time.
    """
    try:
        return items.get_nowait()
    except queue.Empty:
        if timeout_s <= 0:
            raise
    return items.get(timeout=timeout_s)
