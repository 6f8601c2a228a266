"""The one way of sound through the daemon: alarm, tone, prefix, speech, gain, limiter, player.

One thread takes the alarm whose turn it is and writes its sound; synthesis
runs ahead in a thread of its own. When speech is not there by its deadline the
next step down speaks: the voice, the cached recording of the text, the
vocoder without a network, the attention tone. An alarm is *started* and
*finished* when the device's clock says so.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping

import numpy as np

from edge_tts.audio.limiter import Limiter, to_int16
from edge_tts.audio.player import PlaybackReport, Player, Utterance
from edge_tts.daemon import log
from edge_tts.daemon.alarm import Alarm
from edge_tts.daemon.alarm_queue import AlarmQueue
from edge_tts.daemon.attention import AttentionTones
from edge_tts.daemon.metrics import Metrics
from edge_tts.daemon.phrases import Phrases
from edge_tts.daemon.shared_queue import SharedQueue
from edge_tts.daemon.synthesis_worker import SynthesisJob, SynthesisWorker
from edge_tts.daemon.telling import SpeakerOptions, Telling, Waveform, slices
from edge_tts.daemon.text_stream import TextStream
from edge_tts.errors import DeviceError, EdgeTtsError, NothingToSpeakError

_IDLE_S = 0.5
_NO_DEVICE_S = 0.1
_STOP_S = 2.0
_WARM_UP_S = 2.0  # loading holds up every thread: what sounds meanwhile has holes
# Between a sentence that broke off and its repetition by the next step down.
_RESTART_PAUSE_S = 0.25
_SLICE_S = 0.1


class Speaker:
    """Speaks the queue's alarms through the player, for ever.

    Args:
        queue: whose alarms are told.
        player: where their sound goes; the caller opens and closes it.
        workers: steps of synthesis from best to plainest.
        phrases: speech that needs no synthesis.
        tones: sound before the speech, and instead of it when none could be made.
        streams: texts of the alarms that come in pieces, by id.
    """

    def __init__(
        self,
        queue: SharedQueue,
        player: Player,
        workers: tuple[SynthesisWorker, ...],
        phrases: Phrases,
        metrics: Metrics,
        *,
        tones: AttentionTones,
        streams: Mapping[int, TextStream],
        options: SpeakerOptions,
    ) -> None:
        self._queue = queue
        self._player = player
        self._workers = workers
        self._phrases = phrases
        self._metrics = metrics
        self.tones = tones
        self._streams = streams
        self.options = options
        self._telling: Telling | None = None
        self._stopping = False
        self._thread: threading.Thread | None = None
        self.steps = 0
        # In a wait that somebody else bounds: the player's watchdog, or the deadline.
        self.waiting = False

    @property
    def speaking(self) -> bool:
        return self._telling is not None

    def start(self) -> None:
        self._queue.watch(self._interrupt_if_told)
        self._thread = threading.Thread(target=self._run, name="speaker", daemon=True)
        self._thread.start()

    def take_no_more(self) -> None:
        """Let the alarm being told end, and start no other one."""
        self._stopping = True
        self._queue.wake()

    def stop(self) -> None:
        """Cut what is being told, to be told again after a restart, and end the thread."""
        self.take_no_more()
        if (telling := self._telling) is not None:
            self._interrupt(telling)
        if self._thread is not None:
            self._thread.join(_STOP_S)

    def _run(self) -> None:
        self._workers[0].wait_until_settled(_WARM_UP_S, lambda: self._stopping)
        while not self._stopping:
            self.steps += 1
            if not self._player.wait_ready(_NO_DEVICE_S):
                with self._queue.use() as queue:
                    queue.tick()
                continue
            if self._queue.next(_IDLE_S, on_taken=self._begin) is None:
                continue
            telling = self._telling
            assert telling is not None
            try:
                self._tell(telling)
            except Exception as exc:  # one alarm's fault must not silence the next ones
                log.event("speaker-fault", log.ERROR, id=telling.alarm.id, error=repr(exc))
                with self._queue.use() as queue:
                    queue.failed(telling.alarm.id, reason="internal-error")
            finally:
                self._telling = None
                if telling.job is not None:
                    telling.job.cancel()

    @contextlib.contextmanager
    def _wait(self) -> Iterator[None]:
        self.waiting = True
        try:
            yield
        finally:
            self.waiting = False
            self.steps += 1

    def _begin(self, alarm: Alarm) -> None:
        self._telling = Telling(alarm, self.options.speed, time.monotonic())

    def _interrupt_if_told(self, queue: AlarmQueue) -> None:
        telling = self._telling
        if telling is not None and not telling.interrupted and queue.must_stop(telling.alarm.id):
            self._interrupt(telling)

    def _interrupt(self, telling: Telling) -> None:
        telling.interrupted = True
        self._player.fade_out()
        if telling.job is not None:
            telling.job.cancel()

    def _tell(self, telling: Telling) -> None:
        alarm = telling.alarm
        report: PlaybackReport | None = None
        try:
            utterance = self._player.start(lambda at_s: self._on_started(telling, at_s))
            with utterance:
                if telling.interrupted:
                    self._player.fade_out()
                self._write(telling, utterance)
            while report is None and not telling.interrupted:
                with self._wait():
                    report = utterance.wait(_IDLE_S, until_cut=True)
        except DeviceError as exc:
            log.event("alarm-returned", log.WARNING, id=alarm.id, reason="device-lost", error=exc)
            with self._queue.use() as queue:
                queue.stopped(alarm.id, reason="device-lost")
            return
        if report is None or report.cut:
            with self._queue.use() as queue:
                queue.stopped(alarm.id, reason="stopping" if self._stopping else "")
            return
        self._metrics.count("underruns_total", report.underruns)
        details = {} if telling.first_ms is None else {"first_ms": round(telling.first_ms, 1)}
        with self._queue.use() as queue:
            if telling.failure:
                queue.failed(alarm.id, reason=telling.failure)
            else:
                queue.finished(alarm.id, via=telling.via, underruns=report.underruns, **details)

    def _on_started(self, telling: Telling, at_s: float) -> None:
        """The first non-silent sample left the device at ``at_s`` of the monotonic clock."""
        alarm = telling.alarm
        telling.first_ms = (at_s - telling.turn_s) * 1000
        queue_ms = max(0.0, telling.turn_s - alarm.accepted_at) * 1000
        self._metrics.observe("queue", queue_ms)
        self._metrics.observe("first_sound", telling.first_ms)
        with self._queue.use() as queue:
            queue.started(
                alarm.id,
                first_ms=round(telling.first_ms, 1),
                queue_ms=round(queue_ms, 1),
                device_ms=round(self._player.latency_s * 1000, 1),
                at_s=f"{at_s:.6f}",
            )

    def _write(self, telling: Telling, utterance: Utterance) -> None:
        alarm = telling.alarm
        gain_db = alarm.gain_db + self.options.gain_db.get(alarm.priority, 0.0)
        limiter = Limiter(
            self._player.sample_rate_hz, gain_db=gain_db, ceiling_dbfs=self.options.ceiling_dbfs
        )
        for samples in self._sound(telling, utterance):
            for part in slices(samples, round(_SLICE_S * self._player.sample_rate_hz)):
                if telling.interrupted:
                    return
                with self._wait():
                    if not utterance.write(to_int16(limiter.process(part))):
                        return
        utterance.write(to_int16(limiter.flush()))

    def _sound(self, telling: Telling, utterance: Utterance) -> Iterator[Waveform]:
        """Everything that sounds for an alarm, in order, as soon as it is there."""
        alarm = telling.alarm
        text: str | TextStream = self._streams.get(alarm.id, alarm.text)
        prefix = self._phrases.get_prefix(alarm.prefix, telling.speed) if alarm.prefix else None
        if alarm.prefix and prefix is None and isinstance(text, str):
            text = f"{alarm.prefix}，{text}"
        cached = self._phrases.get(text, telling.speed) if isinstance(text, str) else None
        if cached is None:
            # Synthesis runs while the tone and the prefix sound.
            self._submit(telling, self._workers[0], text)
        tone = self.tones.before(alarm)
        if len(tone):
            yield tone
        for recording in (prefix, cached):
            if recording is not None:
                telling.vias.add("cache")
                yield recording
        if cached is None:
            yield from self._synthesised(telling, text, utterance)

    def _submit(self, telling: Telling, worker: SynthesisWorker, text: str | TextStream) -> None:
        if worker.stuck_s > self.options.deadline_s:
            telling.job = None
            return
        telling.job = worker.submit(text, telling.speed)
        if telling.interrupted:
            telling.job.cancel()

    def _synthesised(
        self, telling: Telling, text: str | TextStream, utterance: Utterance
    ) -> Iterator[Waveform]:
        for number, worker in enumerate(self._workers):
            if number:
                self._submit(telling, worker, text)
            spoken = False
            try:
                if telling.job is None:
                    raise TimeoutError("still busy with an earlier text")
                for samples in self._chunks(telling, worker, telling.job, utterance):
                    spoken = True
                    yield samples
                return
            except NothingToSpeakError:
                telling.failure = "nothing-to-speak"
                return
            except (TimeoutError, EdgeTtsError) as exc:
                if telling.job is not None:
                    telling.job.cancel()
                self._metrics.count("fallbacks_total", step=worker.name)
                reason = str(exc) or f"no sound after {self.options.deadline_s:g} s"
                log.event(
                    "speech-fallback", log.WARNING,
                    id=telling.alarm.id, step=worker.name, reason=reason,
                )  # fmt: skip
            if telling.interrupted:
                return
            if spoken:
                yield np.zeros(round(_RESTART_PAUSE_S * self._player.sample_rate_hz), np.float32)
        telling.vias.add("tone")
        yield self.tones.of_priority(telling.alarm)

    def _chunks(
        self, telling: Telling, worker: SynthesisWorker, job: SynthesisJob, utterance: Utterance
    ) -> Iterator[Waveform]:
        first = True
        while True:
            chunk = None
            # Nothing speaks sooner than networks that are being loaded already.
            loading_s = 0.0 if worker.loaded else self.options.loading_s
            deadline_s = time.monotonic() + self.options.deadline_s + loading_s
            while chunk is None:
                # As long as something else still sounds, speech is not late.
                sounding_s = utterance.buffered_samples / self._player.sample_rate_hz
                deadline_s = max(deadline_s, time.monotonic() + sounding_s)
                try:
                    with self._wait():
                        chunk = job.next_chunk(deadline_s - time.monotonic())
                except TimeoutError:
                    if not job.waits_for_text:
                        raise
                    deadline_s = time.monotonic() + self.options.deadline_s
                    continue
                if chunk is None:
                    return
            if first:
                first = False
                self._metrics.observe("first_chunk", (time.monotonic() - telling.turn_s) * 1000)
                for stage, duration_ms in chunk.stage_ms.items():
                    self._metrics.observe(stage, duration_ms)
            telling.vias.add(chunk.via)
            yield chunk.samples
