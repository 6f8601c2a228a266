"""Text normalisation: what is written becomes what is said, still as text.

The normal form holds Chinese characters, English words, letter names as single
capitals set apart by spaces (``P L C``), and punctuation; no digit and no
other symbol is left. An English word in capitals (``SCADA``) is an acronym
that is read as one word, ``Cs`` a letter name with a plural s; everything else
that is read as a word is in lower case, but for names of months and days,
Celsius, Fahrenheit and the name after a title.

One scan goes over the cleaned line. What starts at a position decides who
reads it: numbers, codes, words, symbols. A number takes the language of the
nearest word in its clause; where a line holds none, ``℃`` and Chinese
punctuation make it Chinese, else it is English (``default_language``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Protocol

from edge_tts.text import (
    norm_abbreviations,
    norm_chemistry,
    norm_codes,
    norm_dates,
    norm_idioms,
    norm_network,
    norm_phones,
    norm_symbols,
    norm_tokens,
)
from edge_tts.text.clean import clean
from edge_tts.text.norm_finish import finish
from edge_tts.text.norm_scan import HAN, Language, Scan


class WordList(Protocol):
    """What the normaliser asks of a pronunciation table."""

    def has_word(self, word: str) -> bool:
        """Whether the table pronounces ``word`` (any case) as an English word."""
        ...

    def acronym(self, word: str) -> Literal["letters", "word"] | None:
        """How a token with capitals or digits is read, as typed, if the table says so.

        ``"word"``: the table has a pronunciation for exactly this token (a user's
        entry ``{"PLC": ...}``), so that it must reach the phonemizer untouched.
        ``"letters"``: by letter names. ``None``: the normaliser decides.
        """
        ...


@dataclass(frozen=True)
class NormalizedText:
    """Spelled-out text, and what could not be said and why."""

    text: str
    warnings: tuple[str, ...] = ()


_PLAIN_CHINESE = re.compile("[㐀-鿿]+(?:[，。！？][㐀-鿿]+)*[。！？]?\\Z")
_RUN = re.compile(
    rf"(?P<han>[{HAN}]+)|(?P<latin>[A-Za-z]+(?:'[A-Za-z]+)?)|(?P<digit>\d)|(?P<blank>\s+)|(?P<other>.)",
    re.DOTALL,
)


def normalize(text: str, lexicon: WordList, *, default_language: Language = "en") -> NormalizedText:
    """Spell out ``text``. Never raises; see the module docstring for the normal form.

    ``default_language`` is that of a line whose numbers have no neighbour to
    tell it. Time is linear in the length of the text.
    """
    if _PLAIN_CHINESE.match(text):
        return NormalizedText(text)
    cleaned, warnings = clean(text)
    scan = Scan(cleaned, lexicon, warnings, default_language)
    pos, length = 0, len(cleaned)
    while pos < length:
        match = _RUN.match(cleaned, pos)
        if match is None:
            break
        kind = match.lastgroup
        if kind == "han":
            pos = norm_symbols.han(scan, match.group(), match.end())
        elif kind == "latin":
            pos = _latin(scan, pos, match.group())
        elif kind == "digit":
            pos = _digit(scan, pos)
        elif kind == "blank":
            pos = norm_symbols.blank(scan, match.group(), match.end())
        else:
            pos = norm_symbols.symbol(scan, pos, match.group())
    return NormalizedText(finish("".join(scan.out), scan.default == "zh"), tuple(warnings))


def _latin(scan: Scan, pos: int, token: str) -> int:
    text = scan.text
    end = pos + len(token)
    if len(token) > _MOST_LETTERS:
        scan.warnings.append(
            f"a word of {len(token)} letters is cut after {_MOST_LETTERS}: {token[:12]}..."
        )
        scan.say(token[:_MOST_LETTERS].lower())
        return end
    following = text[end : end + 1]
    joined = bool(following) and (following.isdigit() or following in "-_.:/")
    capitalized = len(token) > 2 and token[1:].islower()
    chemical = (
        token[0].isupper()
        and not capitalized
        and (not token.isupper() or following in _CHEMICAL_NEXT)
    )
    if chemical and (found := norm_chemistry.formula(scan, pos)):
        return found
    if following and following in ".:/@\\" and (found := norm_network.network_name(scan, pos)):
        return found
    short = len(token) <= 3 or token in ("degree", "degrees")
    if short and (found := norm_idioms.letter_idiom(scan, pos, token)):
        return found
    if joined:
        if found := norm_network.mac_address(scan, pos):
            return found
        if token[0] == "P" and (found := norm_dates.iso_duration(scan, pos)):
            return found
        if len(token) == 1 and (found := norm_network.controller_address(scan, pos)):
            return found
        if found := norm_abbreviations.number_sign_at(scan, pos):
            return found
        if found := norm_codes.letter_token(scan, pos):
            return found
    if special := norm_abbreviations.special(scan, pos):
        return special
    return norm_abbreviations.word(scan, pos, token)


def _digit(scan: Scan, pos: int) -> int:
    for reader in _DIGIT_READERS:
        if end := reader(scan, pos):
            return end
    return pos + 1


_MOST_LETTERS = 60
_CHEMICAL_NEXT = frozenset("0123456789⁺⁻²³⁴+-(")
_DIGIT_READERS = (
    norm_dates.date,
    norm_idioms.digit_idiom,
    norm_network.ip_address,
    norm_network.mac_address,
    norm_codes.digit_code,
    norm_dates.time_of_day,
    norm_dates.duration,
    norm_phones.telephone,
    norm_tokens.ordinal,
    norm_dates.day_and_month,
    norm_tokens.hash_number,
    norm_tokens.quantity_or_code,
)
