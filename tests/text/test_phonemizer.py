"""Pronunciation of whole lines, against what people say."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.text.front_end import TextFrontEnd
from edge_tts.text.inventory import PHONEMES
from edge_tts.text.lexicon import Lexicon
from edge_tts.text.phoneme_ids import words_to_phonemes
from edge_tts.text.phonemizer import phonemize

pytestmark = pytest.mark.core

REPOSITORY = Path(__file__).parents[2]
CASES = REPOSITORY / "tests" / "cases"
_PINYIN = re.compile(r"[a-z]+[1-5]( [a-z]+[1-5])*")


def rows(name: str) -> list[tuple[str, str, str]]:
    """``(id, text, reading)`` of the rows whose reading is pinyin."""
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()[1:]
    cells = [line.split("\t") for line in lines]
    return [
        (row[0], row[2], row[3])
        for row in cells
        if all(_PINYIN.fullmatch(reading) for reading in row[3].split(" | "))
    ]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon.open(REPOSITORY / "models" / "zh-en" / "lexicon.bin")


@pytest.fixture(scope="module")
def front_end(lexicon: Lexicon) -> TextFrontEnd:
    return TextFrontEnd(lexicon)


def syllables(text: str, lexicon: Lexicon, tones: str = "surface") -> str:
    words = phonemize(text, lexicon, tones)  # type: ignore[arg-type]
    return " ".join(s for word in words if word.language != "pause" for s in word.syllables)


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        pytest.param(text, reading, id=f"{number}-{text}")
        for name in ("normalisation.tsv", "pinyin.tsv")
        for number, text, reading in rows(name)
    ],
)
def test_chinese_row_is_said_as_written(text: str, reading: str, front_end: TextFrontEnd) -> None:
    words = front_end.phonemize(text)
    said = " ".join(s for word in words if word.language != "pause" for s in word.syllables)
    assert said in reading.split(" | ")


def test_the_tables_hold_what_they_should() -> None:
    assert len(rows("pinyin.tsv")) >= 300
    assert len(rows("normalisation.tsv")) == 28


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("coil is wound incorrectly", "W AW1 N D"),
        ("SCADA断开", "S K EY1 D AH0"),
        ("okay", "OW2 K EY1"),
        ("P L C", "P IY1 EH1 L S IY1"),
        ("P L Cs", "P IY1 EH1 L S IY1 Z"),
        ("a pump", "AH0 P AH1 M P"),
        ("live wire", "L AY1 V"),
        ("close valve two", "K L OW1 Z"),
        ("too close to the limit", "K L OW1 S"),
        ("failed to read", "R IY1 D"),
        ("can not be read", "R EH1 D"),
        ("lead acid battery", "L EH1 D"),
        ("cooling leads to", "L IY1 D Z"),
        ("wind the coil", "W AY1 N D"),
        ("wind speed", "W IH1 N D"),
        ("record the value", "R AH0 K AO1 R D"),
        ("upset condition", "AH1 P S EH2 T"),
        ("heatsink overtemperature", "HH IY1 T S IH2 NG K OW2 V ER0 T EH1 M P R AH0 CH ER0"),
        ("throttles", "TH R AA1 T AH0 L Z"),
        ("the boiler's", "B OY1 L ER0 Z"),
        ("the compressors'", "K AH0 M P R EH1 S ER0 Z"),
        ("invalid address", "IH0 N V AE1 L IH0 D AE1 D R EH2 S"),
    ],
)
def test_english_is_said_in_arpabet(text: str, said: str, lexicon: Lexicon) -> None:
    assert said in syllables(text, lexicon)


def test_citation_tones_are_those_of_the_dictionary(lexicon: Lexicon) -> None:
    assert syllables("一台不正常", lexicon, "citation") == "yi1 tai2 bu4 zheng4 chang2"
    assert syllables("两手", lexicon, "citation") == "liang3 shou3"
    assert syllables("一台不正常", lexicon) == "yi4 tai2 bu2 zheng4 chang2"


def test_numbers_and_short_measures_are_words(lexicon: Lexicon) -> None:
    def words(text: str) -> list[str]:
        return [word.text for word in phonemize(text, lexicon)]

    assert words("八十五摄氏度") == ["八十五", "摄氏度"]
    assert words("五百米") == ["五百米"]
    assert words("三号泵") == ["三号", "泵"]
    assert words("十四点三十分") == ["十四点", "三十分"]
    assert words("二千三百四十五万") == ["二千三百", "四十五万"]
    assert words("幺三八零零一三八零零零") == ["幺三八", "零零一三", "八零零零"]


def test_pauses_never_pile_up_and_never_come_first(lexicon: Lexicon) -> None:
    words = phonemize("，。停机，！。（二号泵）……启动。", lexicon)
    assert [w.text for w in words] == ["停机", "!", "二号", "泵", ",", "启动", "."]


def test_traditional_characters_are_read_as_simplified_ones(lexicon: Lexicon) -> None:
    assert syllables("變頻器", lexicon) == syllables("变频器", lexicon)
    assert lexicon.simplify("發電機後備電源乾燥") == "发电机后备电源干燥"
    assert lexicon.simplify("著名 著火") == "著名 着火"


def test_a_character_without_a_reading_is_reported(lexicon: Lexicon) -> None:
    missing: list[str] = []
    words = phonemize("停㐂㑢机", lexicon, missing=missing)
    assert all(word.syllables for word in words)
    assert set(missing) <= set("㐂㑢")


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("一不三五百点停机水表好长重儿的请AaBs'，。 "), max_size=40))
def test_every_symbol_exists_whatever_the_text(text: str) -> None:
    lexicon = _shared_lexicon()
    words = phonemize(text, lexicon)
    assert set(words_to_phonemes(words)) <= set(PHONEMES)
    assert not any(a.language == b.language == "pause" for a, b in pairwise(words))


_LEXICONS: list[Lexicon] = []


def _shared_lexicon() -> Lexicon:
    if not _LEXICONS:
        _LEXICONS.append(Lexicon.open(REPOSITORY / "models" / "zh-en" / "lexicon.bin"))
    return _LEXICONS[0]
