"""The judge's own arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from tools.voice.judge import edit_distance, pieces, without_ends


@pytest.mark.parametrize(
    ("reference", "heard", "distance"),
    [
        ("a b c", "a b c", 0), ("a b c", "", 3), ("", "a", 1), ("a b c", "a c", 1),
        ("a b c", "a x c", 1), ("a b c", "x a b c", 1), ("a b c d", "b a d c", 3),
    ],
)  # fmt: skip
def test_edit_distance_counts_insertions_deletions_and_substitutions(
    reference: str, heard: str, distance: int
) -> None:
    assert edit_distance(reference.split(), heard.split()) == distance


def test_long_speech_is_cut_in_its_pauses_and_nothing_is_lost() -> None:
    rate_hz = 16000
    speech = np.sin(np.arange(70 * rate_hz) / 20).astype(np.float32)
    for pause_s in (9, 19, 33, 41, 57):
        speech[pause_s * rate_hz : (pause_s + 1) * rate_hz] = 0
    cut = pieces(speech)
    np.testing.assert_array_equal(np.concatenate(cut), speech)
    assert all(len(piece) <= 25 * rate_hz for piece in cut)
    for end in np.cumsum([len(piece) for piece in cut])[:-1]:
        assert not speech[end - 100 : end + 100].any()
    assert [len(piece) for piece in pieces(speech[: 20 * rate_hz])] == [20 * rate_hz]


def test_every_system_is_heard_without_the_silence_it_adds() -> None:
    word = np.full(100, 0.5, np.float32)
    padded = np.concatenate([np.full(50, 1e-4, np.float32), word, np.zeros(900, np.float32)])
    np.testing.assert_array_equal(without_ends(padded), word)
    np.testing.assert_array_equal(without_ends(np.zeros(7, np.float32)), np.zeros(7, np.float32))
