"""What worker processes of the factory have in common."""

from __future__ import annotations

import ctypes
import signal

PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Let the kernel kill this process when its parent ends, however it ends.

    A pool's own ways don't work where the parent is killed: workers go on with what they have,
    and SIGINT, which they would get, is ignored by background jobs.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
