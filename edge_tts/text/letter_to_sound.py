"""Letter to sound: ARPAbet of an English word that no table holds.

One decision tree a letter, learned from a pronouncing dictionary: it asks about
the letters around, the sounds given to the two letters before, and where the
stress is. Method: Black, Lenzo and Pagel (1998), "Issues in building general
letter to sound rules".

Section ``L2S_``: a line of JSON (``outputs``, ``trees``: first node of each
letter), a line feed, padding to 4 bytes, then two uint16 a node. A question
holds ``feature << 12 | value``; its yes-branch follows, its no-branch lies
``jump`` nodes ahead. A leaf holds ``0xF000 | output number``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOWELS = frozenset("aeiouy")
# Values of letter features: 0 outside the word, 1 to 26 a letter; a question about
# IS_VOWEL asks whether the letter is one.
IS_VOWEL = 31
WINDOW = 4
# Features: letters -4 to -1, +1 to +4, the last three letters of the word, then
# the outputs of the two letters before, the stress so far, vowel groups to come.
LAST_LETTERS = 2 * WINDOW
PREVIOUS = LAST_LETTERS + 3
STRESS = PREVIOUS + 2
VOWELS_LEFT = STRESS + 1
LEAF = 15
MOST_VOWELS_LEFT = 4


class LetterToSound:
    """The trees of a table; cheap to build, reads them in place."""

    def __init__(self, section: memoryview) -> None:
        end = bytes(section[:16384]).index(b"\n")
        header = json.loads(bytes(section[:end]))
        self._outputs = [tuple(output.split()) for output in header["outputs"]]
        self._trees: list[int] = header["trees"]
        self._nodes = section[(end + 4) // 4 * 4 :].cast("H")

    def __call__(self, word: str) -> tuple[str, ...]:
        """ARPAbet of ``word``; characters other than letters are skipped."""
        letters = [LETTERS.index(c) + 1 for c in word.lower() if c in LETTERS]
        outputs: list[int] = []
        has_stress = 0
        for index in range(len(letters)):
            features = features_at(letters, index, outputs, has_stress)
            output = self._walk(self._trees[letters[index] - 1], features)
            outputs.append(output)
            has_stress |= any(symbol[-1] == "1" for symbol in self._outputs[output])
        return _one_primary_stress([s for output in outputs for s in self._outputs[output]])

    def _walk(self, node: int, features: Sequence[int]) -> int:
        nodes = self._nodes
        while True:
            question = nodes[2 * node]
            feature, value = question >> 12, question & 0xFFF
            if feature == LEAF:
                return value
            asked = features[feature]
            if asked == value or (
                value == IS_VOWEL and feature < PREVIOUS and asked in _VOWEL_NUMBERS
            ):
                node += 1
            else:
                node += nodes[2 * node + 1]


_VOWEL_NUMBERS = frozenset(LETTERS.index(vowel) + 1 for vowel in VOWELS)


def features_at(
    letters: Sequence[int], index: int, outputs: Sequence[int], has_stress: int
) -> list[int]:
    """Features of the letter at ``index``; ``letters`` count from 1, outputs from 0."""
    length = len(letters)
    features = [
        letters[at] if 0 <= at < length else 0
        for offset in (*range(-WINDOW, 0), *range(1, WINDOW + 1))
        for at in (index + offset,)
    ]
    features += [letters[-back] if back <= length else 0 for back in (1, 2, 3)]
    features += [outputs[index - back] + 1 if back <= index else 0 for back in (1, 2)]
    groups = 0
    for at in range(index + 1, length):
        if letters[at] in _VOWEL_NUMBERS and letters[at - 1] not in _VOWEL_NUMBERS:
            groups += 1
            if groups == MOST_VOWELS_LEFT:
                break
    features += [has_stress, groups]
    return features


def _one_primary_stress(symbols: list[str]) -> tuple[str, ...]:
    """A word has one primary stress: the first given, else on its first vowel."""
    vowels = [index for index, symbol in enumerate(symbols) if symbol[-1] in "012"]
    primary = [index for index in vowels if symbols[index][-1] == "1"]
    if vowels and not primary:
        full = [index for index in vowels if symbols[index][-1] == "2"] or vowels
        symbols[full[0]] = symbols[full[0]][:-1] + "1"
    for index in primary[1:]:
        symbols[index] = symbols[index][:-1] + "2"
    return tuple(symbols)
