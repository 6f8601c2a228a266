"""GPU networks in a thread of their own: work goes on beside them, and a hang holds up nobody.

A driver call that never returns can't be ended, only left behind. Whoever waits
for one here waits until its outputs are due, and then computes them elsewhere.
Copies, kernels and waiting for them let other Python threads run, and so does
the GPU worker; the few calls that do not, such as pushing a context, reach no GPU.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import cache, partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from edge_tts.errors import InferenceError

if TYPE_CHECKING:
    from edge_tts.inference.session import Array, InferenceSession, Run

T = TypeVar("T")

OPEN_TIMEOUT_S = 60.0
# What has not come back by then never will; whoever has a listener gives a nearer time.
RUN_TIMEOUT_S = 10.0
_CLOSE_TIMEOUT_S = 2.0


class GpuThread:
    """The one thread of a program that calls the GPU; starts with the first call.

    Calls run in the order in which they were made: one utterance at a time.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._under_way: Future[Any] | None = None
        self._late: Future[Any] | None = None

    @property
    def is_stuck(self) -> bool:
        """A call that was given up has not come back yet."""
        return self._late is not None and not self._late.done()

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Call a function in the thread, behind what was submitted before."""
        future: Future[T] = Future()
        with self._lock:
            if self._thread is None:
                # A daemon: a call that hangs must not keep the program from ending.
                self._thread = threading.Thread(target=self._work, name="gpu", daemon=True)
                self._thread.start()
        self._calls.put((future, function))
        return future

    def wait(self, future: Future[T], timeout_s: float, what: str) -> T:
        """The outcome of a call, or give it up.

        Raises:
            InferenceError: it did not come back in time; what the call raised.
        """
        try:
            return future.result(timeout_s)
        except FutureTimeoutError as exc:
            # It may be another call that hangs, with this one behind it.
            self._late = self._under_way
            future.cancel()
            raise InferenceError(
                f"{what} did not come back from the GPU within {1000 * timeout_s:.0f} ms"
            ) from exc

    def _work(self) -> None:
        while True:
            future, function = self._calls.get()
            if not future.set_running_or_notify_cancel():
                continue
            self._under_way = future
            try:
                future.set_result(function())
            except BaseException as exc:
                future.set_exception(exc)
            # Neither arrays nor sessions are kept while there is nothing to do.
            self._under_way = None
            del future, function


class PromptSession:
    """A network on the GPU that is waited for only as long as there is time.

    Made by :func:`open_prompt`.
    """

    def __init__(self, session: InferenceSession, thread: GpuThread, what: str) -> None:
        self._session = session
        self._thread = thread
        self._what = what
        self._has_run = False
        self._has_failed = False

    def start(self, inputs: dict[str, Array]) -> Run:
        """Begin a run in the GPU's thread."""
        return _PromptRun(self, inputs)

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        """Run and wait, at most :data:`RUN_TIMEOUT_S`.

        Raises:
            InferenceError: it failed, or did not come back.
        """
        return self.start(inputs).result()

    def close(self) -> None:
        """Free the network; after a failure without waiting, for somebody may be listening."""
        closing = self._thread.submit(self._session.close)
        if not self._has_failed:
            try:
                closing.result(_CLOSE_TIMEOUT_S)
            except FutureTimeoutError:
                pass


class _PromptRun:
    def __init__(self, owner: PromptSession, inputs: dict[str, Array]) -> None:
        self._owner = owner
        self._future: Future[dict[str, Array]] | None = None
        if not owner._thread.is_stuck:
            self._future = owner._thread.submit(partial(owner._session.run, inputs))

    def result(self, due_s: float | None = None) -> dict[str, Array]:
        owner = self._owner
        timeout_s = RUN_TIMEOUT_S
        # The first run loads kernels, once; no sound is there yet to be interrupted.
        if due_s is not None and owner._has_run:
            timeout_s = min(timeout_s, max(0.0, due_s - time.monotonic()))
        try:
            if self._future is None:
                raise InferenceError(f"{owner._what} can't run, the GPU has not come back yet")
            outputs = owner._thread.wait(self._future, timeout_s, owner._what)
        except InferenceError:
            owner._has_failed = True
            raise
        owner._has_run = True
        return outputs


def open_prompt(
    open_session: Callable[[], InferenceSession], what: str, thread: GpuThread | None = None
) -> PromptSession:
    """Open a network in the GPU's thread.

    Args:
        open_session: loads it.
        what: its name, for messages.
        thread: where; the program's one unless given.

    Raises:
        ProviderError: the provider can't be used.
        InferenceError: it can't be loaded, or the GPU does not come back.
    """
    chosen = thread or shared_gpu_thread()
    if chosen.is_stuck:
        raise InferenceError(f"{what} can't be loaded, the GPU has not come back yet")
    session = chosen.wait(chosen.submit(open_session), OPEN_TIMEOUT_S, what)
    return PromptSession(session, chosen, what)


@cache
def shared_gpu_thread() -> GpuThread:
    """The one GPU thread of this program."""
    return GpuThread()
