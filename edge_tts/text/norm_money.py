"""Amounts of money with the sign before them."""

from __future__ import annotations

from edge_tts.text import en, zh
from edge_tts.text.norm_data import CURRENCIES
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import Scan

_CURRENCY = pattern(
    r"(?P<sign>-?)(?P<mark>[¥￥$€£])\s?(?P<integer>\d{1,3}(?:,\d{3})+|\d+)(?:(?:\.|(?<=\d),(?=\d\d(?!\d)))(?P<fraction>\d+))?"
    r"(?P<scale>\s?(?:[万亿千]|[kKMB](?![A-Za-z])|million|billion))?"
)
_CODED = pattern(
    r"(?:(?P<before>USD|EUR|GBP|RMB|CNY)\s?)?(?P<integer>\d[\d,]*)(?:\.(?P<fraction>\d+))?"
    r"(?P<scale>\s?[万亿])?(?:\s?(?P<after>USD|EUR|GBP|RMB|CNY))?(?![\dA-Za-z])"
)
CODED_BEFORE = frozenset("USD EUR GBP RMB CNY".split())
_MARKS = {"USD": "$", "EUR": "€", "GBP": "£", "RMB": "¥", "CNY": "¥"}
_SCALES = {
    "k": ("千", "thousand"),
    "K": ("千", "thousand"),
    "M": ("百万", "million"),
    "B": ("十亿", "billion"),
}


def coded(scan: Scan, start: int) -> int:
    """``USD 100`` and ``100 RMB`` at ``start``; 0 if there is none."""
    match = _CODED.match(scan.text, start)
    if match is None or bool(match["before"]) == bool(match["after"]):
        return 0
    integer, fraction = match["integer"].replace(",", ""), match["fraction"]
    zh_name, one, many, _ = CURRENCIES[_MARKS[match["before"] or match["after"]]]
    if scan.language(start, match.end()) == "zh":
        scan.say(zh.number(integer, fraction) if fraction else zh.count(integer))
        scan.say((match["scale"] or "").strip() + zh_name)
    else:
        scan.say(f"{en.number(integer, fraction)} {one if integer == '1' else many}")
    return match.end()


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
