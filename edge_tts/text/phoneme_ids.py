"""Words to phonemes of the inventory, and phonemes to the ids of a voice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from edge_tts.errors import VoiceError
from edge_tts.text.inventory import END, START, WORD_BOUNDARY, split_pinyin
from edge_tts.text.words import Word

if TYPE_CHECKING:
    import numpy
    import numpy.typing

_split = lru_cache(maxsize=2048)(split_pinyin)


def word_phonemes(word: Word) -> tuple[str, ...]:
    """The phonemes of one word, without boundaries."""
    if word.language != "zh":
        return word.syllables
    phonemes: list[str] = []
    for syllable in word.syllables:
        phonemes += _split(syllable)
    return tuple(phonemes)


def words_to_phonemes(words: Iterable[Word]) -> tuple[str, ...]:
    """Phonemes of a phrase: ends at both sides, a boundary between two words.

    No boundary stands beside a pause or an end.
    """
    phonemes = [START]
    after_word = False
    for word in words:
        is_pause = word.language == "pause"
        if after_word and not is_pause:
            phonemes.append(WORD_BOUNDARY)
        phonemes += word_phonemes(word)
        after_word = not is_pause
    phonemes.append(END)
    return tuple(phonemes)


def id_table(inventory: Sequence[str]) -> dict[str, int]:
    """Id of every symbol of a voice's inventory."""
    return {symbol: index for index, symbol in enumerate(inventory)}


def phonemes_to_ids(
    phonemes: Sequence[str], inventory: Sequence[str] | Mapping[str, int]
) -> numpy.typing.NDArray[numpy.int64]:
    """Ids ``(1, T)`` int64 of ``phonemes`` in a voice's inventory.

    ``inventory`` is the list of symbols in id order, or the mapping made of it by
    :func:`id_table`, which saves building it each time.

    Raises:
        VoiceError: the voice has no id for a phoneme.
    """
    import numpy

    ids = inventory if isinstance(inventory, Mapping) else id_table(inventory)
    try:
        return numpy.array([[ids[phoneme] for phoneme in phonemes]], dtype=numpy.int64)
    except KeyError as exc:
        raise VoiceError(
            f"the voice has no phoneme {exc}; it was made for another version of this program"
        ) from exc
