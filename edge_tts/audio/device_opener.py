"""Opens and closes a device in a thread of its own, because either call may hang for ever."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable

from edge_tts.audio.sink import AudioSink
from edge_tts.audio.timed_queue import get_within
from edge_tts.errors import DeviceError, EdgeTtsError

_log = logging.getLogger(__name__)
_POLL_S = 0.05


class DeviceOpener:
    """Closes the old sink, opens the new one, and gives up on a call that hangs.

    ``hung`` is then True for good: the library is stuck in this process.
    """

    def __init__(self, open_sink: Callable[[], AudioSink], hang_after_s: float) -> None:
        self._open_sink = open_sink
        self._hang_after_s = hang_after_s
        self.hung = False

    def open(self, stop: Callable[[], bool]) -> AudioSink | None:
        """A fresh sink; None when ``stop`` became true meanwhile.

        Raises:
            DeviceError: the device can't be opened, or the call hangs.
        """
        return self._call(self._open_sink, "opening", stop)

    def close(self, sink: AudioSink) -> None:
        """Close a sink; what it says on its way out is logged only.

        Raises:
            DeviceError: the call hangs.
        """

        def close() -> None:
            try:
                sink.close()
            except EdgeTtsError as exc:
                _log.info("closing the audio device: %s", exc)

        self._call(close, "closing", lambda: False)

    def _call(
        self, function: Callable[[], AudioSink | None], what: str, stop: Callable[[], bool]
    ) -> AudioSink | None:
        call = _Call(function)
        threading.Thread(target=call.run, name=f"edgetts-{what}", daemon=True).start()
        deadline_s = time.monotonic() + self._hang_after_s
        while True:
            try:
                result = get_within(call.results, _POLL_S)
            except queue.Empty:
                if stop():
                    call.abandon()
                    return None
                if time.monotonic() < deadline_s:
                    continue
                self.hung = True
                call.abandon()
                raise DeviceError(
                    f"{what} the audio device hangs for {self._hang_after_s:.0f} s; "
                    "only a new process can reach it again"
                ) from None
            if isinstance(result, DeviceError):
                raise result
            if isinstance(result, Exception):
                raise DeviceError(f"{what} the audio device failed: {result}") from result
            return result


class _Call:
    """One call in a thread; a sink that comes too late is closed again."""

    def __init__(self, function: Callable[[], AudioSink | None]) -> None:
        self._function = function
        self._lock = threading.Lock()
        self._abandoned = False
        self.results: queue.SimpleQueue[AudioSink | Exception | None] = queue.SimpleQueue()

    def run(self) -> None:
        result: AudioSink | Exception | None
        try:
            result = self._function()
        except Exception as exc:  # carried to the caller's thread
            result = exc
        with self._lock:
            late = self._abandoned
            self.results.put(result)
        if late and result is not None and not isinstance(result, Exception):
            with contextlib.suppress(EdgeTtsError):
                result.close()

    def abandon(self) -> None:
        with self._lock:
            self._abandoned = True
            result = None if self.results.empty() else self.results.get()
        if result is not None and not isinstance(result, Exception):
            with contextlib.suppress(EdgeTtsError):
                result.close()
