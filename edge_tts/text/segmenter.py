"""Cuts a run of Chinese characters into words: unigram Viterbi over the table.

Method: the cheapest path where a word costs -ln(its probability), as in jieba's
dictionary mode. Numerals are one more kind of edge, so that ``三十分`` is
``三十 分`` and not ``三 十分``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping

from edge_tts.text.lexicon_table import (
    COST_MASK,
    COST_SCALE,
    FIRST_CHARACTER,
    PAIR_LENGTH,
    LexiconTable,
)

DIGITS = frozenset("零〇一二两三四五六七八九幺")
NUMERALS = DIGITS | frozenset("十百千万亿")
_NUMBER_COST = int(5.0 * COST_SCALE)
_UNKNOWN_COST = int(18.0 * COST_SCALE)
_OVERRIDE_COST = 1
_FAR = 1 << 40


def number_end(text: str, start: int) -> int:
    """End of the numeral run at ``start``, with one decimal part (``点`` and digits)."""
    end = start
    length = len(text)
    while end < length and text[end] in NUMERALS:
        end += 1
    if end > start and end + 1 < length and text[end] == "点" and text[end + 1] in DIGITS:
        decimal_end = end + 1
        while decimal_end < length and text[decimal_end] in DIGITS:
            decimal_end += 1
        # 十四点三十分 and 五点零二分 are times of day.
        following = text[decimal_end : decimal_end + 2]
        is_time = following[:1] in NUMERALS or (following[:1] == "分" and following != "分贝")
        if not (following and is_time):
            return decimal_end
    return end


def segment(
    text: str,
    table: LexiconTable,
    own_words: Mapping[str, Collection[str]] | None = None,
) -> list[str]:
    """Split ``text`` (Chinese characters only) into words.

    ``own_words`` holds the user's words by their first character; they win over
    every cut of the table.
    """
    length = len(text)
    code, value, first, root = table.code, table.value, table.first, table.root
    best = [_FAR] * (length + 1)
    best[0] = 0
    back = [0] * (length + 1)
    number_until = 0
    for start in range(length):
        here = best[start]
        character = text[start]
        if own_words and character in own_words:
            for word in own_words[character]:
                if text.startswith(word, start):
                    _relax(best, back, start, start + len(word), here + _OVERRIDE_COST)
        if character in NUMERALS and start >= number_until:
            number_until = number_end(text, start)
            if number_until > start + 1:
                _relax(best, back, start, number_until, here + _NUMBER_COST)
        index = ord(character) - FIRST_CHARACTER
        state = root[index] - 1 if 0 <= index < len(root) else -1
        end = start + 1
        single = value[state] & COST_MASK if state >= 0 else 0
        total = here + (single or _UNKNOWN_COST)
        if total < best[end]:
            best[end] = total
            back[end] = start
        while state >= 0 and end < length:
            low, high = first[state], first[state + 1]
            if low == high:
                break
            wanted = ord(text[end])
            state = bisect_left(code, wanted, low, high)
            if state == high or code[state] != wanted:
                break
            end += 1
            word_value = value[state]
            if word_value:
                total = here + (word_value & COST_MASK)
                if total < best[end]:
                    best[end] = total
                    back[end] = start
    words = []
    end = length
    while end:
        start = back[end]
        word = text[start:end]
        own = own_words and word in own_words.get(word[0], ())
        if end - start == PAIR_LENGTH and not own and table.is_pair(word):
            words.append(word[2:])
            word = word[:2]
        words.append(word)
        end = start
    words.reverse()
    return words


def _relax(best: list[int], back: list[int], start: int, end: int, total: int) -> None:
    if total < best[end]:
        best[end] = total
        back[end] = start
