"""Marks between and before numbers: plus, minus, dash, tilde, slash."""

from __future__ import annotations

import re

from edge_tts.text.norm_data import CURRENCIES, QUANTITY_NOUNS, SYMBOLS
from edge_tts.text.norm_money import currency
from edge_tts.text.norm_network import unix_path
from edge_tts.text.norm_numbers import quantity
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_phones import abroad
from edge_tts.text.norm_scan import COMMA, HAN, Scan
from edge_tts.text.norm_units import denominator
from edge_tts.text.norm_values import unit_after

_AFTER_QUANTITY_NOUN = pattern(rf"(?:{QUANTITY_NOUNS})\s?$")
_SIGNED_NUMBER = pattern(r"[-+–—]\s?(?:\d|\.\d)")
_SIGNED_AMOUNT = pattern(r"[-+–—]\s?\d*(?:\.\d+)?")
_RATE = pattern(
    r"\s?(?P<unit>min|h|s|d|t|kg|kWh|MWh|GJ|km|g|m³|m3|m²|m|L|年|月|日|天|小时|时|分钟|分|秒|个|台|吨|人|次|班|件|平方米|立方米|米|升|公斤|千克|袋|箱|桶|度|公里|克|瓶|块|批|千瓦时|圈|转|套|亩|片|盒|车|根|辆)(?![A-Za-z0-9])"
)
_RATE_BEFORE = pattern(
    rf"\d\s?(?:[{HAN}]{{1,4}}|[A-Za-zμ°℃²³·]{{1,6}})\s?$|单位[:：]?\s?[{HAN}]{{1,3}}$"
    r"|(?:转|次|元|米|吨|升|件|公里|千克|立方|度|帧|毫克|微克|脉冲)$"
)
_ENGLISH_RATE = pattern(
    r"(?:min|hr|h|sec|s|d|minute|hour|second|day|week|month|year|shift|batch|unit)(?![A-Za-z0-9])"
)
_ONE_EACH_SIDE = pattern(rf"(?:^|[^{HAN}])[{HAN}]$")
_NUMERAL_BEFORE = pattern(r"[ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ]$|(?<![A-Za-z0-9])(?:I{1,3}|IV|V)$")
_NUMERAL_BEHIND = pattern(r"\s?(?:[ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ]|(?:I{1,3}|IV|VI{0,3})[母段级类型期号])")
_DIRECTION = pattern(
    r"[-+](?:方向|向|超程|限位|极限|硬限|软限|硬超|软超|[XYZABCUVWR](?![A-Za-z0-9.-]))"
)
_DAY = (
    "(?:Mon|Tue|Tues|Wed|Wednes|Thu|Thurs|Fri|Sat|Satur|Sun)(?:day)?|"
    "Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    "Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
)
_DAY_BEFORE = pattern(rf"(?<![A-Za-z])(?:{_DAY})\s?$")
_DAY_BEHIND = pattern(rf"\s?(?:{_DAY})(?![A-Za-z])")
_TIME_WORD = pattern(r"[一二三四五六七八九十日天月年点时级]$|[一二三四五六七八九十\d]\s?号$")
HAN_CHARACTER = pattern(f"[{HAN}]")


def reading(scan: Scan, symbol: str, start: int, end: int) -> str:
    zh_name, en_name = SYMBOLS[symbol]
    return zh_name if scan.language(start, end) == "zh" else en_name


def sign(scan: Scan, pos: int) -> int:
    """A plus or minus sign before a number; otherwise a dash or a plus between things."""
    text = scan.text
    mark = text[pos]
    previous = text[pos - 1 : pos]
    if mark == "+" and (end := abroad(scan, pos)):
        return end
    if text[pos + 1 : pos + 2] in CURRENCIES and (end := currency(scan, pos)):
        return end
    if text.startswith("+/-", pos):
        scan.say(reading(scan, "±", pos, pos + 3))
        return pos + 3
    if _SIGNED_NUMBER.match(text, pos):
        separate = (
            not previous or previous.isspace() or previous in "(（,，：:;；=<>≤≥≈±~、。\"'“[|/*×÷"
        )
        after_han = HAN_CHARACTER.match(previous) is not None
        counted = after_han and (
            _signed_with_unit(text, pos)
            or _AFTER_QUANTITY_NOUN.search(text[max(0, pos - 6) : pos]) is not None
        )
        if previous.isspace() and re.match(r"[-–+]\s", text[pos:]):
            before = scan.before(pos, 6)
            if before[-1:].isalnum():
                # "5 - 3", "Zone A - 20": a dash between things.
                if mark == "+":
                    scan.say(reading(scan, "+", pos, pos + 1))
                else:
                    scan.say(COMMA)
                return pos + 1
        if separate or counted:
            if text[pos + 1] == " ":
                chinese = scan.language(pos, pos + 2) == "zh"
                scan.say({"+": ("正", "plus")}.get(mark, ("负", "minus"))[not chinese])
                return pos + 2
            return quantity(scan, pos) or pos + 1
    if _DIRECTION.match(text, pos) and (not previous or not previous.isascii() or previous == " "):
        chinese = scan.language(pos, pos + 1) == "zh"
        scan.say({"+": ("正", "plus")}.get(mark, ("负", "minus"))[not chinese])
        return pos + 1
    if mark == "+":
        scan.say(reading(scan, "+", pos, pos + 1) if text[pos + 1 :].strip() else "")
        return pos + 1
    return _dash(scan, pos)


def em_dash(scan: Scan, pos: int) -> int:
    """A dash that a Chinese keyboard gives for a minus: ``温度—5℃``; 0 if it is none."""
    text = scan.text
    before = scan.before(pos, 6)
    signed = _SIGNED_NUMBER.match(text, pos) and _signed_with_unit(text, pos)
    if signed and (not before or _AFTER_QUANTITY_NOUN.search(before)):
        return quantity(scan, pos)
    return 0


def _signed_with_unit(text: str, pos: int) -> bool:
    """Whether the number after the sign at ``pos`` has a unit: an amount, not a name."""
    match = _SIGNED_AMOUNT.match(text, pos)
    if match is None:
        return False
    if text.startswith(("度", "伏", "安", "毫", "兆"), match.end()):
        return True
    end = unit_after(text, match.end())
    return end > 0 and ("." in match.group() or text[match.end() : end].strip() not in "AdmshtTLHg")


def _dash(scan: Scan, pos: int) -> int:
    text = scan.text
    previous, following = text[pos - 1 : pos], text[pos + 1 : pos + 2]
    if _NUMERAL_BEFORE.search(text[max(0, pos - 4) : pos]) and _NUMERAL_BEHIND.match(text, pos + 1):
        scan.say("到" if scan.language(pos, pos + 1) == "zh" else "to")
    elif _DAY_BEFORE.search(text[max(0, pos - 10) : pos]) and _DAY_BEHIND.match(text, pos + 1):
        scan.say("to")
    elif (_TIME_WORD.search(text[max(0, pos - 3) : pos]) and HAN_CHARACTER.match(following)) or (
        _TIME_WORD.search(text[max(0, pos - 3) : pos]) and following.isdigit()
    ):
        scan.say("到")
    elif previous.isspace() or (HAN_CHARACTER.match(previous) and HAN_CHARACTER.match(following)):
        scan.say(COMMA)
    else:
        scan.say(" ")
    return pos + 1


def tilde(scan: Scan, pos: int) -> int:
    text = scan.text
    chinese = scan.language(pos, pos + 1) == "zh"
    previous = text[pos - 1 : pos]
    if re.match(r"~\s?[-+]?\d", text[pos:]) and not re.search(
        r"[\w℃°%)）]\s?$", text[max(0, pos - 2) : pos]
    ):
        scan.say("约" if chinese else "about")
    elif re.match(r"~\s?[-+]?[\w]", text[pos:]) and previous and not previous.isspace():
        scan.say("到" if chinese else "to")
    else:
        scan.say(COMMA if text[pos + 1 :].strip() else "")
    return pos + 1


def slash(scan: Scan, pos: int) -> int:
    text = scan.text
    before = text[max(0, pos - 8) : pos]
    rate = _ENGLISH_RATE.match(text, pos + 1) if scan.default == "en" else None
    if rate and re.search(r"[a-z]{3,}$|(?<![\d./])1$", before):
        unit = denominator(rate.group())
        scan.say(f"per {unit.en if unit and len(rate.group()) < 4 else rate.group()}")
        return rate.end()
    if _RATE_BEFORE.search(before) and (match := _RATE.match(text, pos + 1)):
        name = match["unit"]
        unit = denominator(name.replace("³", "").replace("3", "").replace("²", ""))
        per = name
        if (unit is not None and name.isascii()) or name in ("m³", "m²"):
            cubic = "立方" if name in ("m³", "m3") else "平方" if name == "m²" else ""
            per = cubic + (unit.zh if unit else "米")
        scan.say(f"每{per}")
        return match.end()
    after_word = before[-1:].isascii() and before[-1:].isalnum()
    if not after_word and (found := unix_path(scan, pos)):
        return found
    following = text[pos + 1 : pos + 2]
    if _NUMERAL_BEFORE.search(before) and _NUMERAL_BEHIND.match(text, pos + 1):
        scan.say(COMMA)
        return pos + 1
    if HAN_CHARACTER.match(before[-1:]) or HAN_CHARACTER.match(following):
        # 开/关 and 正/反转 are said in one breath.
        scan.say("" if _ONE_EACH_SIDE.search(before) and HAN_CHARACTER.match(following) else COMMA)
    else:
        scan.say(" ")
    return pos + 1
