"""What every execution provider offers: named arrays in, named arrays out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

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


@runtime_checkable
class StartableSession(Protocol):
    """A session whose runs go on while the caller does something else."""

    def start(self, inputs: dict[str, Array]) -> Run:
        """Begin a run, whose ``inputs`` may not be changed until its result is there.

        Raises:
            InferenceError: the network could not be loaded.
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

    Raises:
        InferenceError: the network could not be loaded.
    """
    if isinstance(session, StartableSession):
        return session.start(inputs)
    return DeferredRun(session, inputs)
