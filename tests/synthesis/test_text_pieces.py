from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.synthesis.text_pieces import speakable_pieces


def letters(text: str) -> int:
    return sum(character.isalnum() for character in text)


def pieces_of(*pieces: str, most: int = 64) -> list[str]:
    return list(speakable_pieces(pieces, letters, most))


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (("电机", "过载，", "请检", "查。"), ["电机过载，", "请检查。"]),
        (("Motor stalled. Pres", "sure 1.", "25 MPa"), ["Motor stalled.", " Pressure 1.25 MPa"]),
        (("At 04:3", "2, tank 1,", "200 l. "), ["At 04:32,", " tank 1,200 l."]),
        (("Pump no. 3, unit No. ", "4 stopped. "), ["Pump no. 3,", " unit No. 4 stopped."]),
        (("a…", "…。", "b！"), ["a…", "…。b！"]),
        (("", " ", "...", "!!"), []),
        (("断电",), ["断电"]),
    ],
)
def test_ends_at_punctuation(pieces: tuple[str, ...], expected: list[str]) -> None:
    assert pieces_of(*pieces) == expected


def test_is_cut_between_words_when_no_punctuation_comes() -> None:
    assert pieces_of("one two three four five", most=9) == ["one two ", "three four ", "five"]
    assert pieces_of("电机过载" * 5, most=8) == ["电机过载电机过载"] * 2 + ["电机过载"]
    # A number keeps together with its unit and its counter as long as it can.
    assert pieces_of("温度过高 12345号机", most=8) == ["温度过高 ", "12345号机"]


def test_is_cut_where_the_caller_says_that_words_begin() -> None:
    text = "变频器过载断路器跳闸"
    starts = [0, 3, 5, 8, len(text)]
    found = list(
        speakable_pieces(
            [text], letters, 4, word_starts=lambda part: [at for at in starts if at <= len(part)]
        )
    )
    assert found[0] == "变频器"
    assert "".join(found) == text


def test_one_endless_word_is_cut_anyway() -> None:
    found = pieces_of("9" * 1000, most=64)
    assert "".join(found) == "9" * 1000
    assert {len(piece) for piece in found} <= {64, 1000 % 64}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("ab 1.，。!电机\n", max_size=30), max_size=12), st.integers(4, 64))
def test_nothing_is_lost_and_nothing_is_too_long(pieces: list[str], most: int) -> None:
    found = list(speakable_pieces(pieces, letters, most))
    spoken = "".join(filter(str.isalnum, "".join(found)))
    assert spoken == "".join(filter(str.isalnum, "".join(pieces)))
    assert all(letters(piece) <= most for piece in found)


def test_asks_for_no_more_than_it_needs() -> None:
    taken = []

    def writer() -> Iterator[str]:
        for number in range(10):
            taken.append(number)
            yield f"第{number}句。"

    stream = speakable_pieces(writer(), letters)
    assert next(stream) == "第0句。"
    assert taken == [0]


def test_endless_nothing_takes_no_memory() -> None:
    longest = 0

    def count(text: str) -> int:
        nonlocal longest
        longest = max(longest, len(text))
        return letters(text)

    assert list(speakable_pieces((" -" for _ in range(5000)), count)) == []
    (found,) = speakable_pieces(iter([" " * 5000, "-5 degrees"]), count)
    assert found.lstrip() == "-5 degrees"
    assert len(found) < 600
    assert longest < 600
