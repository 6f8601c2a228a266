"""Edge TTS Runtime: a speech-alert runtime for small devices.

Importing this package loads nothing heavy: public names resolve on first use.

>>> import edge_tts
>>> pipeline = edge_tts.build_pipeline(edge_tts.load_settings())
>>> for chunk in pipeline.stream("警告，主轴温度过高"):
...     play(chunk.samples, chunk.sample_rate_hz)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edge_tts.audio_chunk import AudioChunk
    from edge_tts.config import Settings, load_settings
    from edge_tts.errors import EdgeTtsError
    from edge_tts.pipeline import Pipeline, build_pipeline
    from edge_tts.voice import Voice, find_voice, load_voice

__version__ = "0.1.0"

__all__ = [
    "AudioChunk",
    "EdgeTtsError",
    "Pipeline",
    "Settings",
    "Voice",
    "__version__",
    "build_pipeline",
    "find_voice",
    "load_settings",
    "load_voice",
]

_HOME = {
    "AudioChunk": "audio_chunk",
    "EdgeTtsError": "errors",
    "Pipeline": "pipeline",
    "Settings": "config",
    "Voice": "voice",
    "build_pipeline": "pipeline",
    "find_voice": "voice",
    "load_settings": "config",
    "load_voice": "voice",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'edge_tts' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"edge_tts.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
