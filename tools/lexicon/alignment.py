"""Aligns the letters of words with their sounds, by Viterbi training."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

ROUNDS = 5
# A letter gives no, one or two sounds (x: K S, u: Y UW).
MOST_SOUNDS = 2
Aligned = list[tuple[str, ...]]


def align(words: Mapping[str, Sequence[str]]) -> dict[str, Aligned]:
    """For each word, the sounds of each letter; words that can't be aligned are left out.

    The first costs favour one sound a letter; each round then counts the best
    alignments of the one before.
    """
    costs: dict[tuple[str, tuple[str, ...]], float] = {}
    result: dict[str, Aligned] = {}
    for _ in range(ROUNDS):
        result = {}
        counts: dict[tuple[str, tuple[str, ...]], int] = defaultdict(int)
        totals: dict[str, int] = defaultdict(int)
        for word, symbols in words.items():
            path = _best(word, tuple(symbols), costs)
            if path is None:
                continue
            result[word] = path
            for letter, sounds in zip(word, path, strict=True):
                counts[letter, _plain(sounds)] += 1
                totals[letter] += 1
        costs = {key: -math.log(n / totals[key[0]]) for key, n in counts.items()}
    return result


def _plain(sounds: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sound.rstrip("012") for sound in sounds)


def _best(
    word: str, symbols: tuple[str, ...], costs: Mapping[tuple[str, tuple[str, ...]], float]
) -> Aligned | None:
    plain = _plain(symbols)
    reached: list[dict[int, tuple[float, int]]] = [{0: (0.0, 0)}]
    for index, letter in enumerate(word):
        here: dict[int, tuple[float, int]] = {}
        left = len(word) - index - 1
        for position, (cost, _) in reached[-1].items():
            for count in range(MOST_SOUNDS + 1):
                end = position + count
                if end > len(symbols) or len(symbols) - end > MOST_SOUNDS * left:
                    continue
                sounds = plain[position:end]
                step = costs.get((letter, sounds), 12.0) if costs else _first_cost(letter, sounds)
                if end not in here or cost + step < here[end][0]:
                    here[end] = (cost + step, position)
        reached.append(here)
    end = len(symbols)
    if end not in reached[-1]:
        return None
    path: Aligned = []
    for index in range(len(word), 0, -1):
        start = reached[index][end][1]
        path.append(symbols[start:end])
        end = start
    path.reverse()
    return path


def _first_cost(letter: str, sounds: tuple[str, ...]) -> float:
    """Rough costs to start from: vowels sound as vowels, consonants as consonants."""
    if len(sounds) != 1:
        return 2.0 if not sounds else 4.0
    is_vowel = sounds[0][0] in "AEIOU"
    return 0.5 if is_vowel == (letter in "aeiouy") else 5.0
