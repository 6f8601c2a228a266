"""Notices a dead or lame device: what it consumed is held against the clock.

A card that is pulled out raises nothing and still calls itself active; only
its clock stands still. And PortAudio, where it runs dry after every block, goes
on like that for as long as the stream is open: a block of sound, two of silence.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from edge_tts.audio.sink import AudioSink
from edge_tts.errors import DeviceError

# One look counts for no more than this, so that a process that was stopped or
# a machine that slept doesn't blame the device for its own absence.
_MAX_STEP_S = 0.5
_MIN_RATE = 0.05
# Slower than this for so many windows, it is opened anew; but not again for a while, since
# opening doesn't cure a machine that is too busy.
_LAME_RATE = 0.6
_LAME_WINDOWS = 1.5
_PATIENCE_S = 60.0
_MAX_RATE = 3.0
_PREFILL_S = 2.0
_LOOKS_PER_WINDOW = 20


@dataclass
class Patience:
    """Until when slowness is borne; outlives the sinks of one device."""

    until_s: float = float("-inf")


class DeviceWatchdog:
    """Call ``check`` at least every quarter of ``window_s``.

    A device that stops is noticed when it has stood still for ``window_s``, give
    or take a look; a lame one within three times that.
    """

    def __init__(
        self, sink: AudioSink, window_s: float, now_s: float, patience: Patience | None = None
    ) -> None:
        self._sink = sink
        self._window_s = window_s
        self._last_s = now_s
        self._elapsed_s = 0.0
        # (our time that counts, real time, device's samples) of earlier looks, oldest first.
        self._looks = deque([(0.0, now_s, sink.consumed_samples())])
        self._lame_since = self._looks[0]
        self._patience = patience or Patience()

    def check(self, now_s: float) -> None:
        """Compare the device's clock to ours.

        Raises:
            DeviceError: it ended, stands still, is lame, or runs far too fast.
        """
        self._elapsed_s += min(now_s - self._last_s, _MAX_STEP_S)
        self._last_s = now_s
        if not self._sink.is_active():
            raise DeviceError("audio device ended by itself (unplugged or its server stopped)")
        if self._elapsed_s - self._looks[-1][0] < self._window_s / _LOOKS_PER_WINDOW:
            return
        look = (self._elapsed_s, now_s, self._sink.consumed_samples())
        self._looks.append(look)
        while self._looks[1][0] <= self._elapsed_s - self._window_s:
            self._looks.popleft()
        self._compare(self._looks[0], look)
        own_s = look[0] - self._lame_since[0]
        if own_s >= _LAME_WINDOWS * self._window_s:
            advanced_s = (look[2] - self._lame_since[2]) / self._sink.sample_rate_hz
            self._lame_since = look
            if advanced_s < _LAME_RATE * own_s and now_s >= self._patience.until_s:
                self._patience.until_s = now_s + _PATIENCE_S
                raise DeviceError(
                    f"audio device is lame: {advanced_s:.2f} s taken in {own_s:.2f} s; "
                    "it is opened anew"
                )

    def _compare(self, old: tuple[float, float, int], new: tuple[float, float, int]) -> None:
        own_s, real_s = new[0] - old[0], new[1] - old[1]
        advanced_s = (new[2] - old[2]) / self._sink.sample_rate_hz
        if own_s >= self._window_s and advanced_s < _MIN_RATE * own_s:
            raise DeviceError(
                f"audio device stands still: {advanced_s:.2f} s taken in {own_s:.2f} s"
            )
        if advanced_s > _MAX_RATE * real_s + _PREFILL_S:
            raise DeviceError(
                f"audio device has no clock: {advanced_s:.1f} s taken in {real_s:.2f} s"
            )
