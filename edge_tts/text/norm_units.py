"""Unit expressions: products, powers and rates of the units in :mod:`edge_tts.text.units`."""

from __future__ import annotations

import re
from functools import lru_cache

from edge_tts.text.norm_pattern import pattern
from edge_tts.text.units import FOLDED_UNITS, POWERS, UNITS, Unit

_WITHOUT_NUMBER = frozenset(
    "kW MW kWh MWh kPa MPa hPa kV mV mA kVA MVA kvar Hz kHz MHz GHz rpm mm cm km kg mg μm μs "
    "μA μF mL kN Nm dB ppm ℃ °C ℉ °F Ω kΩ MΩ mol lx kJ MJ GJ mbar".split()
)
_RATE_ALONE = pattern(
    r"(?:[kmcdμ]?m[²³23]?|Nm[³3]|V|[mμk]?[gL]|t|r|kW|W|k?N|k?J|[mμ]?S|rad|[MGk]B|℃|°C|k?mol|kgf|次)"
    r"/(?:\(?(?:min|s[²2]?|h|d|[cm]?m[²³23]?|L|k?g|℃|mol|Hz)(?![A-Za-z0-9]))"
)
_EXPONENTS = {"²": 2, "2": 2, "^2": 2, "³": 3, "3": 3, "^3": 3, "⁻¹": -1, "^-1": -1, "⁻²": -2}
_LENGTHS = frozenset("m dm cm mm km μm in inch ft yd".split())
_LETTERS = pattern(r"(?:mm|cm|m|in)H2O|Nm[³3]|Sm³|%(?:RH|LEL|VOL|wt(?![A-Za-z]))|(?:wt|vol|mol)%"
                   r"|°[CF]?|[%‰‱℃℉′″ΩÅ]"
                   r"|(?:sq|cu)\.? ?(?:ft|in|m|yd|km|mi)\.?(?![A-Za-z])"
                   r"|[A-Za-zμ]*Ω|[A-Za-zμ]+|μ", re.IGNORECASE)  # fmt: skip
_EXPONENT = pattern(r"\^-?[123]|⁻?[¹²³]|[23](?![0-9.])")
# Nobody measures seconds a centimetre: siemens, typed small.
_CONDUCTIVITY = pattern(r"[uμm]s/cm(?![A-Za-z0-9])")
_REFERENCE = pattern(r"\(([AaGg])\)")
_ALPHANUMERIC = pattern(r"[A-Za-z0-9]")


def _atom(symbol: str, in_compound: bool) -> Unit | None:
    if symbol in ("DL", "CL"):
        return None
    if len(symbol) > 2 and symbol[:-1].isupper() and symbol[-1] == "s":
        return UNITS.get(symbol)  # PCs are not pieces.
    if symbol[:2] in ("sq", "cu") and len(symbol) > 2 and symbol[2] in ". ":
        side = UNITS[symbol[2:].strip(". ")]
        zh, en = POWERS[2 if symbol[0] == "s" else 3]
        return Unit(zh + side.zh, en + side.en, en + side.en_plural)
    unit = UNITS.get(symbol)
    if unit is None and in_compound:
        unit = UNITS.get(f"/{symbol}") or UNITS.get(symbol.lower())
    if unit is None and len(symbol) > 1:
        unit = FOLDED_UNITS.get(symbol.lower())
    return unit


def _term(text: str, pos: int, in_compound: bool) -> tuple[Unit, int] | None:
    """One unit with its exponent at ``pos``."""
    match = _LETTERS.match(text, pos)
    if match is None:
        return None
    symbol = match.group()
    unit = _atom(symbol, in_compound)
    end = match.end()
    power = _EXPONENT.match(text, end) if symbol[-1] not in "′″°%‰" else None
    if unit is None:
        return None
    if power is None:
        return unit, end
    exponent = _EXPONENTS.get(power.group(), 0)
    if exponent in POWERS:
        if symbol.lower() in _LENGTHS:
            zh, en = POWERS[exponent]
            return Unit(zh + unit.zh, en + unit.en, en + unit.en_plural), power.end()
        if power.group().isdigit() and power.group().isascii() and symbol != "s":
            return None
        zh_power, en_power = ("二次方", " squared") if exponent == 2 else ("三次方", " cubed")
        return Unit(zh_power + unit.zh, unit.en + en_power, unit.en + en_power), power.end()
    if exponent < 0:
        zh_power = "二次方" if exponent == -2 else ""
        en_power = " squared" if exponent == -2 else ""
        name = f"per {unit.en}{en_power}"
        return Unit(f"每{zh_power}{unit.zh}", name, name), power.end()
    return unit, end


def _product(text: str, pos: int, in_compound: bool) -> tuple[Unit, int] | None:
    first = _term(text, pos, in_compound)
    if first is None:
        return None
    unit, pos = first
    while pos + 1 < len(text) and text[pos] in "·⋅•*.-":
        following = _term(text, pos + 1, True)
        if following is None or _ALPHANUMERIC.match(text, following[1]):
            break
        other, pos = following
        zh = "时" if other.zh == "小时" else other.zh
        unit = Unit(unit.zh + zh, f"{unit.en} {other.en}", f"{unit.en} {other.en_plural}")
    return unit, pos


@lru_cache(maxsize=1024)
def parse_unit(text: str) -> tuple[Unit, int] | None:
    """The unit that ``text`` starts with and its length, the longest that fits.

    ``mm/s`` and what follows; ``W/(m·K)``; ``kW·h``; ``m3/h``; ``10MPA`` style
    capitals. ``None`` when no unit ends at a word boundary.
    """
    in_compound = "/" in text or "·" in text
    if _CONDUCTIVITY.match(text):
        text = f"{text[0]}S{text[2:]}"
    first = _product(text, 0, False) or (_product(text, 0, True) if in_compound else None)
    if first is None:
        return None
    unit, pos = first
    only_compound = _product(text, 0, False) is None
    cut = text[pos - 1] not in "′″°%‰℃" and _ALPHANUMERIC.match(text, pos)
    best = None if only_compound or cut else (unit, pos)
    while pos < len(text) and text[pos] == "/":
        bracket = text.startswith("(", pos + 1)
        below = _product(text, pos + 1 + bracket, True)
        if below is None:
            break
        other, end = below
        if bracket:
            if not text.startswith(")", end):
                break
            end += 1
        if _ALPHANUMERIC.match(text, end):
            break
        per = f"per {other.en}"
        if unit.zh_before:
            unit = Unit(f"每{other.zh}", f"{unit.en} {per}", f"{unit.en_plural} {per}",
                        unit.zh_before)  # fmt: skip
        else:
            unit = Unit(f"{unit.zh}每{other.zh}", f"{unit.en} {per}", f"{unit.en_plural} {per}")
        pos = end
        best = (unit, pos)
    if best is not None and (reference := _REFERENCE.match(text, pos)):
        mark = reference[1].lower()
        if unit.en == "decibel" and mark == "a":
            return UNITS["dBA"], reference.end()
        if "pascal" in unit.en or unit.en in ("bar", "millibar", "pound per square inch"):
            zh, en = {"g": ("表压", " gauge"), "a": ("绝压", " absolute")}[mark]
            return Unit(unit.zh + zh, unit.en + en, unit.en_plural + en), reference.end()
    return best


def denominator(symbol: str) -> Unit | None:
    """The unit after a slash, as in ``次/min``."""
    return _atom(symbol, True)


def unit_alone(text: str) -> tuple[Unit, int] | None:
    """A unit at the start of ``text`` that is one even without a number before it."""
    match = _RATE_ALONE.match(text)
    if match is None:
        match = _LETTERS.match(text)
        if match is None or match.group() not in _WITHOUT_NUMBER:
            return None
    return parse_unit(text)
