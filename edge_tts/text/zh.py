"""Chinese number words: digits, cardinals, dates and times (GB/T 15835 readings)."""

from __future__ import annotations

_DIGITS = "零一二三四五六七八九"
_DIGIT_TABLE = str.maketrans("0123456789", _DIGITS)
_PHONE_TABLE = str.maketrans("0123456789", _DIGITS.replace("一", "幺"))
_GROUPS = ("", "万", "亿", "万亿")
#: Longest number said as a quantity; anything longer is said digit by digit.
MAX_CARDINAL_DIGITS = 16

POINT = "点"
RANGE = "到"
RATIO = "比"
TIMES = "乘"
PLUS_MINUS = "正负"


def digits(text: str) -> str:
    """``301`` -> ``三零一``."""
    return text.translate(_DIGIT_TABLE)


def phone_digits(text: str) -> str:
    """``119`` -> ``幺幺九``: one is said ``yao1`` in telephone numbers."""
    return text.translate(_PHONE_TABLE)


def _below_ten_thousand(value: int, leading: bool) -> str:
    """``value`` in 1..9999; ``leading``: no group stands before it."""
    words = ""
    gap = False
    for unit, divisor in (("千", 1000), ("百", 100), ("十", 10), ("", 1)):
        digit = value // divisor % 10
        if digit == 0:
            gap = bool(words)
            continue
        if gap:
            words += "零"
            gap = False
        if digit == 1 and divisor == 10 and not words and leading:
            words += "十"
        elif digit == 2 and divisor == 1000 and not words and leading:
            words += "两千"
        else:
            words += _DIGITS[digit] + unit
    return words


def cardinal(text: str) -> str:
    """``1443497378`` -> ``十四亿四千三百四十九万七千三百七十八``; leading zeros don't count."""
    value = int(text) if len(text) <= MAX_CARDINAL_DIGITS else -1
    if value < 0:
        return digits(text)
    if value == 0:
        return "零"
    groups: list[int] = []
    while value:
        value, group = divmod(value, 10_000)
        groups.append(group)
    words = ""
    gap = False
    for index in range(len(groups) - 1, -1, -1):
        group = groups[index]
        if group == 0:
            gap = bool(words)
            continue
        if words and (gap or group < 1000):
            words += "零"
        gap = False
        if group == 2 and index and not words:
            words += "两"
        else:
            words += _below_ten_thousand(group, not words)
        # 万亿 is spoken 万 ... 亿 when the next group follows it.
        words += "万" if index == 3 and groups[2] else _GROUPS[index]
    return words


def count(text: str) -> str:
    """A number before a measure word: two is ``两``."""
    return "两" if text.lstrip("0") == "2" else cardinal(text)


def number(integer: str, fraction: str | None) -> str:
    """``("0", "05")`` -> ``零点零五``."""
    words = cardinal(integer) if integer else "零"
    return f"{words}点{digits(fraction)}" if fraction else words


def year(text: str) -> str:
    return digits(text)


def date(year_text: str | None, month: int | None, day: int | None) -> str:
    """Any of the three may be missing."""
    words = f"{digits(year_text)}年" if year_text else ""
    if month is not None:
        words += f"{cardinal(str(month))}月"
    if day is not None:
        words += f"{cardinal(str(day))}日"
    return words


def _two_places(value: int) -> str:
    return f"零{_DIGITS[value]}" if value < 10 else cardinal(str(value))


def time_of_day(
    hour: int, minute: int, second: int | None, fraction: str | None, half: str | None
) -> str:
    """``half`` is ``"AM"``, ``"PM"`` or ``None`` for a 24-hour clock."""
    words = {"AM": "上午", "PM": "下午", None: ""}[half]
    words += "零点" if hour == 0 else f"{count(str(hour))}点"
    if minute or second is not None:
        words += f"{_two_places(minute)}分"
    if second is not None:
        if fraction:
            words += f"{number(str(second), fraction)}秒"
        else:
            words += f"{_two_places(second)}秒"
    return words


def duration(parts: list[tuple[str, str]]) -> str:
    """``[("1", "h"), ("30", "min")]`` -> ``一小时三十分钟``."""
    names = {"d": "天", "h": "小时", "min": "分钟", "s": "秒"}
    words = ""
    for amount, unit in parts:
        integer, _, fraction = amount.partition(".")
        words += (number(integer, fraction) if fraction else count(integer)) + names[unit]
    return words


def power(exponent: str) -> str:
    """``-3`` -> ``的负三次方``."""
    sign = "负" if exponent.startswith("-") else ""
    return f"的{sign}{cardinal(exponent.lstrip('+-') or '0')}次方"


def fraction(numerator: str, denominator: str) -> str:
    return f"{cardinal(denominator)}分之{cardinal(numerator)}"
