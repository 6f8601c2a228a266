"""English words to ARPAbet: the table, regular endings, compounds, then the model."""

from __future__ import annotations

from collections.abc import Callable

from edge_tts.text.letters import LETTER_NAMES

Symbols = tuple[str, ...]
Lookup = Callable[[str], "Symbols | None"]

_VOICELESS = frozenset("P T K F TH".split())
_SIBILANTS = frozenset("S Z SH ZH CH JH".split())
_PREFIXES: dict[str, Symbols] = {
    prefix: tuple(symbols.split())
    for prefix, symbols in {
        "over": "OW2 V ER0", "under": "AH2 N D ER0", "sub": "S AH2 B", "super": "S UW2 P ER0",
        "inter": "IH2 N T ER0", "micro": "M AY2 K R OW0", "multi": "M AH2 L T IY0",
        "non": "N AA2 N", "pre": "P R IY2", "re": "R IY0", "un": "AH0 N", "de": "D IY0",
        "anti": "AE2 N T IY0", "auto": "AO2 T OW0", "electro": "IH0 L EH2 K T R OW0",
        "hydro": "HH AY2 D R OW0", "thermo": "TH ER2 M OW0", "photo": "F OW2 T OW0",
        "turbo": "T ER2 B OW0", "mis": "M IH2 S",
    }.items()
}  # fmt: skip
# Prefixes of units, which keep the stress: KILO-volt, not kilo-VOLT.
_UNIT_PREFIXES: dict[str, Symbols] = {
    prefix: tuple(symbols.split())
    for prefix, symbols in {
        "kilo": "K IH1 L AH0", "mega": "M EH1 G AH0", "giga": "G IH1 G AH0", "tera": "T EH1 R AH0",
        "milli": "M IH1 L AH0", "nano": "N AE1 N AH0", "pico": "P IY1 K OW0",
        "centi": "S EH1 N T AH0", "deci": "D EH1 S AH0", "hecto": "HH EH1 K T AH0",
        "kibi": "K IH1 B IY0", "mebi": "M EH1 B IY0", "gibi": "G IH1 B IY0",
    }.items()
}  # fmt: skip
_SHORTEST_PART = 3
_LONGEST_COMPOUND = 40


def plural(stem: Symbols) -> Symbols:
    """``stem`` with the ending of plurals, possessives and third persons."""
    if stem[-1] in _SIBILANTS:
        return (*stem, "IH0", "Z")
    return (*stem, "S" if stem[-1] in _VOICELESS else "Z")


def past(stem: Symbols) -> Symbols:
    """``stem`` with the ending ``-ed``."""
    if stem[-1] in ("T", "D"):
        return (*stem, "IH0", "D")
    return (*stem, "T" if stem[-1] in _VOICELESS | _SIBILANTS - {"Z", "ZH", "JH"} else "D")


def inflected(word: str, lookup: Lookup) -> Symbols | None:
    """Reading of a regular inflection of a word that ``lookup`` knows, or None."""
    for possessive in ("'s", "s'"):
        if word.endswith(possessive):
            stem = lookup(word[: -len(possessive)])
            if stem:
                return plural(stem)
    if word.endswith("s") and not word.endswith("ss"):
        for stem_text in _stems(word, "s", "es"):
            if stem := lookup(stem_text):
                return plural(stem)
    if word.endswith("ed"):
        for stem_text in _stems(word, "ed", "d"):
            if stem := lookup(stem_text):
                return past(stem)
    for ending, symbols in (
        ("ing", ("IH0", "NG")),
        ("er", ("ER0",)),
        ("ers", ("ER0", "Z")),
        ("est", ("IH0", "S", "T")),
        ("able", ("AH0", "B", "AH0", "L")),
        ("ly", ("L", "IY0")),
        ("ness", ("N", "AH0", "S")),
        ("less", ("L", "AH0", "S")),
        ("ment", ("M", "AH0", "N", "T")),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_PART:
            for stem_text in _stems(word, ending):
                if stem := lookup(stem_text):
                    return stem + symbols
    return None


def _stems(word: str, *endings: str) -> list[str]:
    stems = []
    for ending in endings:
        if not word.endswith(ending):
            continue
        stem = word[: -len(ending)]
        if len(stem) < _SHORTEST_PART:
            continue
        stems.append(stem)
        if ending[0] in "aei":
            stems.append(stem + "e")
            if stem[-1] == stem[-2]:
                stems.append(stem[:-1])
        if stem[-1] == "i":
            stems.append(stem[:-1] + "y")
    return stems


def compound(word: str, lookup: Lookup) -> Symbols | None:
    """Reading of two known words written as one, or of a known word after a prefix."""
    if len(word) > _LONGEST_COMPOUND:
        return None
    for prefix, symbols in _PREFIXES.items():
        if word.startswith(prefix) and len(word) - len(prefix) > _SHORTEST_PART:
            rest = lookup(word[len(prefix) :]) or inflected(word[len(prefix) :], lookup)
            if rest:
                return symbols + rest
    for prefix, symbols in _UNIT_PREFIXES.items():
        if word.startswith(prefix) and len(word) - len(prefix) >= _SHORTEST_PART:
            rest = lookup(word[len(prefix) :]) or inflected(word[len(prefix) :], lookup)
            if rest:
                return symbols + _secondary(rest)
    # The longer first part first: it is the safer cut.
    for cut in range(len(word) - _SHORTEST_PART, _SHORTEST_PART - 1, -1):
        # Two short parts are more often chance than a compound.
        head = lookup(word[:cut]) if len(word) > 2 * _SHORTEST_PART else None
        if not head:
            continue
        tail = lookup(word[cut:]) or inflected(word[cut:], lookup)
        if tail:
            return head + _secondary(tail)
    return None


def _secondary(symbols: Symbols) -> Symbols:
    return tuple(symbol.replace("1", "2") for symbol in symbols)


def spell(word: str) -> Symbols:
    """Letter names of the letters of ``word``."""
    return tuple(s for letter in word.upper() if letter in LETTER_NAMES
                 for s in LETTER_NAMES[letter])  # fmt: skip
