"""The daemon's composition root: builds the parts, starts them in order, stops them in reverse."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import edge_tts
from edge_tts.config import Settings
from edge_tts.daemon import log, parts
from edge_tts.daemon.alarm import Event
from edge_tts.daemon.alarm_queue import AlarmQueue
from edge_tts.daemon.journal_syncer import JournalSyncer
from edge_tts.daemon.listener import open_listener
from edge_tts.daemon.metrics import Metrics
from edge_tts.daemon.notify import (
    Notifier,
    ProgressProbe,
    Watchdog,
    listen_sockets,
    watchdog_period_s,
)
from edge_tts.daemon.realtime import Measure, lock_memory, pin_process, schedule_fifo
from edge_tts.daemon.reporter import Reporter
from edge_tts.daemon.request_handler import RequestHandler
from edge_tts.daemon.server import Server
from edge_tts.daemon.shared_queue import SharedQueue
from edge_tts.daemon.signals import Signals
from edge_tts.daemon.speaker import Speaker
from edge_tts.daemon.stream_intake import StreamIntake
from edge_tts.daemon.synthesis_worker import SpeechPipeline, SynthesisWorker
from edge_tts.errors import AudioError, EdgeTtsError

_DRAIN_S = 6.0
# Loading from a slow card counts as one step.
_SYNTHESIS_STUCK_S = 60.0
_STATUS_INTERVAL_S = 1.0
# A thread that waits for the interpreter gets it within this; the default of
# 5 ms is as long as half an audio block.
_SWITCH_INTERVAL_S = 0.001

BuildPipeline = Callable[[Settings], SpeechPipeline]


def build_real_pipeline(settings: Settings) -> SpeechPipeline:
    """Build the pipeline where it is needed first, in a synthesis thread."""
    from edge_tts.pipeline import build_pipeline

    return build_pipeline(settings, real_time=True)


class Daemon:
    """Speaks alarms from a socket until it is told to stop.

    Args:
        settings: all of them; `reload` reads them again.
        load_settings: how.
        build: makes a pipeline from settings.
    """

    def __init__(
        self,
        settings: Settings,
        load_settings: Callable[[], Settings],
        build: BuildPipeline = build_real_pipeline,
    ) -> None:
        self._settings = settings
        self._load_settings = load_settings
        self._started_s = time.monotonic()
        self._signals = Signals()
        self._stop_by_s: float | None = None
        self._exit_code = 0
        self._headline = ""
        self._measures: dict[str, str] = {}
        self._next_textfile_s = self._next_status_s = 0.0
        self._notifier = Notifier.from_environment()
        self._metrics = Metrics()
        self._streams = StreamIntake()
        self._voice = parts.read_voice(settings)
        self._journal = parts.make_journal(settings)
        self._phrases = parts.make_phrases(settings, self._voice)
        dsp = replace(settings, synthesis=replace(settings.synthesis, vocoder="dsp"))
        self._workers = (
            SynthesisWorker("neural", lambda: build(settings)),
            SynthesisWorker("dsp", lambda: build(dsp)),
        )
        self._player = parts.make_player(
            settings,
            self._voice.sample_rate_hz,
            self._on_device_state,
            lambda: self._note(schedule_fifo(0, settings.realtime.fifo_priority)),
        )

    def run(self) -> int:
        """Serve until SIGTERM; returns the exit status."""
        sys.setswitchinterval(_SWITCH_INTERVAL_S)
        with contextlib.ExitStack() as stack:
            writer = log.start_log(self._settings.log.level)
            stack.callback(writer.close)
            stack.callback(self._notifier.close)
            self._start(stack)
            log.event(
                "ready", version=edge_tts.__version__, sink=self._settings.audio.sink,
                voice=self._voice.name, pid=os.getpid(),
            )  # fmt: skip
            self._notifier.ready(self._reporter.headline())
            self._server.run(self._on_round)
            self._notifier.stopping()
            log.event("stopping", exit_code=self._exit_code)
        return self._exit_code

    def _start(self, stack: contextlib.ExitStack) -> None:
        settings = self._settings
        self._note(pin_process(settings.realtime.cpu_affinity))
        self._note(lock_memory(False))
        carried = []
        if self._journal:
            carried = self._journal.open()
            stack.callback(self._journal.close)
            if damaged := self._journal.status().damaged_records:
                log.event("journal-damaged", log.WARNING, records=damaged, carried=len(carried))
        first_id = self._journal.next_id if self._journal else 1
        queue = AlarmQueue(time.monotonic, parts.queue_limits(settings), first_id)
        self._queue = SharedQueue(queue, self._on_events)
        self._handler = RequestHandler(
            self._queue, self._journal, parts.make_roles(settings), parts.make_buckets(settings),
            self._metrics, self._streams, version=edge_tts.__version__,
            answer_when_safe=lambda *answer: self._syncer.answer(*answer),
            report=lambda form: self._reporter.report(form), reload=self._reload,
        )  # fmt: skip
        self._server = Server(
            self._listeners(), self._handler, parts.server_limits(settings), self._metrics
        )
        stack.callback(self._server.close)
        if self._journal:
            self._syncer = JournalSyncer(self._journal, self._metrics, self._server.post)
            self._syncer.start()
            stack.callback(self._syncer.stop)
        with self._queue.use() as restored:
            for each in carried:
                restored.restore(each.alarm, each.age_s)
        if self._voice.error:
            log.event("no-voice", log.ERROR, error=self._voice.error)
        self._phrases.open()
        tones = parts.make_tones(settings, self._voice)
        tones.prepare()
        self._speaker = Speaker(
            self._queue, self._player, self._workers, self._phrases, self._metrics,
            streams=self._streams.texts, tones=tones,
            options=parts.speaker_options(settings),
        )  # fmt: skip
        self._reporter = Reporter(
            self._queue, self._server, self._speaker, self._player, self._workers[0],
            self._phrases, self._journal, self._metrics, self._voice, settings.audio.sink,
            {"realtime": self._measures}, self._started_s,
        )  # fmt: skip
        self._watchdog = Watchdog(self._notifier, self._probes(), watchdog_period_s())
        stack.enter_context(self._signals.caught(self._server.wakeup_fd))
        self._player.open()
        stack.callback(self._player.close)
        self._start_workers(stack)
        self._speaker.start()
        stack.callback(self._speaker.stop)

    def _start_workers(self, stack: contextlib.ExitStack) -> None:
        neural, dsp = self._workers
        if self._settings.realtime.warm_up:
            neural.call(lambda pipeline: pipeline.warm_up())
        if self._settings.realtime.lock_memory:
            # After the warm-up, so that what it loaded is locked too.
            neural.call(lambda _: self._note(lock_memory(True)))
        neural.start(lambda pipeline: self._phrases.render_next(pipeline, self._is_busy))
        dsp.start()
        for worker in self._workers:
            stack.callback(worker.stop)

    def _note(self, measure: Measure) -> None:
        self._measures[measure.name] = measure.state

    def _is_busy(self) -> bool:
        return self._workers[0].wanted or self._speaker.speaking

    def _listeners(self) -> list[socket.socket]:
        inherited = listen_sockets()
        if inherited:
            return inherited
        options = self._settings.socket
        return [open_listener(options.path, int(options.mode, 8), options.group)]

    def _probes(self) -> list[ProgressProbe]:
        neural = self._workers[0]
        return [
            ProgressProbe("speaker", lambda: self._speaker.steps, lambda: self._speaker.waiting),
            ProgressProbe(
                "player", lambda: self._player.rounds, lambda: self._player.state != "ready"
            ),
            ProgressProbe(
                "synthesis", lambda: neural.steps, lambda: neural.stuck_s < _SYNTHESIS_STUCK_S
            ),
        ]

    # From other threads

    def _on_events(self, events: list[Event]) -> None:
        self._server.post(lambda: self._handler.deliver(events))

    def _on_device_state(self, state: str, detail: str) -> None:
        level = log.INFO if state in ("ready", "asleep", "closed") else log.ERROR
        log.event("device", level, state=state, detail=detail)
        self._server.post(lambda: self._handler.announce(device=state, detail=detail))
        if state == "fatal":
            self._server.post(self._give_up)

    # In the server's thread

    def _give_up(self) -> None:
        """Only a new process can reach the device: end, the journal carries the alarms over."""
        log.event("device-fatal", log.ERROR, detail=self._player.detail)
        self._exit_code = AudioError.exit_code
        self._server.stop()

    def _on_round(self) -> None:
        self._handler.tick()
        stalled = self._watchdog.tick()
        now_s = time.monotonic()
        if now_s >= self._next_status_s:
            self._next_status_s = now_s + _STATUS_INTERVAL_S
            self._tell_headline()
            if stalled:
                log.event("stalled", log.ERROR, parts=",".join(stalled))
        if self._settings.log.metrics_file and now_s >= self._next_textfile_s:
            self._next_textfile_s = now_s + self._settings.log.metrics_interval_s
            self._reporter.write_textfile(self._settings.log.metrics_file)
        if self._signals.take_reload():
            with contextlib.suppress(EdgeTtsError):
                self._reload()
        if self._signals.stop_asked:
            self._drain(now_s)

    def _tell_headline(self) -> None:
        headline = self._reporter.headline()
        if headline != self._headline:
            self._headline = headline
            self._notifier.status(headline)

    def _drain(self, now_s: float) -> None:
        """Accept nothing more, let the alarm being told end, then stop."""
        if self._stop_by_s is None:
            self._stop_by_s = now_s + _DRAIN_S
            self._reporter.stopping = True
            self._handler.draining = True
            self._notifier.stopping("the alarm being told ends first")
            self._server.stop_accepting()
            self._speaker.take_no_more()
        if not self._speaker.speaking or now_s >= self._stop_by_s:
            self._server.stop()

    def _reload(self) -> None:
        """Read settings and pronunciations again; what can't change while running stays.

        Raises:
            ConfigError: the settings are wrong; everything stays as it was.
        """
        self._notifier.reloading()
        try:
            settings = self._load_settings()
            roles = parts.make_roles(settings)
        except EdgeTtsError as exc:
            log.event("reload-failed", log.ERROR, error=exc)
            raise
        finally:
            self._notifier.ready(self._reporter.headline())
        self._handler.roles = roles
        self._handler.buckets = parts.make_buckets(settings)
        self._speaker.options = parts.speaker_options(settings)
        self._speaker.tones = parts.make_tones(settings, self._voice)
        self._phrases.change(
            parts.phrase_identity(settings, self._voice),
            settings.cache.phrases,
            settings.synthesis.speed,
        )
        for worker in self._workers:
            if worker.pipeline is not None:
                worker.call(lambda pipeline: pipeline.reload_lexicon())
        later = parts.needs_restart(self._settings, settings)
        self._settings = replace(
            settings, **{name: getattr(self._settings, name) for name in later}
        )
        log.event("reloaded", needs_restart=",".join(later) or None)
