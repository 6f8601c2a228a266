"""Looks at every part of the running daemon and says how it is: STATUS, metrics file, one line."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import edge_tts
from edge_tts.audio.player import Player
from edge_tts.daemon import log, status
from edge_tts.daemon.journal import Journal
from edge_tts.daemon.metrics import Metrics, write_textfile
from edge_tts.daemon.parts import VoiceFacts
from edge_tts.daemon.phrases import Phrases
from edge_tts.daemon.requests import StatusFormat
from edge_tts.daemon.server import Server
from edge_tts.daemon.shared_queue import SharedQueue
from edge_tts.daemon.speaker import Speaker
from edge_tts.daemon.synthesis_worker import SynthesisWorker
from edge_tts.errors import OutputError

_BUSY_S = 1.0


@dataclass
class Reporter:
    """Reads the parts it is given; changes none. ``stopping`` is set by the daemon."""

    queue: SharedQueue
    server: Server
    speaker: Speaker
    player: Player
    worker: SynthesisWorker
    phrases: Phrases
    journal: Journal | None
    metrics: Metrics
    voice: VoiceFacts
    sink: str
    extra: Mapping[str, object]
    started_s: float
    stopping: bool = False

    @property
    def state(self) -> str:
        """``idle``, ``speaking``, ``no-device``, ``no-voice`` or ``stopping``."""
        if self.stopping:
            return "stopping"
        if self.player.state not in ("ready", "asleep"):
            return "no-device"
        if self.voice.error:
            return "no-voice"
        return "speaking" if self.speaker.speaking else "idle"

    def headline(self) -> str:
        """One line for the service manager."""
        trouble = f"; tones instead of words: {self.voice.error}" if self.voice.error else ""
        return f"{self.state}; device {self.player.state}: {self.player.detail}{trouble}"

    def report(self, form: StatusFormat) -> str:
        """What STATUS answers."""
        return status.render(self.picture(), form, self.metrics)

    def write_textfile(self, path: Path) -> None:
        """Write the metrics file; a failure is logged only."""
        try:
            write_textfile(path, status.prometheus(self.picture(), self.metrics))
        except OutputError as exc:
            log.event("metrics-file-failed", log.WARNING, error=exc)

    def picture(self) -> dict[str, Any]:
        """Everything at one moment."""
        with self.queue.use() as queue:
            queue_status = queue.status()
        return {
            "state": self.state,
            "version": edge_tts.__version__,
            "uptime_s": round(time.monotonic() - self.started_s, 1),
            "clients": len(self.server.connections),
            "device": {
                "state": self.player.state,
                "sink": self.sink,
                "losses": self.player.losses,
                "latency_ms": round(self.player.latency_s * 1000, 1),
                "detail": self.player.detail,
            },
            "voice": asdict(self.voice),
            "synthesis": self._synthesis(),
            "queue": status.describe_queue(queue_status),
            "journal": self._journal(),
            "phrases": {
                "wanted": len(self.phrases.wanted), "missing": len(self.phrases.missing)
            },
            **self.extra,
        }  # fmt: skip

    def _synthesis(self) -> dict[str, Any]:
        """Provider and why, as the pipeline tells it."""
        state = "not loaded" if self.worker.pipeline is None else "loaded"
        if self.worker.stuck_s > _BUSY_S:
            state = f"busy for {self.worker.stuck_s:.0f} s"
        describe = getattr(self.worker.pipeline, "describe", None)
        return {"state": state, **(describe() if describe else {})}

    def _journal(self) -> dict[str, Any]:
        if self.journal is None:
            return {"degraded": True, "reason": "switched off"}
        journal = self.journal.status()
        return {field.name: getattr(journal, field.name) for field in fields(journal)}
