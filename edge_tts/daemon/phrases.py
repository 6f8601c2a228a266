"""Phrases that are spoken without a model: looked up by text, rendered when there is time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from edge_tts.daemon import log
from edge_tts.daemon.speech_cache import SpeechCache, fingerprint
from edge_tts.daemon.synthesis_worker import SpeechPipeline

Waveform = npt.NDArray[np.float32]

# Below this a rendered phrase counts as silent at its ends: -50 dBFS.
_SILENCE = 10 ** (-50 / 20)
_TAIL_MS = 20.0
_MAX_MEMORY_BYTES = 8 * 1024 * 1024


class Phrases:
    """Cached speech of one voice.

    Args:
        cache: where it lies.
        identify: fingerprint of a text at a speed; see `identity`.
        sample_rate_hz: entries at another rate count as missing.
        wanted: phrases to have ready.
        speed: at which they are usually spoken.
    """

    def __init__(
        self,
        cache: SpeechCache,
        identify: Callable[[str, float], str],
        sample_rate_hz: int,
        wanted: Iterable[str] = (),
        speed: float = 1.0,
    ) -> None:
        self._cache = cache
        self._identify = identify
        self._sample_rate_hz = sample_rate_hz
        self._speed = speed
        self._lock = threading.Lock()
        # What the disk does not take is kept here, so that a read-only device has its prefixes.
        self._in_memory: dict[str, bytes] = {}
        self.wanted = tuple(dict.fromkeys(wanted))

    def open(self) -> None:
        """Look at what is there."""
        with self._lock:
            self._cache.open()

    def change(
        self, identify: Callable[[str, float], str], wanted: Iterable[str], speed: float = 1.0
    ) -> None:
        """From now on have these phrases ready, as they sound now."""
        with self._lock:
            self._identify = identify
            self._speed = speed
            self._in_memory.clear()
            self.wanted = tuple(dict.fromkeys(wanted))

    def get(self, text: str, speed: float = 1.0) -> Waveform | None:
        """The speech of a text, ``(N,)`` in [-1, 1], or None."""
        with self._lock:
            key = self._identify(text.strip(), speed)
            pcm = self._in_memory.get(key)
            if pcm is None:
                speech = self._cache.get(key)
                if speech is None or speech.sample_rate_hz != self._sample_rate_hz:
                    return None
                pcm = speech.pcm
        samples = np.frombuffer(pcm, "<i2")
        waveform: Waveform = np.multiply(samples, 1 / 32767, dtype=np.float32)
        return waveform

    def get_prefix(self, text: str, speed: float = 1.0) -> Waveform | None:
        """As `get`, without the silence at its end, for speech to follow directly."""
        waveform = self.get(text, speed)
        if waveform is None:
            return None
        loud = np.flatnonzero(np.abs(waveform) > _SILENCE)
        tail = round(_TAIL_MS * self._sample_rate_hz / 1000)
        end = min(len(waveform), int(loud[-1]) + tail if len(loud) else 0)
        trimmed: Waveform = waveform[:end]
        fade = min(tail, end)
        trimmed[end - fade :] *= np.linspace(1.0, 0.0, fade, dtype=np.float32)
        return trimmed

    @property
    def missing(self) -> tuple[str, ...]:
        """Wanted phrases that are not rendered yet."""
        with self._lock:
            keys = {text: self._identify(text, self._speed) for text in self.wanted}
            return tuple(
                text
                for text, key in keys.items()
                if key not in self._cache and key not in self._in_memory
            )

    def render_next(self, pipeline: SpeechPipeline, interrupted: Callable[[], bool]) -> bool:
        """Render one missing phrase; True while more are left to do.

        Gives up, to try again later, as soon as ``interrupted``.
        """
        missing = self.missing
        if not missing:
            return False
        text, *others = missing
        parts = []
        for chunk in pipeline.stream(text, self._speed):
            if interrupted():
                return True
            parts.append(chunk.samples)
        samples = np.concatenate(parts)
        pcm = np.rint(np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes()
        log.event("phrase-rendered", text=text, seconds=len(samples) / self._sample_rate_hz)
        with self._lock:
            key = self._identify(text, self._speed)
            if self._cache.put(key, pcm, self._sample_rate_hz):
                return bool(others)
            log.event("phrase-not-stored", log.WARNING, text=text, error=self._cache.last_error)
            if sum(map(len, self._in_memory.values())) + len(pcm) > _MAX_MEMORY_BYTES:
                return False
            self._in_memory[key] = pcm
            return bool(others)


def identity(voice: str, voice_version: str, variant: str) -> Callable[[str, float], str]:
    """Fingerprints of texts for one voice; ``variant`` is what else changes its samples."""

    def identify(text: str, speed: float) -> str:
        return fingerprint(
            text, voice=voice, voice_version=voice_version, speed=speed, variant=variant
        )

    return identify
