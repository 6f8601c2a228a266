"""Chooses the Chinese part of the table: readings, words and their costs."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from edge_tts.text.inventory import split_pinyin
from edge_tts.text.lexicon_table import COST_MASK, COST_SCALE, FIRST_CHARACTER, LAST_CHARACTER

DATA = Path(__file__).parent / "data"
# Words rarer than this in the frequency list are left out, unless their reading
# can't be told from their characters (then LOWEST_COUNT_READING), or are names.
LOWEST_COUNT = 12
LOWEST_COUNT_READING = 3
LOWEST_COUNT_NAME = 120
LONGEST_WORD = 4
# Counts given to our own words: as common as everyday words.
OWN_COUNT = 4000
_COUNTED = re.compile("[零一二三四五六七八九十百千万亿两几数]+(?:[^时月日]|[多余]?个.*)")
_NAME_TAGS = ("nr", "ns", "nt", "nz")


@dataclass
class ChineseData:
    """What the Chinese sections are made of.

    ``readings`` of characters, ``words`` to (cost, syllables), ``pairs``: those of
    them that are two words said together, ``simplified`` forms of characters and
    of ``traditional_phrases``.
    """

    readings: dict[str, str] = field(default_factory=dict)
    words: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    pairs: set[str] = field(default_factory=set)
    simplified: dict[str, str] = field(default_factory=dict)
    traditional_phrases: dict[str, str] = field(default_factory=dict)


def _rows(name: str) -> Iterator[list[str]]:
    for line in (DATA / name).read_text("utf-8").splitlines():
        text = line.split("#")[0].strip()
        if text:
            yield text.split()


def _package_file(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text("utf-8")


def _to_numbered(syllable: str) -> str:
    from pypinyin.contrib.tone_convert import to_tone3

    return str(to_tone3(syllable, neutral_tone_with_five=True)).replace("ü", "v")


def _is_hanzi(text: str) -> bool:
    return all(FIRST_CHARACTER <= ord(c) <= LAST_CHARACTER for c in text)


def _valid(syllables: tuple[str, ...]) -> bool:
    try:
        for syllable in syllables:
            split_pinyin(syllable)
    except ValueError:
        return False
    return True


def _load_readings() -> dict[str, str]:
    readings = {}
    for code, marked in json.loads(_package_file("pypinyin", "pinyin_dict.json")).items():
        character = chr(int(code))
        if _is_hanzi(character):
            for syllable in marked.split(","):
                numbered = _to_numbered(syllable)
                if _valid((numbered,)):
                    readings[character] = numbered
                    break
    for row in _rows("characters.tsv"):
        readings[row[0]] = row[1]
    return readings


def _load_phrases() -> dict[str, tuple[str, ...]]:
    """Phrase readings with the dictionary tones of 一 and 不."""
    phrases = {}
    citation = {"一": "yi1", "不": "bu4"}
    for word, marked in json.loads(_package_file("pypinyin", "phrases_dict.json")).items():
        if len(marked) == len(word) and _is_hanzi(word):
            syllables = tuple(
                citation.get(character, _to_numbered(options[0]))
                for character, options in zip(word, marked, strict=True)
            )
            if _valid(syllables):
                phrases[word] = syllables
    return phrases


def _load_counts() -> dict[str, tuple[int, str]]:
    counts = {}
    for line in _package_file("jieba", "dict.txt").splitlines():
        word, count, tag = line.split(" ")
        if _is_hanzi(word):
            counts[word] = (int(count), tag)
    return counts


def _own_words(
    phrases: dict[str, tuple[str, ...]], readings: dict[str, str]
) -> dict[str, tuple[str, ...]]:
    """Our words with their readings; no reading where the characters give it."""
    words: dict[str, tuple[str, ...]] = {w: () for row in _rows("vocabulary.tsv") for w in row}
    forced: dict[str, dict[str, str]] = {}
    for character, reading, *members in _rows("industrial.tsv"):
        for word in members:
            earlier = forced.setdefault(word, {}).setdefault(character, reading)
            if earlier != reading or character not in word:
                raise ValueError(f"industrial.tsv: {word}: {character} {earlier} or {reading}?")
    known = dict(phrases)
    for word, *syllables in _rows("readings.tsv"):
        words[word] = known[word] = tuple(syllables)
    for word in sorted(forced, key=lambda word: (len(word), word)):
        # Shorter words of ours come first, so that longer ones are made of them.
        base = _compose(word, known, readings)
        if word in phrases and len(phrases[word]) == len(word):
            base = tuple(
                ours if part_is_ours else theirs
                for ours, theirs, part_is_ours in zip(
                    base, phrases[word], _covered(word, forced), strict=True
                )
            )
        given = forced[word]
        words[word] = known[word] = tuple(given.get(c, s) for c, s in zip(word, base, strict=True))
    # A whole reading stands above everything.
    words |= {word: tuple(syllables) for word, *syllables in _rows("readings.tsv")}
    for word, syllables_ in words.items():
        if syllables_ and not _valid(syllables_):
            raise ValueError(f"{word}: {' '.join(syllables_)} is not pinyin")
    return words


def _covered(word: str, known: Container[str]) -> list[bool]:
    """For each character, whether a shorter word of ``known`` in ``word`` holds it."""
    covered = [False] * len(word)
    for start in range(len(word)):
        for end in range(start + 2, len(word) + 1):
            if end - start < len(word) and word[start:end] in known:
                covered[start:end] = [True] * (end - start)
    return covered


def _compose(
    word: str, phrases: dict[str, tuple[str, ...]], readings: dict[str, str]
) -> tuple[str, ...]:
    """Reading of a word from the longest known parts, left to right."""
    result: tuple[str, ...] = ()
    position = 0
    while position < len(word):
        for end in range(len(word), position + 1, -1):
            part = phrases.get(word[position:end])
            if part and end - position < len(word):
                result += part
                position = end
                break
        else:
            result += (readings.get(word[position], ""),)
            position += 1
    return result


def load_chinese() -> ChineseData:
    """Read the sources and choose; see SOURCES.md for where they come from."""
    data = ChineseData(readings=_load_readings())
    phrases, counts = _load_phrases(), _load_counts()
    inside = data.readings | {row[0]: row[2] for row in _rows("characters.tsv") if len(row) > 2}
    own = _own_words(phrases, data.readings)
    phrases.update({word: reading for word, reading in own.items() if reading})
    total = sum(count for count, _ in counts.values())

    def cost(count: int) -> int:
        return min(COST_MASK, max(1, round(-math.log(count / total) * COST_SCALE)))

    chosen: dict[str, int] = {}
    for word, (count, tag) in counts.items():
        if len(word) == 1:
            chosen[word] = count
            continue
        if len(word) > LONGEST_WORD or (tag.startswith("nr") and len(word) > 2):
            continue
        if tag.startswith("m") and _COUNTED.fullmatch(word):
            continue  # numbers and measures are put together at run time
        plain = tuple(data.readings.get(c, "") for c in word)
        lowest = LOWEST_COUNT_NAME if tag.startswith(_NAME_TAGS) else LOWEST_COUNT
        if word in phrases and phrases[word] != plain:
            lowest = LOWEST_COUNT_READING
        if count >= lowest:
            chosen[word] = count

    def reading_of(word: str) -> tuple[str, ...]:
        return phrases.get(word) or _compose(word, phrases, inside)

    for word in own:
        chosen[word] = max(chosen.get(word, 0), OWN_COUNT)
    data.pairs = {
        word
        for word in own
        if len(word) == LONGEST_WORD
        and word[:2] in chosen
        and word[2:] in chosen
        and reading_of(word) == reading_of(word[:2]) + reading_of(word[2:])
    }
    for row in _rows("remove.tsv"):
        for word in row:
            chosen.pop(word, None)
    for word, count in chosen.items():
        reading = reading_of(word) if len(word) > 1 else (data.readings.get(word, ""),)
        ours = word in own or (word[-2:] in own and len(own[word[-2:]]) != 1)
        if len(word) == len(reading) > 1 and not ours:
            reading = _weak_ending(word, reading, known=word in phrases)
        if _valid(reading):
            data.words[word] = (cost(max(count, 1)), reading)
    _load_simplified(data)
    return data


def _weak_ending(word: str, reading: tuple[str, ...], *, known: bool) -> tuple[str, ...]:
    """Erhua, the noun suffix 子 and the adverb suffix 地 at the end of a word."""
    *head, last, ending = reading
    if word.endswith("儿"):
        # The ending belongs to the syllable before it.
        return (*head, f"{last[:-1]}r{last[-1]}")
    if word.endswith("子") and not known:
        ending = "zi5"
    elif word.endswith("地") and len(word) > 2 and word[-2] == word[-3]:
        ending = "de5"
    return (*head, last, ending)


def _load_simplified(data: ChineseData) -> None:
    for line in _package_file("opencc", "dictionary/TSCharacters.txt").splitlines():
        traditional, options = line.split("\t")
        simplified = options.split(" ")[0]
        one = len(traditional) == len(simplified) == 1 and _is_hanzi(traditional + simplified)
        if one and traditional != simplified:
            data.simplified[traditional] = simplified
    for row in _rows("traditional.tsv"):
        if len(row[0]) == 1:
            data.simplified[row[0]] = row[1] if row[0] != row[1] else row[0]
        else:
            data.traditional_phrases[row[0]] = row[1]
    for line in _package_file("opencc", "dictionary/TSPhrases.txt").splitlines():
        traditional, options = line.split("\t")
        simplified = options.split(" ")[0]
        plain = "".join(data.simplified.get(c, c) for c in traditional)
        if len(traditional) == len(simplified) and plain != simplified:
            data.traditional_phrases.setdefault(traditional, simplified)


def neighbour_rules() -> list[str]:
    """Rows of neighbours.tsv, as ``edge_tts.text.polyphones`` reads them."""
    numbers = "[零一二两三四五六七八九十百千万亿半几数多每]"
    text = (DATA / "neighbours.tsv").read_text("utf-8").replace("{N}", numbers)
    rows = [line for line in text.splitlines() if line and not line.startswith("#")]
    for row in rows:
        _, before, after, reading = row.split("\t")
        re.compile(before)
        re.compile(after)
        split_pinyin(reading)
    return rows
