"""The chain of execution providers for one run of the program, and what failed on it."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ProviderStep:
    """One rung of the chain: a provider, the precision it computes in, and why (not)."""

    name: str
    precision: str
    reason: str
    usable: bool = True

    @property
    def on_gpu(self) -> bool:
        return self.name != "cpu"

    @property
    def file_precision(self) -> str:
        """Precision of the file it reads: fp16 is made from the fp32 graph."""
        return "int8" if self.precision == "int8" else "fp32"

    def __str__(self) -> str:
        return f"{self.name} {self.precision}"


class ProviderPlan:
    """An ordered chain of steps, which remembers those that failed. Thread-safe.

    A step that failed is not tried again, so that no alarm waits for the same
    failure twice.

    Args:
        steps: the steps to try, best first.
        skipped: the steps that this board can't use, with the reasons.
        forced: the first step that the voice has a file for is the only one.
    """

    def __init__(
        self,
        steps: tuple[ProviderStep, ...],
        skipped: tuple[ProviderStep, ...] = (),
        forced: bool = False,
    ) -> None:
        self.steps = steps
        self.skipped = skipped
        self.forced = forced
        self._lock = threading.Lock()
        self._failed: dict[tuple[str | None, ProviderStep], str] = {}
        self._in_use: dict[str, ProviderStep] = {}

    @property
    def in_use(self) -> dict[str, ProviderStep]:
        """The step that each network loaded so far runs on, by the network's name."""
        with self._lock:
            return dict(self._in_use)

    @property
    def failed(self) -> dict[ProviderStep, str]:
        """The steps that failed for some network or for all, and why."""
        with self._lock:
            return {step: reason for (_, step), reason in self._failed.items()}

    def steps_for(self, graph: str) -> tuple[ProviderStep, ...]:
        """The steps that have failed neither this network nor all of them."""
        with self._lock:
            return tuple(
                step
                for step in self.steps
                if (graph, step) not in self._failed and (None, step) not in self._failed
            )

    def leave(
        self, graph: str | None, step: ProviderStep, reason: str, next_step: ProviderStep
    ) -> None:
        """Note that a network, or all of them (``None``), go down to a step; log it once.

        A GPU's other steps between the two are left with the first: it is the same GPU.
        """
        with self._lock:
            if (graph, step) in self._failed or (None, step) in self._failed:
                return
            left = self.steps[self.steps.index(step) : self.steps.index(next_step)]
            for each in left:
                if each is step or each.on_gpu:
                    self._failed[graph, each] = reason
        who = f"the {graph} falls" if graph else "the networks fall"
        _log.warning("%s from %s to %s: %s", who, step, next_step, reason)

    def use(self, graph: str, step: ProviderStep) -> None:
        """Note the step that a network runs on."""
        with self._lock:
            self._in_use[graph] = step
