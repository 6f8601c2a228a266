"""What the tests that run over the driver stub share."""

from __future__ import annotations

import ctypes
import os

driver = ctypes.CDLL(os.environ["STUB_DRIVER"])
driver.stub_count.restype = ctypes.c_long
driver.stub_memory.argtypes = [ctypes.c_size_t]

OUT_OF_MEMORY = 2
ILLEGAL_ADDRESS = 700


def count(what: str) -> int:
    """A counter of the driver stub; see ``stub_count``."""
    value = driver.stub_count(what.encode())
    assert value >= 0, f"the stub counts no {what}"
    return int(value)


def fail(function: str, code: int, after_calls: int = 0) -> None:
    """Let a call of the driver fail once."""
    driver.stub_fail(function.encode(), after_calls, code)
