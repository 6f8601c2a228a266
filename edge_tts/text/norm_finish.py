"""The last step: pauses become punctuation in the script of their neighbours."""

from __future__ import annotations

import re

from edge_tts.text.norm_scan import COMMA, EXCLAMATION, FULL_STOP, QUESTION
from edge_tts.text.norm_signs import HAN_CHARACTER

_BLANKS = re.compile(r"\s{2,}|[^\S ]")
_PAUSES = re.compile(r" ?[\x01-\x04][ \x01-\x04]*")
_MARKS = {COMMA: "，,", FULL_STOP: "。.", EXCLAMATION: "！!", QUESTION: "？?"}


def _pause(match: re.Match[str], is_chinese: bool) -> str:
    """One mark for a run of pauses, in the script of its neighbours."""
    run = match.group()
    text = match.string
    start, end = match.span()
    mark = next((m for m in (QUESTION, EXCLAMATION, FULL_STOP) if m in run), COMMA)
    for character in run:
        if character in (QUESTION, EXCLAMATION):
            mark = character
            break
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
