"""Readings of single characters that depend on their neighbours.

The table knows the readings of words; what is left are characters that stand
alone in a sentence: ``长`` after a team is its leader (zhang3), before a number
a length (chang2). The rules are rows of the table's section ``NEAR``: character,
pattern that the text before ends with, pattern that the text after starts with
(``-`` for any), reading. The first that holds wins.
"""

from __future__ import annotations

import re
from functools import lru_cache

from edge_tts.text.lexicon_table import LexiconTable

_CONTEXT = 6


class NeighbourRules:
    """The rules of one table; patterns are compiled when a character first needs them."""

    def __init__(self, table: LexiconTable) -> None:
        self._rows: dict[str, list[tuple[str, str, str]]] = {}
        for line in table.lines("NEAR"):
            character, before, after, reading = line.split("\t")
            self._rows.setdefault(character, []).append((before, after, reading))
        self._compiled = lru_cache(maxsize=128)(self._compile)

    def _compile(self, character: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str], str], ...]:
        return tuple(
            (
                re.compile("" if before == "-" else f"(?:{before})$"),
                re.compile("" if after == "-" else after),
                reading,
            )
            for before, after, reading in self._rows[character]
        )

    def read(self, text: str, index: int) -> str | None:
        """Reading of the lone character ``text[index]``, or None where no rule holds."""
        character = text[index]
        if character not in self._rows:
            return None
        before = text[max(0, index - _CONTEXT) : index]
        after = text[index + 1 : index + 1 + _CONTEXT]
        for before_pattern, after_pattern, reading in self._compiled(character):
            if before_pattern.search(before) and after_pattern.match(after):
                return reading
        return None
