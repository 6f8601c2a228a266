"""Normalised text to words with their pronunciation."""

from __future__ import annotations

import re

from edge_tts.text.lexicon import Lexicon
from edge_tts.text.tone_sandhi import apply_tone_sandhi
from edge_tts.text.words import Tones, Word

__all__ = ["Word", "phonemize"]

PAUSE_MARKS = {
    "。": ".", "！": "!", "？": "?", "；": ".", "!": "!", "?": "?", ".": ".", ";": ".", "…": ",",
    "，": ",", "、": ",", "：": ",", ",": ",", ":": ",", "—": ",", "–": ",",
    "（": ",", "）": ",", "(": ",", ")": ",", "\n": ".",
}  # fmt: skip
_TOKEN = re.compile(
    r"(?P<zh>[\u3400-\u9fff〇]+)|(?P<en>[A-Za-z]+(?:'[A-Za-z]+)*'?)|(?P<pause>["
    + re.escape("".join(PAUSE_MARKS))
    + "])"
)


def phonemize(normalized: str, lexicon: Lexicon, tones: Tones = "surface") -> list[Word]:
    """Words and pauses of ``normalized``, a text as the normaliser leaves it.

    With ``tones="citation"`` every syllable keeps its dictionary tone. No two
    pauses follow each other and none comes first; of several the strongest stays.
    """
    words: list[Word] = []
    for match in _TOKEN.finditer(lexicon.simplify(normalized)):
        text = match.group()
        if match.lastgroup == "zh":
            words += _chinese(text, lexicon)
        elif match.lastgroup == "en":
            words.append(Word(text, "en", lexicon.english(text.strip("'"))))
        else:
            _add_pause(words, PAUSE_MARKS[text])
    return apply_tone_sandhi(words) if tones == "surface" else words


def _add_pause(words: list[Word], mark: str) -> None:
    if not words:
        return
    last = words[-1]
    if last.language != "pause":
        words.append(Word(mark, "pause", (mark,)))
    elif ",.?!".index(mark) > ",.?!".index(last.text):
        words[-1] = Word(mark, "pause", (mark,))


def _chinese(text: str, lexicon: Lexicon) -> list[Word]:
    words = []
    for word in lexicon.segment(text):
        syllables = lexicon.chinese(word) or tuple(
            filter(None, (lexicon.character(character) for character in word))
        )
        if syllables:
            words.append(Word(word, "zh", syllables))
    return words
