"""Codes: models, faults, addresses, versions, networks. No digit of a code vanishes."""

from __future__ import annotations

import re

from edge_tts.text import en, zh
from edge_tts.text.norm_data import GREEK, SHORT_WORDS
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import COMMA, Language, Scan
from edge_tts.text.norm_units import parse_unit
from edge_tts.text.norm_words import capitals, letters, plain_word, spoken

_THREAD = pattern(
    r"(?P<letter>Tr|[A-Z]{1,2})(?P<a>\d+(?:\.\d+)?)\s?[xX×*]\s?(?P<b>\d+(?:\.\d+)?)(?:\s?[xX×*]\s?(?P<c>\d+(?:\.\d+)?))?"
    r"(?![\d.]*\d|[A-Za-wyzA-WYZ])"
)
# Runs of letters and digits joined by single marks; at least one digit (checked by the caller).
_PIPE_THREAD = pattern(r"(?P<letter>G|R|Rc|Rp|ZG|NPT|PT)(?=(?:\d-)?\d{1,2}/\d{1,2}(?!\d))")
_CODE = pattern(
    r"[A-Za-z0-9]+(?:(?:[-_.](?=[A-Za-z0-9])|/(?=[A-Z0-9]{0,8}\d))[A-Za-z0-9]+){0,16}(?:\+(?![\d\s]))?"
)
_CODE_PART = pattern(r"\d+|[A-Za-z]+|[-_./+]")
#: Prefixes before a size or a rating: the number is a quantity.
_SIZES = frozenset("DN PN PM M NPS Pt PT CPU AC DC".split())
_NAME_AND_AMOUNT = pattern(r"(?P<head>[A-Za-z]+)[-_]?\d+(?:\.\d+)?(?P<tail>[A-Za-z]*)")
_AMOUNT = pattern(r"[-+]?\d+(?:\.\d+)?\s?")
_MULTIPLE_AND_AMOUNT = pattern(r"[kMG]/\d")
_VOLTAGE = pattern(r"(?P<kind>AC|DC)\s?(?=[-+]?\d)")


def code_number(text: str, language: Language, quantity: bool) -> str:
    """Digits inside a code: one by one; English says two of them as a number."""
    if language == "zh":
        return zh.cardinal(text) if quantity and text[0] != "0" else zh.digits(text)
    if text[0] != "0" and (len(text) == 2 or (quantity and len(text) <= 3)):
        return en.cardinal(text)
    return en.digits(text)


def _letters_of(scan: Scan, part: str, token: str = "") -> str:
    """A run of letters in a code: a word if it is one, else letter names."""
    lower = part.lower()
    if len(part) == 1:
        return part.upper()
    if scan.lexicon.acronym(part) == "word":
        return part
    if part.isupper():
        return capitals(scan, part) if len(part) > 3 or lower in _CODE_WORDS else letters(part)
    if part.islower() or part[1:].islower():
        if len(part) <= 3 and part.islower() and lower in SHORT_WORDS and f"{part}-" in token:
            return lower
        if len(part) <= 3:
            return _CODE_WORDS.get(lower) or (lower if lower in _JOINTS else letters(part))
        return plain_word(scan, lower)
    return spoken(scan, part)


_CODE_WORDS = {word: word for word in (
    "tag fan bus bay box run hub set bit pin key gas oil top row day lot car air map tap low rack "
    "zone cat win log tank pump"
).split()} | {
    "err": "error", "alm": "alarm", "no": "number", "ver": "version", "rev": "revision"
}  # fmt: skip

_TAG_RANGE = pattern(
    r"(?P<before>[A-Z]{0,3})(?P<first>\d{1,3})(?P<behind>[A-Z]?)-(?P=before)(?P<last>\d{1,3})(?P=behind)"
)
_JOINTS = frozenset("in on to of up off and or".split())


def say_code(scan: Scan, token: str, language: Language) -> None:
    """``S7-1200`` -> ``S七一二零零``; ``DB1.DBX0.0`` -> ``D B一点D B X零点零``."""
    words = scan.words(language)
    if (tags := _TAG_RANGE.fullmatch(token)) and int(tags["last"]) > int(tags["first"]) + 1:
        for name in (tags["first"], tags["last"]):
            if name is tags["last"]:
                scan.say(words.RANGE)
            say_code(scan, f"{tags['before']}{name}{tags['behind']}", language)
        return
    parts = _CODE_PART.findall(token)
    after_point = False
    single_number = sum(part.isdigit() for part in parts) == 1
    name = ""
    for index, part in enumerate(parts):
        if part.isdigit():
            rated = name not in ("PT", "Pt") or part in ("100", "500", "1000")
            quantity = (name in _SIZES and index == 1 and rated) or (
                single_number
                and len(name) > 2
                and len(part) <= 3
                and (name.islower() or name[1:].islower())
            )
            version = "." in token and token.count(".") > 1 and len(part) <= 2 and part[0] != "0"
            if (version and after_point) or (version and parts[index + 1 : index + 2] == ["."]):
                scan.say(words.cardinal(part))
            elif after_point:
                scan.say(words.digits(part))
            else:
                scan.say(code_number(part, language, quantity))
            after_point = False
        elif part.isalpha():
            if (
                part in ("x", "X")
                and 0 < index < len(parts) - 1
                and (parts[index - 1].isdigit() and parts[index + 1].isdigit())
            ):
                scan.say("乘" if language == "zh" else "by")
            else:
                name = part
                scan.say(_letters_of(scan, part, token))
            after_point = False
        elif part == ".":
            digits_follow = parts[index + 1].isdigit()
            digits_before = index > 0 and parts[index - 1].isdigit()
            after_point = digits_follow and digits_before
            if digits_before:
                scan.say(words.POINT)
        elif part == "/" and parts[index - 1].isdigit():
            scan.say(COMMA)
        elif part == "+":
            scan.say("加" if language == "zh" else "plus")


def letter_token(scan: Scan, start: int) -> int:
    """A token that starts with a Latin letter and holds a digit; 0 if there is none."""
    text = scan.text
    if pipe := _PIPE_THREAD.match(text, start):
        scan.say(letters(pipe["letter"]))
        return pipe.end()
    match = _CODE.match(text, start)
    if match is None:
        return 0
    token = match.group()
    if not any(character.isdigit() for character in token):
        return 0
    if _MULTIPLE_AND_AMOUNT.match(token) and text[start - 1 : start].isdigit():
        return 0
    if (thread := _THREAD.match(text, start)) and not _cable_area(text, thread.end()):
        return _thread(scan, thread)
    if (voltage := _VOLTAGE.match(text, start)) and parse_unit_after_number(text, voltage.end()):
        scan.say(letters(voltage["kind"]))
        return voltage.end()
    end = match.end()
    # CPU85℃, DN100mm, PN16MPa: a name, then a quantity. One letter is too little: FX3U.
    quantity = _NAME_AND_AMOUNT.fullmatch(token)
    if quantity and len(quantity["tail"]) != 1:
        number_start = start + len(quantity["head"])
        if parse_unit_after_number(text, number_start):
            scan.say(_letters_of(scan, quantity["head"]))
            return number_start
    language = scan.code_language(start, end)
    say_code(scan, token, language)
    return end


def _cable_area(text: str, end: int) -> bool:
    """``K-2×1.5mm²`` is a quantity, not a thread."""
    return parse_unit(text[end : end + 12].lstrip()) is not None


def parse_unit_after_number(text: str, start: int) -> int:
    """End of a number with a unit right after it at ``start``; 0 without one."""
    number = _AMOUNT.match(text, start)
    if number is None:
        return 0
    found = parse_unit(text[number.end() : number.end() + 24])
    return number.end() + found[1] if found else 0


def _thread(scan: Scan, match: re.Match[str]) -> int:
    language = scan.code_language(match.start(), match.end())
    words = scan.words(language)
    times = "乘" if language == "zh" else "by"
    scan.say(letters(match["letter"]))
    for index, group in enumerate(("a", "b", "c")):
        if match[group]:
            if index:
                scan.say(times)
            integer, _, fraction = match[group].partition(".")
            scan.say(words.number(integer, fraction or None))
    return match.end()


_VERSION = pattern(r"\d+(?:\.\d+){2,}(?![\d])")
_HEX = pattern(r"0[xX](?P<body>[0-9A-Fa-f_]+)(?![0-9A-Za-z])")
_BASED = pattern(r"(?P<base>16|8|2)#(?P<body>[0-9A-Fa-f_]+)(?![0-9A-Za-z])")
_BASES = {"16": ("十六进制", "hex"), "8": ("八进制", "octal"), "2": ("二进制", "binary")}
_MIXED = pattern(r"[A-Za-z0-9]+(?:[-_.](?=[A-Za-z0-9])[A-Za-z0-9]+){0,16}")


def characters(text: str, language: Language) -> str:
    """Each letter and each digit by name."""
    words = zh if language == "zh" else en
    pieces = [words.digits(c) if c.isdigit() else c.upper() for c in text if c != "_"]
    spoken_text = ""
    for piece in pieces:
        if spoken_text and spoken_text[-1].isascii() and piece[0].isascii():
            spoken_text += " "
        spoken_text += piece
    return spoken_text


def digit_code(scan: Scan, start: int) -> int:
    """A version or a based number that starts with a digit; 0 if there is none."""
    text = scan.text
    if match := _VERSION.match(text, start):
        language = scan.code_language(start, match.end())
        words = scan.words(language)
        for index, part in enumerate(match.group().split(".")):
            if index:
                scan.say(words.POINT)
            short = len(part) <= 2 and (part[0] != "0" or len(part) == 1)
            scan.say(words.cardinal(part) if short else words.digits(part))
        return match.end()
    if match := _HEX.match(text, start):
        language = scan.code_language(start, match.end())
        scan.say("零" if language == "zh" else "zero")
        scan.say("X")
        scan.say(characters(match["body"], language))
        return match.end()
    if match := _BASED.match(text, start):
        body = match["body"]
        base = match["base"]
        if base == "16" or (
            len(body) > 1 and set(body) <= set("01_" if base == "2" else "01234567_")
        ):
            language = scan.code_language(start, match.end())
            scan.say(_BASES[base][language == "en"])
            scan.say(characters(body, language))
            return match.end()
    return 0


def mixed_code(scan: Scan, start: int) -> int:
    """``6ES7 315``, ``3D``, ``0640A``: digits with letters that are no unit; else 0."""
    match = _MIXED.match(scan.text, start)
    if match is None or not any(character.isalpha() for character in match.group()):
        return 0
    say_code(scan, match.group(), scan.code_language(start, match.end()))
    return match.end()


def greek(character: str) -> tuple[str, str] | None:
    """Names of a Greek letter in Chinese and English."""
    return GREEK.get(character.lower())
