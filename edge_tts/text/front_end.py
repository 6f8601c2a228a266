"""The text front end: text of any length to phrases of phoneme ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edge_tts.errors import NothingToSpeakError
from edge_tts.text.inventory import END, PHONEMES, START, WORD_BOUNDARY
from edge_tts.text.lexicon import Lexicon
from edge_tts.text.norm_scan import Language
from edge_tts.text.normalizer import NormalizedText, normalize
from edge_tts.text.phoneme_ids import id_table, phonemes_to_ids, word_phonemes
from edge_tts.text.phonemizer import phonemize
from edge_tts.text.text_blocks import text_blocks
from edge_tts.text.words import Tones, Word

if TYPE_CHECKING:
    import numpy
    import numpy.typing

# Shorter phrases join the next one: a network makes little of two phonemes.
_FEWEST_PHONEMES = 6
# From this share of the maximum on a comma ends a phrase.
_COMMA_SHARE = 0.5
_MOST_WARNINGS = 20
_WORD_RUN = re.compile("(?P<blank>\\s+)|[\u3400-\u9fff]+")


@dataclass(frozen=True)
class Phrase:
    """What the encoder takes at once.

    ``ids`` is ``(1, T)`` int64; ``phonemes`` are the T symbols, with both ends;
    ``text`` is what they say.
    """

    ids: numpy.typing.NDArray[numpy.int64]
    phonemes: tuple[str, ...]
    text: str


class TextFrontEnd:
    """Text to words, and words to phrases of ids. Not for two texts at the same time.

    ``inventory`` holds a voice's symbols in id order; ``max_phonemes`` is the largest
    T, both ends counted. ``default_language`` is that of numbers in a text that
    nothing else tells.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        inventory: Sequence[str] = PHONEMES,
        *,
        max_phonemes: int = 200,
        default_language: Language = "en",
    ) -> None:
        self.lexicon = lexicon
        self._default_language: Language = default_language
        self.warnings: tuple[str, ...] = ()
        self._ids = id_table(inventory)
        self._room = max_phonemes - 2

    def normalize(self, text: str) -> NormalizedText:
        """Spell out ``text``; traditional characters become simplified ones first.

        The user's tokens with digits stay as they are.
        """
        pieces = self.lexicon.split_own_tokens(self.lexicon.simplify(text))
        if len(pieces) == 1:
            return self._normalize(pieces[0])
        parts = [self._normalize(piece) for piece in pieces[::2]]
        said = parts[0].text
        for token, part in zip(pieces[1::2], parts[1:], strict=True):
            said = f"{said} {token} {part.text}"
        warnings = dict.fromkeys(warning for part in parts for warning in part.warnings)
        return NormalizedText(said.strip(), tuple(warnings))

    def _normalize(self, text: str) -> NormalizedText:
        return normalize(text, self.lexicon, default_language=self._default_language)

    def phonemize(self, text: str, tones: Tones = "surface") -> list[Word]:
        """Words of ``text`` with their pronunciation, and pauses between them."""
        return phonemize(self.normalize(text).text, self.lexicon, tones)

    def phrases(self, text: str, tones: Tones = "surface") -> Iterator[Phrase]:
        """Phrases of ``text``, each made when it is asked for; memory stays bounded.

        A phrase ends where a sentence does, at a comma once it is long, at the latest
        when the voice's maximum is full. ``warnings`` grows on the way.

        Raises:
            NothingToSpeakError: no phrase came of the whole text.
        """
        self.warnings = ()
        spoken = False
        for phonemes, said in self._merged(self._pieces(text, tones)):
            spoken = True
            yield Phrase(phonemes_to_ids(phonemes, self._ids), phonemes, said)
        if not spoken:
            what = "the text is empty" if not text.strip() else "the text holds no word or number"
            raise NothingToSpeakError(f"nothing to speak: {what}")

    def word_starts(self, text: str) -> list[int]:
        """Where in ``text`` a word may begin: behind blanks and between Chinese words."""
        starts = []
        for match in _WORD_RUN.finditer(text):
            at = match.start()
            if match.lastgroup == "blank":
                starts.append(match.end())
                continue
            for word in self.lexicon.segment(self.lexicon.simplify(match.group())):
                if at > match.start():
                    starts.append(at)
                at += len(word)
        return starts

    def _warn(self, warnings: Iterable[str]) -> None:
        for warning in warnings:
            if warning not in self.warnings and len(self.warnings) < _MOST_WARNINGS:
                self.warnings += (warning,)

    def _pieces(self, text: str, tones: Tones) -> Iterator[tuple[list[str], str]]:
        """Phonemes without ends, and text, of pieces that fit the voice."""
        for block in text_blocks(text):
            normalized = self.normalize(block)
            missing: list[str] = []
            words = phonemize(normalized.text, self.lexicon, tones, missing=missing)
            self._warn(normalized.warnings)
            if missing:
                self._warn([f"no pronunciation for {' '.join(dict.fromkeys(missing))}"])
            yield from self._split(words)

    def _split(self, words: list[Word]) -> Iterator[tuple[list[str], str]]:
        phonemes: list[str] = []
        said: list[str] = []
        after_word = False
        for word in words:
            is_pause = word.language == "pause"
            symbols = word_phonemes(word)
            if len(phonemes) + 1 + len(symbols) > self._room and phonemes:
                yield phonemes, "".join(said)
                phonemes, said, after_word = [], [], False
            if is_pause and not phonemes:
                continue
            while len(symbols) > self._room:
                yield list(symbols[: self._room]), word.text
                symbols = symbols[self._room :]
            if after_word and not is_pause:
                phonemes.append(WORD_BOUNDARY)
            if said and word.language == "en" and said[-1][-1:].isascii():
                said.append(" ")
            phonemes += symbols
            said.append(word.text)
            after_word = not is_pause
            long = len(phonemes) >= self._room * _COMMA_SHARE
            if is_pause and (word.text != "," or long):
                yield phonemes, "".join(said)
                phonemes, said, after_word = [], [], False
        if phonemes:
            yield phonemes, "".join(said)

    def _merged(
        self, pieces: Iterator[tuple[list[str], str]]
    ) -> Iterator[tuple[tuple[str, ...], str]]:
        """Pieces with their ends put on; a tiny one joins the piece after it."""
        held: list[str] = []
        held_text = ""
        for phonemes, said in pieces:
            if held and len(held) + 1 + len(phonemes) <= self._room:
                joint = [] if held[-1] in ",.?!" else [WORD_BOUNDARY]
                phonemes, said = held + joint + phonemes, f"{held_text} {said}"
            elif held:
                yield (START, *held, END), held_text
            held, held_text = [], ""
            if len(phonemes) < _FEWEST_PHONEMES:
                held, held_text = phonemes, said
            else:
                yield (START, *phonemes, END), said
        if held:
            yield (START, *held, END), held_text
