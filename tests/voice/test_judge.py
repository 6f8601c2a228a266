"""The judge's own arithmetic."""

from __future__ import annotations

import pytest

from tools.voice.judge import edit_distance


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
