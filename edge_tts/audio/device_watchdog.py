"""Notices a dead device: what it consumed is held against the clock.

A card that is pulled out raises nothing and still calls itself active; only
its clock stands still.
"""

from __future__ import annotations

from edge_tts.audio.sink import AudioSink
from edge_tts.errors import DeviceError

# One look counts for no more than this, so that a process that was stopped or
# a machine that slept doesn't blame the device for its own absence.
_MAX_STEP_S = 0.5
_MIN_RATE = 0.25
_MAX_RATE = 3.0
_PREFILL_S = 2.0


class DeviceWatchdog:
    """Call ``check`` at least every quarter of ``window_s``.

    A device that stops is noticed within two windows.
    """

    def __init__(self, sink: AudioSink, window_s: float, now_s: float) -> None:
        self._sink = sink
        self._window_s = window_s
        self._last_s = now_s
        self._window_start_s = now_s
        self._elapsed_s = 0.0
        self._consumed = sink.consumed_samples()

    def check(self, now_s: float) -> None:
        """Compare the device's clock to ours.

        Raises:
            DeviceError: it ended, stands still, or runs far too fast.
        """
        self._elapsed_s += min(now_s - self._last_s, _MAX_STEP_S)
        self._last_s = now_s
        if not self._sink.is_active():
            raise DeviceError("audio device ended by itself (unplugged or its server stopped)")
        if self._elapsed_s < self._window_s:
            return
        rate = self._sink.sample_rate_hz
        consumed = self._sink.consumed_samples()
        advanced_s = (consumed - self._consumed) / rate
        if advanced_s < _MIN_RATE * self._elapsed_s:
            raise DeviceError(
                f"audio device stands still: {advanced_s:.2f} s taken in {self._elapsed_s:.2f} s"
            )
        real_s = now_s - self._window_start_s
        if advanced_s > _MAX_RATE * real_s + _PREFILL_S:
            raise DeviceError(
                f"audio device has no clock: {advanced_s:.1f} s taken in {real_s:.2f} s"
            )
        self._consumed = consumed
        self._window_start_s = now_s
        self._elapsed_s = 0.0
