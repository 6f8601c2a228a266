"""Writes the binary layout that ``edge_tts.text.lexicon_table`` reads."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path

from edge_tts.text.lexicon_table import MAGIC, WORDS_IN_BLOCK


def write_table(path: Path, sections: Mapping[str, bytes]) -> int:
    """Write ``sections`` in their order; returns the size in bytes."""
    offset = len(MAGIC) + 4 + 12 * len(sections)
    directory = [MAGIC, struct.pack("<I", len(sections))]
    body = []
    for name, data in sections.items():
        padding = -offset % 8
        offset += padding
        directory.append(struct.pack("<4sII", name.encode("ascii"), offset, len(data)))
        body += [bytes(padding), data]
        offset += len(data)
    # A running program may have the old file mapped: it must keep what it maps.
    aside = path.with_suffix(".part")
    aside.write_bytes(b"".join(directory + body))
    aside.replace(path)
    return offset


def lines(items: Sequence[str]) -> bytes:
    """A text section: one item a line."""
    return "\n".join(items).encode("utf-8")


def front_coded(
    words: Mapping[str, Sequence[str]], symbol_numbers: Mapping[str, int]
) -> tuple[bytes, bytes]:
    """English words and their symbols as ``(EIDX, EWRD)``."""
    blocks = array("I")
    data = bytearray()
    previous = b""
    for index, word in enumerate(sorted(words)):
        key = word.encode("ascii")
        if index % WORDS_IN_BLOCK == 0:
            blocks.append(len(data))
            rest = key
        else:
            shared = 0
            while shared < min(len(previous), len(key)) and previous[shared] == key[shared]:
                shared += 1
            data.append(shared)
            rest = key[shared:]
        symbols = bytes(symbol_numbers[symbol] for symbol in words[word])
        data += bytes([len(rest)]) + rest + bytes([len(symbols)]) + symbols
        previous = key
    return blocks.tobytes(), bytes(data)
