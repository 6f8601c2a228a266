"""English amounts that describe the noun after them: a five kilowatt motor, a two inch valve."""

from __future__ import annotations

from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import Scan

# What an amount before it describes: a five kilowatt motor.
_DESCRIBED = pattern(
    r"[ -](?:(?:supplie|motor|pump|cable|line|hose|pipe|valve|breaker|crane|resistor|fuse|signal|"
    r"loop|sensor|feeder|transformer|drive|fan|gauge|relay|bolt|adapter|circuit|panel|input|output|"
    r"module|coil|winding|heater|lamp|generator|boiler|timer|wire|socket|fitting|flange|bearing|"
    r"shaft|tank|compressor|inverter|charger|conductor|contactor|alarm|main)s?|supply|batter(?:y|ies)|"
    r"bus|busbar|switch|switchgear|delay|warning|interval|window|ladder|rail|network|link|port|header|"
    r"hole|rod|nozzle|plug|elbow|nipple|orifice|meter|wafers?)(?![A-Za-z])"
)
_ARTICLE_BEFORE = pattern(r"(?<![A-Za-z])[Aa]n?\s[-\d.,]*$")
_NOT_DESCRIBED = pattern(
    r"\s?(?:$|[^\sA-Za-z]|(?:above|below|from|of|over|under|and|or|to|too|high|higher|low|lower|long|"
    r"wide|deep|thick|tall|in|at|on|off|is|was|are|were|max|min|per|by|for|with|exceeds?|x|left|"
    r"remaining|clearance)(?![A-Za-z]))"
)


def describes(scan: Scan, start: int, end: int) -> bool:
    """Whether the amount describes the noun after it: ``24 V supply``, ``2" valve``."""
    text = scan.text
    if text[end - 1] in '"″':
        return text[end : end + 1] in (" ", "-") and not _NOT_DESCRIBED.match(text, end)
    if _DESCRIBED.match(text, end):
        return True
    article = _ARTICLE_BEFORE.search(text[max(0, start - 6) : start])
    return article is not None and not _NOT_DESCRIBED.match(text, end)
