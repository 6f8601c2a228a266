"""Networks and files: URLs, addresses, paths, IP and MAC addresses."""

from __future__ import annotations

import re

from edge_tts.text.norm_codes import characters, code_number
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import COMMA, HAN, Language, Scan
from edge_tts.text.norm_words import letters, spoken

_URL = pattern(rf"(?:[a-z][a-z0-9+.]{{1,10}}://|www\.)[^\s{HAN}，。！？；、（）<>\"'|]+", re.I)
_EMAIL = pattern(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")
_WINDOWS_PATH = pattern(rf"(?:[A-Za-z]:\\|\\\\)[^\s{HAN}，。！？；（）\"<>|]*")
_UNIX_PATH = pattern(r"(?<![A-Za-z0-9])(?:~|\.{1,2})?(?:/[A-Za-z0-9_.@%+-]{1,80}){1,24}/?")
_FILE = pattern(
    r"[A-Za-z][A-Za-z0-9_-]{0,40}\.(?:wav|mp3|txt|log|csv|json|yaml|yml|toml|xml|pdf|exe|dll|bin|conf|cfg|ini|"
    r"py|sh|bat|zip|gz|tar|png|jpg|html?|docx?|xlsx?|db|so|com|cn|org|net|io|local|onnx)(?![A-Za-z0-9])"
)
_PATH_PART = pattern(r"[A-Za-z]+|\d+|://|\.\.|[^A-Za-z0-9]")
_PATH_SYMBOLS = {
    "/": ("斜杠", "slash"), "\\": ("反斜杠", "backslash"), ".": ("点", "dot"),
    "..": ("点点", "dot dot"),
    ":": ("冒号", "colon"), "@": ("艾特", "at"), "-": ("杠", "dash"), "_": ("下划线", "underscore"),
    "?": ("问号", "question mark"), "=": ("等于", "equals"), "&": ("和", "and"),
    "#": ("井号", "hash"),
    "~": ("波浪号", "tilde"), "+": ("加", "plus"), "%": ("百分号", "percent"),
}  # fmt: skip


def _say_path(scan: Scan, path: str, language: Language) -> None:
    index = 0 if language == "zh" else 1
    for part in _PATH_PART.findall(path):
        if part.isdigit():
            scan.say(code_number(part, language, False))
        elif part.isalpha() and part.isascii():
            scan.say(spoken(scan, part) if len(part) > 1 else part.upper())
        elif part == "://":
            continue
        elif part in _PATH_SYMBOLS and (part != "-" or language == "en"):
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
    for kind in (_EMAIL, _WINDOWS_PATH, _FILE):
        if match := kind.match(text, start):
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


_CONTROLLER_ADDRESS = pattern(
    r"(?P<area>[NBFTCRSIO]\d{0,3}):(?P<word>\d{1,3}(?:\.\d{1,2})?)(?P<rest>/\d{1,2}|\.[A-Z]{2,3})"
    r"(?![A-Za-z0-9])"
)


def controller_address(scan: Scan, start: int) -> int:
    """``N7:0/3``, ``T4:0.ACC`` of a controller's data table at ``start``; 0 if there is none."""
    match = _CONTROLLER_ADDRESS.match(scan.text, start)
    if match is None or scan.text[start - 1 : start].isalnum():
        return 0
    _say_path(scan, match.group(), scan.code_language(start, match.end()))
    return match.end()


_IP = pattern(
    r"(?P<ip>(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3})"
    r"(?::(?P<port>\d{1,5}))?(?:/(?P<mask>\d{1,2}))?(?![\d.]*\d)"
)
_LAST_HOST = pattern(r"\s?[-~–至到]\s?(?P<host>\d{1,3})(?![\d.])")
_MAC = pattern(r"[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![0-9A-Za-z])")


def mac_address(scan: Scan, start: int) -> int:
    match = _MAC.match(scan.text, start)
    if match is None or not any(character.isdigit() for character in match.group()):
        return 0
    language = scan.language(start, match.end())
    pairs = re.split("[:-]", match.group())
    scan.say(COMMA.join(characters(pair, language) for pair in pairs))
    return match.end()


def ip_address(scan: Scan, start: int) -> int:
    """An IPv4 address with its port or mask at ``start``; 0 if there is none."""
    match = _IP.match(scan.text, start)
    if match is None:
        return 0
    language = scan.language(start, match.end())
    words = scan.words(language)
    point = words.POINT if language == "zh" else " dot "
    scan.say(point.join(words.digits(part) for part in match["ip"].split(".")))
    if match["port"]:
        scan.say("冒号" if language == "zh" else "port")
        scan.say(words.digits(match["port"]))
    if last := _LAST_HOST.match(scan.text, match.end()):
        scan.say(words.RANGE)
        scan.say(words.digits(last["host"]))
        return last.end()
    if match["mask"]:
        scan.say("斜杠" if language == "zh" else "slash")
        scan.say(words.cardinal(match["mask"]))
    return match.end()
