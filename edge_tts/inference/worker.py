"""The process that holds the GPU: opens networks and runs them for its parent.

Started by :mod:`edge_tts.inference.worker_session` with a socket as its
standard input. It ends when the parent ends or closes its last network, and
with it goes everything that CUDA keeps in a process.
"""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edge_tts.errors import InferenceError, ProviderError

if TYPE_CHECKING:
    from edge_tts.inference.session import InferenceSession

# How an answer is marked: with what was asked for, or with the kind of error.
DONE, PROVIDER_ERROR, INFERENCE_ERROR = "done", "provider error", "inference error"


def open_network(kind: str, *arguments: Any) -> InferenceSession:
    """Open a network: ``("tensorrt", graph path, graph, engine folder)`` or
    ``("onnx", path, provider, threads, keep_memory)``.

    Raises:
        ProviderError, InferenceError: it can't be opened.
    """
    if kind == "tensorrt":
        from edge_tts.inference.engines import open_engine

        path, graph, folder = arguments
        return open_engine(Path(path), graph, Path(folder))
    from edge_tts.inference.onnx_session import OnnxSession

    path, provider, threads, keep_memory = arguments
    return OnnxSession(
        Path(path), provider=provider, threads=threads, keep_memory=keep_memory
    ).load()


def serve(connection: Connection) -> None:
    """Answer requests until the parent is gone.

    A request is ``("open", name, kind, arguments)``, ``("run", name, inputs)`` or
    ``("close", name)``; an answer ``(mark, value)``.
    """
    sessions: dict[str, InferenceSession] = {}
    while True:
        try:
            verb, name, *rest = connection.recv()
        except EOFError:
            return
        value: Any = None
        try:
            if verb == "open":
                sessions[name] = open_network(rest[0], *rest[1])
            elif verb == "run":
                value = sessions[name].run(rest[0])
            else:
                sessions.pop(name).close()
            answer = DONE, value
        except ProviderError as exc:
            answer = PROVIDER_ERROR, str(exc)
        except InferenceError as exc:
            answer = INFERENCE_ERROR, str(exc)
        connection.send(answer)


def main() -> None:
    # The parent decides when to stop, also when Ctrl-C reaches both.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(os.dup(sys.stdin.fileno()))
    serve(connection)


if __name__ == "__main__":
    main()
