"""Which frames a network must see so that a chunk comes out as in one whole run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """Frames ``[begin, end)`` go in; of what comes out, ``keep`` is the chunk."""

    begin: int
    end: int
    keep: slice


def context_window(start: int, stop: int, total: int, context: int, chunk: int) -> Window:
    """The window that yields frames ``[start, stop)`` of an utterance of ``total`` frames.

    A network whose receptive field reaches ``context`` frames to each side gives
    the same values in a window as in a run over all frames, wherever the window
    reaches ``context`` frames beyond the chunk or ends where the utterance ends
    (there the network's own padding applies in both). Windows keep one width:
    ``chunk + context`` at the beginning, ``chunk + 2 * context`` later. One that
    would pass the end moves back instead of being padded; only an utterance
    shorter than the width is run whole, at its own length.
    """
    width = chunk + (context if start == 0 else 2 * context)
    begin = max(0, start - context)
    end = min(total, begin + width)
    begin = max(0, end - width)
    return Window(begin, end, slice(start - begin, stop - begin))
