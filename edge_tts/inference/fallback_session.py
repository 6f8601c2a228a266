"""A network that goes down its provider plan when a step fails, even between two runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from edge_tts.errors import InferenceError, ProviderError
from edge_tts.inference.provider_plan import ProviderPlan, ProviderStep
from edge_tts.inference.standby import Standby

if TYPE_CHECKING:
    from edge_tts.inference.session import Array, InferenceSession, Run

Opener = Callable[[Path, ProviderStep], "InferenceSession"]
Loaded = tuple["InferenceSession", ProviderStep]


class FallbackSession:
    """Runs on the highest step of a plan that works. Not thread-safe.

    While it runs on a GPU the same network waits on the CPU. A GPU that fails
    or is late in mid-sentence is left for that one, and not for another way to
    the same GPU.

    Args:
        paths: the network's files by precision, ``fp32`` and ``int8``.
        plan: the chain, which remembers what failed.
        graph: the network's name.
        openers: how a provider loads a file, by the provider's name.
    """

    def __init__(
        self,
        paths: Mapping[str, Path],
        plan: ProviderPlan,
        graph: str,
        openers: Mapping[str, Opener],
    ) -> None:
        self._paths = paths
        self._plan = plan
        self._graph = graph
        self._openers = openers
        self._loaded: Loaded | None = None
        self._standby: Standby | None = None

    @property
    def step(self) -> ProviderStep | None:
        """The step it runs on, ``None`` before it is loaded."""
        return self._loaded[1] if self._loaded else None

    def load(self) -> None:
        """Load on the first step that takes the network.

        Raises:
            ProviderError: the provider that was forced can't be used.
            InferenceError: no step could load it; the last one's reason.
        """
        self._load()

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        """Run the network, from here on lower down when the present step fails.

        Raises:
            InferenceError: no step left takes these inputs; the present step's
                reason, and that step stays in use, for the inputs are at fault.
        """
        return self.start(inputs).result()

    def start(self, inputs: dict[str, Array]) -> Run:
        """Begin a run, which comes from a lower step when the present one fails or is late.

        Raises:
            InferenceError: no step could load the network.
        """
        from edge_tts.inference.session import start

        loaded = self._loaded or self._load()
        return _FallbackRun(self, loaded, start(loaded[0], inputs), inputs)

    def close(self) -> None:
        """Free the network; the next run loads it again."""
        if self._standby is not None:
            self._standby.close()
            self._standby = None
        if self._loaded is not None:
            self._loaded[0].close()
            self._loaded = None

    def _run_below(
        self, loaded: Loaded, inputs: dict[str, Array], exc: InferenceError
    ) -> dict[str, Array]:
        if self._loaded is not loaded:
            # An earlier run has left that step already, or the network was unloaded since.
            return self.run(inputs)
        session, step = loaded
        for lower in self._way_down(step):
            try:
                replacement = self._open(lower)
                outputs = replacement.run(inputs)
            except InferenceError:
                continue
            self._leave(step, exc, lower)
            session.close()
            self._adopt(replacement, lower)
            return outputs
        raise exc

    def _load(self) -> Loaded:
        steps = self._steps()
        if not steps:
            raise InferenceError(
                f"the voice has no {self._graph} for {', '.join(map(str, self._plan.steps))}"
            )
        for step, lower in pairwise(steps):
            try:
                return self._adopt(self._open(step), step)
            except InferenceError as exc:
                self._leave(step, exc, lower)
        try:
            return self._adopt(self._open(steps[-1]), steps[-1])
        except InferenceError as exc:
            if self._plan.forced and not isinstance(exc, ProviderError):
                raise ProviderError(f"{steps[-1]} was asked for and failed: {exc}") from exc
            raise

    def _steps(self) -> tuple[ProviderStep, ...]:
        steps = tuple(
            step for step in self._plan.steps_for(self._graph) if step.file_precision in self._paths
        )
        return steps[:1] if self._plan.forced else steps

    def _steps_below(self, step: ProviderStep) -> tuple[ProviderStep, ...]:
        steps = self._steps()
        return steps[steps.index(step) + 1 :] if step in steps else steps

    def _way_down(self, step: ProviderStep) -> tuple[ProviderStep, ...]:
        below = self._steps_below(step)
        return tuple(lower for lower in below if not lower.on_gpu) if step.on_gpu else below

    def _open(self, step: ProviderStep) -> InferenceSession:
        standby = self._standby
        if standby is not None and standby.step == step:
            self._standby = None
            return standby.take()
        return self._openers[step.name](self._paths[step.file_precision], step)

    def _leave(self, step: ProviderStep, exc: InferenceError, lower: ProviderStep) -> None:
        # What keeps the provider from starting keeps it from every network.
        graph = None if isinstance(exc, ProviderError) else self._graph
        self._plan.leave(graph, step, str(exc), lower)

    def _adopt(self, session: InferenceSession, step: ProviderStep) -> Loaded:
        self._loaded = session, step
        self._plan.use(self._graph, step)
        lower = next(iter(self._way_down(step)), None)
        if step.on_gpu and lower is not None:
            path, opener = self._paths[lower.file_precision], self._openers[lower.name]
            self._standby = Standby(lower, lambda: opener(path, lower))
        return self._loaded


@dataclass(frozen=True)
class _FallbackRun:
    owner: FallbackSession
    loaded: Loaded
    run: Run
    inputs: dict[str, Array]

    def result(self, due_s: float | None = None) -> dict[str, Array]:
        try:
            return self.run.result(due_s)
        except InferenceError as exc:
            return self.owner._run_below(self.loaded, self.inputs, exc)
