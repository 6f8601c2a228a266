"""Everything that is neither letter nor digit: marks, signs, pauses, blanks."""

from __future__ import annotations

import re
import unicodedata

from edge_tts.text import en, zh
from edge_tts.text.norm_abbreviations import number_sign
from edge_tts.text.norm_codes import greek
from edge_tts.text.norm_data import SYMBOLS
from edge_tts.text.norm_money import currency
from edge_tts.text.norm_network import unix_path
from edge_tts.text.norm_numbers import quantity
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_phones import bracketed
from edge_tts.text.norm_scan import COMMA, EXCLAMATION, FULL_STOP, QUESTION, Scan
from edge_tts.text.norm_signs import HAN_CHARACTER, em_dash, reading, sign, slash, tilde

_MANY = pattern(
    r"(<=|=<|>=|=>(?=\s?\d)|==|!=|<>|[-=]+>|<-+(?!\s?[\d.])|>>|<<|&&|\|\|)(?![<>=])|([-=<>~*_+#./\\|])\2{1,}"
)
_COMBINED = {"<=": "≤", "=<": "≤", ">=": "≥", "=>": "≥", "==": "=", "!=": "≠", "<>": "≠", ">>": "≫",
             "<<": "≪", "&&": "&"}  # fmt: skip
_TYPED_LITERAL = pattern(r"(?:^|[^A-Za-z0-9])(?:T|LT|W|DW|LW|B|L|S5T)$")
_ITEM_NUMBER = pattern(r"(?:^|[\s，。；;])\d{1,2}$")
_ZERO_NEIGHBOUR = "零一二三四五六七八九十〇○0123456789"
_WEEKDAY = pattern(r"(?:周|星期|礼拜|週)[一二三四五六]$")
_DIAMETER = pattern(r"[ΦφØ⌀∅]\s?(?=\d)")
_TAG_RANGE = pattern(r"#(?P<first>\d{1,4})\s?[-~–至到]\s?#?(?P<last>\d{1,4})(?![\d.A-Za-z])")
_PLC_ADDRESS = pattern(r"%(?=[IQMTC][XBWDL]?\d|DB\d)")
_PAUSE_CHARACTERS = {
    ",": COMMA, "，": COMMA, "、": COMMA, ";": COMMA, "；": COMMA, ":": COMMA, "：": COMMA,
    "(": COMMA, "（": COMMA, ")": COMMA, "）": COMMA, "[": COMMA, "]": COMMA, "…": COMMA,
    "—": COMMA,
    "–": COMMA, "|": COMMA, "。": FULL_STOP, "!": EXCLAMATION, "！": EXCLAMATION, "?": QUESTION,
    "？": QUESTION,
}  # fmt: skip


def han(scan: Scan, run: str, end: int) -> int:
    scan.say(run.replace("〇", "零"))
    if _WEEKDAY.search(run) and scan.text[end : end + 1].isdigit():
        # 周三14:00 is not the thirty-fourth of anything.
        scan.say(COMMA)
    return end


def blank(scan: Scan, run: str, end: int) -> int:
    scan.say(FULL_STOP if "\n" in run else " ")
    return end


def symbol(scan: Scan, pos: int, character: str) -> int:
    """Say or skip the mark at ``pos``; return where what was used ends."""
    text = scan.text
    if match := _MANY.match(text, pos):
        return _many(scan, match)
    handler = _HANDLERS.get(character)
    if handler and (end := handler(scan, pos)):
        return end
    pause = _PAUSE_CHARACTERS.get(character)
    if pause is not None:
        scan.say(pause)
        return pos + 1
    if names := greek(character):
        return _greek(scan, pos, names)
    if character in SYMBOLS:
        scan.say(reading(scan, character, pos, pos + 1))
        return pos + 1
    value = unicodedata.numeric(character, None)
    if value is not None and value == int(value):
        return _numeral(scan, pos, int(value))
    if character.isspace() or character in "/_\\^{}'\"`*-":
        scan.say(" ")
    return pos + 1


def _many(scan: Scan, match: re.Match[str]) -> int:
    marks = match.group()
    if marks in _COMBINED:
        scan.say(reading(scan, _COMBINED[marks], match.start(), match.end()))
    elif marks == "||":
        scan.say("或" if scan.default == "zh" else "or")
    elif marks[-1] == ">" and set(marks[:-1]) <= set("-="):
        scan.say(reading(scan, "→", match.start(), match.end()))
    else:
        # A rule drawn with marks; ../ is left to the path reader.
        if marks[0] in "./" and (found := unix_path(scan, match.start())):
            return found
        scan.say(COMMA)
    return match.end()


def _greek(scan: Scan, pos: int, names: tuple[str, str]) -> int:
    if match := _DIAMETER.match(scan.text, pos):
        scan.say("直径" if scan.language(pos, match.end()) == "zh" else "diameter")
        return match.end()
    scan.say(names[scan.language(pos, pos + 1) == "en"])
    return pos + 1


def _numeral(scan: Scan, pos: int, value: int) -> int:
    """Circled, bracketed, Roman and superscript numbers."""
    character = scan.text[pos]
    chinese = scan.language(pos, pos + 1) == "zh"
    words = zh if chinese else en
    if unicodedata.decomposition(character).startswith("<super>"):
        if value in (2, 3):
            names = {2: ("平方", "squared"), 3: ("立方", "cubed")}[value]
            scan.say(names[not chinese])
        else:
            scan.say(words.power(str(value)))
        return pos + 1
    listed = character not in "ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅺⅻ" and unicodedata.category(character) != "Lo"
    scan.say(words.cardinal(str(value)))
    following = scan.text[pos + 1 : pos + 3].lstrip()[:1]
    if (
        listed
        and _begins_item(scan, pos)
        and following not in "号號#台個个路段级線线机泵相组组～~-、，,"
    ):
        scan.say(COMMA)
    return pos + 1


def _begins_item(scan: Scan, pos: int) -> bool:
    before = scan.before(pos, 4)
    return (
        not before or before[-1] in "，。；;：:、,.!！?？\n" or scan.text[pos - 1 : pos].isspace()
    )


def _dot(scan: Scan, pos: int) -> int:
    text = scan.text
    following = text[pos + 1 : pos + 2]
    if following.isdigit() and not (pos and text[pos - 1].isascii() and text[pos - 1].isalnum()):
        return quantity(scan, pos)
    if following in "./~" and (found := unix_path(scan, pos)):
        return found
    if _ITEM_NUMBER.search(text[max(0, pos - 4) : pos]) and HAN_CHARACTER.match(
        text[pos + 1 : pos + 3].lstrip()
    ):
        scan.say(COMMA)
        return pos + 1
    if not following or following.isspace() or not following.isascii() or not following.isalnum():
        scan.say(FULL_STOP)
    elif text[pos - 1 : pos].isalnum() and text[pos - 1 : pos].isascii():
        scan.say("点" if scan.default == "zh" else "dot")
    else:
        scan.say(" ")
    return pos + 1


def _hash(scan: Scan, pos: int) -> int:
    text = scan.text
    if match := _TAG_RANGE.match(text, pos):
        first, last = match["first"], match["last"]
        if scan.language(pos, match.end()) == "zh":
            named = text.startswith(("号", "號"), match.end())
            scan.say(f"{zh.cardinal(first)}到{zh.cardinal(last)}{'' if named else '号'}")
        else:
            scan.say(f"numbers {en.cardinal(first)} to {en.cardinal(last)}")
        return match.end()
    if _TYPED_LITERAL.search(text[max(0, pos - 4) : pos]):
        return pos + 1
    if text[pos + 1 : pos + 2].isdigit():
        return number_sign(scan, pos, pos + 1)
    previous = text[pos - 1 : pos]
    if previous.isascii() and previous.isalnum() and scan.language(pos, pos + 1) == "zh":
        if not text.startswith(("号", "號"), pos + 1):
            scan.say("号")
    elif previous == "C" and not text[max(0, pos - 2) : pos - 1].isalnum():
        scan.say("sharp")
    else:
        scan.say(" ")
    return pos + 1


def _percent(scan: Scan, pos: int) -> int:
    match = _PLC_ADDRESS.match(scan.text, pos)
    return match.end() if match else 0


def _money(scan: Scan, pos: int) -> int:
    return currency(scan, pos) or pos + 1


def _circle(scan: Scan, pos: int) -> int:
    text = scan.text
    near = text[max(0, pos - 1) : pos] + text[pos + 1 : pos + 2]
    if any(character in _ZERO_NEIGHBOUR for character in near):
        scan.say("零")
    return pos + 1


def _repeat(scan: Scan, pos: int) -> int:
    if pos and HAN_CHARACTER.match(scan.text[pos - 1]):
        scan.say(scan.text[pos - 1])
    return pos + 1


def _ampersand(scan: Scan, pos: int) -> int:
    scan.say(reading(scan, "&", pos, pos + 1))
    return pos + 1


def _diameter(scan: Scan, pos: int) -> int:
    match = _DIAMETER.match(scan.text, pos)
    if match is None:
        return 0
    scan.say("直径" if scan.language(pos, match.end()) == "zh" else "diameter")
    return match.end()


_HANDLERS = {
    "+": sign, "-": sign, "–": sign, "—": em_dash, "~": tilde, "/": slash, ".": _dot, "#": _hash,
    "%": _percent, "$": _money, "¥": _money, "￥": _money, "€": _money, "£": _money, "○": _circle,
    "々": _repeat, "&": _ampersand, "Ø": _diameter, "⌀": _diameter, "∅": _diameter,
    "(": bracketed, "（": bracketed,
}  # fmt: skip
