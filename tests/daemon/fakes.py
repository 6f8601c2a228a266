"""A pipeline that speaks known samples, as fast, late or broken as a test wants it."""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from edge_tts.audio_chunk import AudioChunk, Via

RATE_HZ = 24_000
CHUNK_SAMPLES = 2400

Waveform = npt.NDArray[np.float32]


def voice_of(text: str, via: str = "neural") -> Waveform:
    """What the fake speaks for a text: 100 ms a character of its own reproducible noise."""
    seed = zlib.crc32(f"{via}:{text}".encode())
    noise = np.random.default_rng(seed).uniform(-0.5, 0.5, CHUNK_SAMPLES * max(1, len(text)))
    return noise.astype(np.float32)


class FakePipeline:
    """Speaks `voice_of` a text in chunks.

    ``hang_at`` and ``fail_at`` are numbers of chunks; a hang lasts until
    ``released`` is set. ``error`` is what failing raises.
    """

    def __init__(self, via: Via = "neural") -> None:
        self.via = via
        self.hang_at: int | None = None
        self.fail_at: int | None = None
        self.error: Exception = RuntimeError("broken network")
        self.chunk_s = 0.0
        self.released = threading.Event()
        self.spoken: list[str] = []
        self.warmed = False

    def stream(self, text: str, speed: float = 1.0, gain_db: float = 0.0) -> Iterator[AudioChunk]:
        self.spoken.append(text)
        yield from self._chunks(voice_of(text, self.via))

    def stream_pieces(
        self, pieces: Iterable[str], speed: float = 1.0, gain_db: float = 0.0
    ) -> Iterator[AudioChunk]:
        for piece in pieces:
            yield from self._chunks(voice_of(piece, self.via))

    def _chunks(self, samples: Waveform) -> Iterator[AudioChunk]:
        count = len(samples) // CHUNK_SAMPLES
        for index in range(count):
            time.sleep(self.chunk_s)
            if index == self.fail_at:
                raise self.error
            if index == self.hang_at:
                self.released.wait(30)
            part = samples[index * CHUNK_SAMPLES : (index + 1) * CHUNK_SAMPLES]
            stages = {"text": 0.1, "encoder": 0.2}
            yield AudioChunk(part, RATE_HZ, index, index == count - 1, stages, self.via)

    def warm_up(self) -> None:
        self.warmed = True

    def unload_if_idle(self) -> None: ...

    def reload_lexicon(self) -> None: ...
