"""Moves the samples of utterances into one opened sink and reads its clock back."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

import numpy as np

from edge_tts.audio.resampler import Int16Resampler
from edge_tts.audio.sink import AudioSink, Samples
from edge_tts.audio.utterance import Utterance

_log = logging.getLogger(__name__)
_EMPTY: Samples = np.zeros(0, np.int16)
# Below -60 dBFS: dither and the first samples of a fade-in are not sound yet.
_SILENCE = 32
_FADE_TIMEOUT_S = 0.1
_PIECE_S = 0.01
_POLL_S = 0.005
_IDLE_S = 1.0


class _Track:
    """Where an utterance lies among the positions of the sink."""

    def __init__(self, utterance: Utterance, underruns: int) -> None:
        self.utterance = utterance
        self.underruns = underruns
        self.has_samples = False
        self.first_audible: int | None = None
        self.end: int | None = None
        self.cut = False


class Feeder:
    """Belongs to the player's thread; ``changed`` guards the utterances."""

    def __init__(
        self,
        sink: AudioSink,
        changed: threading.Condition,
        sample_rate_hz: int,
        fade_ms: float,
        lead_ms: float = 0.0,
    ) -> None:
        self._sink = sink
        self._changed = changed
        self._piece_samples = max(1, round(_PIECE_S * sample_rate_hz))
        self._resampler = Int16Resampler(sample_rate_hz, sink.sample_rate_hz)
        self._fade_samples = round(fade_ms * sink.sample_rate_hz / 1000)
        self._lead_samples = round(lead_ms * sink.sample_rate_hz / 1000)
        self._idle_since_s = float("-inf")
        self._ready = _EMPTY  # at the sink's rate, not taken by the sink yet
        self._tracks: deque[_Track] = deque()  # playing or draining, oldest first
        self._flushed = True

    @property
    def busy(self) -> bool:
        """Some utterance has not finished."""
        return bool(self._tracks)

    def has_news(self, waiting: deque[Utterance]) -> bool:
        """``step`` would find something to do. Call it with the condition held."""
        current = self._current
        return bool(waiting) if current is None else current.has_news

    @property
    def _current(self) -> Utterance | None:
        """The utterance whose samples are wanted next, if one has begun and not ended."""
        if self._tracks and self._tracks[-1].end is None:
            return self._tracks[-1].utterance
        return None

    def step(self, waiting: deque[Utterance], timeout_s: float, hold: Callable[[], bool]) -> bool:
        """Move one piece towards the device; False when there was nothing to move.

        Begins the first of ``waiting`` when the one before has ended. Takes nothing
        while ``hold()``, asked with the condition held: a cut comes first.

        Raises:
            DeviceError: the device does not take samples.
        """
        piece = None
        ended = False
        with self._changed:
            if not len(self._ready) and not hold() and self.has_news(waiting):
                current = self._current
                if current is None:
                    current = waiting.popleft()
                    self._lead_in()
                    self._tracks.append(_Track(current, self._sink.underruns))
                piece = current.take(self._piece_samples)
                ended = piece is None and current.exhausted
        if piece is not None:
            self._tracks[-1].has_samples = True
            self._ready = np.concatenate((self._ready, self._resampler.process(piece)))
        elif ended:
            self._ready = np.concatenate((self._ready, self._resampler.flush()))
            self._tracks[-1].end = self._sink.written_samples + len(self._ready)
        if len(self._ready):
            self._push(timeout_s)
        elif piece is None and not ended:
            self._flush()
            return False
        return True

    def _lead_in(self) -> None:
        """Silence first where nothing sounded for a while: an amplifier may have gone to sleep."""
        idle = not self._tracks and time.monotonic() - self._idle_since_s >= _IDLE_S
        if self._lead_samples and idle:
            self._ready = np.zeros(self._lead_samples, np.int16)

    def _flush(self) -> None:
        """Nothing is there to play; in the middle of an utterance that is an underrun instead."""
        in_the_middle = self._current is not None and self._tracks[-1].has_samples
        if not (self._flushed or in_the_middle):
            self._sink.flush()
            self._flushed = True

    def _push(self, timeout_s: float) -> None:
        start = self._sink.written_samples
        taken = self._sink.write(self._ready, timeout_s)
        pushed, self._ready = self._ready[:taken], self._ready[taken:]
        self._flushed = self._flushed and not taken
        track = self._tracks[-1]
        if track.first_audible is None:
            audible = np.flatnonzero(np.abs(pushed.astype(np.int32)) > _SILENCE)
            if len(audible):
                track.first_audible = start + int(audible[0])

    def cut(self) -> None:
        """Fade out what the device has not got yet and drop the rest.

        Raises:
            DeviceError: the device does not take samples.
        """
        if not self._tracks:
            return
        rest = self._rest_to_fade()
        self._resampler.reset()
        keep = self._sink.written_samples
        for track in self._tracks:
            if track.first_audible is not None and track.first_audible >= keep:
                track.first_audible = None
        ramp = np.cos(np.linspace(0.0, np.pi / 2, len(rest) + 1)[1:]) ** 2
        self._ready = np.rint(rest * ramp).astype(np.int16)
        # One write may take nothing, interrupted by the very call that wanted the cut.
        deadline_s = time.monotonic() + _FADE_TIMEOUT_S
        while len(self._ready) and time.monotonic() < deadline_s:
            self._push(_FADE_TIMEOUT_S)
        self._ready = _EMPTY
        end = self._sink.written_samples
        for track in self._tracks:
            track.cut = track.cut or track.end is None or track.end > keep
            track.end = min(end, track.end) if track.end is not None else end

    def _rest_to_fade(self) -> Samples:
        """What would have sounded next, at the sink's rate; the rest is dropped."""
        parts = [self._sink.reclaim(), self._ready]
        current = self._current
        if current is not None:
            with self._changed:
                piece = current.take(self._fade_samples)
                current.drop_pending()
            if piece is not None:
                parts.append(self._resampler.process(piece))
        return np.concatenate(parts)[: self._fade_samples]

    def report(self, now_s: float) -> float:
        """Tell the utterances what has left the device; returns when to look again."""
        again_s = float("inf")
        for track in list(self._tracks):
            if track.utterance.started_s is None and track.first_audible is not None:
                at_s = self._sink.played_at(track.first_audible)
                if at_s is None or at_s > now_s:
                    again_s = min(again_s, at_s or now_s + _POLL_S)
                else:
                    self._started(track.utterance, at_s)
            if track.end is None or track.end > self._sink.written_samples:
                continue
            left_s = self._left_at(track.end, now_s)
            if left_s is not None and left_s <= now_s:
                self._finish(track, left_s)
            else:
                again_s = min(again_s, left_s or now_s + _POLL_S)
        return again_s

    def _left_at(self, end: int, now_s: float) -> float | None:
        """When everything before position ``end`` has left the device."""
        if end == 0:
            return now_s
        last_s = self._sink.played_at(end - 1)
        return None if last_s is None else last_s + 1 / self._sink.sample_rate_hz

    def _started(self, utterance: Utterance, at_s: float) -> None:
        with self._changed:
            callback = utterance.mark_started(at_s)
        if callback is not None:
            try:
                callback(at_s)
            except Exception:  # the owner's fault must not silence the device
                _log.exception("the on_started callback of an utterance failed")

    def _finish(self, track: _Track, left_s: float) -> None:
        self._tracks.remove(track)
        self._idle_since_s = time.monotonic()
        with self._changed:
            track.utterance.mark_finished(
                left_s, self._sink.underruns - track.underruns, cut=track.cut
            )
