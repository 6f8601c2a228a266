"""Which frames a network must see so that a chunk comes out as in one whole run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """Frames ``[begin, end)`` go in; of what comes out, ``keep`` is the chunk."""

    begin: int
    end: int
    keep: slice


def context_window(start: int, stop: int, total: int, context: int, chunk: int | None) -> Window:
    """The window that yields frames ``[start, stop)`` of an utterance of ``total`` frames.

    A network whose receptive field reaches ``context`` frames to each side gives
    the same values in a window as in a run over all frames, wherever the window
    reaches ``context`` frames beyond the chunk or ends where the utterance ends
    (there the network's own padding applies in both).

    With a ``chunk``, windows keep one width, as engines built for fixed shapes ask:
    ``chunk + context`` at the beginning, ``chunk + 2 * context`` later. One that
    would pass the end moves back instead of being padded; only an utterance
    shorter than the width is run whole, at its own length. With ``None`` a window
    holds what must be seen and no more.
    """
    begin = max(0, start - context)
    if chunk is None:
        return Window(begin, min(total, stop + context), slice(start - begin, stop - begin))
    width = chunk + (context if start == 0 else 2 * context)
    end = min(total, begin + width)
    begin = max(0, end - width)
    return Window(begin, end, slice(start - begin, stop - begin))
