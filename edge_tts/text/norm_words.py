"""Latin words by themselves: as words, by letter, or acronyms as one word."""

from __future__ import annotations

from edge_tts.text.norm_data import (
    ABBREVIATIONS,
    ALWAYS_ABBREVIATED,
    CAPITALS_AS_LETTERS,
    ELEMENT,
    LETTER_ACRONYMS,
    PROPER_WORDS,
    SHORT_WORDS,
    SPECIAL_TOKENS,
    TITLES,
    WORD_ACRONYMS,
    WORDS_IN_CAPITALS,
)
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import Scan

_VOWELS = frozenset("aeiouAEIOU")
_CONSONANT_RUN = pattern(r"[^AEIOUYaeiouy]{4,}")
# Currents and voltages of the phases: Ia, Uab.
_PHASE_QUANTITY = pattern(r"(?:I[abc]|[UV](?:a|b|c|ab|bc|ca))\Z")
_COMPOUND = pattern(rf"(?:{ELEMENT}){{2,8}}\Z")
_LEVELS = {"HI": "high", "LO": "low"}
_CAMEL = pattern(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+")
_PLURAL_OF_LETTERS = tuple(f"{letter} " for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def letters(word: str) -> str:
    return " ".join(word.upper())


def capitals(scan: Scan, word: str) -> str:
    """How a token in capitals is said."""
    if len(word) == 1:
        return word
    lower = word.lower()
    if scan.all_caps and lower in WORDS_IN_CAPITALS:
        return _LEVELS.get(word, lower)
    table = scan.lexicon.acronym(word)
    if table is not None:
        return word if table == "word" else letters(word)
    if word == "OK":
        return "okay"
    if word in _LEVELS and scan.default == "en":
        return _LEVELS[word]
    if lower in ALWAYS_ABBREVIATED and scan.default == "en":
        return ABBREVIATIONS[lower]
    if word in WORD_ACRONYMS:
        return lower if scan.all_caps and word in ("CAN", "PIN") else word
    if word in LETTER_ACRONYMS or word in CAPITALS_AS_LETTERS:
        return letters(word)
    if len(word) <= 3:
        return lower if lower in SHORT_WORDS else letters(word)
    if _VOWELS.isdisjoint(lower):
        return letters(word)
    if scan.lexicon.has_word(lower):
        return lower
    # Not in the table: long and pronounceable is a word or a name (TROUBL, YASKAWA).
    if len(word) >= (5 if scan.all_caps else 6) and not _CONSONANT_RUN.search(word):
        return lower
    return letters(word)


def _segments(scan: Scan, token: str) -> str:
    """Mixed case: ``TempSensor`` is two words, ``mqttBroker`` letters and a word."""
    if _COMPOUND.match(token):
        return letters(token)
    parts = []
    for part in _CAMEL.findall(token):
        if part.isupper():
            parts.append(capitals(scan, part))
        else:
            parts.append(plain_word(scan, part.lower()))
    return " ".join(parts)


def plain_word(scan: Scan, lower: str) -> str:
    """A lower-case run: a word, or letters where it can't be one (``mqtt``)."""
    if len(lower) == 1:
        return lower.upper()
    upper = lower.upper()
    if lower in SHORT_WORDS:
        return lower
    if scan.lexicon.acronym(upper) == "letters":
        return letters(upper)
    if scan.lexicon.has_word(lower) and upper not in LETTER_ACRONYMS:
        return lower
    if lower in ALWAYS_ABBREVIATED:
        return ABBREVIATIONS[lower]
    if upper in WORD_ACRONYMS:
        return lower
    if upper in LETTER_ACRONYMS or _VOWELS.isdisjoint(lower):
        return letters(upper)
    return lower


def spoken(scan: Scan, token: str) -> str:
    """How one run of Latin letters (perhaps with 's) is said."""
    if scan.lexicon.acronym(token) == "word":
        return token
    body, apostrophe, tail = token.partition("'")
    lower = body.lower()
    if len(body) == 1 and len(tail) > 1:
        return token.lower()
    if _PHASE_QUANTITY.match(body):
        return letters(body)
    special = SPECIAL_TOKENS.get(lower)
    if special is not None:
        return special + (apostrophe + tail.lower())
    if body.isupper():
        said = capitals(scan, body)
    elif (
        len(body) == 2
        and body[0].isupper()
        and body[1] == "s"
        and (lower not in SHORT_WORDS or "".join(scan.out[-2:]).endswith(_PLURAL_OF_LETTERS))
    ):
        said = body
    elif body[0].isupper() and body[1:].islower():
        said = body if body in PROPER_WORDS else plain_word(scan, lower)
        if scan.out and scan.out[-1] == " " and len(scan.out) > 1 and scan.out[-2] in TITLES:
            said = body
    elif body.islower():
        said = plain_word(scan, lower)
    elif body[:-1].isupper() and body[-1] == "s" and len(body) > 2:
        said = capitals(scan, body[:-1])
        said = f"{said}s"
    else:
        said = _segments(scan, body)
    return said + (apostrophe + tail.lower())
