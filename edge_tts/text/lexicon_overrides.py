"""Users' pronunciations: JSON files of a ``lexicon.d`` folder, checked on load.

A file holds one object: ``{"车库": ["che1", "ku4"], "PLC": ["P", "L", "C"],
"Roboteq": ["R", "OW1", "B", "OW0", "T", "EH2", "K"]}``. What a value means
follows from its key:

- a key of Chinese characters takes one pinyin syllable a character, or an
  erhua syllable for a character and the 儿 after it (``huir4``);
- any other key (letters, digits, ``- _ . / +``) takes ARPAbet symbols, or
  pinyin syllables (``["xi1", "men2", "zi5"]`` for ``SIEMENS``), or, where every
  item is one letter and the items spell the letters of the key in order, the
  names of these letters. ``["P", "L", "C"]`` for ``PLC`` is therefore three
  letter names, ``["B", "IY1"]`` for ``B2`` is ARPAbet.

Files are read in the order of their names; a later entry replaces an earlier
one. A key in capitals, or with a digit, holds for exactly that spelling; a key
in lower case for any case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from edge_tts.errors import LexiconError
from edge_tts.text.inventory import (
    ARPABET_CONSONANTS,
    ARPABET_VOWELS,
    FINALS,
    INITIALS,
    split_pinyin,
)
from edge_tts.text.letters import LETTER_NAMES
from edge_tts.text.words import Language

_ARPABET = frozenset(ARPABET_CONSONANTS) | {v + s for v in ARPABET_VOWELS for s in "012"}
_HANZI_KEY = re.compile(r"[\u3400-\u9fff〇]+")
_TOKEN_KEY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9'_./+-]*[A-Za-z0-9+])?")
_SYLLABLE = re.compile(r"[a-zü]+[0-5]")
_LONGEST_KEY = 32


@dataclass(frozen=True)
class Pronunciation:
    """How one entry is spoken: ``syllables`` as in :class:`edge_tts.text.words.Word`."""

    language: Language
    syllables: tuple[str, ...]


@dataclass
class Overrides:
    """All entries of a folder."""

    chinese: dict[str, Pronunciation] = field(default_factory=dict)
    tokens: dict[str, Pronunciation] = field(default_factory=dict)

    def token(self, text: str) -> Pronunciation | None:
        """The entry for a Latin token as typed, else the one for its lower case."""
        return self.tokens.get(text) or self.tokens.get(text.lower())


def load_overrides(folder: Path | None) -> Overrides:
    """Read every ``*.json`` of ``folder``; no folder, no entries.

    Raises:
        LexiconError: a file can't be read, or an entry is wrong; the message names the
            file, the entry and the symbols allowed.
    """
    overrides = Overrides()
    if folder is None or not folder.is_dir():
        return overrides
    for path in sorted(folder.glob("*.json")):
        try:
            entries = json.loads(path.read_text("utf-8-sig"))
        except (OSError, ValueError) as exc:
            raise LexiconError(f"{path}: can't read the pronunciations: {exc}") from exc
        if not isinstance(entries, dict):
            raise LexiconError(f'{path}: must hold one object, as {{"车库": ["che1", "ku4"]}}')
        for key, value in entries.items():
            _add(overrides, path, key, value)
    return overrides


def _add(overrides: Overrides, path: Path, key: str, value: object) -> None:
    where = f"{path}: entry {key!r}"
    if not (isinstance(value, list) and value and all(isinstance(s, str) for s in value)):
        raise LexiconError(f'{where}: must be a list of symbols, as ["che1", "ku4"]')
    if len(key) > _LONGEST_KEY:
        raise LexiconError(f"{where}: longer than {_LONGEST_KEY} characters")
    if _HANZI_KEY.fullmatch(key):
        _check_pinyin(where, value)
        expected = len(key) - sum(_absorbs_er(symbol) for symbol in value)
        if len(value) != expected:
            raise LexiconError(
                f"{where}: has {len(value)} syllables for {len(key)} characters; "
                "give one pinyin syllable a character"
            )
        overrides.chinese[key] = Pronunciation("zh", tuple(value))
    elif _TOKEN_KEY.fullmatch(key):
        overrides.tokens[key] = _token_pronunciation(where, key, value)
    else:
        raise LexiconError(
            f"{where}: a key is Chinese characters alone, or letters and digits without a space"
        )


def _absorbs_er(syllable: str) -> bool:
    base = syllable.rstrip("012345")
    return base.endswith("r") and base not in ("er", "r")


def _token_pronunciation(where: str, key: str, value: Sequence[str]) -> Pronunciation:
    letters = [character for character in key.upper() if character.isalpha()]
    if all(symbol in LETTER_NAMES for symbol in value) and list(value) == letters:
        return Pronunciation("en", tuple(s for letter in value for s in LETTER_NAMES[letter]))
    if all(symbol in _ARPABET for symbol in value):
        return Pronunciation("en", tuple(value))
    if all(_SYLLABLE.fullmatch(symbol) for symbol in value):
        _check_pinyin(where, value)
        return Pronunciation("zh", tuple(value))
    wrong = next((s for s in value if s not in _ARPABET and not _SYLLABLE.fullmatch(s)), value[0])
    raise LexiconError(
        f"{where}: unknown symbol {wrong!r}; allowed are ARPAbet ({' '.join(ARPABET_CONSONANTS)}, "
        f"and {' '.join(ARPABET_VOWELS)} with a stress from 0 to 2), pinyin syllables with a tone "
        "(che1), or the key's own letters one by one"
    )


def _check_pinyin(where: str, value: Sequence[str]) -> None:
    for symbol in value:
        try:
            if not _SYLLABLE.fullmatch(symbol):
                raise ValueError(symbol)
            split_pinyin(symbol)
        except ValueError as exc:
            raise LexiconError(
                f"{where}: unknown symbol {symbol!r}; allowed are pinyin syllables with a tone "
                f"from 1 to 5: an initial ({' '.join(INITIALS)}, or none) and a final "
                f"({' '.join(FINALS[:-6])} ...), as zhong4"
            ) from exc
