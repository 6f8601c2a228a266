"""Puts the sections of the pronunciation table together."""

from __future__ import annotations

from array import array
from pathlib import Path

from edge_tts.text.inventory import ARPABET_CONSONANTS, ARPABET_VOWELS
from edge_tts.text.lexicon_table import (
    FIRST_CHARACTER,
    HAS_READING,
    IS_PAIR,
    LAST_CHARACTER,
)
from tools.lexicon.chinese import ChineseData, load_chinese, neighbour_rules
from tools.lexicon.english import homograph_rules, load_acronyms, load_dictionary, load_english
from tools.lexicon.letter_trees import accuracy, learn
from tools.lexicon.sorted_trie import SortedTrie
from tools.lexicon.table_writer import front_coded, lines, write_table

ARPABET = ARPABET_CONSONANTS + tuple(v + s for v in ARPABET_VOWELS for s in "012")


def _chinese_sections(data: ChineseData) -> dict[str, bytes]:
    syllables = sorted(
        set(data.readings.values()) | {s for _, reading in data.words.values() for s in reading}
    )
    numbers = {syllable: number for number, syllable in enumerate(syllables)}
    span = range(FIRST_CHARACTER, LAST_CHARACTER + 1)
    reading = array("H", (numbers.get(data.readings.get(chr(c), ""), -1) + 1 for c in span))
    simplified = array("H", (ord(data.simplified.get(chr(c), "\0")) for c in span))

    def plain(word: str) -> tuple[str, ...]:
        return tuple(data.readings.get(c, "") for c in word)

    trie = SortedTrie(
        (
            word,
            cost
            | (HAS_READING if syllables_ != plain(word) else 0)
            | (IS_PAIR if word in data.pairs else 0),
        )
        for word, (cost, syllables_) in sorted(data.words.items())
    )
    root = array("H", bytes(2 * len(span)))
    for state in range(trie.root_count):
        root[trie.code[state] - FIRST_CHARACTER] = state + 1
    exceptions = sorted(
        (trie.find(word), syllables_)
        for word, (_, syllables_) in data.words.items()
        if syllables_ != plain(word)
    )
    offsets, flat = array("I", [0]), array("H")
    for _, syllables_ in exceptions:
        flat.extend(numbers[s] for s in syllables_)
        offsets.append(len(flat))
    return {
        "SYLL": lines(syllables),
        "READ": reading.tobytes(),
        "SIMP": simplified.tobytes(),
        "ROOT": root.tobytes(),
        "CODE": trie.code.tobytes(),
        "VALU": trie.value.tobytes(),
        "FRST": trie.first.tobytes(),
        "EXST": array("I", (state for state, _ in exceptions)).tobytes(),
        "EXOF": offsets.tobytes(),
        "EXSY": flat.tobytes(),
        "NEAR": lines(neighbour_rules()),
        "TRAD": lines([f"{a} {b}" for a, b in sorted(data.traditional_phrases.items())]),
    }


def build(path: Path) -> dict[str, int]:
    """Build the table at ``path``; returns the size in bytes of each section."""
    sections = _chinese_sections(load_chinese())
    dictionary = load_dictionary()
    english = load_english(dictionary)
    numbers = {symbol: number for number, symbol in enumerate(ARPABET)}
    spoken, spelled = load_acronyms()
    sections["ARPA"] = lines(ARPABET)
    sections["EIDX"], sections["EWRD"] = front_coded(english, numbers)
    acronyms = [f"{word} {' '.join(symbols)}" for word, symbols in sorted(spoken.items())]
    sections["HOMO"] = lines(homograph_rules())
    sections["ACRO"] = lines([*acronyms, *sorted(spelled)])
    trainable = {word: symbols for word, symbols in dictionary.items() if word.isalpha()}
    sections["L2S_"] = learn(trainable)
    for measure, value in accuracy(sections["L2S_"], trainable).items():
        print(f"letter to sound, {measure}: {value:.4g}")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(path, sections)
    return {name: len(data) for name, data in sections.items()}
