"""The state of one scan over a line, and the language that a number takes."""

from __future__ import annotations

import re
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from edge_tts.text import en, zh
from edge_tts.text.norm_pattern import pattern

if TYPE_CHECKING:
    from edge_tts.text.normalizer import WordList

Language = Literal["zh", "en"]

# Pauses while a line is put together; the last step makes punctuation of them.
COMMA, FULL_STOP, EXCLAMATION, QUESTION = "\x01", "\x02", "\x03", "\x04"
HAN = "〇㐀-鿿"
_HAN = pattern(f"[{HAN}]")
# A word that makes its surroundings English: not a code, a unit or an acronym.
_ENGLISH_WORD = pattern(r"(?<![A-Za-z0-9])(?:[A-Z]?[a-z]{2,}|[A-Z]{4,})(?![A-Za-z0-9])")
# Typed with a Chinese keyboard or font, where no word tells the language.
_CHINESE_HINT = pattern("[℃㎡￥！（）：；、。，？]")
# A label in capitals (ERROR 5 号泵) has no vote: it stands in Chinese lines too.
_VOTE = pattern(
    rf"(?P<zh>[{HAN}])|(?P<en>(?<![A-Za-z0-9])(?!(?:cos|sin|tan|log|lg|ln|max|min|avg|rms)(?![a-z]))"
    r"[A-Z]?[a-z]{2,}(?![A-Za-z0-9]))"
    r"|(?P<end>[，。！？；：、!?;()（）\[\]\n]|[,:](?!\d)|\.(?=\s|$))"
)


class Scan:
    """What is left to read, what is said so far, and who is near.

    Handlers read ``text`` from a position, call :meth:`say` and return the
    position after what they used up.
    """

    __slots__ = (
        "_last_vote",
        "_mixed",
        "all_caps",
        "default",
        "lexicon",
        "out",
        "text",
        "warnings",
    )

    def __init__(
        self, text: str, lexicon: WordList, warnings: list[str], default: Language
    ) -> None:
        self.text = text
        self.lexicon = lexicon
        self.warnings = warnings
        self.out: list[str] = []
        has_han = _HAN.search(text) is not None
        has_english = _ENGLISH_WORD.search(text) is not None
        self._mixed = has_han and has_english
        if has_han or (not has_english and _CHINESE_HINT.search(text)):
            self.default: Language = "zh"
        elif has_english:
            self.default = "en"
        else:
            self.default = default
        self.all_caps = not has_han and _is_all_caps(text)
        self._last_vote: tuple[int, Language | None] = (0, None)

    def say(self, piece: str) -> None:
        """Add to what is said, with a space where two Latin words would touch."""
        if not piece:
            return
        if self.out:
            last = self.out[-1][-1]
            if piece[0].isascii() and piece[0].isalpha() and last.isascii() and last != " ":
                self.out.append(" ")
        self.out.append(piece)

    def language(self, start: int, end: int) -> Language:
        """Language of the number at ``[start, end)``: of the nearest word in its clause."""
        if not self._mixed:
            return self.default
        left, right, distance = self._votes(start, end)
        if left is None or right is None:
            return (left and left[1]) or right or self.default
        if left[1] == right:
            return right
        if start - left[0] == distance:
            return "zh"
        return left[1] if start - left[0] < distance else right

    def code_language(self, start: int, end: int) -> Language:
        """The language of the code at ``[start, end)``.

        In a line with Chinese in it a code is read in Chinese, but in the middle
        of an English phrase.
        """
        if not self._mixed:
            return self.default
        left, right, _ = self._votes(start, end)
        return "en" if left is not None and left[1] == right == "en" else "zh"

    def _votes(
        self, start: int, end: int
    ) -> tuple[tuple[int, Language] | None, Language | None, int]:
        """Votes left and right of ``[start, end)`` in its clause, and how far the right one is."""
        left = self._left_vote(start)
        match = _VOTE.search(self.text, end, min(len(self.text), end + 64))
        right: Language | None = None
        distance = 0
        if match is not None and match.lastgroup != "end":
            right = "zh" if match.lastgroup == "zh" else "en"
            distance = match.start() - end
        return left, right, distance

    def _left_vote(self, start: int) -> tuple[int, Language] | None:
        """Nearest vote in the clause before ``start``, remembered from call to call."""
        pos, vote = self._last_vote
        floor = max(0, start - 64)
        if pos < floor:
            pos, vote = floor, None
        at = pos
        for match in _VOTE.finditer(self.text, pos, start):
            kind = match.lastgroup
            vote = None if kind == "end" else ("zh" if kind == "zh" else "en")
            at = match.end()
        self._last_vote = (at, vote)
        return (at, vote) if vote is not None else None

    def words(self, language: Language) -> ModuleType:
        """The module of number words: both have the same functions."""
        return zh if language == "zh" else en

    def before(self, pos: int, length: int = 8) -> str:
        """Up to ``length`` characters left of ``pos``, without trailing blanks."""
        return self.text[max(0, pos - length) : pos].rstrip()


def _is_all_caps(text: str) -> bool:
    """Whether a Latin line is in capitals throughout, with at least two words."""
    if re.search(r"(?<![A-Za-z0-9])[A-Za-z]?[a-z]{2,}", text):
        return False
    return len(re.findall(r"[A-Z]{2,}", text)) >= 2
