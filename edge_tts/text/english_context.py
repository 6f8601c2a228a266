"""English words whose reading depends on their neighbours."""

from __future__ import annotations

from edge_tts.text.words import Word


def read_in_context(words: list[Word]) -> None:
    """Put the right reading on homographs, in place."""
