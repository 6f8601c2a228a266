"""Synthesis in a thread of its own, a bounded number of chunks ahead of the speaker.

A network that hangs holds up this thread and nobody else: the speaker waits
for a chunk only until its deadline.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from edge_tts.audio_chunk import AudioChunk
from edge_tts.daemon import log
from edge_tts.daemon.text_stream import TextStream
from edge_tts.errors import EdgeTtsError, InferenceError

_IDLE_TICK_S = 0.5
_SETTLING_TICK_S = 0.05


class SpeechPipeline(Protocol):
    """What the daemon needs of `edge_tts.pipeline.Pipeline`."""

    def stream(
        self, text: str, speed: float = 1.0, gain_db: float = 0.0
    ) -> Iterator[AudioChunk]: ...

    def stream_pieces(
        self, pieces: Iterable[str], speed: float = 1.0, gain_db: float = 0.0
    ) -> Iterator[AudioChunk]: ...

    def warm_up(self) -> None: ...

    def unload_if_idle(self) -> object: ...

    def reload_lexicon(self) -> None: ...


class SynthesisJob:
    """One text on its way through a pipeline; made by `SynthesisWorker.submit`."""

    def __init__(self, text: str | TextStream, speed: float, ahead: int) -> None:
        self.text = text
        self.speed = speed
        self._ahead = ahead
        self._changed = threading.Condition()
        self._chunks: deque[AudioChunk] = deque()
        self._done = False
        self._error: EdgeTtsError | None = None
        self.cancelled = False

    def next_chunk(self, timeout_s: float) -> AudioChunk | None:
        """The next chunk; None after the last one or when cancelled.

        Raises:
            TimeoutError: no chunk came in time.
            EdgeTtsError: synthesis failed.
        """
        with self._changed:
            if not self._changed.wait_for(self._settled, timeout_s):
                raise TimeoutError
            if self.cancelled:
                return None
            if self._chunks:
                chunk = self._chunks.popleft()
                self._changed.notify_all()
                return chunk
            if self._error is not None:
                raise self._error
            return None

    def cancel(self) -> None:
        """Nobody wants the rest; `next_chunk` returns at once."""
        with self._changed:
            self.cancelled = True
            self._changed.notify_all()

    @property
    def waits_for_text(self) -> bool:
        """The text comes in pieces and the next one is not there yet."""
        return isinstance(self.text, TextStream) and self.text.waits_for_text

    def chunks(self, pipeline: SpeechPipeline) -> Iterator[AudioChunk]:
        """Start synthesis; runs in the worker's thread."""
        if isinstance(self.text, str):
            return pipeline.stream(self.text, self.speed)
        return pipeline.stream_pieces(self.text.read(lambda: self.cancelled), self.speed)

    def _settled(self) -> bool:
        return self.cancelled or bool(self._chunks) or self._done

    def _put(self, chunk: AudioChunk) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self.cancelled or len(self._chunks) < self._ahead)
            self._chunks.append(chunk)
            self._changed.notify_all()

    def _finish(self, error: EdgeTtsError | None) -> None:
        with self._changed:
            self._done = True
            self._error = error
            self._changed.notify_all()


class SynthesisWorker:
    """Builds a pipeline when it is first needed and runs jobs on it, one at a time.

    Args:
        name: of the thread, for logs.
        build: makes the pipeline; runs in the worker's thread.
        ahead: chunks that may wait for the speaker.

    ``loaded`` is False until the first chunk has been made, and after the
    networks were unloaded: the next chunk will take longer then.
    """

    def __init__(self, name: str, build: Callable[[], SpeechPipeline], ahead: int = 4) -> None:
        self.name = name
        self._build = build
        self._ahead = ahead
        self._changed = threading.Condition()
        self._jobs: deque[SynthesisJob] = deque()
        self._calls: deque[Callable[[SpeechPipeline], object]] = deque()
        self._idle_work: Callable[[SpeechPipeline], bool] | None = None
        self._pipeline: SpeechPipeline | None = None
        self._stopping = False
        self._working_since_s: float | None = None
        self._job: SynthesisJob | None = None
        self._thread: threading.Thread | None = None
        self._settled = threading.Event()
        self.steps = 0
        self.loaded = False

    def start(self, idle_work: Callable[[SpeechPipeline], bool] | None = None) -> None:
        """Start the thread.

        ``idle_work`` runs while nothing waits and says whether more is left to do.
        """
        self._idle_work = idle_work
        if not self._calls:
            self._settled.set()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def submit(self, text: str | TextStream, speed: float) -> SynthesisJob:
        """Speak a text, or pieces of one; starts once the job before it is over or cancelled."""
        job = SynthesisJob(text, speed, self._ahead)
        with self._changed:
            self._jobs.append(job)
            self._changed.notify_all()
        return job

    def call(self, function: Callable[[SpeechPipeline], object]) -> None:
        """Run a function on the pipeline between two jobs."""
        with self._changed:
            self._calls.append(function)
            self._changed.notify_all()

    def wait_until_settled(self, timeout_s: float, stop: Callable[[], bool]) -> bool:
        """Wait until the calls made before the start are over; False at the time-out or stop."""
        until_s = time.monotonic() + timeout_s
        while not self._settled.wait(_SETTLING_TICK_S):
            if stop() or time.monotonic() > until_s:
                return False
        return True

    @property
    def wanted(self) -> bool:
        """A job or a call waits: idle work should stop at its next chance."""
        return bool(self._jobs or self._calls or self._stopping)

    @property
    def pipeline(self) -> SpeechPipeline | None:
        """The pipeline, if it has been built."""
        return self._pipeline

    @property
    def stuck_s(self) -> float:
        """How long the step in progress has taken; 0 while nothing is in progress."""
        since_s, job = self._working_since_s, self._job
        if since_s is None or (job is not None and job.waits_for_text):
            return 0.0
        return time.monotonic() - since_s

    def stop(self, timeout_s: float = 2.0) -> None:
        with self._changed:
            self._stopping = True
            for job in self._jobs:
                job.cancel()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        more_idle_work = self._idle_work is not None
        while not self._stopping:
            with self._changed:
                if not self.wanted and not more_idle_work:
                    self._changed.wait(_IDLE_TICK_S)
                job = self._jobs.popleft() if self._jobs else None
                call = self._calls.popleft() if job is None and self._calls else None
            if call is None:
                self._settled.set()
            if job is not None:
                self._speak(job)
                more_idle_work = self._idle_work is not None
            elif call is not None:
                self._guarded(call)
                more_idle_work = self._idle_work is not None
            elif self._stopping:
                return
            elif more_idle_work and self._idle_work is not None:
                more_idle_work = bool(self._guarded(self._idle_work))
            elif self._pipeline is not None and self._guarded(_unload_if_idle):
                self.loaded = False

    def _speak(self, job: SynthesisJob) -> None:
        error: EdgeTtsError | None = None
        try:
            self._step_begins()
            self._job = job
            for chunk in job.chunks(self._ready_pipeline()):
                self._step_ends()
                self.loaded = True
                job._put(chunk)
                if job.cancelled or self._stopping:
                    break
                self._step_begins()
        except EdgeTtsError as exc:
            error = exc
        except Exception as exc:  # a library's fault must not end the thread
            log.event("synthesis-fault", log.ERROR, worker=self.name, error=repr(exc))
            error = InferenceError(f"synthesis failed: {exc!r}; see the log")
        finally:
            self._job = None
            self._step_ends()
            job._finish(error)

    def _guarded(self, function: Callable[[SpeechPipeline], object]) -> object:
        try:
            self._step_begins()
            return function(self._ready_pipeline())
        except Exception as exc:  # as above; the next job tries again
            log.event("synthesis-fault", log.ERROR, worker=self.name, error=repr(exc))
            return None
        finally:
            self._step_ends()

    def _ready_pipeline(self) -> SpeechPipeline:
        if self._pipeline is None:
            self._pipeline = self._build()
        return self._pipeline

    def _step_begins(self) -> None:
        self._working_since_s = time.monotonic()

    def _step_ends(self) -> None:
        self._working_since_s = None
        self.steps += 1


def _unload_if_idle(pipeline: SpeechPipeline) -> object:
    return pipeline.unload_if_idle()
