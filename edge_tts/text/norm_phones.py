"""Telephone numbers: digit by digit, with ``yao1`` for one in Chinese."""

from __future__ import annotations

import re

from edge_tts.text import en, zh
from edge_tts.text.norm_data import MEASURES, PHONE_NOUNS
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import Language, Scan

_SURE = (
    r"(?:400|800)[- ]?\d{3}[- ]?\d{4}|0\d{2,3}[- ]\d{7,8}(?:-\d{1,4})?|0\d{2,3}-\d{3,4}[- ]\d{4}"
    r"|1[3-9]\d(?P<gap>[- ]?)\d{4}(?P=gap)\d{4}|(?:1-)?\d{3}-\d{3}-\d{4}"
)
_TELEPHONE = pattern(
    rf"(?P<sure>{_SURE})(?![\d.]*\d)|(?P<local>\d{{3}}-\d{{4}})(?![\d.%-]|\s?[A-Za-z°]{{1,3}}(?![A-Za-z]))"
    r"|(?P<called>\d{3,4}(?:[- ]\d{3,4}){1,2}|\d{3,12})(?![\d.:%]|[-/]\d)"
)
_BRACKETED = pattern(r"[（(](?P<area>0\d{2,3}|\d{3})[)）]\s?(?P<number>\d{3,4}[- ]?\d{4})(?!\d)")
_ABROAD = pattern(
    r"\+(?P<country>(?:86|1|44|49)(?!\d{0,5}(?!\d| ?[-(\d]))|\d{2,3}(?=[- (]))"
    r"(?P<number>[- ]?\(?\d{1,4}\)?(?:[- ]?\d{2,11}){1,4})(?![\d.]*\d)"
)
_CALLED = pattern(
    rf"(?:(?:{PHONE_NOUNS})[\s:：为是]{{0,3}}(?:[\d-]{{3,13}}\s?[、/，,或和]\s?){{0,3}}"
    r"|\b(?:[Cc]all|CALL|[Dd]ial|DIAL|[Pp]hone|[Tt]el(?:ephone)?|[Ff]ax|[Hh]otline)(?:\s(?:at|on|number))?[.:\s]{1,2})$"
)
_COUNTED = pattern(rf"\s?(?:{MEASURES})|\s?[A-Za-zμΩ°℃%]")
_EXTENSION = pattern(r"\s?(?P<word>转|分机|ext(?:ension)?\.?|x)\s?(?P<number>\d{2,6})(?![\d.])")
_FEWEST_DIGITS_ABROAD = 8


def _digits(number: str, language: Language) -> str:
    plain = re.sub(r"\D", "", number)
    return zh.phone_digits(plain) if language == "zh" else en.digits(plain)


def _extension(scan: Scan, end: int, language: Language) -> int:
    """``转801`` after a number; returns where it ends."""
    match = _EXTENSION.match(scan.text, end)
    if match is None:
        return end
    word = match["word"]
    scan.say("extension" if word.isascii() and language == "en" else "转" if word == "x" else word)
    scan.say(_digits(match["number"], language))
    return match.end()


def telephone(scan: Scan, start: int) -> int:
    """A telephone number at ``start``; 0 if there is none."""
    match = _TELEPHONE.match(scan.text, start)
    if match is None:
        return 0
    number = match.group()
    following = scan.text[match.end() : match.end() + 4]
    language = scan.language(start, match.end())
    if match["local"] is not None and language == "zh":
        return 0
    if match["called"] is not None:
        if not _CALLED.search(scan.text[max(0, start - 40) : start]):
            return 0
        if _COUNTED.match(following) and not following[:1].isspace():
            return 0
    elif number.isdigit() and _COUNTED.match(following):
        return 0
    scan.say(_digits(number, language))
    return _extension(scan, match.end(), language)


def bracketed(scan: Scan, start: int) -> int:
    """``(0755) 8888-6666`` at ``start``; 0 if there is none."""
    match = _BRACKETED.match(scan.text, start)
    if match is None:
        return 0
    language = scan.language(start, match.end())
    scan.say(_digits(match.group(), language))
    return _extension(scan, match.end(), language)


def abroad(scan: Scan, start: int) -> int:
    """``+86 755 8888 6666`` at ``start``; 0 if there is none."""
    match = _ABROAD.match(scan.text, start)
    if match is None or len(re.sub(r"\D", "", match["number"])) < _FEWEST_DIGITS_ABROAD:
        return 0
    language = scan.language(start, match.end())
    scan.say("加" if language == "zh" else "plus")
    scan.say((zh if language == "zh" else en).digits(match["country"]))
    scan.say(_digits(match["number"], language))
    return _extension(scan, match.end(), language)
