"""Hand-written stand-ins, one for each protocol that several test files need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from edge_tts.errors import NothingToSpeakError
from edge_tts.text.inventory import END, PHONEMES, START

_IDS = {phoneme: number for number, phoneme in enumerate(PHONEMES)}


@dataclass(frozen=True)
class FakePhrase:
    ids: npt.NDArray[np.int64]
    phonemes: tuple[str, ...]
    text: str


class FakeFrontEnd:
    """One phoneme a letter or digit, one phrase for each ``.`` or ``max_letters``.

    ``taken`` counts the phrases asked for, to see that a caller is lazy.
    """

    def __init__(self, max_letters: int = 40) -> None:
        self._max_letters = max_letters
        self.taken = 0
        self.warnings: tuple[str, ...] = ()

    def phrases(self, text: str) -> Iterator[FakePhrase]:
        found = False
        for sentence in text.split("."):
            letters = [character for character in sentence if character.isalnum()]
            for begin in range(0, len(letters), self._max_letters):
                found = True
                self.taken += 1
                yield fake_phrase("".join(letters[begin : begin + self._max_letters]))
        if not found:
            raise NothingToSpeakError("nothing to speak")

    def word_starts(self, text: str) -> list[int]:
        return [at for at in range(1, len(text)) if text[at - 1].isspace()]


def fake_phrase(letters: str) -> FakePhrase:
    first = _IDS["b"]
    spoken = [first + ord(letter) % (len(PHONEMES) - first) for letter in letters]
    ids = [_IDS[START], *spoken, _IDS[END]]
    return FakePhrase(np.array([ids], np.int64), tuple(PHONEMES[i] for i in ids), letters)
