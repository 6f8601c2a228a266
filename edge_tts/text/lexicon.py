"""Pronunciations: the compiled table, the model for unknown words, the user's entries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from edge_tts.text import english_words
from edge_tts.text.english_context import Homographs
from edge_tts.text.letter_to_sound import VOWELS, LetterToSound
from edge_tts.text.letters import LETTER_NAMES
from edge_tts.text.lexicon_overrides import Overrides, Pronunciation, load_overrides
from edge_tts.text.lexicon_table import LexiconTable
from edge_tts.text.polyphones import NeighbourRules
from edge_tts.text.segmenter import segment
from edge_tts.text.words import Word

_CACHED_WORDS = 1024
# Shorter strings of letters are too often abbreviations to pass as compounds.
_SHORTEST_COMPOUND = 7


class Lexicon:
    """All that is known about how a word is spoken. Satisfies the normaliser's WordList."""

    def __init__(self, table: LexiconTable, overrides_folder: Path | None = None) -> None:
        self._table = table
        self._folder = overrides_folder
        self._overrides = Overrides()
        self._own_words: dict[str, tuple[str, ...]] = {}
        self._own_pattern: re.Pattern[str] | None = None
        self._english: dict[str, tuple[str, ...]] = {}
        self._acronyms: dict[str, tuple[str, ...]] = {}
        for line in table.lines("ACRO"):
            word, *symbols = line.split(" ")
            self._acronyms[word] = tuple(symbols)
        self._rules = NeighbourRules(table)
        self._homographs = Homographs(table)
        self._model: LetterToSound | None = None
        self._traditional: dict[str, str] | None = None

    @classmethod
    def open(cls, path: Path, overrides_folder: Path | None = None) -> Lexicon:
        """Map the table at ``path`` and read the user's entries.

        Raises:
            VoiceError: the table can't be used.
            LexiconError: an entry of ``overrides_folder`` is wrong.
        """
        lexicon = cls(LexiconTable(path), overrides_folder)
        lexicon.reload()
        return lexicon

    def reload(self) -> None:
        """Read the user's entries again; where one is wrong the old ones stay in force.

        Raises:
            LexiconError: an entry is wrong.
        """
        overrides = load_overrides(self._folder)
        own: dict[str, list[str]] = {}
        for word in overrides.chinese:
            own.setdefault(word[0], []).append(word)
        self._overrides = overrides
        self._own_words = {first: tuple(words) for first, words in own.items()}
        self._english = {}
        self._own_pattern = _pattern_of(overrides.tokens)

    # -- what the normaliser asks

    def has_word(self, word: str) -> bool:
        """Whether ``word`` (any case) is a known English word, inflection or compound."""
        lower = word.lower()
        if self._overrides.token(word) or self._table.english(lower):
            return True
        if english_words.inflected(lower, self._table.english):
            return True
        return len(lower) >= _SHORTEST_COMPOUND and bool(
            english_words.compound(lower, self._table.english)
        )

    def acronym(self, word: str) -> Literal["letters", "word"] | None:
        """``"word"`` for the user's tokens and acronyms read as words, ``"letters"`` for
        those that are always spelled, None where the table does not say."""
        if self._overrides.token(word):
            return "word"
        symbols = self._acronyms.get(word)
        if symbols is None:
            return None
        return "word" if symbols else "letters"

    # -- Chinese

    def simplify(self, text: str) -> str:
        """``text`` with traditional characters and phrases in simplified form."""
        simplify = self._table.simplify_character
        simplified = "".join([simplify(c) if c > "\u33ff" else c for c in text])
        if simplified == text:
            return text
        if self._traditional is None:
            pairs = (line.split(" ", 1) for line in self._table.lines("TRAD") if line)
            self._traditional = dict(pairs)
        for traditional, plain in self._traditional.items():
            at = text.find(traditional)
            while at >= 0:
                simplified = simplified[:at] + plain + simplified[at + len(plain) :]
                at = text.find(traditional, at + 1)
        return simplified

    def segment(self, text: str) -> list[str]:
        """Cut a run of Chinese characters into words."""
        return segment(text, self._table, self._own_words)

    def chinese(self, word: str) -> tuple[str, ...] | None:
        """Dictionary reading of a word of the table or of the user's, or None."""
        own = self._overrides.chinese.get(word)
        return own.syllables if own else self._table.word_reading(word)

    def is_own(self, word: str) -> bool:
        """Whether the reading of a Chinese word is the user's."""
        return word in self._overrides.chinese

    def is_chinese_word(self, word: str) -> bool:
        """Whether the table or the user has this Chinese word."""
        return word in self._overrides.chinese or self._table.find(word) is not None

    def read_single(self, text: str, index: int) -> str | None:
        """Reading of the lone character ``text[index]`` by its neighbours, else its default."""
        own = self._overrides.chinese.get(text[index])
        if own:
            return own.syllables[0]
        return self._rules.read(text, index) or self._table.character_reading(text[index])

    def character(self, character: str) -> str | None:
        """Default reading of one Chinese character, or None where it has none."""
        return self._table.character_reading(character)

    # -- English

    def split_own_tokens(self, text: str) -> list[str]:
        """Cut out the user's tokens that hold more than letters (``S7-1200``).

        Items at odd places are such tokens, the others what lies between them.
        """
        return self._own_pattern.split(text) if self._own_pattern else [text]

    def own_token(self, token: str) -> Pronunciation | None:
        """The user's entry for a Latin token."""
        return self._overrides.token(token)

    def resolve_homographs(self, words: list[Word]) -> None:
        """Give English homographs the reading that their neighbours ask for, in place.

        The user's entries are left alone.
        """
        own = self._overrides.tokens
        if own:
            kept = {i: w for i, w in enumerate(words) if self._overrides.token(w.text)}
            self._homographs.resolve(words)
            for index, word in kept.items():
                words[index] = word
        else:
            self._homographs.resolve(words)

    def english(self, word: str) -> tuple[str, ...]:
        """ARPAbet of any English word, acronym or letter name; never empty for letters."""
        symbols = self._english.get(word)
        if symbols is None:
            if len(self._english) >= _CACHED_WORDS:
                self._english.clear()
            symbols = self._english[word] = self._look_up(word)
        return symbols

    def _look_up(self, word: str) -> tuple[str, ...]:
        if word in LETTER_NAMES:
            return LETTER_NAMES[word]
        # The normal form of "PLCs" is "P L Cs".
        if len(word) == 2 and word[1] == "s" and word[0] in LETTER_NAMES:
            return english_words.plural(LETTER_NAMES[word[0]])
        if word.isupper() and self._acronyms.get(word):
            return self._acronyms[word]
        lower = word.lower()
        find = self._table.english
        return (
            find(lower)
            or english_words.inflected(lower, find)
            or english_words.compound(lower, find)
            or self._sound_out(lower)
        )

    def _sound_out(self, word: str) -> tuple[str, ...]:
        """An unknown word by the model; one without a vowel letter is spelled."""
        if not any(letter in VOWELS for letter in word):
            return english_words.spell(word)
        if self._model is None:
            self._model = LetterToSound(self._table.section("L2S_"))
        stem = word[:-2] if word.endswith("'s") else word
        symbols = self._model(stem)
        return english_words.plural(symbols) if stem != word else symbols


def _pattern_of(tokens: Iterable[str]) -> re.Pattern[str] | None:
    """Finds the tokens that are not letters alone, the longest first."""
    keys = sorted((key for key in tokens if not key.isalpha()), key=lambda key: (-len(key), key))
    if not keys:
        return None
    return re.compile(rf"(?<![A-Za-z0-9])({'|'.join(map(re.escape, keys))})(?![A-Za-z0-9])")
