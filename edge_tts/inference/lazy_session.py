"""A network that loads on its first run and unloads when nobody used it for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edge_tts.inference.memory import release_free_memory

if TYPE_CHECKING:
    from edge_tts.inference.session import Array, InferenceSession, Run


class LazySession:
    """Wraps the building of a session; thread-safe, one run at a time.

    Args:
        build: loads the network; called at most once between two unloads,
            however many threads ask at the same time.
        idle_unload_s: seconds without a run after which
            :meth:`unload_if_idle` unloads; ``None`` keeps it for ever.
        clock: seconds on a clock that never goes back.
    """

    def __init__(
        self,
        build: Callable[[], InferenceSession],
        idle_unload_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._build = build
        self._idle_unload_s = idle_unload_s
        self._clock = clock
        self._lock = threading.Lock()
        self._session: InferenceSession | None = None
        self._last_used_s = 0.0

    @property
    def loaded(self) -> bool:
        return self._session is not None

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        """Load if needed, then run.

        Raises:
            InferenceError: it could not load or run; the next run tries again.
        """
        with self._lock:
            try:
                return self._loaded_session().run(inputs)
            finally:
                self._last_used_s = self._clock()

    def start(self, inputs: dict[str, Array]) -> Run:
        """Load if needed, then begin a run.

        Raises:
            InferenceError: it could not load.
        """
        from edge_tts.inference.session import start

        with self._lock:
            self._last_used_s = self._clock()
            return _LazyRun(self, start(self._loaded_session(), inputs))

    def warm_up(self, inputs: dict[str, Array] | None = None) -> None:
        """Load now, and run once when inputs are given, so that the first text need not.

        Raises:
            InferenceError: it could not load or run.
        """
        with self._lock:
            session = self._loaded_session()
            if inputs is not None:
                session.run(inputs)
            self._last_used_s = self._clock()

    def unload(self) -> None:
        """Free the network and its memory; waits for a run under way."""
        with self._lock:
            self._unload()

    def unload_if_idle(self) -> bool:
        """Unload when the idle time is over; True when it did. Never waits for a run."""
        if self._idle_unload_s is None or not self._lock.acquire(blocking=False):
            return False
        try:
            idle_s = self._clock() - self._last_used_s
            if self._session is None or idle_s < self._idle_unload_s:
                return False
            self._unload()
            return True
        finally:
            self._lock.release()

    def close(self) -> None:
        """The same as :meth:`unload`."""
        self.unload()

    def _loaded_session(self) -> InferenceSession:
        if self._session is None:
            self._session = self._build()
        return self._session

    def _unload(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            session.close()
            del session
            release_free_memory()


@dataclass(frozen=True)
class _LazyRun:
    """A run that was begun; whose network was unloaded meanwhile, it loads again."""

    owner: LazySession
    run: Run

    def result(self, due_s: float | None = None) -> dict[str, Array]:
        with self.owner._lock:
            try:
                return self.run.result(due_s)
            finally:
                self.owner._last_used_s = self.owner._clock()
