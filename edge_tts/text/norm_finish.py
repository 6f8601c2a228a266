"""The last step: pauses become punctuation in the script of their neighbours."""

from __future__ import annotations

import re

from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import COMMA, EXCLAMATION, FULL_STOP, QUESTION
from edge_tts.text.norm_signs import HAN_CHARACTER

_BLANKS = pattern(r"\s{2,}|[^\S ]")
_PAUSES = pattern(r" ?[\x01-\x04][ \x01-\x04]*")
_MARKS = {
    COMMA: ("，", ","),
    FULL_STOP: ("。", "."),
    EXCLAMATION: ("！", "!"),
    QUESTION: ("？", "?"),
}


def _pause(match: re.Match[str], is_chinese: bool) -> str:
    """One mark for a run of pauses, in the script of its neighbours."""
    run = match.group()
    text = match.string
    start, end = match.span()
    marks = [character for character in run if character != " "]
    strong = [character for character in marks if character in (QUESTION, EXCLAMATION)]
    mark = strong[0] if strong else FULL_STOP if FULL_STOP in marks else COMMA
    if start == 0:
        return ""
    if end == len(text) and mark == COMMA:
        return ""
    chinese, latin = _MARKS[mark]
    if HAN_CHARACTER.match(text[start - 1]) or (end < len(text) and HAN_CHARACTER.match(text[end])):
        return chinese
    if is_chinese and (text[start - 1].isupper() or (end < len(text) and text[end].isupper())):
        return chinese
    return latin if end == len(text) else f"{latin} "


def finish(text: str, is_chinese: bool) -> str:
    """Turn pause marks into punctuation, and blanks into single spaces."""
    text = _BLANKS.sub(" ", text)
    return _PAUSES.sub(lambda match: _pause(match, is_chinese), text).strip()
