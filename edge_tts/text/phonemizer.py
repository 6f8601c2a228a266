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
_PATTERN = (
    r"(?P<zh>[\u3400-\u9fff〇]+)|(?P<en>[A-Za-z]+(?:['’][A-Za-z]+)*)|(?P<pause>["
    + re.escape("".join(PAUSE_MARKS))
    + "])"
)
_TOKEN = re.compile(_PATTERN)


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
    for match in _token_pattern(lexicon).finditer(lexicon.simplify(normalized)):
        text = match.group()
        kind = match.lastgroup
        if kind == "zh":
            words += chinese_words(text, lexicon, missing)
        elif kind == "pause":
            _add_pause(words, PAUSE_MARKS[text])
        else:
            own = lexicon.own_token(text)
            if own:
                words.append(Word(text, own.language, own.syllables))
            elif len(text) == 2 and text[0].isupper() and text[1] == "s":
                # The plural of a letter name, as in P L Cs.
                words.append(Word(text, "en", plural(lexicon.english(text[0]))))
            elif kind == "en":
                words.append(Word(text, "en", lexicon.english(text.replace("’", "'"))))
    lexicon.resolve_homographs(words)
    return apply_tone_sandhi(words, lexicon.is_chinese_word) if tones == "surface" else words


def _token_pattern(lexicon: Lexicon) -> re.Pattern[str]:
    """The pattern of tokens, with the user's keys first where they hold more than letters."""
    keys = [key for key in lexicon.own_tokens() if not key.isalpha()]
    if not keys:
        return _TOKEN
    keys.sort(key=lambda key: (-len(key), key))
    own = "|".join(map(re.escape, keys))
    return re.compile(rf"(?P<own>(?<![A-Za-z0-9])(?:{own})(?![A-Za-z0-9]))|{_PATTERN}")


def _add_pause(words: list[Word], mark: str) -> None:
    if not words:
        return
    last = words[-1]
    if last.language != "pause":
        words.append(Word(mark, "pause", (mark,)))
    elif _STRENGTH.index(mark) > _STRENGTH.index(last.text):
        words[-1] = Word(mark, "pause", (mark,))
