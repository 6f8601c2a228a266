"""Optional real-time measures, each tried on its own and reported truthfully.

None of them is needed for correct speech; without the rights for one of them
(``CAP_SYS_NICE``, ``LimitRTPRIO``, ``LimitMEMLOCK``) the daemon goes on.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection
from dataclasses import dataclass

# <sys/mman.h> on every Linux architecture that the project runs on. Future
# mappings are left out: thread stacks and model files would be pinned whole.
_MCL_CURRENT = 1


@dataclass(frozen=True)
class Measure:
    """What was asked for and what came of it: ``on``, ``off`` or ``refused: why``."""

    name: str
    state: str


def pin_process(cores: Collection[int]) -> Measure:
    """Run this process's threads on these cores only; none means no pinning."""
    if not cores:
        return Measure("affinity", "off")
    try:
        os.sched_setaffinity(0, cores)
    except (OSError, ValueError) as exc:
        return Measure("affinity", f"refused: {exc}")
    return Measure("affinity", "on: " + ",".join(str(core) for core in sorted(cores)))


def schedule_fifo(thread_id: int, priority: int) -> Measure:
    """Give one thread (native id; 0 is the calling one) SCHED_FIFO; 0 means leave it.

    ``priority`` runs from 1 to 99 as in sched(7).
    """
    if priority <= 0:
        return Measure("fifo", "off")
    try:
        os.sched_setscheduler(thread_id, os.SCHED_FIFO, os.sched_param(priority))
    except (OSError, ValueError) as exc:
        return Measure("fifo", f"refused: {exc}")
    return Measure("fifo", f"on: {priority}")


def lock_memory(wanted: bool) -> Measure:
    """Keep what is in memory now from being paged out."""
    if not wanted:
        return Measure("mlock", "off")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(_MCL_CURRENT) != 0:
        return Measure("mlock", f"refused: {os.strerror(ctypes.get_errno())}")
    return Measure("mlock", "on")
