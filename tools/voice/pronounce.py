"""Corpus texts to phonemes, by the same front end that the runtime uses.

Corpus texts are spelled out already; ``{huang2}`` stands for a bare syllable.
"""

from __future__ import annotations

import re
from pathlib import Path

from edge_tts.text.inventory import END, START, split_pinyin
from edge_tts.text.lexicon import Lexicon
from edge_tts.text.phoneme_ids import words_to_phonemes
from edge_tts.text.phonemizer import phonemize

_SYLLABLE = re.compile(r"\{([a-zü]+[1-5])\}")
_ACRONYM = re.compile(r"\b[A-Z]{2,6}\b")


class Pronouncer:
    """Callable: one line of corpus text to its phonemes, the two ends included.

    Raises ValueError for a syllable that is not Mandarin.
    """

    def __init__(self, lexicon: Path) -> None:
        self._lexicon = Lexicon.open(lexicon)

    def __call__(self, text: str) -> tuple[str, ...]:
        if _SYLLABLE.search(text):
            return self._syllables(text)
        return words_to_phonemes(phonemize(_ACRONYM.sub(self._spell, text), self._lexicon))

    def _spell(self, match: re.Match[str]) -> str:
        word = match[0]
        return word if self._lexicon.acronym(word) == "word" else " ".join(word)

    def _syllables(self, text: str) -> tuple[str, ...]:
        phonemes: list[str] = [START]
        for syllable in _SYLLABLE.findall(text):
            phonemes += [*split_pinyin(syllable), "."]
        return (*phonemes, END)
