"""Numbers with sign, power and unit, and the chains that they form, parsed and not yet said."""

from __future__ import annotations

import re
from dataclasses import dataclass

from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_units import parse_unit
from edge_tts.text.units import Unit

_NUMBER = pattern(
    r"(?P<sign>[-+–—]?)(?P<integer>\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.(?P<fraction>\d+))?"
)
_DECIMAL_COMMA = pattern(
    r"(?P<integer>\d{1,3}),(?P<fraction>\d{1,2})(?=\s?(?:[A-Za-z°%℃μΩ]))(?![\d,])"
)
_SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_SCIENTIFIC = pattern(
    r"\s?[×xX*·]\s?10(?:\^\(?(?P<caret>[-+]?\d+)\)?|(?P<power>[⁺⁻]?[⁰¹²³⁴-⁹]+))"
    r"|[eE](?P<e>[-+]\d{1,3}(?![\d.])|\d{1,3}(?![\dA-Za-z.]))"
)
_POWER = pattern(r"\^\(?(?P<caret>[-+]?\d+)\)?|(?P<power>[⁺⁻]?[⁰¹²³⁴-⁹]+)")
_UNIT_RUN = pattern(
    r"\s?(?:(?:sq|cu)\.? ?(?=[fikmy]))?(?=[A-Za-zμΩ°℃℉%‰‱′″Å/])"
    r"[A-Za-zμΩ°℃℉%‰‱′″Å²³¹⁻·⋅*/^().23-]{1,24}"
)
_INCH = pattern(r"\s?(?:\"|″)(?![A-Za-z])")
# Short forms that are written with a full stop, which ends no sentence here.
_DOTTED_UNITS = frozenset("in ft yd lb lbs oz gal min hr hrs sec".split())
_DOT_WITHIN = pattern(r"\.(?=\s?[a-z(,;]|\s[-+]?\d)")
_NAME_GOES_ON = pattern(r"#|-[A-Z]")
# 1A/1B pumps, 2A side: a name.
_SIDE_A = pattern(
    r"\s?[/、，,和与及~-]\s?\d[B-H](?![A-Za-z0-9])|[侧磨泵炉门楼层室]|(?:给水|循环|凝结|凝|汽|电|水)泵"
    r"|(?:引|送|排|一次|二次|轴流)?风机|(?:磨煤|给煤|空压|皮带|机|煤磨)机|机组|皮带|空预器|捞渣机"
)
_DEGREE_SCALE = pattern(r"\.?\s(?P<scale>[CF])(?![A-Za-z0-9])")
_COLUMN = pattern(r"\.?\s(?P<liquid>Hg|H2O|[Ww]\.?[CcGg]\.?)(?![A-Za-z0-9])")
_CONNECTOR = pattern(
    r"\s?(?P<plusminus>±|\+/-)\s?(?=[\d.])"
    r"|\s?(?P<range>[-~–—至到]|\.{2,3}|…)\s?(?=[-+]?\.?\d|\+?\.?\d)"
    r"|\s?(?P<times>[×xX*])\s?(?=\.?\d)"
    r"|(?P<ratio>[:：]|\s[:：]\s)(?=\d)"
    r"|(?P<slash>/|\s/\s)(?=[-+]?\.?\d)"
)
_WORD_NEXT = pattern(r"\s*[A-Za-z]")
_NOT_AN_AMOUNT = pattern(r"-|/[A-Za-z]|\s[xX]-")
_SHAPE_NOUNS = (
    "相",
    "主变",
    "变压器",
    "型",
    "带",
    "轴",
    "座",
    "区",
    "栋",
    "班",
    "段",
    "母",
    "口",
    "键",
    "线圈",
    "柜",
    "套管",
    "不锈钢",
    "钢",
    "材",
)


@dataclass
class Value:
    start: int
    end: int
    sign: str
    integer: str
    fraction: str | None
    exponent: str | None
    is_power: bool
    unit: Unit | None


def unit_at(text: str, pos: int) -> tuple[Unit, int] | None:
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
        found = parse_unit(re.sub(r"(?<=V)(?:I{1,3}|IV|V)$", " ", body))
    if found is None:
        return None
    unit, length = found
    end = run.end() - len(body) + length
    symbol = body[:length]
    spaced = len(body) != len(run.group())
    # "5 in progress": a unit only where no word goes on.
    if spaced and symbol in ("in", "d") and _WORD_NEXT.match(text, end):
        return None
    if spaced and len(symbol) == 1 and _NOT_AN_AMOUNT.match(text, end):
        return None
    if len(symbol) == 1 and symbol.isalpha() and text.startswith(_SHAPE_NOUNS, end):
        return None
    if len(symbol) == 1 and symbol != "V" and _NAME_GOES_ON.match(text, end):
        return None
    if symbol == "A" and _SIDE_A.match(text, end):
        return None
    if text[end : end + 1].isdigit() and symbol[-1].isalpha():
        return None
    if symbol in ("deg", "°") and (scale := _DEGREE_SCALE.match(text, end)):
        return parse_unit(f"°{scale['scale']}")[0], scale.end()  # type: ignore[index]
    if symbol in ("in", "mm") and (column := _COLUMN.match(text, end)):
        liquid = "Hg" if column["liquid"] == "Hg" else "H2O"
        return parse_unit(symbol + liquid)[0], column.end()  # type: ignore[index]
    if symbol in _DOTTED_UNITS and _DOT_WITHIN.match(text, end):
        end += 1
    return unit, end


def unit_after(text: str, pos: int) -> int:
    """Where a unit right at ``pos`` ends; 0 if there is none."""
    found = unit_at(text, pos)
    return found[1] if found else 0


def _value_at(text: str, pos: int, signed: bool) -> Value | None:
    match = _DECIMAL_COMMA.match(text, pos)
    sign = ""
    if match is None or unit_at(text, match.end()) is None:
        match = _NUMBER.match(text, pos)
        if match is None or not (match["integer"] or match["fraction"]):
            return None
        sign = "-" if match["sign"] and match["sign"] in "–—" else match["sign"]
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
        name = text[scientific.end() : scientific.end() + 1].isalpha()
        if not plain_e and not (scientific["e"] and name and not unit_at(text, scientific.end())):
            exponent = raw.translate(_SUPERSCRIPTS)
            end = scientific.end()
    elif power := _POWER.match(text, end):
        exponent = (power["caret"] or power["power"]).translate(_SUPERSCRIPTS)
        is_power = True
        end = power.end()
    unit = unit_at(text, end)
    return Value(
        match.start(), unit[1] if unit else end, sign, integer, match["fraction"], exponent,
        is_power, unit[0] if unit else None,
    )  # fmt: skip


def chain_at(text: str, pos: int, signed: bool) -> tuple[list[Value], list[str]]:
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
        if (
            value.unit is None
            and tail.isascii()
            and tail.isalpha()
            and kind not in ("ratio", "slash")
        ):
            break
        kinds.append(kind)
        values.append(value)
    return values, kinds
