"""What starts with a digit: ordinals, 1#, quantities, mixed codes."""

from __future__ import annotations

from edge_tts.text import en, zh
from edge_tts.text.norm_codes import mixed_code, say_code
from edge_tts.text.norm_numbers import quantity
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import Scan
from edge_tts.text.norm_values import unit_after

_ORDINAL = pattern(r"(?P<number>\d{1,4})(?:st|nd|rd|th|ST|ND|RD|TH)(?![A-Za-z0-9])")
_DECADE = pattern(r"(?P<number>(?:1[6-9]|20)\d0)'?s(?![A-Za-z0-9])")
_HASH = pattern(
    r"(?P<first>\d{1,4})(?:\s(?=#[\u3400-\u9fff]))?#?(?:\s?(?P<mark>[-~–至到])\s?(?P<last>\d{1,4}))?#(?P<named>[号號])?"
)
_HYPHENATED_CODE = pattern(r"\d+(?:-\d+)*-\d*[A-Z]+\d[A-Z0-9]*(?:-[A-Z0-9]+){0,6}(?![A-Za-z0-9])")
_TIMES_OVER = pattern(r"(?P<number>\d+(?:\.\d+)?)x(?![A-Za-z0-9]|\s?\d)")
_FEET = pattern(r"(?P<feet>\d{1,2})'\s?(?P<inches>\d{1,2})(?:\"|″|'')")
_KELVIN = pattern(r"(?P<integer>\d{3,})(?:\.(?P<fraction>\d+))?\s?K(?![A-Za-z0-9-])")
_MULTIPLIED = pattern(r"(?P<integer>[1-9]\d{1,3})(?P<letter>[kKMG])(?![A-Za-z0-9.#Ω·/-])")
_NETWORK_NEXT = pattern(r"\s?(?:网|带宽|宽带|以太|光纤|端口|电口|光口|bit)")
_BARE_DEGREES = pattern(
    r"(?P<integer>\d{1,4})(?:\.(?P<fraction>\d+))?\s?(?P<scale>[CF])(?![A-Za-z0-9相])"
)
_TEMPERATURE_BEFORE = pattern(r"(?:[Tt]emp|TEMP|温|heat|cool)[^,;，。；]*$")
_DEGREES = {
    "C": ("摄氏度", "degrees Celsius"),
    "F": ("华氏度", "degrees Fahrenheit"),
}
_MONTH_DAY = pattern(
    r"(?P<month>1[0-2]|0?[1-9])/(?P<day>3[01]|[12]\d|0?[1-9])(?![\d/]|\s(?:of|in|turn|full))"
)
_ON_A_DAY = pattern(r"\b(?:on|by|due|until|since|before)\s$")
_RECKONED = pattern(r"\d+(?:[eE][-+]|e|[xX]\s?)\d")
_DIGITS_LETTER = pattern(r"(?P<digits>\d+)(?P<letters>[A-Za-z]+)")
_GROUPED_CODE = pattern(r"\d{3,4}(?: \d{3,4}){2,}(?!\d)")


def ordinal(scan: Scan, start: int) -> int:
    """``23rd`` or ``1990s`` at ``start``; 0 if there is none."""
    text = scan.text
    if match := _DECADE.match(text, start):
        if scan.language(start, match.end()) == "zh":
            scan.say(f"{zh.digits(match['number'])}年代")
        else:
            scan.say(en.decade(match["number"]))
        return match.end()
    match = _ORDINAL.match(text, start)
    if match is None:
        return 0
    if scan.language(start, match.end()) == "zh":
        scan.say(f"第{zh.cardinal(match['number'])}")
    else:
        scan.say(en.ordinal(match["number"]))
    return match.end()


def _name(number: str, chinese: bool) -> str:
    if number[0] == "0" or len(number) > 3:
        return zh.digits(number) if chinese else en.digits(number)
    return zh.cardinal(number) if chinese else en.cardinal(number)


def hash_number(scan: Scan, start: int) -> int:
    """``1#`` and ``1#~3#`` at ``start``: ``一号``, ``number one``; 0 if there is none."""
    match = _HASH.match(scan.text, start)
    if match is None:
        return 0
    first, last = match["first"], match["last"]
    chinese = scan.language(start, match.end()) == "zh"
    rising = last is not None and int(last) > int(first)
    said = _name(first, chinese)
    if last is not None:
        if chinese:
            joint = match["mark"] if match["mark"] in "至到" else "到" if rising else "杠"
            said = f"{said}{joint}{_name(last, True)}"
        else:
            said = f"{said} {'to' if rising else 'dash'} {_name(last, False)}"
    scan.say(f"{said}号" if chinese else f"number{'s' if rising else ''} {said}")
    return match.end()


def _multiple(scan: Scan, start: int) -> int:
    """``3x`` and ``24/7``, ``5'10"`` at ``start``; 0 if there is none."""
    text = scan.text
    if match := _TIMES_OVER.match(text, start):
        chinese = scan.language(start, match.end()) == "zh"
        integer, _, fraction = match["number"].partition(".")
        if chinese:
            scan.say((zh.number(integer, fraction) if fraction else zh.count(integer)) + "倍")
        else:
            scan.say(f"{en.number(integer, fraction or None)} times")
        return match.end()
    if match := _FEET.match(text, start):
        words = scan.words(scan.language(start, match.end()))
        feet, inches = words.cardinal(match["feet"]), words.cardinal(match["inches"])
        scan.say(f"{feet}英尺{inches}英寸" if words is zh else f"{feet} feet {inches} inches")
        return match.end()
    if match := _KELVIN.match(text, start):
        words = scan.words(scan.language(start, match.end()))
        scan.say(words.number(match["integer"], match["fraction"]))
        scan.say("开" if words is zh else "kelvin")
        return match.end()
    if match := _MULTIPLIED.match(text, start):
        language = scan.language(start, match.end())
        scan.say(scan.words(language).cardinal(match["integer"]))
        network = match["letter"] == "M" and _NETWORK_NEXT.match(text, match.end())
        scan.say("兆" if network and language == "zh" else match["letter"].upper())
        return match.end()
    match = _BARE_DEGREES.match(text, start)
    if match and _TEMPERATURE_BEFORE.search(text[max(0, start - 40) : start]):
        language = scan.language(start, match.end())
        words = scan.words(language)
        scan.say(words.number(match["integer"], match["fraction"]))
        scan.say(_DEGREES[match["scale"]][language == "en"])
        return match.end()
    match = _MONTH_DAY.match(text, start)
    if match and _ON_A_DAY.search(text[max(0, start - 8) : start]):
        scan.say(en.date(None, int(match["month"]), int(match["day"])))
        return match.end()
    return 0


def quantity_or_code(scan: Scan, start: int) -> int:
    """A number with its unit and what it is chained to, or a code such as ``6ES7``."""
    text = scan.text
    if found := _multiple(scan, start):
        return found
    if match := _HYPHENATED_CODE.match(text, start):
        say_code(scan, match.group(), scan.code_language(start, match.end()))
        return match.end()
    if match := _DIGITS_LETTER.match(text, start):
        digits = match["digits"]
        coded = digits[0] == "0" and len(digits) > 1
        if coded or not unit_after(text, match.end("digits")):
            reckoned = _RECKONED.match(text, start)
            if reckoned is None and (found := mixed_code(scan, start)):
                return found
    if match := _GROUPED_CODE.match(text, start):
        language = scan.language(start, match.end())
        scan.say(scan.words(language).digits(match.group().replace(" ", "")))
        return match.end()
    return quantity(scan, start)
