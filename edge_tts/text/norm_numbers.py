"""Quantities: numbers with signs, powers, units, and the chains that they form.

A chain is what stands between two words: ``4-20mA``, ``3:1``, ``2×1.5mm²``,
``10±0.5``, ``35/10kV``. It is parsed as a whole before a word of it is said,
as the unit at its end decides what the marks in it mean.
"""

from __future__ import annotations

import re
from itertools import pairwise

from edge_tts.text import en, zh
from edge_tts.text.norm_described import describes
from edge_tts.text.norm_integers import after_standard, say_integer
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import COMMA, Language, Scan
from edge_tts.text.norm_values import Value, chain_at, unit_at
from edge_tts.text.units import Unit

_VERSION_BEFORE = pattern(r"(?i:version|firmware|software|release|python|build)\s$")
_NAMED_BY_PAIR = pattern(
    r"(?:图|表|附录|附件|探测器|地址|烟感|温感|手报|模块|点位|端子|插槽|位号|编号|柜)\s?$"
)
# What people halve and quarter; of others a slash sets two values apart.
_DIVIDED_UNITS = frozenset(
    "inch foot mile horsepower watt kilowatt hour minute second liter gallon pound ounce ton meter "
    "revolution degree percent".split()
)
_TWO_VALUES_BEFORE = pattern(r"(?:血压|压力|温度|湿度|BP)\s?(?:为|是|[:：=])?\s?$")
_RATIO_BEFORE = pattern(r"(?:变比|變比|速比|比值|互感器|CT|PT|TA|TV)\s?(?:为|是|[:：=])?\s?$")
_ROUND_DENOMINATORS = frozenset(("10", "12", "16", "100"))
_COUNTED_OFF = pattern(
    r"(?:步骤|步|页|第|进度|重试|尝试|[Ss]tep|[Pp]age|[Pp]art|[Ii]tem|[Ss]tage|[Rr]etry|RETRY|[Aa]ttempt|"
    r"[Tt]ry|[Rr]ound|[Pp]ass|[Bb]atch)\s?$"
)
_MIXED_FRACTION = pattern(
    r"(?P<whole>\d+)(?: |-(?=\d{1,2}/(?:2|4|8|16|32|64)(?![\d号號#])))(?P<top>\d{1,2})"
    r"/(?P<bottom>\d{1,3})(?![\d/.])"
)


def quantity(scan: Scan, start: int, signed: bool = True) -> int:
    """Say the chain of numbers at ``start``; return where it ends, 0 if there is none."""
    text = scan.text
    if match := _MIXED_FRACTION.match(text, start):
        return _mixed_fraction(scan, match)
    values, kinds = chain_at(text, start, signed)
    if not values:
        return 0
    end = values[-1].end
    language = scan.language(start, end)
    single = kinds.count("slash") == 1
    for index, value in enumerate(values):
        if index:
            kind = kinds[index - 1]
            if kind == "slash" and single and _is_fraction(scan, values, index):
                continue
            scan.say(_connector(scan, language, kinds, index - 1, values))
        divided = single and kinds[index : index + 1] == ["slash"]
        if divided and _is_fraction(scan, values, index + 1):
            _say_fraction(scan, value, values[index + 1], language)
            continue
        _say_value(scan, value, language, _shared_unit(values, index), len(values) > 1)
    return end


def _is_fraction(scan: Scan, values: list[Value], index: int) -> bool:
    """Whether ``values[index - 1] / values[index]`` is a fraction such as 3/4."""
    top, bottom = values[index - 1], values[index]
    if _COUNTED_OFF.search(scan.before(top.start, 8)):
        return False
    if top.unit or top.fraction or bottom.fraction or bottom.sign or top.exponent:
        return False
    small = len(top.integer) <= 2 and len(bottom.integer) <= 3
    if not ((small and bottom.integer[0] not in "01") or bottom.integer in _ROUND_DENOMINATORS):
        return False
    if bottom.unit is not None and (
        bottom.unit.en not in _DIVIDED_UNITS
        or (int(bottom.integer) > 16 and bottom.integer not in ("32", "64"))
    ):
        return False
    if index + 1 < len(values) or not top.integer or int(top.integer) >= int(bottom.integer):
        return False
    return not re.match(r"\s?[号號#]", scan.text[bottom.end : bottom.end + 2])


def _say_fraction(scan: Scan, top: Value, bottom: Value, language: Language) -> None:
    words = scan.words(language)
    if top.sign == "-":
        scan.say("负" if language == "zh" else "minus")
    scan.say(words.fraction(top.integer, bottom.integer))
    if bottom.unit:
        scan.say(bottom.unit.zh if language == "zh" else bottom.unit.en)


def _mixed_fraction(scan: Scan, match: re.Match[str]) -> int:
    language = scan.language(match.start(), match.end())
    top, bottom, whole = match["top"], match["bottom"], match["whole"]
    end = match.end()
    if language == "zh":
        scan.say(f"{zh.cardinal(whole)}又{zh.fraction(top, bottom)}")
    else:
        scan.say(f"{en.cardinal(whole)} and {en.fraction(top, bottom)}")
    if unit := unit_at(scan.text, end):
        single = describes(scan, match.start(), unit[1])
        scan.say(unit[0].zh if language == "zh" else unit[0].en if single else unit[0].en_plural)
        end = unit[1]
    return end


def _shared_unit(values: list[Value], index: int) -> Unit | None:
    """Unit of a later value that also holds for this one: ``-10~40℃``."""
    return next((value.unit for value in values[index:] if value.unit), None)


def _connector(
    scan: Scan, language: Language, kinds: list[str], index: int, values: list[Value]
) -> str:
    words = scan.words(language)
    kind = kinds[index]
    left, right = values[index], values[index + 1]
    if kind == "plusminus":
        return str(words.PLUS_MINUS)
    if kind == "ratio":
        standard = after_standard(scan.text[max(0, left.start - 12) : left.start])
        return COMMA if standard else str(words.RATIO)
    if kind == "times":
        sized = any(value.unit for value in values) and language == "en"
        return "by" if sized else words.TIMES
    if kind == "slash":
        if right.integer == "100" and left.unit and right.unit and right.unit.en == "kilometer":
            return "每" if language == "zh" else "per"
        if _COUNTED_OFF.search(scan.before(left.start, 8)):
            return "，共" if language == "zh" else "of"
        numbered = re.match(r"\s?[号號#]", scan.text[values[-1].end :]) is not None
        if left.unit or right.sign or numbered or kinds.count("slash") > 1:
            return COMMA
        if language == "zh":
            if _RATIO_BEFORE.search(scan.before(left.start, 8)):
                return "比"
            if _TWO_VALUES_BEFORE.search(scan.before(left.start, 8)):
                return COMMA
            return (
                "比"
                if right.unit and right.unit.zh.endswith("伏")
                else COMMA
                if right.unit
                else "斜杠"
            )
        return "over" if right.unit else "slash"
    mark = scan.text[left.end : right.start].strip()
    if mark == "-" and re.match(r"\s*=", scan.text[right.end :]):
        return "减" if language == "zh" else "minus"
    if mark in "-—–" and after_standard(scan.text[max(0, left.start - 12) : left.start]):
        return "杠" if language == "zh" else "dash"
    named = not right.unit and _NAMED_BY_PAIR.search(scan.before(left.start, 8))
    if mark == "-" and (named or _is_name(values, kinds)):
        return "杠" if language == "zh" else "dash"
    return mark if mark in ("至", "到") and language == "zh" else str(words.RANGE)


def _is_name(values: list[Value], kinds: list[str]) -> bool:
    """``3-1``, ``1-2-3``: hyphens that join a name, for they do not go up."""
    if kinds.count("range") > 1:
        return True
    if any(value.unit or value.fraction or value.sign for value in values):
        return False
    numbers = [int(value.integer) for value in values if value.integer]
    leading_zero = any(len(v.integer) > 1 and v.integer[0] == "0" for v in values)
    return leading_zero or any(b <= a for a, b in pairwise(numbers))


def _say_value(
    scan: Scan, value: Value, language: Language, shared: Unit | None, in_chain: bool
) -> None:
    words = scan.words(language)
    unit = value.unit
    if value.sign:
        cold = value.sign == "-" and (
            shared.is_temperature if shared is not None else _is_cold(scan, value)
        )
        if language == "zh":
            already = scan.before(value.start, 4).endswith("零下")
            scan.say("" if already else "零下" if cold else "负" if value.sign == "-" else "正")
        else:
            scan.say("minus" if value.sign == "-" else "plus")
    if language == "zh" and shared and shared.zh_before:
        scan.say(shared.zh_before)
    if value.fraction and language == "en" and _is_version(scan, value):
        scan.say(f"{en.cardinal(value.integer)} point {en.cardinal(value.fraction)}")
    elif value.fraction or value.exponent or not value.integer:
        scan.say(words.number(value.integer, value.fraction))
    elif language == "zh" and unit and unit.zh_before and value.integer == "100":
        scan.say("百")
    else:
        say_integer(scan, value.integer, value.start, value.end, language, unit, in_chain)
    if value.exponent is not None:
        if not value.is_power:
            scan.say("乘十" if language == "zh" else "times ten")
        if language == "en" and value.is_power and value.exponent in ("2", "3"):
            scan.say("squared" if value.exponent == "2" else "cubed")
        else:
            scan.say(words.power(value.exponent))
    if unit is None:
        return
    if language == "zh":
        scan.say(unit.zh)
    else:
        one = value.integer.lstrip("0") == "1" and not value.fraction and value.exponent is None
        one = one or describes(scan, value.start, value.end)
        scan.say(unit.en if one else unit.en_plural)


def _is_version(scan: Scan, value: Value) -> bool:
    """``version 3.10`` is three point ten."""
    two_digits = value.fraction is not None and len(value.fraction) == 2
    return bool(
        two_digits
        and value.integer
        and value.fraction[:1] != "0"  # type: ignore[index]
        and _VERSION_BEFORE.search(scan.text[max(0, value.start - 12) : value.start])
    )


def _is_cold(scan: Scan, value: Value) -> bool:
    """``-5度``: a temperature, unless an angle is spoken of."""
    if not re.match(r"\s?(?:摄氏|华氏)?度", scan.text[value.end : value.end + 4]):
        return False
    return not re.search(r"角|偏|转|倾|相位|旋|经|纬", scan.before(value.start, 8))
