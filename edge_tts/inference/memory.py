"""Giving memory back to the system after a network was loaded or unloaded."""

from __future__ import annotations

import ctypes
import gc


def release_free_memory() -> None:
    """Collect garbage and hand glibc's free pages back to the kernel.

    Freed weights otherwise stay with the process as free heap. Does nothing
    more than collect where the C library has no ``malloc_trim`` (musl).
    """
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return
