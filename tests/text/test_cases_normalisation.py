"""What operators write and what they would say, row by row, with the real word table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from edge_tts.text.lexicon import Lexicon
from edge_tts.text.normalizer import normalize

pytestmark = pytest.mark.core

REPOSITORY = Path(__file__).parents[2]
CASES = REPOSITORY / "tests" / "cases"
HAN = "㐀-䶿一-鿿"
_PINYIN = re.compile(r"(?:[a-zü]+[1-5](?: |$))+")


def rows(name: str) -> list[tuple[str, str, str]]:
    """``(id, text, reading)`` of the rows whose reading is spelled-out text."""
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()[1:]
    cells = [line.split("\t") for line in lines]
    return [
        (row[0], row[2], row[3])
        for row in cells
        if not all(_PINYIN.fullmatch(reading) for reading in row[3].split(" | "))
    ]


def comparable(text: str) -> str:
    """Without blanks next to Chinese characters and without the script of a comma or full stop."""
    text = re.sub(rf"\s*([{HAN}，。！？])\s*", r"\1", text)
    return re.sub(r"([,.])\s*", r"\1", text.replace("，", ",").replace("。", ".")).strip()


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon.open(REPOSITORY / "models" / "zh-en" / "lexicon.bin")


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        pytest.param(text, reading, id=f"{number}-{text}")
        for name in ("normalisation.tsv", "normalisation_more.tsv")
        for number, text, reading in rows(name)
    ],
)
def test_row_is_spelled_out_as_it_is_said(text: str, reading: str, lexicon: Lexicon) -> None:
    without_note = (re.sub(r"\s*\([^()]*\)$", "", one) for one in reading.split(" | "))
    accepted = [comparable(one) for one in without_note]

    said = normalize(text, lexicon).text

    assert comparable(said) in accepted, said
    assert normalize(said, lexicon).text == said


def test_the_tables_hold_what_they_should() -> None:
    assert len(rows("normalisation.tsv")) >= 65
    assert len(rows("normalisation_more.tsv")) >= 500
