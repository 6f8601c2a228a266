"""Shorthand of the trades: 2oo3 voting, 3Φ, axis positions, wire gauges, timestamps."""

from __future__ import annotations

import re

from edge_tts.text import en, zh
from edge_tts.text.norm_money import CODED_BEFORE, coded
from edge_tts.text.norm_numbers import quantity
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import HAN, Scan
from edge_tts.text.norm_units import parse_unit
from edge_tts.text.norm_words import letters

_VOTING = pattern(r"(?P<agree>[1-9])oo(?P<of>[1-9])D?(?![A-Za-z0-9])", re.IGNORECASE)
_PHASES = pattern(rf"(?P<count>[13])[ΦφØ](?=\s?(?:[A-Za-z{HAN}]|\d{{2,3}}\s?V|$))")
_AUGHT = pattern(r"(?P<size>[1-4])/0(?=\s?(?:AWG|cable|wire|copper|conductor))")
_POUNDS = pattern(r"(?P<class>\d{3,4})#(?=\s(?:flange|fitting|valve|class|forged|rating))")
_MILITARY = pattern(r"0(?P<hour>\d)00\s(?=hours|hrs)")
_ALWAYS = pattern(r"24(?:/|\s?[xX×*]\s?)7(?![\d.])")
_TIMESTAMP = pattern(
    r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
    r"(?P<time>(?:[01]\d|2[0-3])[0-5]\d[0-5]\d(?:\d{3})?)?(?!\d|[.,]\d|\s?[A-Za-z%]{1,3}(?![A-Za-z]))"
)
_HYPHENATED_UNIT = pattern(
    r"(?P<number>\d+(?:\.\d+)?)-(?P<unit>s|sec|min|hr|h|V|kV|mA|W|kW|MW|Hz|kHz|psi|bar|mm|cm|m|km|ft|in|gal|"
    r"lb|kg|mil|kVA|MVA|hp|HP|ms)(?=\s[a-z])"
)
_SPACED_THOUSANDS = pattern(r"\d{1,3}(?: \d{3})*? 000(?: \d{3})*(?![\d.,:])")
_DEGREES_OF = pattern(r"degrees?\s(?P<scale>[CF])(?![A-Za-z0-9'-])")
_FLOOR = pattern(rf"(?P<floor>\d{{1,2}})F(?=\s?(?!电容|超级)[{HAN}])")
_DIGITS = pattern(r"\d+")
_TIMESTAMP_LENGTHS = frozenset((8, 14, 17))
_MONEY_BEHIND = "., UEGRC万亿"
_POSITION = pattern(r"(?P<axis>[XYZABCUVWIJK])(?=-\d+(?:\.\d+)?(?![\dA-Za-z.-]))")
_AXIS_WORD = pattern(r"(?<![A-Za-z0-9-])[XYZ][-+]?\d+\.?\d*(?![A-Za-z0-9])|G0?[0-3](?!\d)")
_LETTER_AND_LETTERS = pattern(r"[A-Z]\.[A-Z]{1,3}(?![A-Za-z0-9.])")


def digit_idiom(scan: Scan, start: int) -> int:
    """One of the shorthands that start with a digit; 0 if there is none."""
    text = scan.text
    end = _DIGITS.match(text, start).end()  # type: ignore[union-attr]
    behind = text[end : end + 1]
    if end - start in _TIMESTAMP_LENGTHS and (match := _TIMESTAMP.match(text, start)):
        language = scan.language(start, match.end())
        if match["time"] or language == "en":
            scan.say(scan.words(language).digits(match.group()))
            return match.end()
    reader = _BY_CHARACTER_BEHIND.get(behind)
    if reader is not None and (found := reader(scan, start)):
        return found
    return coded(scan, start) if behind and behind in _MONEY_BEHIND else 0


def _voting(scan: Scan, start: int) -> int:
    match = _VOTING.match(scan.text, start)
    if match is None:
        return 0
    agree, of = match["agree"], match["of"]
    if scan.code_language(start, match.end()) == "zh":
        scan.say(f"{zh.cardinal(of)}取{zh.cardinal(agree)}")
    else:
        scan.say(f"{en.cardinal(agree)} out of {en.cardinal(of)}")
    return match.end()


def _floor(scan: Scan, start: int) -> int:
    match = _FLOOR.match(scan.text, start)
    if match is None or scan.language(start, match.end()) == "en":
        return 0
    scan.say(f"{zh.cardinal(match['floor'])}楼")
    return match.end()


def _phases(scan: Scan, start: int) -> int:
    match = _PHASES.match(scan.text, start)
    if match is None:
        return 0
    chinese = scan.language(start, match.end()) == "zh"
    count = (zh if chinese else en).cardinal(match["count"])
    scan.say({"一": "单"}.get(count, count) + "相" if chinese else f"{count} phase")
    return match.end()


def _spaced(scan: Scan, start: int) -> int:
    match = _SPACED_THOUSANDS.match(scan.text, start)
    if match is None:
        return _english_idiom(scan, start)
    words = scan.words(scan.language(start, match.end()))
    scan.say(words.cardinal(match.group().replace(" ", "")))
    return match.end()


def _english_idiom(scan: Scan, start: int) -> int:
    if scan.language(start, start + 1) == "zh":
        return 0
    text = scan.text
    if match := _ALWAYS.match(text, start):
        scan.say("twenty-four seven")
    elif match := _AUGHT.match(text, start):
        scan.say(f"{en.cardinal(match['size'])} aught")
    elif match := _POUNDS.match(text, start):
        scan.say(f"{en.cardinal(match['class'])} pound")
    elif match := _HYPHENATED_UNIT.match(text, start):
        integer, _, fraction = match["number"].partition(".")
        unit, _ = parse_unit(match["unit"]) or (None, 0)
        scan.say(f"{en.number(integer, fraction or None)} {unit.en if unit else match['unit']}")
    elif match := _MILITARY.match(text, start):
        scan.say(f"oh {en.cardinal(match['hour'])} hundred ")
    return match.end() if match else 0


_BY_CHARACTER_BEHIND = {
    "o": _voting, "O": _voting, "F": _floor, "Φ": _phases, "φ": _phases, "Ø": _phases,
    " ": _spaced,
} | dict.fromkeys("/#-xX×*.", _english_idiom)  # fmt: skip


def letter_idiom(scan: Scan, start: int, token: str) -> int:
    """``X-125.3``, ``E.OL``, ``USD 100``, ``degrees C``; 0 if there is none."""
    text = scan.text
    if token[0] == "d" and (match := _DEGREES_OF.match(text, start)):
        scan.say(f"{token} {'Celsius' if match['scale'] == 'C' else 'Fahrenheit'}")
        return match.end()
    if token in CODED_BEFORE and (end := coded(scan, start)):
        return end
    behind = text[start + 1 : start + 2]
    if behind == "." and (match := _LETTER_AND_LETTERS.match(text, start)):
        scan.say(letters(match.group().replace(".", "")))
        return match.end()
    match = _POSITION.match(text, start) if behind == "-" else None
    if match is None:
        return 0
    near = text[max(0, start - 24) : start] + " " + text[match.end() : match.end() + 24]
    decimal = re.match(r"-\d+\.\d", text[match.end() : match.end() + 12])
    if not decimal and not _AXIS_WORD.search(near):
        return 0
    scan.say(match["axis"])
    return quantity(scan, match.end())
