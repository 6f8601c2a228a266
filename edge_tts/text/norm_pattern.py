"""Regular expressions compiled on first use.

The normaliser has well over a hundred; a line needs a few of them, and compiling
all at import costs a cold start more than everything else in it.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _LazyPattern:
    """Stands for a compiled pattern; its methods are those of the real one after first use."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._source, self._flags)
        for method in ("match", "search", "fullmatch", "finditer", "findall", "sub"):
            self.__dict__[method] = getattr(compiled, method)
        return getattr(compiled, name)


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """``re.compile`` put off until the pattern is first used."""
    return cast("re.Pattern[str]", _LazyPattern(source, flags))
