"""Two blocks between two threads: every sample once, in order, however the sides race."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.audio.double_buffer import DoubleBuffer


@pytest.fixture
def restless_threads() -> Iterator[None]:
    """Threads take turns after 10 microseconds instead of 5 milliseconds."""
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval_s)


def numbers(start: int, count: int) -> np.ndarray:
    return (np.arange(start, start + count) % 30000 + 1).astype(np.int16)


def take(buffer: DoubleBuffer) -> np.ndarray | None:
    """What a callback does; the content of the block alone."""
    block = buffer.take()
    if block is None:
        return None
    assert not block.frames[block.count :].any(), "the rest of a block must be silent"
    content = block.frames[: block.count, 0].copy()
    if block.count:
        np.testing.assert_array_equal(content[:1], numbers(block.position, 1))
    buffer.give_back(block)
    return content


operations = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(0, 25)),
        st.tuples(st.sampled_from(["take", "flush", "reclaim"]), st.just(0)),
    ),
    max_size=60,
)


@given(operations=operations, block_samples=st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_no_sample_is_lost_or_repeated(operations, block_samples):
    buffer = DoubleBuffer(block_samples)
    written = taken = 0
    for name, count in operations:
        if name == "write":
            written += buffer.write(numbers(written, count), timeout_s=0.0)
        elif name == "take":
            content = take(buffer)
            if content is not None:
                np.testing.assert_array_equal(content, numbers(taken, len(content)))
                taken += len(content)
        elif name == "flush":
            buffer.flush()
            assert buffer.run_end == written
        else:
            reclaimed = buffer.reclaim()
            written -= len(reclaimed)
            assert written == taken
            np.testing.assert_array_equal(reclaimed, numbers(taken, len(reclaimed)))
        assert buffer.written_samples == written
        assert 0 <= written - taken <= 2 * block_samples
        assert buffer.run_end <= written
    buffer.flush()
    while (content := take(buffer)) is not None:
        np.testing.assert_array_equal(content, numbers(taken, len(content)))
        taken += len(content)
    assert taken == written


def test_writer_and_callback_in_two_threads(restless_threads):
    buffer = DoubleBuffer(48)
    total = 48 * 800 + 17
    received: list[np.ndarray] = []
    done = threading.Event()

    def callback() -> None:
        # No pause: the callback side races as hard as it can.
        while True:
            finished = done.is_set()
            content = take(buffer)
            if content is not None:
                received.append(content)
            elif finished:
                return

    thread = threading.Thread(target=callback)
    thread.start()
    rng = np.random.default_rng(1)
    start = 0
    while start < total:
        size = min(int(rng.integers(1, 400)), total - start)
        assert buffer.write(numbers(start, size)) == size
        start += size
    buffer.flush()
    done.set()
    thread.join(20)
    np.testing.assert_array_equal(np.concatenate(received), numbers(0, total))


def test_reclaim_races_with_the_callback(restless_threads):
    buffer = DoubleBuffer(32)
    received: list[np.ndarray] = []
    stop = threading.Event()

    def callback() -> None:
        while not stop.is_set():
            content = take(buffer)
            if content is not None:
                received.append(content)

    thread = threading.Thread(target=callback)
    thread.start()
    position = 0
    for _ in range(200):
        buffer.write(numbers(position, 100), timeout_s=1.0)
        buffer.reclaim()
        position = buffer.written_samples
    while sum(map(len, received)) < position:
        time.sleep(0.001)
    stop.set()
    thread.join(5)
    np.testing.assert_array_equal(np.concatenate(received), numbers(0, position))


def test_full_buffer_takes_nothing_until_the_callback_comes():
    buffer = DoubleBuffer(10)
    assert buffer.write(numbers(0, 100), timeout_s=0.0) == 20
    assert buffer.write(numbers(20, 1), timeout_s=0.01) == 0
    take(buffer)
    assert buffer.write(numbers(20, 100), timeout_s=0.0) == 10


def test_interrupt_ends_a_wait_that_would_last_for_ever():
    buffer = DoubleBuffer(10)
    results: queue.Queue[int] = queue.Queue()
    thread = threading.Thread(target=lambda: results.put(buffer.write(numbers(0, 50))))
    thread.start()
    buffer.interrupt()
    taken = results.get(timeout=5)
    # The token may have been found before the second block: then it stopped a block earlier.
    assert taken in (0, 10, 20)


def test_every_channel_gets_the_sample():
    buffer = DoubleBuffer(4, channels=2)
    buffer.write(np.array([1, -2, 3, -4], np.int16))
    block = buffer.take()
    assert block is not None
    assert block.frames.tolist() == [[1, 1], [-2, -2], [3, 3], [-4, -4]]
    assert block.frames.tobytes() == np.repeat([1, -2, 3, -4], 2).astype("<i2").tobytes()


def test_a_device_that_asks_for_many_blocks_at_once_waits_for_the_writer() -> None:
    buffer = DoubleBuffer(4)
    count = 400
    writer = threading.Thread(target=buffer.write, args=(numbers(0, count), 60.0))
    writer.start()
    heard: list[np.ndarray] = []
    while len(heard) < count // 4:
        # More in a row than there are blocks.
        for _ in range(min(5, count // 4 - len(heard))):
            block = buffer.take(60.0) if heard else buffer.take()
            if block is not None:
                heard.append(block.frames[: block.count, 0].copy())
                buffer.give_back(block)
            assert block is not None or not heard, "silence inside a run"
    writer.join()
    np.testing.assert_array_equal(np.concatenate(heard), numbers(0, count))


def test_the_end_of_a_run_is_not_waited_for() -> None:
    buffer = DoubleBuffer(4)
    assert buffer.take(3600.0) is None, "before the first run"
    buffer.write(numbers(0, 6))
    buffer.flush()
    for expected in (4, 2):
        block = buffer.take(3600.0)
        assert block is not None
        assert block.count == expected
        buffer.give_back(block)
    assert buffer.take(3600.0) is None


def test_a_writer_that_is_late_is_waited_for_no_longer_than_said() -> None:
    buffer = DoubleBuffer(4)
    buffer.write(numbers(0, 4))
    assert buffer.take(0.01) is not None
    assert buffer.take(0.01) is None
