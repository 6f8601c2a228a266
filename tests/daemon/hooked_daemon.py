"""``edgetts serve`` whose synthesis and wall clock a test holds in its hands, by files.

In the folder ``EDGETTS_TEST_HOOKS``: while ``hang-neural`` or ``hang-dsp``
exists, that synthesis hangs in its next step; ``break-neural`` makes it fail;
while ``hang-device`` exists, opening the device hangs; ``wall-offset`` holds
seconds that are added to the wall clock.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from edge_tts.config import Settings
from edge_tts.daemon import app, parts
from edge_tts.errors import InferenceError
from edge_tts.pipeline import Pipeline, build_pipeline

HOOKS = Path(os.environ.get("EDGETTS_TEST_HOOKS", "/nonexistent"))
_real_time = time.time


def shifted_time() -> float:
    try:
        return _real_time() + float((HOOKS / "wall-offset").read_text())
    except (OSError, ValueError):
        return _real_time()


class HookedPipeline:
    def __init__(self, pipeline: Pipeline, name: str) -> None:
        self._pipeline = pipeline
        self._name = name

    def stream(self, *args: Any) -> Iterator[Any]:
        return self._hooked(self._pipeline.stream(*args))

    def stream_pieces(self, *args: Any) -> Iterator[Any]:
        return self._hooked(self._pipeline.stream_pieces(*args))

    def _hooked(self, chunks: Iterator[Any]) -> Iterator[Any]:
        self._hook()
        for chunk in chunks:
            yield chunk
            self._hook()

    def _hook(self) -> None:
        while (HOOKS / f"hang-{self._name}").exists():
            time.sleep(0.01)
        if (HOOKS / f"break-{self._name}").exists():
            raise InferenceError("broken by the test")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipeline, name)


def build(settings: Settings) -> HookedPipeline:
    return HookedPipeline(build_pipeline(settings, real_time=True), settings.synthesis.vocoder)


def hanging_opener(*args: Any) -> Any:
    opener = _real_opener(*args)

    def open_sink() -> Any:
        while (HOOKS / "hang-device").exists():
            time.sleep(0.01)
        return opener()

    return open_sink


_real_opener = parts.sink_opener


if __name__ == "__main__":
    parts.sink_opener = hanging_opener
    time.time = shifted_time
    app.Daemon.__init__.__defaults__ = (build,)
    from edge_tts.cli import run

    sys.exit(run())
