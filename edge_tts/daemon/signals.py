"""Signals as wishes: noted when they come, carried out by the server's loop."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


class Signals:
    """SIGTERM and SIGINT ask to stop, SIGHUP asks to reload."""

    def __init__(self) -> None:
        self.stop_asked = False
        self.reload_asked = False

    @contextlib.contextmanager
    def caught(self, wakeup_fd: int) -> Iterator[None]:
        """Note signals from now on; each one also wakes the loop through ``wakeup_fd``."""
        handlers = {
            signal.SIGTERM: self._ask_stop,
            signal.SIGINT: self._ask_stop,
            signal.SIGHUP: self._ask_reload,
        }
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        previous_fd = signal.set_wakeup_fd(wakeup_fd, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(previous_fd)
            for number, handler in before.items():
                signal.signal(number, handler)

    def take_reload(self) -> bool:
        """Whether a reload was asked for since the last call."""
        asked, self.reload_asked = self.reload_asked, False
        return asked

    def _ask_stop(self, *_: object) -> None:
        self.stop_asked = True

    def _ask_reload(self, *_: object) -> None:
        self.reload_asked = True
