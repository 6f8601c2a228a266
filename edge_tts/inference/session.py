"""What every execution provider offers: named arrays in, named arrays out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]


class InferenceSession(Protocol):
    """One loaded network. Not thread-safe: one caller at a time."""

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        """Run the network once.

        Raises:
            InferenceError: the network refused the shapes or failed to run.
        """
        ...

    def close(self) -> None:
        """Free everything the network holds; calling it twice is harmless."""
        ...


class Run(Protocol):
    """A run of a network that somebody will want the outputs of."""

    def result(self, due_s: float | None = None) -> dict[str, Array]:
        """The outputs, waited for.

        Args:
            due_s: when they are needed, in seconds of ``time.monotonic()``. A
                session that can be late gives up then; ``None`` leaves it its own limit.

        Raises:
            InferenceError: the network failed, or was too late.
        """
        ...


@dataclass(frozen=True)
class DeferredRun:
    """A run by a session that works in its caller's thread alone: it waits for ``result``.

    So the order of work on a CPU stays the one in which results are asked for.
    """

    session: InferenceSession
    inputs: dict[str, Array]

    def result(self, due_s: float | None = None) -> dict[str, Array]:
        """See :meth:`Run.result`; a run on the CPU is never given up."""
        return self.session.run(self.inputs)


def start(session: InferenceSession, inputs: dict[str, Array]) -> Run:
    """Begin a run at once where the session can, else with its result.

    A session whose runs go on while the caller does something else has ``start(inputs)``,
    which gives a :class:`Run`; the inputs may not be changed until its result is there.

    Raises:
        InferenceError: the network could not be loaded.
    """
    # Asked for by name: whether it follows a protocol takes Python 25 microseconds to tell.
    begin: Callable[[dict[str, Array]], Run] | None = getattr(session, "start", None)
    return begin(inputs) if begin is not None else DeferredRun(session, inputs)
