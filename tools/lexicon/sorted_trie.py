"""A trie whose children are sorted and contiguous, for lookup by bisection.

States are numbered breadth first, so the children of state ``s`` are the states
``first[s]`` up to, but not including, ``first[s + 1]``. The children of the root
come first, from state 0.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

_Children = dict[int, list[Any]]  # code -> [value, children]


class SortedTrie:
    """Arrays ``code`` and ``value`` (uint16) and ``first`` (uint32, one more than states)."""

    def __init__(self, words: Iterable[tuple[str, int]]) -> None:
        """Build from ``(word, value)``: characters below 65536, values from 1 to 65535."""
        root: _Children = {}
        for word, value in words:
            children = root
            node: list[Any] = []
            for character in word:
                node = children.setdefault(ord(character), [0, {}])
                children = node[1]
            node[0] = value
        self.code = array("H")
        self.value = array("H")
        self.first = array("I")
        self.root_count = len(root)
        level = [root]
        queued = 0
        while level:
            below = []
            for children in level:
                for code in sorted(children):
                    value, grandchildren = children[code]
                    self.code.append(code)
                    self.value.append(value)
                    below.append(grandchildren)
            queued += sum(map(len, level))
            position = queued
            for children in below:
                self.first.append(position)
                position += len(children)
            level = below
        self.first.append(queued)

    def find(self, word: str) -> int:
        """The state that ``word`` leads to; raises KeyError where there is none."""
        low, high = 0, self.root_count
        state = -1
        for character in word:
            for state in range(low, high):
                if self.code[state] == ord(character):
                    break
            else:
                raise KeyError(word)
            low, high = self.first[state], self.first[state + 1]
        return state
