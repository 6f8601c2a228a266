"""Cuts a text that arrives in pieces into stretches that can be spoken at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

MAX_PHONEMES = 64
# A character gives seven phonemes at most (the letter W, the sign %).
_PHONEMES_PER_CHARACTER = 7
# Longest stretch looked at for a cut; keeps the search and the buffer small.
_LONGEST = 256

_ENDS_ANYWHERE = frozenset("。！？；…，、：!?;\n")
# Inside a number, a time or a version these are no punctuation.
_ENDS_BEFORE_SPACE = frozenset(".,:")
# After these a full stop ends no sentence, and what follows belongs to them.
_ABBREVIATIONS = frozenset("no nos mr mrs ms dr st vs fig approx e.g i.e".split())


def speakable_pieces(
    pieces: Iterable[str],
    count_phonemes: Callable[[str], int],
    max_phonemes: int = MAX_PHONEMES,
    *,
    word_starts: Callable[[str], Sequence[int]] | None = None,
) -> Iterator[str]:
    """Stretches of the joined text, each as soon as it is complete.

    A stretch ends at punctuation, or before it would hold more than
    ``max_phonemes``, then between two words where there is such a place. Every
    character arrives in exactly one stretch, in order, except runs of nothing
    speakable, which may be dropped. ``pieces`` is asked for more only when no
    complete stretch is left.

    Args:
        pieces: parts of the text, cut anywhere.
        count_phonemes: phonemes of a text.
        max_phonemes: the most that wait for punctuation.
        word_starts: where in a text a word may begin, in rising order; by default
            behind a blank and at every Chinese character.
    """
    starts = word_starts or _plain_starts
    buffer = ""
    for piece in pieces:
        # A long piece is taken in parts, so that the buffer's length stays bounded.
        for begin in range(0, len(piece), _LONGEST):
            buffer += piece[begin : begin + _LONGEST]
            while cut := _cut(buffer, count_phonemes, starts, max_phonemes):
                yield buffer[:cut]
                buffer = buffer[cut:]
            if len(buffer) > _LONGEST and not _speakable(buffer):
                # What stands right before the next word may be its sign.
                buffer = buffer[-2:]
    if _speakable(buffer):
        yield buffer


def _cut(
    buffer: str,
    count_phonemes: Callable[[str], int],
    word_starts: Callable[[str], Sequence[int]],
    max_phonemes: int,
) -> int:
    """Where the first complete stretch ends; 0 where more text is needed."""
    end = _punctuation_end(buffer)
    window = buffer[: end or _LONGEST]
    if len(window) * _PHONEMES_PER_CHARACTER <= max_phonemes or (
        count_phonemes(window) <= max_phonemes
    ):
        return end or (len(window) if len(buffer) > _LONGEST and _speakable(window) else 0)
    places = [at for at in word_starts(window) if 0 < at < len(window)]
    best = bisect_right(places, max_phonemes, key=lambda at: count_phonemes(window[:at]))
    if best:
        return places[best - 1]
    everywhere = range(1, len(window))
    best = bisect_right(everywhere, max_phonemes, key=lambda at: count_phonemes(window[:at]))
    return everywhere[max(0, best - 1)]


def _punctuation_end(buffer: str) -> int:
    """Length of the text up to the first punctuation after something speakable; 0 for none."""
    seen = False
    for at, character in enumerate(buffer):
        if character.isalnum():
            seen = True
        elif seen and (
            character in _ENDS_ANYWHERE
            or (
                character in _ENDS_BEFORE_SPACE
                and buffer[at + 1 : at + 2].isspace()
                and not (character == "." and _last_word(buffer[:at]) in _ABBREVIATIONS)
            )
        ):
            return at + 1
    return 0


def _last_word(text: str) -> str:
    return text[-12:].rpartition(" ")[2].lower()


def _speakable(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _plain_starts(text: str) -> list[int]:
    return [at for at in range(1, len(text)) if _may_part(text[at - 1], text[at])]


def _may_part(before: str, after: str) -> bool:
    return before.isspace() or (_is_ideograph(before) and _is_ideograph(after))


def _is_ideograph(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff" or "\U00020000" <= character <= "\U0003ffff"
