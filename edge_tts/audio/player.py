"""Drives one sink: utterances in, sample-true playback reports out, device loss survived.

An utterance is written ahead of time into a bounded buffer; one thread feeds
the sink, holds the device against the clock and reports. When the device is
lost, every utterance not finished fails with a DeviceError and the player
reopens the sink by itself: speak them again once ``wait_ready`` says so.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Literal

from edge_tts.audio.device_opener import DeviceOpener
from edge_tts.audio.device_watchdog import DeviceWatchdog, Patience
from edge_tts.audio.feeder import Feeder
from edge_tts.audio.sink import AudioSink
from edge_tts.audio.utterance import PlaybackReport, Utterance
from edge_tts.errors import DeviceError

__all__ = ["DeviceState", "PlaybackReport", "Player", "Utterance"]

DeviceState = Literal["closed", "ready", "asleep", "lost", "fatal"]
StateCallback = Callable[[DeviceState, str], None]

_log = logging.getLogger(__name__)
_TICK_S = 0.2
_WRITE_S = 0.05
_DRAIN_S = 0.3


class Player:
    """Plays utterances one after another through a sink that it opens and reopens.

    Cheap to build; ``open`` starts the thread. Every method may be called from
    any thread. Samples are mono int16 at ``sample_rate_hz``; when the sink runs
    at another rate they are converted.

    Args:
        open_sink: opens the device anew at each call; raises DeviceError.
        sample_rate_hz: of the samples written.
        ahead_s: how much may be written ahead before ``Utterance.write`` blocks.
        fade_ms: length of the fade when an utterance is cut.
        lead_ms: silence before an utterance that follows a second without any.
        on_state: called from the player's thread, quickly, at each change of the device.
        sleep_after_s: close the device after so much silence and open it for the
            next utterance; None keeps it awake, and the first syllable safe.
        stall_s: how long the device's clock may stand still before the device counts as lost.
        backoff_s: waits before each further try to reopen; the last one repeats.
        fatal_after_s: an open or close that hangs for longer makes the player
            ``fatal``: only a new process can reach the device again.
        thread_setup: run first in the feeding thread (real-time priority).
    """

    def __init__(
        self,
        open_sink: Callable[[], AudioSink],
        *,
        sample_rate_hz: int,
        ahead_s: float = 5.0,
        fade_ms: float = 10.0,
        lead_ms: float = 0.0,
        on_state: StateCallback | None = None,
        sleep_after_s: float | None = None,
        stall_s: float = 1.0,
        backoff_s: tuple[float, ...] = (0.1, 0.25, 0.5, 1.0),
        fatal_after_s: float = 8.0,
        thread_setup: Callable[[], None] | None = None,
    ) -> None:
        self._sample_rate_hz = sample_rate_hz
        self._ahead_samples = max(1, round(ahead_s * sample_rate_hz))
        self._fade_ms, self._lead_ms = fade_ms, lead_ms
        self._on_state = on_state
        self._sleep_after_s = sleep_after_s
        self._stall_s = stall_s
        self._backoff_s = backoff_s
        self._opener = DeviceOpener(open_sink, fatal_after_s)
        self._close_wait_s = 2 * fatal_after_s + 1.0
        self._thread_setup = thread_setup
        self._changed = threading.Condition()
        self._state: DeviceState = "closed"
        self._detail = "not opened yet"
        self._patience = Patience()
        self._live: list[Utterance] = []  # every utterance without an outcome yet
        self._waiting: deque[Utterance] = deque()  # those not begun
        self._cut_wanted = False
        self._closing = False
        self._numbers = self._losses = self._rounds = 0
        self._thread: threading.Thread | None = None
        self._sink: AudioSink | None = None

    @property
    def sample_rate_hz(self) -> int:
        return self._sample_rate_hz

    @property
    def state(self) -> DeviceState:
        return self._state

    @property
    def detail(self) -> str:
        """Why the device is in its state, as a sentence for people."""
        return self._detail

    @property
    def fatal(self) -> bool:
        """True when only a new process can bring the device back."""
        return self._state == "fatal"

    @property
    def latency_s(self) -> float:
        """The device's own delay as last measured; 0 while there is no device."""
        sink = self._sink
        return 0.0 if sink is None else sink.latency_s

    @property
    def losses(self) -> int:
        """How often the device was lost since the start."""
        return self._losses

    @property
    def rounds(self) -> int:
        """Grows several times a second while the device is ready and fed."""
        return self._rounds

    def open(self, wait_s: float = 0.0) -> bool:
        """Start the player and wait up to ``wait_s``; True when the device is ready.

        A missing device is no error here: the player goes on trying.
        """
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="edgetts-player", daemon=True
                )
                self._thread.start()
        return self.wait_ready(wait_s)

    def wait_ready(self, timeout_s: float | None = None) -> bool:
        """Wait for the device; False at the time-out, when fatal, or closed by ``close``."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._playable or self._state == "fatal" or self._closing, timeout_s
            )
            return self._playable

    @property
    def _playable(self) -> bool:
        return self._state in ("ready", "asleep")

    def start(self, on_started: Callable[[float], None] | None = None) -> Utterance:
        """Begin an utterance; it plays right behind those started before it.

        ``on_started(at_s)`` is called from the player's thread once the first
        non-silent sample has left the device.

        Raises:
            DeviceError: the device is not ready; ``wait_ready`` and try again.
        """
        with self._changed:
            if not self._playable or self._closing:
                raise DeviceError(f"audio device not ready: {self._detail}")
            self._numbers += 1
            utterance = Utterance(self._numbers, self._changed, self._ahead_samples, on_started)
            self._live = [other for other in self._live if not other.done]
            self._live.append(utterance)
            self._waiting.append(utterance)
            self._changed.notify_all()
            return utterance

    def fade_out(self) -> None:
        """Cut all that plays or waits, with a short fade, and return at once.

        What is started afterwards follows right behind the fade, or with the device's next block.
        """
        with self._changed:
            self._cut_wanted = True
            for utterance in self._live:
                if not utterance.done:
                    utterance.mark_cut()
            for utterance in self._waiting:
                utterance.mark_finished(None, 0, cut=True)
            self._waiting.clear()
            if self._sink is not None:
                self._sink.interrupt()
            self._changed.notify_all()

    def close(self) -> None:
        """Fade out what plays and close the device; the player can't be opened again."""
        self.fade_out()
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(self._close_wait_s)

    def _run(self) -> None:
        try:
            if self._thread_setup is not None:
                self._thread_setup()
            self._keep_playing()
        except Exception as exc:
            _log.exception("the player's thread failed")
            message = f"the player failed: {exc}"
            self._set_state("fatal", message, DeviceError(message))

    def _keep_playing(self) -> None:
        tries = 0
        while not self._closing:
            try:
                sink = self._opener.open(lambda: self._closing)
                if sink is None:
                    break
                tries = 0
                self._use(sink)
                if not self._closing:
                    self._set_state("asleep", "asleep until the next utterance")
                    with self._changed:
                        self._changed.wait_for(lambda: self._waiting or self._closing)
            except DeviceError as exc:
                self._set_state("fatal" if self._opener.hung else "lost", str(exc), exc)
                if self._opener.hung:
                    return
                self._pause(self._backoff_s[min(tries, len(self._backoff_s) - 1)])
                tries += 1
        self._set_state("closed", "closed", DeviceError("the player is closed"))

    def _use(self, sink: AudioSink) -> None:
        try:
            self._feed(sink)
        except DeviceError as exc:
            # Told before the close, which may hang.
            self._set_state("lost", str(exc), exc)
            raise
        finally:
            self._sink = None
            self._opener.close(sink)

    def _pause(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closing, seconds)

    def _set_state(self, state: DeviceState, detail: str, error: DeviceError | None = None) -> None:
        """Change the state; with an ``error`` every utterance without an outcome fails."""
        with self._changed:
            changed = (state, detail) != (self._state, self._detail)
            self._losses += state in ("lost", "fatal") and self._state == "ready"
            self._state, self._detail = state, detail
            if error is not None:
                for utterance in self._live:
                    utterance.mark_failed(error)
                self._live.clear()
                self._waiting.clear()
            self._changed.notify_all()
        if changed and self._on_state is not None:
            try:
                self._on_state(state, detail)
            except Exception:  # the owner's fault must not silence the device
                _log.exception("the on_state callback of the player failed")

    def _feed(self, sink: AudioSink) -> None:
        """Play until the player closes or falls asleep."""
        rate_hz, lead_ms = self._sample_rate_hz, self._lead_ms
        feeder = Feeder(sink, self._changed, rate_hz, self._fade_ms, lead_ms)
        now_s = time.monotonic()
        watchdog = DeviceWatchdog(sink, self._stall_s, now_s, self._patience)
        self._sink = sink
        self._set_state("ready", f"plays at {sink.sample_rate_hz} Hz")
        busy_s = now_s
        closing_s: float | None = None
        while True:
            self._rounds += 1
            with self._changed:
                cut, self._cut_wanted = self._cut_wanted, False
            if cut:
                feeder.cut()
            worked = feeder.step(self._waiting, _WRITE_S, lambda: self._cut_wanted) or cut
            now_s = time.monotonic()
            look_again_s = feeder.report(now_s)
            watchdog.check(now_s)
            if feeder.busy or worked:
                busy_s = now_s
            if self._closing:
                closing_s = closing_s or now_s
                if not feeder.busy or now_s > closing_s + _DRAIN_S:
                    return
            elif self._sleep_after_s is not None and now_s > busy_s + self._sleep_after_s:
                return
            if not worked:
                with self._changed:
                    self._changed.wait_for(
                        lambda: self._cut_wanted or feeder.has_news(self._waiting),
                        max(0.0, min(_TICK_S, look_again_s - now_s)),
                    )
