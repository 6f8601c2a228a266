"""English number words: digits, cardinals, ordinals, dates and times (American usage)."""

from __future__ import annotations

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = ("", "thousand", "million", "billion", "trillion", "quadrillion")
_IRREGULAR_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth",
    "eight": "eighth", "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
MONTHS = (
    "January February March April May June July August September October November December"
).split()
#: Longest number said as a quantity; anything longer is said digit by digit.
MAX_CARDINAL_DIGITS = 16

POINT = "point"
RANGE = "to"
RATIO = "to"
TIMES = "times"
PLUS_MINUS = "plus or minus"


def digits(text: str) -> str:
    """``015`` -> ``zero one five``."""
    return " ".join(_ONES[int(digit)] for digit in text)


def _below_hundred(value: int) -> str:
    if value < 20:
        return _ONES[value]
    tens, ones = divmod(value, 10)
    return f"{_TENS[tens]}-{_ONES[ones]}" if ones else _TENS[tens]


def _below_thousand(value: int) -> str:
    hundreds, rest = divmod(value, 100)
    if not hundreds:
        return _below_hundred(rest)
    words = f"{_ONES[hundreds]} hundred"
    return f"{words} {_below_hundred(rest)}" if rest else words


def cardinal(text: str) -> str:
    """``1450`` -> ``one thousand four hundred fifty``; leading zeros don't count."""
    if len(text) > MAX_CARDINAL_DIGITS:
        return digits(text)
    value = int(text)
    if value == 0:
        return "zero"
    words: list[str] = []
    for scale in _SCALES:
        value, group = divmod(value, 1000)
        if group:
            words.insert(0, f"{_below_thousand(group)} {scale}".rstrip())
        if not value:
            break
    return " ".join(words)


def _as_ordinal(words: str) -> str:
    head, separator, last = words, "", ""
    for mark in (" ", "-"):
        if words.rfind(mark) > words.rfind(separator or "\0"):
            separator = mark
    if separator:
        head, _, last = words.rpartition(separator)
    else:
        head, last = "", words
    if last in _IRREGULAR_ORDINALS:
        last = _IRREGULAR_ORDINALS[last]
    elif last.endswith("y"):
        last = f"{last[:-1]}ieth"
    else:
        last += "th"
    return f"{head}{separator}{last}"


def ordinal(text: str) -> str:
    """``23`` -> ``twenty-third``."""
    return _as_ordinal(cardinal(text))


def number(integer: str, fraction: str | None) -> str:
    """``("0", "05")`` -> ``zero point zero five``."""
    words = cardinal(integer) if integer else "zero"
    return f"{words} point {digits(fraction)}" if fraction else words


def year(text: str) -> str:
    """``2026`` -> ``twenty twenty-six``, ``1905`` -> ``nineteen oh five``."""
    value = int(text)
    high, low = divmod(value, 100)
    if len(text) != 4 or text[0] == "0" or (high % 10 == 0 and low < 10):
        return cardinal(text)
    if low == 0:
        return f"{_below_hundred(high)} hundred"
    return f"{_below_hundred(high)} {f'oh {_ONES[low]}' if low < 10 else _below_hundred(low)}"


def decade(text: str) -> str:
    """``1990`` -> ``nineteen nineties``, ``90`` -> ``nineties``."""
    words = year(text) if len(text) == 4 else cardinal(text)
    return f"{words[:-1]}ies" if words.endswith("y") else f"{words}s"


def date(year_text: str | None, month: int | None, day: int | None) -> str:
    """Any of the three may be missing."""
    words = [MONTHS[month - 1]] if month is not None else []
    if day is not None:
        words.append(ordinal(str(day)))
    if year_text:
        words.append(year(year_text))
    return " ".join(words)


def time_of_day(
    hour: int, minute: int, second: int | None, fraction: str | None, half: str | None
) -> str:
    """``half`` is ``"AM"``, ``"PM"`` or ``None`` for a 24-hour clock."""
    words = _below_hundred(hour)
    if minute:
        words += f" oh {_ONES[minute]}" if minute < 10 else f" {_below_hundred(minute)}"
    elif second is None and half is None:
        words += " hundred" if hour > 12 or hour == 0 else " o'clock"
    elif second is not None:
        words += " hundred" if half is None else ""
    if second is not None:
        plural = "" if second == 1 and not fraction else "s"
        words += f" and {number(str(second), fraction)} second{plural}"
    return f"{words} {' '.join(half)}" if half else words


def duration(parts: list[tuple[str, str]]) -> str:
    """``[("1", "h"), ("30", "min")]`` -> ``one hour thirty minutes``."""
    names = {"d": "day", "h": "hour", "min": "minute", "s": "second"}
    words = []
    for amount, unit in parts:
        integer, _, fraction = amount.partition(".")
        plural = "" if amount.lstrip("0") == "1" else "s"
        words.append(f"{number(integer, fraction or None)} {names[unit]}{plural}")
    return " ".join(words)


def power(exponent: str) -> str:
    """``-3`` -> ``to the minus three``."""
    sign = "minus " if exponent.startswith("-") else ""
    return f"to the {sign}{cardinal(exponent.lstrip('+-') or '0')}"


def fraction(numerator: str, denominator: str) -> str:
    """``("3", "4")`` -> ``three quarters``."""
    names = {
        "2": ("half", "halves"),
        "4": ("quarter", "quarters"),
        "100": ("hundredth", "hundredths"),
    }
    singular, plural = names.get(denominator) or (
        ordinal(denominator),
        f"{ordinal(denominator)}s",
    )
    return f"{cardinal(numerator)} {singular if numerator == '1' else plural}"
