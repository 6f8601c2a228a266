"""What the phonemizer hands on: words with their pronunciation."""

from __future__ import annotations

from typing import Literal, NamedTuple

Language = Literal["zh", "en", "pause"]
Tones = Literal["surface", "citation"]


class Word(NamedTuple):
    """One word or one pause.

    ``syllables`` holds numbered pinyin syllables (``dian4``) where ``language`` is
    ``zh``, ARPAbet symbols (``P``, ``IY1``) where it is ``en``, and one of
    ``, . ? !`` where it is ``pause``.
    """

    text: str
    language: Language
    syllables: tuple[str, ...]
