"""Latin words in their place: short forms, Roman numerals, months, units that stand alone."""

from __future__ import annotations

import re

from edge_tts.text import en, zh
from edge_tts.text.norm_data import (
    ABBREVIATIONS,
    ALWAYS_ABBREVIATED,
    GREEK,
    MONTHS,
    PROPER_WORDS,
    SPECIAL_TOKENS,
    SURE_WEEKDAYS,
    TITLES,
)
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import COMMA, HAN, Scan
from edge_tts.text.norm_units import unit_alone
from edge_tts.text.norm_words import letters, spoken

_NUMERAL = pattern(r"(?:XI{0,2}|IX|IV|VI{0,3}|I{1,3}|X)\Z")
_NUMERAL_VALUES = {
    "I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10,
    "XI": 11, "XII": 12,
}  # fmt: skip
_SURE_NUMERALS = frozenset(("II", "III", "VII", "VIII", "XII"))
_NUMERAL_AFTER = pattern(
    r"[\s*_`'\"]*(?:母|段|级|級|类|類|型|期|回|路|区|區|档|檔|号|號|#|组|組|代|列|侧|側|柱|次|阶|层|层级|"
    r"[、/~～到至-](?:I{1,3}|IV|VI{0,3}|V)\s?[母段级類类型期回路区档号组])"
)
_NUMERAL_NOUNS = pattern(
    r"(?:phase|type|class|zone|stage|part|section|level|category|mark|mk|group|unit|volume|"
    r"chapter|tier|grade|step|mode|bus|boiler|turbine|reactor|train|line|plant|block|furnace|loop|"
    r"appendix|annex|version|division|table|hazard|generation)\s$",
    re.IGNORECASE,
)
_WORD_BEFORE = pattern(r"(?<![A-Za-z])[A-Za-z]{3,}\s$")
_SHORT_BEFORE_NUMBERS = frozenset("max min fig ch rev ver rm sch wk div vol".split())
_DOTTED = pattern(r"(?:[A-Za-z]\.){2,}(?![A-Za-z0-9])")
_DOTTED_READINGS = {
    "e.g.": "for example", "i.e.": "that is", "a.m.": "A M", "p.m.": "P M", "a.k.a.": "A K A"
}  # fmt: skip
_DAY_AFTER_MONTH = pattern(
    r"\.?\s+(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?![\d:.%]|\s?[ap]\.?m)"
    r"(?:,?\s+(?P<year>(?:19|20)\d\d)(?!\d))?"
)
_YEAR_AFTER_MONTH = pattern(r"\.?,?\s+(?P<year>(?:19|20)\d\d)(?![\d:.])")
_NUMBER_NEXT = pattern(r"\s*[#:=<>≥≤]?\s*[-+]?[\d.]")
_NUMBER_SIGN = pattern(
    r"[Nn][Oo]s?(?:\.\s*|[:：]\s?|\s+|(?=\d))#?(?=\d)|NO\.\s*#?(?=[A-Z]?\d)|No\.\s(?=of )"
)
_NITROGEN_OXIDE = pattern(
    r"NO[23](?:-N|⁻|\s?(?:浓度|含量|超标|检测|分析|传感|探头|探测|气体|泄漏|偏高)|\s?[\d.]+\s?(?:mg|ppm|ppb)"
    r"|\s(?:high|low|levels?|concentration|gas|alarm|sensor|detector|detected|emissions?|leak)\b)"
)
_GAS_AMOUNT_BEFORE = pattern(r"(?:ppm|ppb|mg/m[3³])(?: of)?$")
_SIGNED_NUMBER = pattern(r"(\d{1,4})(?![\d.]|\s?[-~–][ #]?\d)[#＃]?(?![A-Za-z])")
_TENS = pattern(
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty-(?:one|two|three|four|five|six|seven|eight|nine|"
    r"first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)s?(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_JOINED = pattern(r"[A-Za-z]{1,4}[-/](?:[A-Za-z]{1,4}(?![A-Za-z0-9])|(?=\s))")
_REFERENCE = pattern(r"(?P<short>pp|p|cf|ca|c)\.\s?(?=\d|[A-Z])")
_REFERENCES = {"p": "page", "pp": "pages", "cf": "compare", "ca": "about", "c": "about"}
_DASH_TO_NAME = pattern(r"\s?[-–]\s?[A-Z][a-z]{2,3}(?![a-z])")
_WORD_FOLLOWS = pattern(r"\s+(?:\d|[A-Za-z][a-z]*(?![A-Za-z0-9]))")
_ENGLISH_PHRASE = pattern(r" ?a\s+(?!No)[A-Za-z][a-z]+")
# An A before a lower-case word is the article, except in what the normaliser itself writes.
_ARTICLE = pattern(
    r" (?!(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"[a-z]+teen|[a-z]+ty|hundred|phase|plus|minus|point|dash|slash|dot|by|and|or|to|is|at|over|less|greater|not|equals?|"
    r"times|divided|squared|cubed|percent|approximately|much|number|colon|backslash|per|degrees?|"
    r"infinity|sum|up|down|left|angle|diameter|about|square|ohms|proportional|"
    rf"{'|'.join(name for _, name in GREEK.values())})\b)[A-Za-z][a-z]+(?![A-Za-z0-9])"
)
_SAME_TWICE = pattern(r"(?P<one>[A-Za-z]+)/(?P=one)(?![A-Za-z0-9])")
_EXTENSION = pattern(r"\.?[:：]?\s*(?=[\d+(（])")


def numeral_value(scan: Scan, word: str, start: int, end: int) -> int | None:
    """Value of a Roman numeral in Latin letters where the place makes it one."""
    if not _NUMERAL.match(word):
        return None
    before = scan.text[max(0, start - 12) : start]
    if re.search(r"[A-Za-z0-9]$", before) and not before.endswith("kV"):
        return None
    if _NUMERAL_AFTER.match(scan.text, end) and not re.search(r"(?:^|[^A-Za-z])[A-Z] $", before):
        if word == "X" and scan.text.startswith("线", end):
            return None
        return _NUMERAL_VALUES[word]
    after_han = re.search(rf"[{HAN}]\s?$", before) is not None
    if word in _SURE_NUMERALS and (after_han or re.match(rf"\s?[{HAN}]", scan.text[end : end + 2])):
        return _NUMERAL_VALUES[word]
    if _NUMERAL_NOUNS.search(before):
        return _NUMERAL_VALUES[word]
    if word in _SURE_NUMERALS and _WORD_BEFORE.search(before):
        return _NUMERAL_VALUES[word]
    return None


def _abbreviation(scan: Scan, token: str, start: int, end: int) -> tuple[str, int] | None:
    """A written short form at ``[start, end)`` and where it ends, full stop included."""
    lower = token.lower()
    text = scan.text
    if lower == "i" or lower not in ABBREVIATIONS:
        return None
    dotted = text.startswith(".", end)
    after = end + 1 if dotted else end
    full = ABBREVIATIONS[lower]
    if lower in ("ext", "tel") and _EXTENSION.match(text, after):
        chinese = scan.default == "zh"
        names = {"ext": ("分机", "extension"), "tel": ("电话", full)}[lower]
        return names[not chinese], after
    number_next = _NUMBER_NEXT.match(text, after) is not None
    if full in PROPER_WORDS:
        # A weekday or month is short only with its full stop or a number beside it.
        if (
            token[0].isupper()
            and token[1:].islower()
            and (
                (dotted and after < len(text))
                or number_next
                or token in SURE_WEEKDAYS
                or _DASH_TO_NAME.match(text, end)
                or scan.out[-1:] == ["to"]
            )
        ):
            return full, after
        return None
    if dotted and (
        number_next
        or (single := re.match(r"\s?[A-Z](?![A-Za-z])", text[after : after + 3]))
        or re.match(r"\s*(?:[a-z]|[,;:)]|$)|\s+[A-Z]", text[after : after + 64])
    ):
        last = not text[after : after + 64].strip()
        known_word = scan.lexicon.has_word(lower) and lower not in ALWAYS_ABBREVIATED
        if last and known_word:
            return None
        if (
            known_word
            and not (number_next or single)
            and re.match(r"\s+[A-Z]", text[after : after + 64])
            and (full not in TITLES)
        ):
            return None
        return full, (end if last else after)
    if lower in ALWAYS_ABBREVIATED and token != lower.upper():
        return full, end
    if lower in _SHORT_BEFORE_NUMBERS and number_next and not scan.all_caps:
        return full, end
    return None


def word(scan: Scan, start: int, token: str) -> int:
    """Say the Latin run ``token`` at ``start``; return where what was used ends."""
    text = scan.text
    end = start + len(token)
    if found_sign := number_sign_at(scan, start):
        return found_sign
    if (dotted := _DOTTED.match(text, start)) and _starts(text, start):
        name = dotted.group().lower()
        scan.say(_DOTTED_READINGS.get(name) or letters(name.replace(".", "")))
        return dotted.end()
    if reference := _REFERENCE.match(text, start):
        scan.say(_REFERENCES[reference["short"].lower()])
        return reference.end()
    value = numeral_value(scan, token, start, end)
    if value is not None:
        chinese = scan.language(start, end) == "zh"
        scan.say(zh.cardinal(str(value)) if chinese else en.cardinal(str(value)))
        return end
    if found := _abbreviation(scan, token, start, end):
        scan.say(found[0])
        if found[0] in MONTHS:
            return _after_month(scan, found[1])
        return found[1]
    if unit_end := _unit_alone(scan, start):
        return unit_end
    if token == "a":
        article = _WORD_FOLLOWS.match(text, end)
        if scan.default == "zh" and article:
            article = _ENGLISH_PHRASE.fullmatch(text[max(0, start - 1) : article.end()])
        said = "a" if article else "A"
    elif token == "A":
        said = "a" if scan.default == "en" and _ARTICLE.match(text, end) else "A"
    else:
        said = spoken(scan, token)
    scan.say(said)
    return _after_month(scan, end) if said in MONTHS else end


def number_sign_at(scan: Scan, start: int) -> int:
    """``No.`` before a number at ``start``; 0 if there is none."""
    match = _NUMBER_SIGN.match(scan.text, start)
    if match is None or not _starts(scan.text, start):
        return 0
    measured = _GAS_AMOUNT_BEFORE.search(scan.before(start, 10)) and match.end() == start + 2
    if measured or _NITROGEN_OXIDE.match(scan.text, start):
        return 0
    return number_sign(scan, start, match.end())


def special(scan: Scan, start: int) -> int:
    """``Wi-Fi``, ``HI-HI``, ``w/o`` at ``start``; 0 if there is none."""
    if match := _TENS.match(scan.text, start):
        scan.say(match.group().lower())
        return match.end()
    match = _JOINED.match(scan.text, start)
    if match is None or match.group().lower() not in SPECIAL_TOKENS:
        return 0
    scan.say(SPECIAL_TOKENS[match.group().lower()])
    return match.end()


def number_sign(scan: Scan, start: int, end: int) -> int:
    """``No.`` or ``#`` at ``[start, end)`` before a number: ``number three``, ``三号``."""
    if scan.language(start, end) == "en":
        scan.say("numbers" if scan.text[start : start + 3].lower() == "nos" else "number")
        return end
    if digits := _SIGNED_NUMBER.match(scan.text, end):
        scan.say(zh.digits(digits[1]) if digits[1][0] == "0" else zh.cardinal(digits[1]))
        scan.say("" if scan.text.startswith(("号", "號"), digits.end()) else "号")
        return digits.end()
    return end


def _starts(text: str, start: int) -> bool:
    return start == 0 or not (text[start - 1].isascii() and text[start - 1].isalnum())


def _unit_alone(scan: Scan, start: int) -> int:
    found = unit_alone(scan.text[start : start + 24])
    if found is None or _SAME_TWICE.match(scan.text, start):
        return 0
    unit, length = found
    scan.say(unit.zh if scan.language(start, start + length) == "zh" else unit.en_plural)
    return start + length


def _after_month(scan: Scan, end: int) -> int:
    if match := _DAY_AFTER_MONTH.match(scan.text, end):
        scan.say(en.ordinal(match["day"]))
        if match["year"]:
            scan.say(COMMA if "," in match.group() else "")
            scan.say(en.year(match["year"]))
        return match.end()
    if match := _YEAR_AFTER_MONTH.match(scan.text, end):
        scan.say(en.year(match["year"]))
        return match.end()
    return end
