"""Quantities: numbers with signs, powers, units, and the chains that they form.

A chain is what stands between two words: ``4-20mA``, ``3:1``, ``2×1.5mm²``,
``10±0.5``, ``35/10kV``. It is parsed as a whole before a word of it is said,
as the unit at its end decides what the marks in it mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from edge_tts.text import en, zh
from edge_tts.text.norm_data import CURRENCIES, RATIO_NOUNS
from edge_tts.text.norm_integers import say_integer
from edge_tts.text.norm_scan import COMMA, HAN, Language, Scan
from edge_tts.text.units import Unit, parse_unit

_NUMBER = re.compile(
    r"(?P<sign>[-+]?)(?P<integer>\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.(?P<fraction>\d+))?"
)
_DECIMAL_COMMA = re.compile(r"(?P<integer>\d{1,3}),(?P<fraction>\d{1,2})(?=\s?(?:[A-Za-z°%℃μΩ]))(?![\d,])")
_SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_SCIENTIFIC = re.compile(
    r"\s?[×xX*·]\s?10(?:\^\(?(?P<caret>[-+]?\d+)\)?|(?P<power>[⁺⁻]?[⁰¹²³⁴-⁹]+))"
    r"|[eE](?P<e>[-+]\d{1,3}|\d{1,3})(?![\dA-Za-z.])"
)
_POWER = re.compile(r"\^\(?(?P<caret>[-+]?\d+)\)?|(?P<power>[⁺⁻]?[⁰¹²³⁴-⁹]+)")
_UNIT_RUN = re.compile(
    r"\s?(?:(?:sq|cu)\.? ?(?=[fikmy]))?(?=[A-Za-zμΩ°℃℉%‰‱′″Å/])[A-Za-zμΩ°℃℉%‰‱′″Å²³¹⁻·⋅*/^().23-]{1,24}"
)
_INCH = re.compile(r"\s?(?:\"|″)(?![A-Za-z])")
_CONNECTOR = re.compile(
    r"\s?(?P<plusminus>±|\+/-)\s?(?=[\d.])"
    r"|\s?(?P<range>[-~–—至到]|\.{2,3}|…)\s?(?=[-+]?\.?\d|\+?\.?\d)"
    r"|\s?(?P<times>[×xX*])\s?(?=\.?\d)"
    r"|(?P<ratio>[:：])(?=\d)"
    r"|(?P<slash>/)(?=[-+]?\.?\d)"
)
_NOT_AFTER_SPACED_UNIT = re.compile(r"(?:in|a|d|to|t|h|s|m|g|l|T|L|H|no|mi|mil|oz|gal|hp|pt|bit|h)\Z")
_SHAPE_NOUNS = ("相", "型", "带", "轴", "座", "区", "栋", "班", "段", "母", "口", "键", "线圈", "柜", "套管", "不锈钢", "钢", "材")
_COUNTED = re.compile(rf"\s?(?:号|號|#|[{HAN}])")
_COUNTED_OFF = re.compile(r"(?:步骤|步|页|第|进度|[Ss]tep|[Pp]age|[Pp]art|[Ii]tem|[Ss]tage)\s?$")
_MIXED_FRACTION = re.compile(r"(?P<whole>\d+) (?P<top>\d{1,2})/(?P<bottom>\d{1,3})(?![\d/.])")
_CURRENCY = re.compile(
    r"(?P<sign>-?)(?P<mark>[¥￥$€£])\s?(?P<integer>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<fraction>\d+))?"
    r"(?P<scale>\s?(?:[万亿千]|[kKMB](?![A-Za-z])|million|billion))?"
)
_SCALES = {"k": ("千", "thousand"), "K": ("千", "thousand"), "M": ("百万", "million"), "B": ("十亿", "billion")}


@dataclass
class _Value:
    start: int
    end: int
    sign: str
    integer: str
    fraction: str | None
    exponent: str | None
    is_power: bool
    unit: Unit | None


def _unit_at(text: str, pos: int) -> tuple[Unit, int] | None:
    """The unit right at ``pos`` (one blank allowed) and where it ends."""
    if (match := _INCH.match(text, pos)) and "′" not in text[max(0, pos - 6) : pos]:
        return parse_unit("in")[0], match.end()  # type: ignore[index]
    run = _UNIT_RUN.match(text, pos)
    if run is None:
        return None
    body = run.group().lstrip()
    if body[0] == "/":
        return None
    found = parse_unit(body)
    if found is None and text.startswith(("母", "段"), run.end()):
        # 10kVII段: the unit ends where the Roman numeral begins.
        body = re.sub(r"(?<=V)(?:I{1,3}|IV|V)$", " ", body)
        found = parse_unit(body)
    if found is None:
        return None
    unit, length = found
    end = run.end() - len(body) + length
    symbol = body[:length]
    spaced = len(body) != len(run.group())
    if spaced and _NOT_AFTER_SPACED_UNIT.match(symbol):
        # "5 in progress", "3 A phase": a unit only where nothing else goes on.
        if symbol in ("in", "a", "to", "no", "d") and re.match(r"\s*[A-Za-z]", text[end:]):
            return None
    if spaced and len(symbol) == 1 and re.match(r"-|/[A-Za-z]|\s[xX]-", text[end:]):
        return None
    if len(symbol) == 1 and symbol.isalpha() and text.startswith(_SHAPE_NOUNS, end):
        return None
    if len(symbol) == 1 and text[end : end + 1] == "#":
        return None
    return unit, end


def unit_after(text: str, pos: int) -> int:
    """Where a unit right at ``pos`` ends; 0 if there is none."""
    found = _unit_at(text, pos)
    return found[1] if found else 0


def _value_at(text: str, pos: int, signed: bool) -> _Value | None:
    match = _DECIMAL_COMMA.match(text, pos)
    sign = ""
    if match is None or _unit_at(text, match.end()) is None:
        match = _NUMBER.match(text, pos)
        if match is None or not (match["integer"] or match["fraction"]):
            return None
        sign = match["sign"]
        if sign and not signed:
            return None
    integer = (match["integer"] or "").replace(",", "")
    end = match.end()
    exponent = None
    is_power = False
    if scientific := _SCIENTIFIC.match(text, end):
        raw = scientific["caret"] or scientific["power"] or scientific["e"]
        plain_e = (
            scientific["e"]
            and scientific["e"][0] not in "+-"
            and not match["fraction"]
            and "E" in scientific.group()
        )
        if not plain_e:
            exponent = raw.translate(_SUPERSCRIPTS)
            end = scientific.end()
    elif power := _POWER.match(text, end):
        exponent = (power["caret"] or power["power"]).translate(_SUPERSCRIPTS)
        is_power = True
        end = power.end()
    unit = _unit_at(text, end)
    return _Value(
        match.start(), unit[1] if unit else end, sign, integer, match["fraction"], exponent,
        is_power, unit[0] if unit else None,
    )  # fmt: skip


def _chain_at(text: str, pos: int, signed: bool) -> tuple[list[_Value], list[str]]:
    first = _value_at(text, pos, signed)
    if first is None:
        return [], []
    values = [first]
    kinds: list[str] = []
    while len(values) < 16:
        match = _CONNECTOR.match(text, values[-1].end)
        if match is None:
            break
        kind = str(match.lastgroup)
        value = _value_at(text, match.end(), kind in ("range", "slash"))
        if value is None:
            break
        # 3-5kW2: a following code, not a number of this chain.
        tail = text[value.end : value.end + 1]
        if value.unit is None and tail.isascii() and tail.isalpha() and kind not in ("ratio", "slash"):
            break
        kinds.append(kind)
        values.append(value)
    return values, kinds


def quantity(scan: Scan, start: int, signed: bool = True) -> int:
    """Say the chain of numbers at ``start``; return where it ends, 0 if there is none."""
    text = scan.text
    if match := _MIXED_FRACTION.match(text, start):
        return _mixed_fraction(scan, match)
    values, kinds = _chain_at(text, start, signed)
    if not values:
        return 0
    end = values[-1].end
    language = scan.language(start, end)
    for index, value in enumerate(values):
        if index:
            kind = kinds[index - 1]
            if kind == "slash" and _is_fraction(scan, values, index):
                continue
            scan.say(_connector(scan, language, kinds, index - 1, values))
        if (
            index < len(kinds)
            and kinds[index] == "slash"
            and _is_fraction(scan, values, index + 1)
        ):
            _say_fraction(scan, value, values[index + 1], language)
            continue
        _say_value(scan, value, language, _shared_unit(values, index), len(values) > 1)
    return end


def _is_fraction(scan: Scan, values: list[_Value], index: int) -> bool:
    """Whether ``values[index - 1] / values[index]`` is a fraction such as 3/4."""
    top, bottom = values[index - 1], values[index]
    if _COUNTED_OFF.search(scan.before(top.start, 8)):
        return False
    if top.unit or top.fraction or bottom.fraction or bottom.sign or top.exponent:
        return False
    if len(top.integer) > 2 or len(bottom.integer) > 3 or bottom.integer[:1] in ("", "0", "1"):
        if bottom.integer not in ("10", "12", "16", "100"):
            return False
    if index + 1 < len(values) or not top.integer or int(top.integer) >= int(bottom.integer):
        return False
    if bottom.unit is not None and bottom.unit.en in ("volt", "kilovolt"):
        return False
    return not re.match(r"\s?[号號#]", scan.text[bottom.end : bottom.end + 2])


def _say_fraction(scan: Scan, top: _Value, bottom: _Value, language: Language) -> None:
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
    if unit := _unit_at(scan.text, end):
        scan.say(unit[0].zh if language == "zh" else unit[0].en_plural)
        end = unit[1]
    return end


def _shared_unit(values: list[_Value], index: int) -> Unit | None:
    """Unit of a later value that also holds for this one: ``-10~40℃``."""
    return next((value.unit for value in values[index:] if value.unit), None)


def _connector(
    scan: Scan, language: Language, kinds: list[str], index: int, values: list[_Value]
) -> str:
    words = scan.words(language)
    kind = kinds[index]
    left, right = values[index], values[index + 1]
    if kind == "plusminus":
        return words.PLUS_MINUS
    if kind == "ratio":
        return words.RATIO
    if kind == "times":
        sized = any(value.unit for value in values) and language == "en"
        return "by" if sized else words.TIMES
    if kind == "slash":
        if right.integer == "100" and left.unit and right.unit and right.unit.en == "kilometer":
            return "每" if language == "zh" else "per"
        if _COUNTED_OFF.search(scan.before(left.start, 8)):
            return "，共" if language == "zh" else "of"
        if left.unit or re.match(r"\s?[号號#]", scan.text[right.end :]):
            return COMMA
        if language == "zh":
            return "比" if right.unit else "斜杠"
        return "over" if right.unit else "slash"
    mark = scan.text[left.end : right.start].strip()
    if mark == "-" and re.match(r"\s*=", scan.text[right.end :]):
        return "减" if language == "zh" else "minus"
    if mark == "-" and _is_name(values, kinds):
        return "杠" if language == "zh" else "dash"
    return mark if mark in ("至", "到") and language == "zh" else str(words.RANGE)


def _is_name(values: list[_Value], kinds: list[str]) -> bool:
    """``3-1``, ``1-2-3``: hyphens that join a name, for they do not go up."""
    if kinds.count("range") > 1:
        return True
    if any(value.unit or value.fraction or value.sign for value in values):
        return False
    numbers = [int(value.integer) for value in values if value.integer]
    leading_zero = any(len(v.integer) > 1 and v.integer[0] == "0" for v in values)
    return leading_zero or any(b <= a for a, b in zip(numbers, numbers[1:], strict=False))


def _say_value(
    scan: Scan, value: _Value, language: Language, shared: Unit | None, in_chain: bool
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
    if value.fraction or value.exponent or not value.integer:
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
        scan.say(unit.en if one else unit.en_plural)


def _is_cold(scan: Scan, value: _Value) -> bool:
    """``-5度``: a temperature, unless an angle is spoken of."""
    if not re.match(r"\s?(?:摄氏|华氏)?度", scan.text[value.end : value.end + 4]):
        return False
    return not re.search(r"角|偏|转|倾|相位|旋|经|纬", scan.before(value.start, 8))


def currency(scan: Scan, start: int) -> int:
    """``¥12.5``, ``$5.20``, ``€3``; 0 if there is none."""
    match = _CURRENCY.match(scan.text, start)
    if match is None:
        return 0
    zh_name, one, many, cent = CURRENCIES[match["mark"]]
    integer = match["integer"].replace(",", "")
    fraction = match["fraction"]
    scale = (match["scale"] or "").strip()
    language = scan.language(start, match.end())
    if language == "zh":
        scan.say("负" if match["sign"] else "")
        scan.say(zh.number(integer, fraction) if fraction else zh.count(integer))
        scan.say(_SCALES[scale][0] if scale in _SCALES else scale)
        scan.say(zh_name)
        return match.end()
    scan.say("minus" if match["sign"] else "")
    if scale:
        scan.say(en.number(integer, fraction))
        scan.say(_SCALES[scale][1] if scale in _SCALES else scale)
        scan.say(many)
        return match.end()
    single = one if integer == "1" else many
    if fraction and len(fraction) == 2 and cent != "fen":
        scan.say(f"{en.cardinal(integer)} {single}")
        if int(fraction):
            cents = cent if int(fraction) == 1 else "pence" if cent == "penny" else f"{cent}s"
            scan.say(f"and {en.cardinal(fraction)} {cents}")
    else:
        scan.say(f"{en.number(integer, fraction)} {many if fraction else single}")
    return match.end()


def is_ratio_context(before: str) -> bool:
    return re.search(rf"(?:{RATIO_NOUNS})\s?$", before) is not None
