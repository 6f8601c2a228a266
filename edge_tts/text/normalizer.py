"""Text normalisation: what is written becomes what is said, still as text.

The normal form holds Chinese characters, English words, letter names as single
capitals set apart by spaces (``P L C``), and punctuation; no digit and no
other symbol is left. An English word in capitals (``SCADA``) is an acronym
that is read as one word; everything else that is read as a word is in lower
case, but for the names of months and days.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol


class WordList(Protocol):
    """What the normaliser asks of a pronunciation table."""

    def has_word(self, word: str) -> bool:
        """Whether the table pronounces ``word`` (any case) as an English word."""
        ...

    def acronym(self, word: str) -> Literal["letters", "word"] | None:
        """How a token with capitals or digits is read, as typed, if the table says so.

        ``"word"``: the table has a pronunciation for exactly this token (a user's
        entry ``{"PLC": ...}``), so that it must reach the phonemizer untouched.
        ``"letters"``: by letter names. ``None``: the normaliser decides.
        """
        ...


@dataclass(frozen=True)
class NormalizedText:
    """Spelled-out text, and what could not be said and why."""

    text: str
    warnings: tuple[str, ...] = ()


def normalize(text: str, lexicon: WordList) -> NormalizedText:
    """Spell out ``text``. Never raises; see the module docstring for the normal form."""
    raise NotImplementedError
