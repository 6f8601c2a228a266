"""Codes: models, faults, addresses, versions, networks. No digit of a code vanishes."""

from __future__ import annotations

import re

from edge_tts.text import en, zh
from edge_tts.text.norm_data import GREEK
from edge_tts.text.norm_scan import COMMA, HAN, Language, Scan
from edge_tts.text.norm_words import capitals, is_word, letters, plain_word, spoken
from edge_tts.text.units import parse_unit

_URL = re.compile(rf"(?:[a-z][a-z0-9+.]{{1,10}}://|www\.)[^\s{HAN}，。！？；、（）<>\"'|]+", re.I)
_EMAIL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")
_WINDOWS_PATH = re.compile(rf"(?:[A-Za-z]:\\|\\\\)[^\s{HAN}，。！？；（）\"<>|]*")
_UNIX_PATH = re.compile(r"(?<![A-Za-z0-9])(?:~|\.{1,2})?(?:/[A-Za-z0-9_.@%+-]{1,80}){1,24}/?")
_FILE = re.compile(
    r"[A-Za-z][A-Za-z0-9_-]{0,40}\.(?:wav|mp3|txt|log|csv|json|yaml|yml|toml|xml|pdf|exe|dll|bin|conf|cfg|ini|"
    r"py|sh|bat|zip|gz|tar|png|jpg|html?|docx?|xlsx?|db|so|com|cn|org|net|io|local|onnx)(?![A-Za-z0-9])"
)
_PATH_PART = re.compile(r"[A-Za-z]+|\d+|://|\.\.|[^A-Za-z0-9]")
_PATH_SYMBOLS = {
    "/": ("斜杠", "slash"), "\\": ("反斜杠", "backslash"), ".": ("点", "dot"), "..": ("点点", "dot dot"),
    ":": ("冒号", "colon"), "@": ("艾特", "at"), "-": ("杠", "dash"), "_": ("下划线", "underscore"),
    "?": ("问号", "question mark"), "=": ("等于", "equals"), "&": ("和", "and"), "#": ("井号", "hash"),
    "~": ("波浪号", "tilde"), "+": ("加", "plus"), "%": ("百分号", "percent"),
}  # fmt: skip

_THREAD = re.compile(
    r"(?P<letter>[A-Z]{1,2})(?P<a>\d+(?:\.\d+)?)\s?[xX×*]\s?(?P<b>\d+(?:\.\d+)?)(?:\s?[xX×*]\s?(?P<c>\d+(?:\.\d+)?))?"
    r"(?![\d.]*\d|[A-Za-wyzA-WYZ])"
)
# Runs of letters and digits joined by single marks; at least one digit (checked by the caller).
_PIPE_THREAD = re.compile(r"(?P<letter>G|R|Rc|Rp|ZG|NPT|PT)(?=\d{1,2}/\d{1,2}(?!\d))")
_CODE = re.compile(
    r"[A-Za-z0-9]+(?:(?:[-_.](?=[A-Za-z0-9])|/(?=[A-Z0-9]{0,8}\d))[A-Za-z0-9]+){0,16}(?:\+(?![\d\s]))?"
)
_CODE_PART = re.compile(r"\d+|[A-Za-z]+|[-_./+]")
_DIGITS_THEN_UNIT = re.compile(r"\d+(?:\.\d+)?\Z")
#: Prefixes before a size or a rating: the number is a quantity.
_SIZES = frozenset("DN PN PM M NPS Pt PT CPU AC DC".split())
_VOLTAGE = re.compile(r"(?P<kind>AC|DC)\s?(?=[-+]?\d)")
_CARD_NUMBER = re.compile(r"\d{1,3}\Z")


def _code_number(text: str, language: Language, quantity: bool) -> str:
    """Digits inside a code: one by one; English says two of them as a number."""
    if language == "zh":
        return zh.cardinal(text) if quantity and text[0] != "0" else zh.digits(text)
    if text[0] != "0" and (len(text) == 2 or (quantity and len(text) <= 3)):
        return en.cardinal(text)
    return en.digits(text)


def _letters_of(scan: Scan, part: str, token: str) -> str:
    """A run of letters in a code: a word if it is one, else letter names."""
    lower = part.lower()
    if len(part) == 1:
        return part.upper()
    if scan.lexicon.acronym(part) == "word":
        return part
    if part.isupper():
        return capitals(scan, part) if len(part) > 3 or lower in _CODE_WORDS else letters(part)
    if part.islower() or part[1:].islower():
        if len(part) <= 3:
            return _CODE_WORDS.get(lower) or letters(part)
        return plain_word(scan, lower)
    return spoken(scan, part)


_CODE_WORDS = {word: word for word in (
    "tag fan bus bay box run hub set bit pin key gas oil top row day lot car air map tap low rack "
    "zone cat win log tank pump"
).split()} | {
    "err": "error", "alm": "alarm", "no": "number", "ver": "version", "rev": "revision"
}  # fmt: skip


def say_code(scan: Scan, token: str, language: Language) -> None:
    """``S7-1200`` -> ``S七一二零零``; ``DB1.DBX0.0`` -> ``D B一点D B X零点零``."""
    words = scan.words(language)
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
            if version and after_point or version and parts[index + 1 : index + 2] == ["."]:
                scan.say(words.cardinal(part))
            elif after_point:
                scan.say(words.digits(part))
            else:
                scan.say(_code_number(part, language, quantity))
            after_point = False
        elif part.isalpha():
            if part in ("x", "X") and 0 < index < len(parts) - 1 and (
                parts[index - 1].isdigit() and parts[index + 1].isdigit()
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
    return


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
    if thread := _THREAD.match(text, start):
        if not _cable_area(text, thread.end()):
            return _thread(scan, thread)
    if (voltage := _VOLTAGE.match(text, start)) and parse_unit_after_number(text, voltage.end()):
        scan.say(letters(voltage["kind"]))
        return voltage.end()
    head = re.match(r"[A-Za-z]+", token)
    assert head is not None  # noqa: S101 - the caller saw a letter
    end = match.end()
    # CPU85℃, DN100mm, PN16MPa: a name, then a quantity.
    if re.fullmatch(r"[A-Za-z]+[-_]?\d+(?:\.\d+)?[A-Za-z]*", token):
        number_start = start + len(head.group())
        after = parse_unit_after_number(text, number_start)
        if after > 1 and not (after == end and len(token) - len(token.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")) < 2):
            scan.say(_letters_of(scan, head.group(), token))
            return number_start
    # rack-1 and pump 2: a word, then its number.
    language = scan.language(start, end)
    say_code(scan, token, language)
    return end


def _cable_area(text: str, end: int) -> bool:
    """``K-2×1.5mm²`` is a quantity, not a thread."""
    return parse_unit(text[end : end + 12].lstrip()) is not None


def parse_unit_after_number(text: str, start: int) -> int:
    """End of a number with a unit right after it at ``start``; 0 without one."""
    number = re.compile(r"[-+]?\d+(?:\.\d+)?\s?").match(text, start)
    if number is None:
        return 0
    found = parse_unit(text[number.end() : number.end() + 24])
    return number.end() + found[1] if found else 0


def _thread(scan: Scan, match: re.Match[str]) -> int:
    language = scan.language(match.start(), match.end())
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


def _say_path(scan: Scan, path: str, language: Language) -> None:
    index = 0 if language == "zh" else 1
    for part in _PATH_PART.findall(path):
        if part.isdigit():
            scan.say(_code_number(part, language, False))
        elif part.isalpha() and part.isascii():
            scan.say(spoken(scan, part) if len(part) > 1 else part.upper())
        elif part == "://":
            continue
        elif part in _PATH_SYMBOLS:
            if part != "-" or language == "en":
                scan.say(_PATH_SYMBOLS[part][index])


def network_name(scan: Scan, start: int) -> int:
    """A URL, e-mail address, path or file name at ``start``; 0 if there is none."""
    text = scan.text
    if match := _URL.match(text, start):
        whole = match.group().rstrip(".,;:!?)")
        scheme, mark, rest = whole.partition("://")
        if not mark:
            rest = whole
        elif scheme.lower() not in ("http", "https"):
            scan.say(letters(scheme.replace(".", "").replace("+", "")))
        _say_path(scan, rest.rstrip("/"), scan.language(start, start + len(whole)))
        return start + len(whole)
    for pattern in (_EMAIL, _WINDOWS_PATH, _FILE):
        if match := pattern.match(text, start):
            whole = match.group().rstrip(".,;:!?")
            _say_path(scan, whole, scan.language(start, start + len(whole)))
            return start + len(whole)
    return 0


def unix_path(scan: Scan, start: int) -> int:
    """A path that starts with a slash or dots at ``start``; 0 if there is none."""
    match = _UNIX_PATH.match(scan.text, start)
    if match is None or not re.search(r"[A-Za-z]{2}", match.group()):
        return 0
    whole = match.group().rstrip(".")
    _say_path(scan, whole, scan.language(start, start + len(whole)))
    return start + len(whole)


# --- codes that start with a digit -----------------------------------------------------------

_IP = re.compile(
    r"(?P<ip>(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3})"
    r"(?::(?P<port>\d{1,5}))?(?:/(?P<mask>\d{1,2}))?(?![\d.]*\d)"
)
_MAC = re.compile(r"[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![0-9A-Za-z])")
_VERSION = re.compile(r"\d+(?:\.\d+){2,}(?![\d])")
_HEX = re.compile(r"0[xX](?P<body>[0-9A-Fa-f_]+)(?![0-9A-Za-z])")
_BASED = re.compile(r"(?P<base>16|8|2)#(?P<body>[0-9A-Fa-f_]+)(?![0-9A-Za-z])")
_BASES = {"16": ("十六进制", "hex"), "8": ("八进制", "octal"), "2": ("二进制", "binary")}
_MIXED = re.compile(
    r"[A-Za-z0-9]+(?:[-_.](?=[A-Za-z0-9])[A-Za-z0-9]+){0,16}"
)


def _characters(text: str, language: Language) -> str:
    """Each letter and each digit by name."""
    words = zh if language == "zh" else en
    pieces = [words.digits(c) if c.isdigit() else c.upper() for c in text if c != "_"]
    spoken_text = ""
    for piece in pieces:
        if spoken_text and spoken_text[-1].isascii() and piece[0].isascii():
            spoken_text += " "
        spoken_text += piece
    return spoken_text


def mac_address(scan: Scan, start: int) -> int:
    match = _MAC.match(scan.text, start)
    if match is None or not any(character.isdigit() for character in match.group()):
        return 0
    language = scan.language(start, match.end())
    pairs = re.split("[:-]", match.group())
    scan.say(COMMA.join(_characters(pair, language) for pair in pairs))
    return match.end()


def digit_code(scan: Scan, start: int) -> int:
    """An address, version or based number that starts with a digit; 0 if there is none."""
    text = scan.text
    if match := _IP.match(text, start):
        language = scan.language(start, match.end())
        words = scan.words(language)
        point = words.POINT if language == "zh" else f" {words.POINT} "
        scan.say(point.join(words.digits(part) for part in match["ip"].split(".")))
        if match["port"]:
            scan.say("冒号" if language == "zh" else "port")
            scan.say(words.digits(match["port"]))
        if match["mask"]:
            scan.say("斜杠" if language == "zh" else "slash")
            scan.say(words.cardinal(match["mask"]))
        return match.end()
    if match := _VERSION.match(text, start):
        language = scan.language(start, match.end())
        words = scan.words(language)
        for index, part in enumerate(match.group().split(".")):
            if index:
                scan.say(words.POINT)
            short = len(part) <= 2 and (part[0] != "0" or len(part) == 1)
            scan.say(words.cardinal(part) if short else words.digits(part))
        return match.end()
    if match := _HEX.match(text, start):
        language = scan.language(start, match.end())
        scan.say("零" if language == "zh" else "zero")
        scan.say("X")
        scan.say(_characters(match["body"], language))
        return match.end()
    if match := _BASED.match(text, start):
        body = match["body"]
        base = match["base"]
        if base == "16" or (len(body) > 1 and set(body) <= set("01_" if base == "2" else "01234567_")):
            language = scan.language(start, match.end())
            scan.say(_BASES[base][language == "en"])
            scan.say(_characters(body, language))
            return match.end()
    return mac_address(scan, start)


def mixed_code(scan: Scan, start: int) -> int:
    """``6ES7 315``, ``3D``, ``0640A``: digits with letters that are no unit; 0 if there are none."""
    match = _MIXED.match(scan.text, start)
    if match is None or not any(character.isalpha() for character in match.group()):
        return 0
    say_code(scan, match.group(), scan.language(start, match.end()))
    return match.end()


def greek(character: str) -> tuple[str, str] | None:
    """Names of a Greek letter in Chinese and English."""
    return GREEK.get(character.lower())
