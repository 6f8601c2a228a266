from __future__ import annotations

from pathlib import Path

import pytest

from edge_tts.text.inventory import PHONEMES
from edge_tts.text.letter_to_sound import LetterToSound
from edge_tts.text.lexicon import Lexicon
from edge_tts.text.lexicon_table import LexiconTable
from tools.lexicon.alignment import align
from tools.lexicon.letter_trees import learn

TABLE = Path(__file__).parents[2] / "models" / "zh-en" / "lexicon.bin"
COMMON = """pump motor valve tank level pressure sensor filter system control alarm water safety
power engine signal manual battery cable bearing cooling failure station storage switch tension
network monitor operator position reactor relay robot rotor server shaft spindle steam supply
table terminal timer torque traffic vacuum vapor vehicle vessel voltage warning window""".split()


@pytest.fixture(scope="module")
def model() -> LetterToSound:
    return LetterToSound(LexiconTable(TABLE).section("L2S_"))


def plain(symbols: tuple[str, ...]) -> list[str]:
    return [symbol.rstrip("012") for symbol in symbols]


def test_common_words_come_out_right_more_often_than_not(model: LetterToSound) -> None:
    table = LexiconTable(TABLE)
    right = sum(plain(model(word)) == plain(table.english(word) or ()) for word in COMMON)
    assert right / len(COMMON) > 0.7


@pytest.mark.parametrize("word", ["roboteq", "zyxel", "grundfos", "x", "qqqq", "a", "aeiou"])
def test_sounds_exist_and_one_syllable_is_stressed(model: LetterToSound, word: str) -> None:
    symbols = model(word)
    assert symbols
    assert set(symbols) <= set(PHONEMES)
    stresses = [symbol[-1] for symbol in symbols if symbol[-1].isdigit()]
    assert stresses.count("1") == (1 if stresses else 0)


def test_letters_alone_count(model: LetterToSound) -> None:
    assert model("Robo-teq2") == model("roboteq")


def test_unknown_words_without_vowels_are_spelled() -> None:
    lexicon = Lexicon.open(TABLE)
    assert lexicon.english("xqz") == ("EH1", "K", "S", "K", "Y", "UW1", "Z", "IY1")
    assert lexicon.english("danfosq's")[-1] in ("S", "Z")


def test_alignment_gives_every_sound_to_a_letter() -> None:
    words = {
        "box": ("B", "AA1", "K", "S"),
        "phone": ("F", "OW1", "N"),
        "cab": ("K", "AE1", "B"),
        "ax": ("AE1", "K", "S"),
        "b": ("B", "IY1", "B", "IY1"),
    }
    aligned = align(words)
    assert "b" not in aligned
    for word, path in aligned.items():
        assert len(path) == len(word)
        assert tuple(s for sounds in path for s in sounds) == words[word]
    assert aligned["ax"][1] == ("K", "S")


def test_learning_twice_gives_the_same_bytes() -> None:
    table = LexiconTable(TABLE)
    words = {word: table.english(word) or () for word in COMMON}
    assert learn(words) == learn(dict(words))


def test_a_tree_learned_from_a_few_words_says_them() -> None:
    words = {f"{c}a{d}": (c.upper(), "AE1", d.upper()) for c in "bdpt" for d in "bdpt"}
    model = LetterToSound(memoryview(learn(words)))
    assert sum(model(word) == symbols for word, symbols in words.items()) >= len(words) * 0.9
