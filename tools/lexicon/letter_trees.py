"""Learns the letter-to-sound trees that ``edge_tts.text.letter_to_sound`` reads."""

from __future__ import annotations

import json
import zlib
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from edge_tts.text.letter_to_sound import (
    IS_VOWEL,
    LEAF,
    LETTERS,
    PREVIOUS,
    VOWELS,
    LetterToSound,
    features_at,
)
from tools.lexicon.alignment import align

# Every 20th word, by its checksum, is kept apart to measure on.
HELD_OUT_SHARE = 20
# A question must save so many nats over its samples; sets the size of the trees.
LEAST_GAIN = 5.0
_VOWEL_NUMBERS = np.array([LETTERS.index(vowel) + 1 for vowel in sorted(VOWELS)])
Words = Mapping[str, Sequence[str]]


def is_held_out(word: str) -> bool:
    """Whether ``word`` is kept apart from training."""
    return zlib.crc32(word.encode()) % HELD_OUT_SHARE == 0


def learn(words: Words) -> bytes:
    """Section ``L2S_``, learned from all words that are not held out."""
    aligned = align({word: symbols for word, symbols in words.items() if not is_held_out(word)})
    counts = Counter(sounds for path in aligned.values() for sounds in path)
    # Outputs seen a handful of times are slips of the dictionary.
    outputs = sorted((s for s, n in counts.items() if n >= 8), key=lambda s: (-counts[s], s))
    numbers = {sounds: number for number, sounds in enumerate(outputs)}
    rows: list[list[list[int]]] = [[] for _ in LETTERS]
    targets: list[list[int]] = [[] for _ in LETTERS]
    for word, path in aligned.items():
        if any(sounds not in numbers for sounds in path):
            continue
        letters = [LETTERS.index(c) + 1 for c in word]
        given: list[int] = []
        stressed = 0
        for index, sounds in enumerate(path):
            rows[letters[index] - 1].append(features_at(letters, index, given, stressed))
            targets[letters[index] - 1].append(numbers[sounds])
            given.append(numbers[sounds])
            stressed |= any(sound[-1] == "1" for sound in sounds)
    nodes = array("H")
    trees = []
    for letter_rows, letter_targets in zip(rows, targets, strict=True):
        trees.append(len(nodes) // 2)
        _grow(nodes, np.array(letter_rows, np.int16), np.array(letter_targets, np.int16))
    header = json.dumps({"outputs": [" ".join(s) for s in outputs], "trees": trees}).encode()
    padding = b"\n" * (-(len(header) + 1) % 4 + 1)
    return header + padding + nodes.tobytes()


def _grow(nodes: array[int], features: Any, targets: Any) -> None:
    """Append the tree of these samples, yes-branch first."""
    question = _best_question(features, targets)
    if question is None:
        leaf = int(np.bincount(targets).argmax()) if len(targets) else 0
        nodes.extend((LEAF << 12 | leaf, 0))
        return
    feature, value = question
    yes = _holds(features[:, feature], feature, value)
    start = len(nodes)
    nodes.extend((feature << 12 | value, 0))
    _grow(nodes, features[yes], targets[yes])
    nodes[start + 1] = (len(nodes) - start) // 2
    _grow(nodes, features[~yes], targets[~yes])


def _holds(column: Any, feature: int, value: int) -> Any:
    if value == IS_VOWEL and feature < PREVIOUS:
        return np.isin(column, _VOWEL_NUMBERS)
    return column == value


def _best_question(features: Any, targets: Any) -> tuple[int, int] | None:
    """The question that saves most entropy, or None where none saves enough."""
    classes, coded = np.unique(targets, return_inverse=True)
    count = len(classes)
    if count < 2:
        return None
    total = np.bincount(coded, minlength=count)
    best_gain, best = LEAST_GAIN, None
    for feature in range(features.shape[1]):
        column = features[:, feature]
        values = int(column.max()) + 1
        table = np.bincount(column * count + coded, minlength=values * count)
        table = table.reshape(values, count)
        numbers = list(range(values))
        if feature < PREVIOUS:
            inside = _VOWEL_NUMBERS[np.less(_VOWEL_NUMBERS, values)]
            table = np.vstack([table, table[inside].sum(axis=0)])
            numbers.append(IS_VOWEL)
        gains = _nats(total[None]) - _nats(table) - _nats(total[None] - table)
        index = int(gains.argmax())
        if gains[index] > best_gain + 1e-9:
            best_gain, best = float(gains[index]), (feature, numbers[index])
    return best


def _nats(counts: Any) -> Any:
    """Entropy of each row times its number of samples."""
    sums = counts.sum(axis=1)
    logs = np.log(np.maximum(counts, 1)) * counts
    return np.log(np.maximum(sums, 1)) * sums - logs.sum(axis=1)


def accuracy(section: bytes, words: Words) -> dict[str, float]:
    """Shares of held-out words that come out right, and of their sounds.

    ``words`` counts whole words with stress, ``words_without_stress`` without;
    ``phonemes`` is one minus the edit distance over the length, stress left out.
    """
    model = LetterToSound(memoryview(section))
    held_out = [word for word in words if is_held_out(word)]
    right = plain_right = errors = length = 0
    for word in held_out:
        wanted, got = tuple(words[word]), model(word)
        right += wanted == got
        wanted, got = (tuple(s.rstrip("012") for s in one) for one in (wanted, got))
        plain_right += wanted == got
        errors += _distance(wanted, got)
        length += len(wanted)
    return {
        "held_out": len(held_out),
        "words": right / len(held_out),
        "words_without_stress": plain_right / len(held_out),
        "phonemes": 1 - errors / length,
    }


def _distance(a: Sequence[str], b: Sequence[str]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]
