"""English words whose reading depends on their neighbours: is *wound*, a *wound*.

The rules are rows of the table's section ``HOMO``: word, words before, words
after, ARPAbet, set apart by tabs. ``-`` is any word, ``^`` and ``$`` stand for
the start and the end of a phrase. The first row that holds wins.
"""

from __future__ import annotations

from typing import NamedTuple

from edge_tts.text.lexicon_table import LexiconTable
from edge_tts.text.words import Word


class _Rule(NamedTuple):
    before: frozenset[str] | None
    after: frozenset[str] | None
    symbols: tuple[str, ...]


class Homographs:
    """The rules of one table."""

    def __init__(self, table: LexiconTable) -> None:
        self._rules: dict[str, list[_Rule]] = {}
        for line in table.lines("HOMO"):
            word, before, after, symbols = line.split("\t")
            rule = _Rule(_words(before), _words(after), tuple(symbols.split(" ")))
            self._rules.setdefault(word, []).append(rule)

    def resolve(self, words: list[Word]) -> None:
        """Put the right reading on each homograph of ``words``, in place."""
        for index, word in enumerate(words):
            rules = self._rules.get(word.text.lower()) if word.language == "en" else None
            if not rules:
                continue
            before = _neighbour(words, index - 1, "^")
            after = _neighbour(words, index + 1, "$")
            for rule in rules:
                if (rule.before is None or before in rule.before) and (
                    rule.after is None or after in rule.after
                ):
                    words[index] = word._replace(syllables=rule.symbols)
                    break


def _words(column: str) -> frozenset[str] | None:
    return None if column == "-" else frozenset(column.split(" "))


def _neighbour(words: list[Word], index: int, edge: str) -> str:
    if not 0 <= index < len(words) or words[index].language != "en":
        return edge
    return words[index].text.lower()
