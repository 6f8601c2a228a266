"""Cuts a long text into blocks small enough to be normalised one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LONGEST = 300
_SENTENCE_END = re.compile(r"[。！？；\n]+[”’」）)]*|[.!?;]+[”’\")]*\s")
_CLAUSE_END = re.compile(r"[，、：]|[,:]\s")
_BETWEEN_CHINESE = re.compile(r"(?<=[\u3400-\u9fff])(?=[\u3400-\u9fff])|\s")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|No|Nr|Fig|Mr|Mrs|Dr|St|vs|approx|max|min|\d+)\.\s$", re.IGNORECASE
)
_NUMERAL = frozenset("零〇一二两三四五六七八九十百千万亿点")


def text_blocks(text: str, longest: int = _LONGEST) -> Iterator[str]:
    """Blocks of about ``longest`` characters at most, cut at the best place there is.

    That is the last end of a sentence, else of a clause, else a blank or a joint
    between two Chinese characters that are not a number. A run without any of
    them stays whole.
    """
    start = 0
    while len(text) - start > longest:
        end = _best_cut(text, start, start + longest)
        yield text[start:end]
        start = end
    if start < len(text) or not text:
        yield text[start:]


def _best_cut(text: str, start: int, limit: int) -> int:
    for pattern in (_SENTENCE_END, _CLAUSE_END):
        cuts = [match.end() for match in pattern.finditer(text, start, limit)]
        cuts = [cut for cut in cuts if not _ABBREVIATION.search(text[max(start, cut - 8) : cut])]
        if cuts:
            return cuts[-1]
    cut = 0
    for match in _BETWEEN_CHINESE.finditer(text, start + 1, limit):
        if not _inside_number(text, match.start()):
            cut = match.end()
    if cut:
        return cut
    # Nothing to cut at: on to the first place there is.
    for pattern in (_BETWEEN_CHINESE, _SENTENCE_END, _CLAUSE_END):
        found = pattern.search(text, limit)
        if found:
            return max(found.end(), start + 1)
    return len(text)


def _inside_number(text: str, index: int) -> bool:
    return text[index - 1] in _NUMERAL and text[index : index + 1] in _NUMERAL
