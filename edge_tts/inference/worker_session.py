"""Networks in a process of their own, so that unloading them gives the GPU's memory back.

Closing a CUDA session leaves the driver's memory with the process until that
ends. A worker also takes a crash or a hang of the driver upon itself: its
parent sees an error, and goes on with the next provider.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from edge_tts.errors import InferenceError, ProviderError
from edge_tts.inference.worker import DONE, PROVIDER_ERROR

if TYPE_CHECKING:
    from edge_tts.inference.session import Array

OPEN_TIMEOUT_S = 60.0
# Longer than any run takes, with kernels still to be loaded; a listener waits less, see GpuThread.
RUN_TIMEOUT_S = 10.0
_END_TIMEOUT_S = 2.0


class Worker:
    """One process for all networks of a program; starts with the first, ends with the last.

    Thread-safe.

    Args:
        open_timeout_s: longest wait for a network to load.
        run_timeout_s: longest wait for a run.
    """

    def __init__(
        self, open_timeout_s: float = OPEN_TIMEOUT_S, run_timeout_s: float = RUN_TIMEOUT_S
    ) -> None:
        self._open_timeout_s = open_timeout_s
        self._run_timeout_s = run_timeout_s
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._names: set[str] = set()

    @property
    def process_id(self) -> int | None:
        """The worker's process id while it runs."""
        return self._process.pid if self._process is not None else None

    def open(self, name: str, kind: str, *arguments: Any) -> WorkerSession:
        """Open a network in the worker; see :func:`edge_tts.inference.worker.open_network`.

        Raises:
            ProviderError: the provider can't be used there.
            InferenceError: the network can't be loaded, or the worker died of it.
        """
        with self._lock:
            if self._process is None:
                self._start()
            try:
                self._ask(("open", name, kind, arguments), self._open_timeout_s)
                self._names.add(name)
            finally:
                self._end_if_unused()
        return WorkerSession(self, name)

    def run(self, name: str, inputs: dict[str, Array]) -> dict[str, Array]:
        """Run a network.

        Raises:
            InferenceError: it failed, is not open, or the worker died or hangs.
        """
        with self._lock:
            if name not in self._names:
                raise InferenceError(f"the {name} is gone with its worker")
            outputs: dict[str, Array] = self._ask(("run", name, inputs), self._run_timeout_s)
            return outputs

    def close(self, name: str) -> None:
        """Close a network, and end the process with the last one; never raises."""
        with self._lock:
            if name in self._names:
                self._names.discard(name)
                if self._names:
                    with suppress(InferenceError):
                        self._ask(("close", name), self._open_timeout_s)
            self._end_if_unused()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "edge_tts.inference.worker"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
            )
            self._connection = Connection(ours.detach())

    def _ask(self, request: tuple[Any, ...], timeout_s: float) -> Any:
        assert self._connection is not None
        try:
            self._connection.send(request)
            if not self._connection.poll(timeout_s):
                raise InferenceError(f"the GPU worker did not answer within {timeout_s:g} s")
            mark, value = self._connection.recv()
        except InferenceError:
            self._end(wait_s=0.0)
            raise
        except (EOFError, OSError) as exc:
            status = self._end()
            raise InferenceError(f"the GPU worker died (status {status})") from exc
        if mark == DONE:
            return value
        raise (ProviderError if mark == PROVIDER_ERROR else InferenceError)(value)

    def _end_if_unused(self) -> None:
        if not self._names:
            self._end()

    def _end(self, wait_s: float = _END_TIMEOUT_S) -> int | None:
        """End the process, by force if it does not go in time; its exit status."""
        process, self._process = self._process, None
        self._names.clear()
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if process is None:
            return None
        try:
            return process.wait(wait_s)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


class WorkerSession:
    """A network that runs in a :class:`Worker`."""

    def __init__(self, worker: Worker, name: str) -> None:
        self._worker = worker
        self._name = name

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        """Run the network there.

        Raises:
            InferenceError: it failed, or the worker died or hangs.
        """
        return self._worker.run(self._name, inputs)

    def close(self) -> None:
        """Close the network there; twice is harmless."""
        self._worker.close(self._name)


@cache
def shared_worker() -> Worker:
    """The one worker of this program."""
    return Worker()
