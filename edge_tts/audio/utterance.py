"""One utterance on its way through a player: written by its speaker, reported by the player."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

import numpy as np
import numpy.typing as npt

from edge_tts.errors import DeviceError

Samples = npt.NDArray[np.int16]


@dataclass(frozen=True)
class PlaybackReport:
    """What became of an utterance; times are seconds of ``time.monotonic()``.

    Attributes:
        number: counts the player's utterances from 1.
        written_samples: at the player's rate, cut ones included.
        started_s: when the first non-silent sample left the device; None if none did.
        finished_s: when the last sample left it; None if none did.
        underruns: how often the device ran dry in the middle.
        cut: faded out before its end.
    """

    number: int
    written_samples: int
    started_s: float | None
    finished_s: float | None
    underruns: int
    cut: bool


class Utterance:
    """A handle from :meth:`Player.start`; as a context manager it calls ``end``.

    Must be ended, or nothing after it plays.
    """

    def __init__(
        self,
        number: int,
        changed: threading.Condition,
        ahead_samples: int,
        on_started: Callable[[float], None] | None,
    ) -> None:
        self.number = number
        self._changed = changed
        self._ahead_samples = ahead_samples
        self._on_started = on_started
        self._pending: deque[Samples] = deque()
        self._pending_samples = 0
        self._written = 0
        self._ended = False
        self._cut = False
        self._error: DeviceError | None = None
        self._report: PlaybackReport | None = None
        self._started_s: float | None = None

    @property
    def started_s(self) -> float | None:
        """When the first non-silent sample left the device; None before."""
        return self._started_s

    @property
    def is_cut(self) -> bool:
        return self._cut

    @property
    def buffered_samples(self) -> int:
        """Written samples that the sink has not taken yet."""
        return self._pending_samples

    def write(self, samples: Samples) -> bool:
        """Add mono int16 samples ``(N,)`` at the player's rate; False once it is cut.

        Blocks while more than ``ahead_s`` are buffered. The array must not be
        changed afterwards.

        Raises:
            DeviceError: the device was lost; speak the utterance again when it is back.
        """
        if samples.dtype != np.int16 or samples.ndim != 1:
            raise ValueError(f"expected int16 samples (N,), got {samples.dtype} {samples.shape}")
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._error
                    or self._cut
                    or self._ended
                    or not self._pending
                    or self._pending_samples + len(samples) <= self._ahead_samples
                )
            )
            self._raise_error()
            if self._cut:
                return False
            if self._ended:
                raise ValueError(f"utterance {self.number} has ended; start another one")
            if len(samples):
                self._pending.append(samples)
                self._pending_samples += len(samples)
                self._written += len(samples)
                self._changed.notify_all()
            return True

    def end(self) -> None:
        """Say that no samples follow."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def wait(
        self, timeout_s: float | None = None, *, until_cut: bool = False
    ) -> PlaybackReport | None:
        """Wait until the last sample left the device; None at the time-out.

        With ``until_cut`` None also as soon as it is cut, while its fade still sounds.

        Raises:
            DeviceError: the device was lost before that.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._report or self._error or (until_cut and self._cut), timeout_s
            )
            self._raise_error()
            return self._report

    def _raise_error(self) -> None:
        # A fresh one each time: several threads may wait for the same outcome.
        if self._error is not None:
            raise DeviceError(str(self._error)) from self._error

    def __enter__(self) -> Utterance:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    # What follows is the player's side; it holds the condition.

    def take(self, count: int) -> Samples | None:
        """Up to ``count`` pending samples, or None when there are none."""
        if not self._pending:
            return None
        first = self._pending.popleft()
        if len(first) > count:
            self._pending.appendleft(first[count:])
            first = first[:count]
        self._pending_samples -= len(first)
        self._changed.notify_all()
        return first

    @property
    def done(self) -> bool:
        return self._report is not None or self._error is not None

    @property
    def has_news(self) -> bool:
        return self._ended or bool(self._pending)

    @property
    def exhausted(self) -> bool:
        """Nothing is pending and nothing follows."""
        return self._ended and not self._pending

    def mark_cut(self) -> None:
        """Take no more samples; those pending stay for the fade, until `drop_pending`."""
        self._cut = True
        self._ended = True
        self._changed.notify_all()

    def drop_pending(self) -> None:
        self._pending.clear()
        self._pending_samples = 0
        self._changed.notify_all()

    def mark_started(self, at_s: float) -> Callable[[float], None] | None:
        """Note the start; returns the callback to call without the condition."""
        self._started_s = at_s
        self._changed.notify_all()
        return self._on_started

    def mark_finished(self, finished_s: float | None, underruns: int, *, cut: bool) -> None:
        self._report = PlaybackReport(
            self.number, self._written, self._started_s, finished_s, underruns, cut
        )
        self._changed.notify_all()

    def mark_failed(self, error: DeviceError) -> None:
        if not self.done:
            self._error = error
        self._pending.clear()
        self._pending_samples = 0
        self._changed.notify_all()
