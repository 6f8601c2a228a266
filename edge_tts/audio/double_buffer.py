"""Two fixed blocks between a writing thread and a device's callback.

Each block has one owner at a time: it is free, being filled by the writer, or
full and waiting for the callback. Ownership moves through two queues whose
operations are atomic, so neither side ever waits for a lock of the other.
"""

from __future__ import annotations

import queue
import time
from collections import deque

import numpy as np
import numpy.typing as npt

from edge_tts.audio.timed_queue import get_within

Samples = npt.NDArray[np.int16]

_BLOCKS = 2
_LOOK_S = 0.0005


class Block:
    """``frames`` is int16 ``(block_samples, channels)``; ``count`` of them are content.

    ``position`` is that of the first sample in the stream of written samples.
    """

    __slots__ = ("count", "frames", "position")

    def __init__(self, block_samples: int, channels: int) -> None:
        self.frames = np.zeros((block_samples, channels), np.int16)
        self.count = 0
        self.position = 0


class DoubleBuffer:
    """One writer calls ``write``, ``flush`` and ``reclaim``; one callback ``take`` and
    ``give_back``. ``interrupt`` may be called by anyone."""

    def __init__(self, block_samples: int, channels: int = 1) -> None:
        self._block_samples = block_samples
        self._free: queue.SimpleQueue[Block | None] = queue.SimpleQueue()
        self._full: deque[Block] = deque()
        self._filling: Block | None = None
        self._written = 0
        self._run_end = 0
        self._taken_end = 0
        for _ in range(_BLOCKS):
            self._free.put(Block(block_samples, channels))

    @property
    def written_samples(self) -> int:
        """The position that the next written sample will have."""
        return self._written

    @property
    def run_end(self) -> int:
        """The position up to which the writer called ``flush``: silence behind it is wanted."""
        return self._run_end

    def write(self, samples: Samples, timeout_s: float | None = None) -> int:
        """Copy mono samples ``(N,)`` in, to every channel; returns how many went in.

        Waits for a free block; fewer than N go in only after ``timeout_s``
        without one, or at an ``interrupt``.
        """
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        taken = 0
        while taken < len(samples):
            block = self._filling or self._next_free(deadline_s)
            if block is None:
                break
            part = samples[taken : taken + self._block_samples - block.count]
            block.frames[block.count : block.count + len(part)] = part[:, None]
            block.count += len(part)
            taken += len(part)
            self._written += len(part)
            if block.count == self._block_samples:
                self._hand_over(block)
            else:
                self._filling = block
        return taken

    def _next_free(self, deadline_s: float | None) -> Block | None:
        try:
            if deadline_s is None:
                block = self._free.get()
            else:
                block = get_within(self._free, deadline_s - time.monotonic())
        except queue.Empty:
            return None
        if block is not None:
            block.count = 0
            block.position = self._written
        return block

    def _hand_over(self, block: Block) -> None:
        self._filling = None
        self._full.append(block)

    def flush(self) -> None:
        """End a run: a block that is partly filled goes on its way, its rest silent."""
        self._run_end = self._written
        block = self._filling
        if block is not None:
            block.frames[block.count :] = 0
            self._hand_over(block)

    def reclaim(self) -> Samples:
        """Take back ``(N,)``, in order, what the callback has not taken; N may be 0."""
        parts: list[Samples] = []
        blocks: list[Block] = []
        if self._filling is not None:
            blocks.append(self._filling)
            self._filling = None
        while True:
            try:
                blocks.append(self._full.pop())
            except IndexError:
                break
        for block in reversed(blocks):
            parts.append(block.frames[: block.count, 0].copy())
        for block in blocks:
            self._free.put(block)
        samples = np.concatenate([np.zeros(0, np.int16), *parts])
        self._written -= len(samples)
        self._run_end = min(self._run_end, self._written)
        return samples

    def interrupt(self) -> None:
        """Make a waiting ``write``, or the next one that would wait, return early."""
        self._free.put(None)

    def take(self, patience_s: float = 0.0) -> Block | None:
        """The next full block, or None: the callback plays silence then.

        A device whose period is no multiple of the block, as ALSA's dmix with 1024 frames, asks
        now and then for more blocks in a row than there are. Inside a run the writer is given
        ``patience_s`` to fill those that have come back.
        """
        deadline_s = time.monotonic() + patience_s
        while True:
            try:
                block = self._full.popleft()
            except IndexError:
                if self._taken_end == self._run_end or time.monotonic() >= deadline_s:
                    return None
                time.sleep(_LOOK_S)
                continue
            self._taken_end = block.position + block.count
            return block

    def give_back(self, block: Block) -> None:
        """The callback has copied the block."""
        self._free.put(block)
