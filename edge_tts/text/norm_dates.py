"""Dates, times of day, their ranges, and durations (ISO 8601 and what people type)."""

from __future__ import annotations

import re

from edge_tts.text import en, zh
from edge_tts.text.norm_data import DURATION_NOUNS, RATIO_NOUNS
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import COMMA, Language, Scan

_ISO_DATE = pattern(
    r"(?P<year>(?:19|20)\d\d)(?P<mark>[-/.])(?P<month>0?[1-9]|1[0-2])(?P=mark)"
    r"(?P<day>3[01]|[12]\d|0?[1-9])(?![\d]|[.-]\d)"
)
_YEAR_MONTH = pattern(r"(?P<year>(?:19|20)\d\d)[-/](?P<month>0[1-9]|1[0-2])(?![\d.:/-]|[A-Za-z%])")
_DAY_FIRST = pattern(
    r"(?P<day>3[01]|[12]\d|0?[1-9])(?P<mark>[./-])(?P<month>1[0-2]|0?[1-9])(?P=mark)"
    r"(?P<year>(?:19|20)\d\d)(?![\d.])"
)
_MONTH_FIRST = pattern(
    r"(?P<month>1[0-2]|0?[1-9])/(?P<day>3[01]|[12]\d|0?[1-9])/(?P<year>(?:19|20)\d\d)(?![\d.])"
)
# Without a century or a year only where a time follows.
_SHORT_DATE = pattern(
    r"(?:(?P<year>\d\d)(?P<mark>[-/.])(?P<month>1[0-2]|0[1-9])(?P=mark)"
    r"|(?P<only>1[0-2]|0?[1-9])[-/])(?P<day>3[01]|[12]\d|0?[1-9])"
    r"(?=\s(?:2[0-4]|[01]?\d)[:：][0-5]\d)"
)
_AMERICAN_DATE = pattern(
    r"(?P<month>1[0-2]|0?[1-9])/(?P<day>3[01]|[12]\d|0?[1-9])/(?P<year>[23]\d)"
    r"(?![\d/.]|\s?[号號#])"
)
_TIME = pattern(
    r"(?P<hour>2[0-4]|[01]?\d)[:：](?P<minute>[0-5]\d)"
    r"(?:[:：](?P<second>[0-5]\d)(?:[.,](?P<fraction>\d{1,6}))?)?(?![:：]?\d)"
)
_HALF = pattern(r"\s?(?P<half>[AaPp])(?:\.?[Mm](?![A-Za-z0-9])\.?|(?![A-Za-z0-9.]))")
_HOUR_HALF = pattern(r"(?P<hour>1[0-2]|0?[1-9])\s?(?P<half>[AaPp])\.?[Mm](?:\.|(?![A-Za-z0-9]))")
_ZONE = pattern(
    r"(?P<zulu>Z)(?![A-Za-z0-9])|\s?(?P<sign>[+-])(?P<hours>0\d|1[0-4]):?(?P<minutes>[0-5]\d)(?![\d:])"
)
_BETWEEN = pattern(r"(?:T|[ ]+|,[ ]*)(?=\d{1,2}[:：]\d\d)")
_RANGE = pattern(r"\s*[-~–—至到]+\s*(?=\d)")
_NEXT_DAY = pattern(r"\s*[-~–—至到]+\s*(?=次日|第二天|翌日|次晨|隔天)")
_HOURS = pattern(r"\s?h(?:rs?|ours)?(?![A-Za-z0-9])")
_DURATION = pattern(
    r"(?:(?P<d>\d+)\s?d(?:ays?)?\s?)?(?:(?P<h>\d+(?:\.\d+)?)\s?(?:hours?|hrs?|h)\s?)?"
    r"(?:(?P<min>\d+)\s?(?:minutes?|mins?|min|m)\s?)?"
    r"(?:(?P<s>\d+(?:\.\d+)?)\s?(?:seconds?|secs?|sec|s))?(?![A-Za-z0-9])"
)
_ISO_DURATION = pattern(
    r"P(?:(?P<d>\d+)D)?T?(?:(?P<h>\d+)H)?(?:(?P<min>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?(?![A-Za-z0-9])"
)
_DAY_MONTH = pattern(
    r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\s(?P<month>[A-Z][a-z]{2,8})(?![A-Za-z0-9])\.?"
    r"(?:,?\s(?P<year>(?:19|20)\d\d)(?!\d))?"
)
_MONTH_NUMBERS = {name[:3].lower(): index for index, name in enumerate(en.MONTHS, 1)}
_AFTER_RATIO = pattern(rf"(?:{RATIO_NOUNS})\s?(?:为|是|of|is|:|：|=)?\s?$")
_RATIO_FOLLOWS = pattern(
    r"\s?(?:的?比例|稀释|稀釋|配比|混合|缩放|减速|配制|配置|兑|ratio|scale|mix|dilution|gear|"
    r"turndown|split|slope|grade)"
)
_AFTER_DURATION = pattern(rf"(?:{DURATION_NOUNS})\s?(?:为|是|of|is|:|：|=|time|了)?\s?$")


def date(scan: Scan, start: int) -> int:
    """A numeric date at ``start``, with a time and a zone if they follow; 0 if there is none."""
    text = scan.text
    match = _ISO_DATE.match(text, start) or _MONTH_FIRST.match(text, start)
    if match is None:
        match = _DAY_FIRST.match(text, start)
    day: int | None
    if match is None:
        match = _YEAR_MONTH.match(text, start)
        if match is None:
            return _short_date(scan, start)
        day = None
    else:
        day = int(match["day"])
    end = match.end()
    joint = _BETWEEN.match(text, end)
    moment = _TIME.match(text, joint.end()) if joint else None
    language = scan.language(start, moment.end() if moment else end)
    words = scan.words(language)
    scan.say(words.date(match["year"], int(match["month"]), day))
    if joint is None or moment is None:
        return end
    if language == "en":
        scan.say(COMMA)
    return _say_time(scan, moment, language)


def _short_date(scan: Scan, start: int) -> int:
    """``11/29 20:16`` and ``26-11-29 20:16``, ``12/25/26`` in English; 0 if there is none."""
    text = scan.text
    match = _SHORT_DATE.match(text, start)
    if match is None:
        match = _AMERICAN_DATE.match(text, start)
        if match is None or scan.language(start, match.end()) == "zh":
            return 0
        scan.say(en.date(f"20{match['year']}", int(match["month"]), int(match["day"])))
        return match.end()
    month, day = int(match["month"] or match["only"]), int(match["day"])
    if scan.language(start, match.end() + 6) == "zh":
        scan.say(zh.date(match["year"], month, day))
    else:
        scan.say(en.date(match["year"] and f"20{match['year']}", month, day))
        scan.say(COMMA)
    return match.end()


def day_and_month(scan: Scan, start: int) -> int:
    """``5 March 2026`` in English; 0 if there is none."""
    match = _DAY_MONTH.match(scan.text, start)
    if match is None:
        return 0
    month = _MONTH_NUMBERS.get(match["month"][:3].lower())
    name = match["month"]
    if month is None or name not in (en.MONTHS[month - 1], en.MONTHS[month - 1][:3], "Sept"):
        return 0
    if scan.language(start, match.end()) == "zh":
        scan.say(zh.date(match["year"], month, int(match["day"])))
    else:
        scan.say(en.date(match["year"], month, int(match["day"])))
    return match.end()


def _zone(scan: Scan, pos: int, language: Language) -> int:
    match = _ZONE.match(scan.text, pos)
    if match is None:
        return pos
    scan.say(COMMA)
    scan.say("U T C")
    if match["sign"]:
        words = scan.words(language)
        plus = {"zh": ("加", "减"), "en": ("plus", "minus")}[language][match["sign"] == "-"]
        scan.say(plus)
        scan.say(words.cardinal(match["hours"]))
        if int(match["minutes"]):
            scan.say(words.cardinal(match["minutes"]))
    return match.end()


def _say_time(scan: Scan, match: re.Match[str], language: Language) -> int:
    end = match.end()
    half_match = _HALF.match(scan.text, end) if int(match["hour"]) <= 12 else None
    half = f"{half_match['half'].upper()}M" if half_match else None
    if half_match:
        end = half_match.end()
    second = int(match["second"]) if match["second"] else None
    words = scan.words(language)
    scan.say(
        words.time_of_day(int(match["hour"]), int(match["minute"]), second, match["fraction"], half)
    )
    return _zone(scan, end, language) if second is not None else end


def time_of_day(scan: Scan, start: int) -> int:
    """A time, or a range of times, at ``start``; 0 if there is none or it is a ratio."""
    text = scan.text
    if match := _HOUR_HALF.match(text, start):
        language = scan.language(start, match.end())
        half = f"{match['half'].upper()}M"
        if language == "zh":
            scan.say(zh.time_of_day(int(match["hour"]), 0, None, None, half))
        else:
            scan.say(en.time_of_day(int(match["hour"]), 0, None, None, half))
        return match.end()
    match = _TIME.match(text, start)
    if match is None:
        return 0
    before = text[max(0, start - 12) : start]
    ratio = _AFTER_RATIO.search(before) or _RATIO_FOLLOWS.match(text, match.end())
    if not match["second"] and ratio:
        return 0
    language = scan.language(start, match.end())
    if _AFTER_DURATION.search(before):
        parts = [("h", match["hour"]), ("min", match["minute"]), ("s", match["second"] or "0")]
        if not match["second"]:
            parts = [("min", match["hour"]), ("s", match["minute"])]
        amounts = [(str(int(amount)), unit) for unit, amount in parts if int(amount)]
        scan.say(scan.words(language).duration(amounts or [("0", "s")]))
        return match.end()
    end = _say_time(scan, match, language)
    joint = _RANGE.match(text, end)
    following = _TIME.match(text, joint.end()) if joint else None
    if following is None:
        if next_day := _NEXT_DAY.match(text, end):
            scan.say("到")
            return next_day.end()
        hours = _HOURS.match(text, end) if match["second"] is None else None
        return hours.end() if hours else end
    scan.say(scan.words(language).RANGE)
    return _say_time(scan, following, language)


def duration(scan: Scan, start: int) -> int:
    """At least two of days, hours, minutes and seconds written together; 0 otherwise."""
    match = _DURATION.match(scan.text, start)
    if match is None or match.end() == start:
        return 0
    return _say_duration(scan, match, at_least=2)


def iso_duration(scan: Scan, start: int) -> int:
    """``PT1H30M`` at ``start``; 0 if there is none."""
    match = _ISO_DURATION.match(scan.text, start)
    if match is None or not ("T" in match.group() or match["d"]):
        return 0
    return _say_duration(scan, match, at_least=1 if "T" in match.group() else 2)


def _say_duration(scan: Scan, match: re.Match[str], at_least: int) -> int:
    parts = [(match[unit], unit) for unit in ("d", "h", "min", "s") if match[unit]]
    if len(parts) < at_least:
        return 0
    end = len(match.group().rstrip()) + match.start()
    scan.say(scan.words(scan.language(match.start(), end)).duration(parts))
    return end
