"""The session that takes over, loaded before it is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING

from edge_tts.errors import InferenceError

if TYPE_CHECKING:
    from edge_tts.inference.provider_plan import ProviderStep
    from edge_tts.inference.session import InferenceSession


class Standby:
    """A session of a lower step that loads in the background.

    What loading takes, from a slow card with ONNX Runtime still to be imported,
    is not taken from the sound that is left when the GPU fails.

    Args:
        step: what it runs on.
        open_session: loads it.
    """

    def __init__(self, step: ProviderStep, open_session: Callable[[], InferenceSession]) -> None:
        self.step = step
        self._future: Future[InferenceSession] = Future()
        threading.Thread(
            target=self._load, args=(open_session,), name="standby", daemon=True
        ).start()

    def take(self) -> InferenceSession:
        """The session, which is the caller's from here on; waits until it is loaded.

        Raises:
            InferenceError: it could not be loaded.
        """
        return self._future.result()

    def close(self) -> None:
        """Free it, now or as soon as it is loaded."""
        self._future.add_done_callback(_close)

    def _load(self, open_session: Callable[[], InferenceSession]) -> None:
        try:
            self._future.set_result(open_session())
        except BaseException as exc:
            self._future.set_exception(exc)


def _close(future: Future[InferenceSession]) -> None:
    with suppress(InferenceError):
        future.result().close()
