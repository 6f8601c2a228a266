"""What every execution provider offers: named arrays in, named arrays out."""

from __future__ import annotations

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
