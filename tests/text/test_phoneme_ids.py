from __future__ import annotations

import numpy as np
import pytest

from edge_tts.errors import VoiceError
from edge_tts.text.inventory import END, PHONEMES, START, WORD_BOUNDARY, split_pinyin
from edge_tts.text.phoneme_ids import id_table, phonemes_to_ids, words_to_phonemes
from edge_tts.text.words import Word

pytestmark = pytest.mark.core


def zh(text: str, *syllables: str) -> Word:
    return Word(text, "zh", syllables)


PAUSE = Word(",", "pause", (",",))


def test_boundaries_stand_between_words_only() -> None:
    okay = Word("okay", "en", ("OW2", "K", "EY1"))
    words = [zh("电机", "dian4", "ji1"), okay, PAUSE, zh("好", "hao3")]
    assert words_to_phonemes(words) == (
        START, "d", "ian4", "j", "i1", WORD_BOUNDARY, "OW2", "K", "EY1", ",", "h", "ao3", END,
    )  # fmt: skip


def test_no_words_leave_the_two_ends() -> None:
    assert words_to_phonemes([]) == (START, END)


def test_erhua_is_a_phoneme_of_its_own() -> None:
    assert words_to_phonemes([zh("等会儿", "deng3", "huir4")])[-3:] == ("ui4", "rr", END)


def test_ids_are_places_in_the_inventory() -> None:
    ids = phonemes_to_ids((START, "d", "ian4", END), PHONEMES)
    assert ids.shape == (1, 4)
    assert ids.dtype == np.int64
    assert [PHONEMES[number] for number in ids[0]] == [START, "d", "ian4", END]
    assert np.array_equal(ids, phonemes_to_ids((START, "d", "ian4", END), id_table(PHONEMES)))


def test_a_voice_without_the_phoneme_is_a_voice_error() -> None:
    with pytest.raises(VoiceError, match="ian4"):
        phonemes_to_ids(("d", "ian4"), ("d",))


@pytest.mark.parametrize(
    ("syllable", "phonemes"),
    [
        ("zhuang1", ("zh", "uang1")),
        ("yi4", ("i4",)),
        ("lv4", ("l", "v4")),
        ("lü4", ("l", "v4")),
        ("nve4", ("n", "ve4")),
        ("jue2", ("j", "ve2")),
        ("er2", ("er2",)),
        ("nar3", ("n", "a3", "rr")),
        ("zi5", ("z", "ii5")),
        ("shi2", ("sh", "iii2")),
        ("yuan2", ("van2",)),
        ("de", ("d", "e5")),
    ],
)
def test_pinyin_splits(syllable: str, phonemes: tuple[str, ...]) -> None:
    assert split_pinyin(syllable) == phonemes


@pytest.mark.parametrize("syllable", ["", "4", "xx4", "dian7", "qq", "bzh1"])
def test_what_is_not_pinyin_is_refused(syllable: str) -> None:
    with pytest.raises(ValueError, match="pinyin"):
        split_pinyin(syllable)
