"""The compiled pronunciation table, read in place from a memory map.

A file starts with :data:`MAGIC`, the number of sections (uint32) and one
directory entry a section: name (4 bytes), offset and length in bytes (uint32).
Numbers are little-endian; a section starts at a multiple of 8. ``tools.lexicon``
writes it. Only the pages that are looked at become resident.

Sections: ``SYLL`` pinyin syllables and ``ARPA`` ARPAbet symbols, one a line;
``READ`` ``SIMP`` ``ROOT`` (uint16 a character from U+3400): syllable number + 1
of the default reading, simplified form, state of the trie + 1; ``CODE`` ``VALU``
``FRST``: the trie of Chinese words; ``EXST`` ``EXOF`` ``EXSY``: states of words
whose reading isn't that of their characters, offsets, syllable numbers; ``TRAD``
traditional phrases that do not convert character by character; ``EIDX``
``EWRD``: English words in front-coded blocks; ``ACRO`` acronyms; ``L2S_``
letter-to-sound trees.
"""

from __future__ import annotations

import mmap
import struct
import sys
from bisect import bisect_left
from pathlib import Path

from edge_tts.errors import VoiceError

MAGIC = b"EDGETTSLEX\x00\x01"
FIRST_CHARACTER = 0x3400
LAST_CHARACTER = 0x9FFF
WORDS_IN_BLOCK = 16
# A word's value in the trie: cost, -ln(probability) in units of 1/COST_SCALE,
# in the low ten bits; the top bit says that the reading is in EXSY, the next one
# that four characters are two words, cut as one for safety.
COST_SCALE = 50.0
COST_MASK = 0x3FF
HAS_READING = 0x8000
IS_PAIR = 0x4000
PAIR_LENGTH = 4


class LexiconTable:
    """One open table. All lookups are read-only and safe in any thread."""

    def __init__(self, path: Path) -> None:
        """Map ``path``.

        Raises:
            VoiceError: the file is missing, torn, or of another format version.
        """
        if sys.byteorder != "little":
            raise VoiceError(f"{path}: pronunciation tables need a little-endian machine")
        try:
            with open(path, "rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as exc:
            raise VoiceError(f"{path}: can't open the pronunciation table: {exc}") from exc
        self.path = path
        self._bytes = memoryview(self._map)
        self._sections = self._read_directory()
        self._load_views()

    def _read_directory(self) -> dict[str, tuple[int, int]]:
        data = self._bytes
        if bytes(data[: len(MAGIC)]) != MAGIC:
            raise VoiceError(
                f"{self.path}: not a pronunciation table of this version; install the voice again"
            )
        try:
            (count,) = struct.unpack_from("<I", data, len(MAGIC))
            entries = [
                struct.unpack_from("<4sII", data, len(MAGIC) + 4 + 12 * index)
                for index in range(count)
            ]
        except struct.error as exc:
            raise VoiceError(f"{self.path}: the table is cut short: {exc}") from exc
        for name, offset, length in entries:
            if offset + length > len(data):
                raise VoiceError(f"{self.path}: section {name.decode()} is cut short")
        return {name.decode(): (offset, length) for name, offset, length in entries}

    def section(self, name: str) -> memoryview:
        """The bytes of one section.

        Raises:
            VoiceError: the table is older than this program.
        """
        try:
            offset, length = self._sections[name]
        except KeyError as exc:
            raise VoiceError(
                f"{self.path}: section {name} is missing; install the voice again"
            ) from exc
        return self._bytes[offset : offset + length]

    def lines(self, name: str) -> list[str]:
        """A text section as its lines."""
        return bytes(self.section(name)).decode("utf-8").split("\n")

    def _load_views(self) -> None:
        self.syllables = tuple(map(sys.intern, self.lines("SYLL")))
        self.symbols = tuple(map(sys.intern, self.lines("ARPA")))
        self.reading = self.section("READ").cast("H")
        self.simplified = self.section("SIMP").cast("H")
        self.root = self.section("ROOT").cast("H")
        self.code = self.section("CODE").cast("H")
        self.value = self.section("VALU").cast("H")
        self.first = self.section("FRST").cast("I")
        self._exception_states = self.section("EXST").cast("I")
        self._exception_offsets = self.section("EXOF").cast("I")
        self._exception_syllables = self.section("EXSY").cast("H")
        self._blocks = self.section("EIDX").cast("I")
        self._words = self.section("EWRD")

    def character_reading(self, character: str) -> str | None:
        """Default syllable of one Chinese character, or None where it has none."""
        index = ord(character) - FIRST_CHARACTER
        if not 0 <= index < len(self.reading):
            return "ling2" if character == "〇" else None
        number = self.reading[index]
        return self.syllables[number - 1] if number else None

    def simplify_character(self, character: str) -> str:
        """The simplified form of a traditional character; others come back as they are."""
        index = ord(character) - FIRST_CHARACTER
        if 0 <= index < len(self.simplified) and self.simplified[index]:
            return chr(self.simplified[index])
        return character

    def find(self, word: str) -> int | None:
        """State of the trie for a whole Chinese word, or None."""
        root = ord(word[0]) - FIRST_CHARACTER
        if not 0 <= root < len(self.root) or not self.root[root]:
            return None
        state = self.root[root] - 1
        for character in word[1:]:
            low, high = self.first[state], self.first[state + 1]
            code = ord(character)
            state = bisect_left(self.code, code, low, high)
            if state == high or self.code[state] != code:
                return None
        return state if self.value[state] else None

    def is_pair(self, word: str) -> bool:
        """Whether a word of four characters is two words."""
        state = self.find(word) if len(word) == PAIR_LENGTH else None
        return state is not None and bool(self.value[state] & IS_PAIR)

    def word_reading(self, word: str) -> tuple[str, ...] | None:
        """Syllables of a Chinese word of the table, or None where it isn't in it."""
        state = self.find(word)
        if state is None:
            return None
        if self.value[state] & HAS_READING:
            index = bisect_left(self._exception_states, state)
            start, end = self._exception_offsets[index], self._exception_offsets[index + 1]
            return tuple(self.syllables[n] for n in self._exception_syllables[start:end])
        return tuple(self.character_reading(character) or "" for character in word)

    def english(self, word: str) -> tuple[str, ...] | None:
        """ARPAbet of a lower-case English word of the table, or None."""
        try:
            key = word.encode("ascii")
        except UnicodeEncodeError:
            return None
        data, blocks = self._words, self._blocks
        low, high = 0, len(blocks)
        while low < high:
            middle = (low + high) // 2
            start = blocks[middle]
            length = data[start]
            if key < data[start + 1 : start + 1 + length].tobytes():
                high = middle
            else:
                low = middle + 1
        if not low:
            return None
        position = blocks[low - 1]
        end = blocks[low] if low < len(blocks) else len(data)
        # An entry: shared prefix length (none at a block's start), length of the
        # rest, the rest, number of symbols, symbols.
        found = b""
        shared = 0
        while position < end:
            length = data[position]
            found = found[:shared] + data[position + 1 : position + 1 + length].tobytes()
            position += 1 + length
            count = data[position]
            if found == key:
                symbols = self.symbols
                return tuple(symbols[n] for n in data[position + 1 : position + 1 + count])
            if found > key:
                return None
            position += 1 + count
            if position < end:
                shared = data[position]
                position += 1
        return None

    def close(self) -> None:
        """Drop the map. Views handed out before stay valid until they are dropped."""
        self.__dict__.clear()
