from __future__ import annotations

import queue
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from edge_tts.audio.timed_queue import get_within

REPOSITORY = Path(__file__).resolve().parents[2]


def test_what_is_there_is_taken_in_order() -> None:
    items: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(3):
        items.put(number)
    assert [get_within(items, limit_s) for limit_s in (0.0, -1.0, 5.0)] == [0, 1, 2]


@pytest.mark.parametrize("limit_s", [-1.0, 0.0, 1e-9, 0.01])
def test_nothing_comes(limit_s: float) -> None:
    items: queue.SimpleQueue[int] = queue.SimpleQueue()
    began_s = time.monotonic()
    with pytest.raises(queue.Empty):
        get_within(items, limit_s)
    assert time.monotonic() - began_s >= limit_s


def test_what_comes_meanwhile_ends_the_wait() -> None:
    items: queue.SimpleQueue[int] = queue.SimpleQueue()
    thread = threading.Timer(0.05, items.put, (7,))
    thread.start()
    assert get_within(items, 60.0) == 7
    thread.join()


def test_limits_that_pass_at_once_never_wait_for_ever() -> None:
    """``SimpleQueue.get`` does, once in some ten thousand times.

    In a process of its own, since nothing inside can end such a wait.
    """
    code = """
        import queue
        from edge_tts.audio.timed_queue import get_within

        items = queue.SimpleQueue()
        for round_number in range(60_000):
            items.put(round_number)
            get_within(items, 1e-7)
            try:
                get_within(items, round_number % 5 * 1e-7)
            except queue.Empty:
                pass
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    subprocess.run(command, check=True, cwd=REPOSITORY, timeout=300)
