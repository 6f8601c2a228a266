"""Tone sandhi of Mandarin: 一, 不, and third tones by the structure of words.

Sources: Xiandai Hanyu Cidian for 一 and 不; for third tones the cyclic account
of Shih (1986) and Chen (2000): a third tone before a third tone becomes second,
inside words and feet first, then across their joints. Between two feet of two
or more syllables the change is optional, and is not made here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from edge_tts.text.segmenter import DIGITS, NUMERALS
from edge_tts.text.words import Word

_Tree = int | list["_Tree"]

_MAGNITUDES = frozenset("百千万亿")
_NUMBER_BEFORE = _MAGNITUDES | frozenset("十第初")
# 统一, 唯一, 之一 and their like keep the first tone.
_UNITY_BEFORE = frozenset("之统唯逐划单专")
# 一 before these names the first one: 一号, 一楼, 一级, 一段母线.
_ORDINAL_NEXT = re.compile(
    r"[号楼月级期班区线母]|段(?!时|路|距|话)|层(?![水油膜灰冰雪保薄])|次(?:风|侧|回路|水|泵|设备|网|油|系统|元件|变|仪表|电流|电压|绕组|线圈|接线|调频)"
    r"|车间|分厂|工段|工位|回路|单元|相(?!同)"
)
# ... unless a word of counting or pointing stands before.
_COUNTING_BEFORE = frozenset("这那每某同另任有了过下再仅")
# 不 between a verb and its complement is unstressed: 打不开, 关不上.
_POTENTIAL_VERB = frozenset(
    "打关开拧推拉合拔插装卸启起停转走进出上下看听找读写拿放升降夹松锁吸抓动连接收发退挂跟赶吃受赢顶撑"
)
_POTENTIAL_COMPLEMENT = frozenset("开上下住到了动起出来去见清完及成掉进着紧稳")
# What 一 after letters counts rather than ends a code: UPS一台.
_COUNTED = frozenset("个台次条路组根块套只层级批些样共直定起百千万亿")
# A polite opening is a phrase of its own.
_APART = frozenset(("请",))


def apply_tone_sandhi(words: list[Word], is_word: Callable[[str], bool]) -> list[Word]:
    """Surface tones of ``words``, whose syllables carry dictionary tones.

    ``is_word`` says whether two characters are a word of the table; it tells
    ``(展览)馆`` from ``纸(老虎)``.
    """
    result: list[Word] = []
    start = 0
    for index in range(len(words) + 1):
        if index < len(words) and words[index].language == "zh":
            continue
        if index > start:
            follows_letter = (
                start > 0
                and len(words[start - 1].text) == 1
                and (words[start - 1].language == "en")
            )
            result += _stretch(words[start:index], is_word, follows_letter)
        if index < len(words):
            result.append(words[index])
        start = index + 1
    return result


def _stretch(words: list[Word], is_word: Callable[[str], bool], follows_letter: bool) -> list[Word]:
    """Sandhi in a run of Chinese words without pause or foreign word."""
    characters = [c for word in words for c in aligned_characters(word)]
    syllables = [s for word in words for s in word.syllables]
    surface = list(syllables)
    for index, character in enumerate(characters):
        if character == "一" and syllables[index] == "yi1":
            if index == 0 and follows_letter and characters[1:2] and characters[1] not in _COUNTED:
                continue  # the last digit of a code: J1轴承, RO1泵
            surface[index] = "yi" + _tone_of_yi(index, characters, syllables)
        elif character == "不" and syllables[index] == "bu4":
            surface[index] = "bu" + _tone_of_bu(index, characters, syllables)
    if any(a[-1] == "3" == b[-1] for a, b in pairwise(surface)):
        for foot in _feet(words, is_word):
            _raise_third_tones(foot, surface)
    if surface == syllables:
        return words
    result = []
    position = 0
    for word in words:
        end = position + len(word.syllables)
        result.append(word._replace(syllables=tuple(surface[position:end])))
        position = end
    return result


def aligned_characters(word: Word) -> list[str]:
    """One character a syllable: 儿 of an erhua syllable is left out."""
    if len(word.text) == len(word.syllables):
        return list(word.text)
    kept = [c for i, c in enumerate(word.text) if c != "儿" or i == 0]
    kept += ["儿"] * (len(word.syllables) - len(kept))
    return kept[: len(word.syllables)]


def _tone_of_yi(index: int, characters: list[str], syllables: list[str]) -> str:
    before = characters[index - 1] if index else ""
    rest = "".join(characters[index + 1 : index + 4])
    after = rest[:1]
    if not after:
        return "1"
    if after == "点" and rest[1:2] in DIGITS and rest[1:2]:
        return "1"
    if before == "点" and index > 1 and characters[index - 2] in NUMERALS:
        return "1"
    if before and before == after and before not in NUMERALS and before not in "个台次天步层点":
        return "5"
    if after not in _MAGNITUDES:
        if before in DIGITS or after in DIGITS or before in _NUMBER_BEFORE:
            return "1"
        if after in "到至比、" or (before == "月" and after == "日"):
            return "1"
        if _ORDINAL_NEXT.match(rest) and before not in _COUNTING_BEFORE:
            return "1"
        if before in _UNITY_BEFORE:
            return "1"
    elif before in ("第", "十"):
        return "1"
    return "2" if syllables[index + 1][-1] == "4" or after == "个" else "4"


def _tone_of_bu(index: int, characters: list[str], syllables: list[str]) -> str:
    before = characters[index - 1] if index else ""
    after = characters[index + 1] if index + 1 < len(characters) else ""
    if before and before == after:
        return "5"
    reached = "".join(characters[index + 1 : index + 3]) == "到位"
    if before in _POTENTIAL_VERB and after in _POTENTIAL_COMPLEMENT and not reached:
        return "5"
    return "2" if after and syllables[index + 1][-1] == "4" else "4"


def _feet(words: list[Word], is_word: Callable[[str], bool]) -> list[_Tree]:
    """Trees of syllable numbers inside which third tones change."""
    feet: list[_Tree] = []
    singles: list[int] = []
    position = 0

    def close_singles(following: _Tree | None) -> _Tree | None:
        """Pair single syllables; a lone one joins what follows, else what went before."""
        if len(singles) == 1 and following is not None:
            joined: _Tree = [singles[0], following]
            singles.clear()
            return joined
        if len(singles) == 1 and feet:
            feet[-1] = [feet[-1], singles[0]]
        elif singles:
            feet.append(_pairs(singles))
        singles.clear()
        return following

    for word in words:
        count = len(word.syllables)
        if count == 1 and word.text not in _APART:
            singles.append(position)
        else:
            trees = [position] if count == 1 else _word_feet(word, position, is_word)
            first = close_singles(None if count == 1 else trees[0])
            feet.append(trees[0] if first is None else first)
            feet += trees[1:]
        position += count
    close_singles(None)
    return feet


def _pairs(numbers: list[int]) -> _Tree:
    tree: _Tree = numbers[:2] if len(numbers) > 1 else numbers[0]  # type: ignore[assignment]
    for index in range(2, len(numbers), 2):
        pair = numbers[index : index + 2]
        tree = [tree, pair if len(pair) == 2 else pair[0]]  # type: ignore[list-item]
    return tree


def _word_feet(word: Word, start: int, is_word: Callable[[str], bool]) -> list[_Tree]:
    """Feet of a word of several syllables: one up to three, then two by two."""
    text, count = word.text, len(word.syllables)
    if count == 2:
        return [[start, start + 1]]
    if count == 3:
        if text[0] not in NUMERALS and is_word(text[1:3]) and not is_word(text[:2]):
            return [[start, [start + 1, start + 2]]]
        return [[[start, start + 1], start + 2]]
    if count == 4 and not is_word(text[:2]) and is_word(text[:3]):
        head = Word(text[:3], "zh", word.syllables[:3])
        return [[*_word_feet(head, start, is_word), start + 3]]
    feet: list[_Tree] = []
    end = start + count
    while end - start > 3:
        feet.append([start, start + 1])
        start += 2
    numbers = list(range(start, end))
    feet.append([numbers[:2], numbers[2]] if len(numbers) == 3 else numbers)  # type: ignore[list-item,arg-type]
    return feet


def _raise_third_tones(tree: _Tree, surface: list[str]) -> tuple[int, int]:
    """Apply the rule below ``tree``; returns its first and last syllable number."""
    if isinstance(tree, int):
        return tree, tree
    first, last = _raise_third_tones(tree[0], surface)
    for branch in tree[1:]:
        head, tail = _raise_third_tones(branch, surface)
        if surface[last][-1] == "3" == surface[head][-1]:
            surface[last] = surface[last][:-1] + "2"
        last = tail
    return first, last
