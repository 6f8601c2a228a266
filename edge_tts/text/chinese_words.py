"""A run of Chinese characters to words with dictionary tones."""

from __future__ import annotations

from edge_tts.text.lexicon import Lexicon
from edge_tts.text.segmenter import DIGITS, NUMERALS
from edge_tts.text.words import Word

# Measures of one character that are said in one breath with a short number.
_MEASURES = frozenset(
    "个台号度伏安瓦次秒分时点日月年天米吨升克层楼级段组期区路条根块片件套对扇张辆架座颗粒支只转种相处项位名"
    "寸斤元倍成排列行门口盏遍圈步格档帧匝周箱包袋桶瓶盒卷间面股串批轮孔轴站"
)
_LONGEST_WORD = 4
# 儿 as a word of its own, not the ending of the syllable before it.
_NOT_ERHUA_AFTER = frozenset("童女子媳科歌孙戏化")


def chinese_words(text: str, lexicon: Lexicon, missing: list[str] | None = None) -> list[Word]:
    """Words of ``text`` (Chinese characters only), each with its dictionary reading.

    Characters without one are left out and added to ``missing``.
    """
    words: list[Word] = []
    position = 0
    pieces = list(lexicon.segment(text))
    for index, piece in enumerate(pieces):
        before, position = position, position + len(piece)
        if len(piece) == 1:
            following = text[position : position + 1]
            if piece == "儿" and words and following not in _NOT_ERHUA_AFTER:
                _merge_er(words)
                continue
            syllable = lexicon.read_single(text, before)
            if not syllable:
                if missing is not None:
                    missing.append(piece)
                continue
            word = Word(piece, "zh", (syllable,))
            if piece in _MEASURES and index and _takes_measure(words, pieces[index - 1]):
                last = words[-1]
                word = Word(last.text + piece, "zh", (*last.syllables, syllable))
                words.pop()
            words.append(word)
        elif piece[0] in NUMERALS and _is_number(piece) and not lexicon.is_own(piece):
            words += (
                Word(part, "zh", tuple(lexicon.character(c) or "" for c in part))
                for part in _number_parts(piece)
            )
        else:
            syllables = lexicon.chinese(piece)
            if syllables:
                words.append(Word(piece, "zh", syllables))
    return words


def _is_number(piece: str) -> bool:
    return all(c in NUMERALS or c == "点" for c in piece)


def _takes_measure(words: list[Word], piece: str) -> bool:
    counted = piece.removeprefix("第")
    return (
        bool(counted)
        and _is_number(counted)
        and bool(words)
        and len(words[-1].text) < _LONGEST_WORD
    )


def _merge_er(words: list[Word]) -> None:
    last = words[-1]
    *head, tail = last.syllables
    if tail[-2:-1] != "r":
        words[-1] = Word(last.text + "儿", "zh", (*head, f"{tail[:-1]}r{tail[-1]}"))


def _number_parts(number: str) -> list[str]:
    """Split a long number into words: at 点, after 亿 and 万, and by size."""
    if len(number) <= _LONGEST_WORD:
        return [number]
    whole, point, fraction = number.partition("点")
    parts = _digit_groups(whole) if DIGITS.issuperset(whole) else _magnitude_groups(whole)
    if not fraction:
        return parts
    first, *rest = _digit_groups(fraction)
    return [*parts, point + first, *rest]


def _digit_groups(digits: str) -> list[str]:
    """Digits read one by one, in groups as a phone number is read."""
    length = len(digits)
    if length == 11:
        return [digits[:3], digits[3:7], digits[7:]]
    count = -(-length // _LONGEST_WORD) or 1
    size = -(-length // count)
    return [digits[start : start + size] for start in range(0, length, size)]


def _magnitude_groups(number: str) -> list[str]:
    parts = [""]
    for index, character in enumerate(number):
        parts[-1] += character
        following = number[index + 1 : index + 2]
        if not following or following in "亿万":
            continue
        if character in "亿万" or (character in "千百" and _too_long(number, index + 1, parts[-1])):
            parts.append("")
    return parts


def _too_long(number: str, start: int, part: str) -> bool:
    """Whether ``part`` would outgrow a word if it ran on to the next magnitude."""
    end = start
    while end < len(number) and number[end] not in "百亿万":
        end += 1
    while end < len(number) and number[end] in "百亿万":
        end += 1
    return len(part) + end - start > _LONGEST_WORD
