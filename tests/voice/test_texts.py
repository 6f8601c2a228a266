"""Corpus texts: numbers as they are spoken, every kind pronounceable."""

from __future__ import annotations

from random import Random

import pytest

from tools.voice import spoken_numbers, texts

# Kinds that draw on dictionaries which only the factory's own environment has.
OWN_LISTS = [
    entry for entry in texts.KINDS if entry[0] not in ("zh_general", "en_general", "words")
]


@pytest.mark.parametrize(
    ("value", "spoken"),
    [
        (0, "零"), (2, "二"), (10, "十"), (12, "十二"), (20, "二十"), (105, "一百零五"),
        (110, "一百一十"), (1001, "一千零一"), (1010, "一千零一十"), (10000, "一万"),
        (10001, "一万零一"), (12345, "一万二千三百四十五"), (100500, "十万零五百"),
    ],
)  # fmt: skip
def test_chinese_numbers_are_spelled_as_they_are_read(value: int, spoken: str) -> None:
    assert spoken_numbers.zh_number(value) == spoken


@pytest.mark.parametrize(
    ("value", "spoken"),
    [
        (0, "zero"), (13, "thirteen"), (21, "twenty one"), (40, "forty"), (105, "one hundred five"),
        (1450, "one thousand four hundred fifty"), (20000, "twenty thousand"),
    ],
)  # fmt: skip
def test_english_numbers_are_spelled_as_they_are_read(value: int, spoken: str) -> None:
    assert spoken_numbers.en_number(value) == spoken


@pytest.mark.parametrize("entry", OWN_LISTS, ids=lambda entry: entry[0])
def test_generated_lines_are_spelled_out(entry: tuple) -> None:
    random = Random(7)
    for _ in range(200):
        text = entry[1](random)
        assert text.strip()
        assert not any(c.isdigit() for c in text), text


def test_a_seed_gives_the_same_lines() -> None:
    first, second = ([texts.mixed(Random(3)) for _ in range(5)] for _ in range(2))
    assert first == second
