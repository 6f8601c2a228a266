"""Normalised text to words with their pronunciation."""

from __future__ import annotations

import re

from edge_tts.text.chinese_words import chinese_words
from edge_tts.text.english_words import plural
from edge_tts.text.lexicon import Lexicon
from edge_tts.text.tone_sandhi import apply_tone_sandhi
from edge_tts.text.words import Tones, Word

__all__ = ["PAUSE_MARKS", "Word", "phonemize"]

PAUSE_MARKS = {
    "。": ".", "！": "!", "？": "?", "；": ".", "!": "!", "?": "?", ".": ".", ";": ".", "…": ",",
    "，": ",", "、": ",", "：": ",", ",": ",", ":": ",", "—": ",", "–": ",",
    "（": ",", "）": ",", "(": ",", ")": ",", "\n": ".",
}  # fmt: skip
_STRENGTH = ",.?!"
_TOKEN = re.compile(
    r"(?P<zh>[\u3400-\u9fff〇]+)|(?P<en>[A-Za-z]+(?:['’][A-Za-z]+)*)|(?P<pause>["
    + re.escape("".join(PAUSE_MARKS))
    + "])"
)


def phonemize(
    normalized: str,
    lexicon: Lexicon,
    tones: Tones = "surface",
    *,
    missing: list[str] | None = None,
) -> list[Word]:
    """Words and pauses of ``normalized``, a text as the normaliser leaves it.

    With ``tones="citation"`` every syllable keeps its dictionary tone. No two
    pauses follow each other and none comes first; of several the strongest stays.
    Characters without a reading are left out and added to ``missing``.
    """
    words: list[Word] = []
    for index, piece in enumerate(lexicon.split_own_tokens(lexicon.simplify(normalized))):
        own = lexicon.own_token(piece) if index % 2 else None
        if own:
            words.append(Word(piece, own.language, own.syllables))
        else:
            _add_words(words, piece, lexicon, missing)
    lexicon.resolve_homographs(words)
    return apply_tone_sandhi(words, lexicon.is_chinese_word) if tones == "surface" else words


def _add_words(words: list[Word], text: str, lexicon: Lexicon, missing: list[str] | None) -> None:
    for match in _TOKEN.finditer(text):
        token = match.group()
        kind = match.lastgroup
        if kind == "zh":
            words += chinese_words(token, lexicon, missing)
        elif kind == "pause":
            _add_pause(words, PAUSE_MARKS[token])
        elif own := lexicon.own_token(token):
            words.append(Word(token, own.language, own.syllables))
        elif len(token) == 2 and token[0].isupper() and token[1] == "s":
            # The plural of a letter name, as in P L Cs.
            words.append(Word(token, "en", plural(lexicon.english(token[0]))))
        else:
            words.append(Word(token, "en", lexicon.english(token.replace("’", "'"))))


def _add_pause(words: list[Word], mark: str) -> None:
    if not words:
        return
    last = words[-1]
    if last.language != "pause":
        words.append(Word(mark, "pause", (mark,)))
    elif _STRENGTH.index(mark) > _STRENGTH.index(last.text):
        words[-1] = Word(mark, "pause", (mark,))
