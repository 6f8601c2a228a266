"""Counters and latencies of the daemon, and their Prometheus exposition.

Format: https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4.
Latencies are summaries over the last `WINDOW` observations of each stage, so
that memory stays bounded over years.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from array import array
from collections.abc import Mapping
from pathlib import Path

from edge_tts.errors import OutputError

WINDOW = 1024
QUANTILES = (0.5, 0.95, 0.99)

_PREFIX = "edgetts_"

_HELP = {
    "alarms_accepted_total": "Alarms taken into the queue.",
    "alarms_finished_total": "Alarms that left the queue, by outcome and by what spoke them.",
    "requests_total": "Requests by verb.",
    "requests_refused_total": "Requests that were refused, by exit code.",
    "clients_total": "Connections accepted.",
    "clients_dropped_total": "Connections that the daemon closed, by reason.",
    "fallbacks_total": "Steps down from neural speech, by the step that failed.",
    "device_losses_total": "Times the audio device was lost.",
    "underruns_total": "Audio blocks that were not ready in time.",
    "journal_failures_total": "Journal writes that failed.",
    "up_seconds": "Time since the daemon started.",
    "queue_waiting": "Alarms waiting to be spoken.",
    "clients": "Clients connected now.",
    "device_up": "1 while the audio device takes samples.",
    "speaking": "1 while an alarm is being spoken.",
    "stage_seconds": "Latency by stage from the request line to the device.",
}

Labels = tuple[tuple[str, str], ...]


class _Window:
    """The last observations of a stage, in memory that is as large at the first as at the last."""

    def __init__(self) -> None:
        self._values_ms = array("d", bytes(8 * WINDOW))
        self.count = 0
        self.sum_ms = 0.0

    def add(self, duration_ms: float) -> None:
        self._values_ms[self.count % WINDOW] = duration_ms
        self.count += 1
        self.sum_ms += duration_ms

    def ordered_ms(self) -> list[float]:
        return sorted(self._values_ms[: self.count])


class Metrics:
    """Thread-safe counters, gauges and stage latencies."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[tuple[str, Labels], float] = {}
        self._stages: dict[str, _Window] = {}

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter; ``name`` without prefix, ending in ``_total``."""
        key = (name, tuple(sorted(labels.items())))
        with self._lock:
            self._counters[key] = self._counters.get(key, 0) + amount

    def value(self, name: str, **labels: str) -> float:
        """A counter's value, summed over every label that isn't given."""
        wanted = set(labels.items())
        with self._lock:
            return sum(
                value
                for (counter, pairs), value in self._counters.items()
                if counter == name and wanted <= set(pairs)
            )

    def observe(self, stage: str, duration_ms: float) -> None:
        """Record what a stage took: queue, text, encoder, first_chunk, device, total."""
        with self._lock:
            if stage not in self._stages:
                self._stages[stage] = _Window()
            self._stages[stage].add(duration_ms)

    def latencies(self) -> dict[str, dict[str, float]]:
        """By stage: ``count``, ``p50_ms``, ``p95_ms``, ``p99_ms``."""
        with self._lock:
            stages = {name: (w.count, w.ordered_ms()) for name, w in self._stages.items()}
        return {
            name: {
                "count": count,
                **{f"p{round(q * 100)}_ms": round(percentile(ordered, q), 3) for q in QUANTILES},
            }
            for name, (count, ordered) in stages.items()
        }

    def counters(self) -> dict[str, float]:
        """Every counter, labels written as in the exposition format."""
        with self._lock:
            items = sorted(self._counters.items())
        return {name + _labels(pairs): value for (name, pairs), value in items}

    def exposition(self, gauges: Mapping[str, float], info: Mapping[str, str]) -> str:
        """Everything in Prometheus text format; ``info`` becomes one constant series."""
        lines: list[str] = []

        def head(name: str, kind: str) -> None:
            if name in _HELP:
                lines.append(f"# HELP {_PREFIX}{name} {_HELP[name]}")
            lines.append(f"# TYPE {_PREFIX}{name} {kind}")

        head("info", "gauge")
        lines.append(f"{_PREFIX}info{_labels(tuple(sorted(info.items())))} 1")
        for name, value in gauges.items():
            head(name, "gauge")
            lines.append(f"{_PREFIX}{name} {_number(value)}")
        with self._lock:
            counters = sorted(self._counters.items())
            stages = [
                (name, window.count, window.sum_ms, window.ordered_ms())
                for name, window in sorted(self._stages.items())
            ]
        last = ""
        for (name, pairs), value in counters:
            if name != last:
                head(name, "counter")
                last = name
            lines.append(f"{_PREFIX}{name}{_labels(pairs)} {_number(value)}")
        if stages:
            head("stage_seconds", "summary")
        for name, count, sum_ms, ordered in stages:
            for quantile in QUANTILES:
                pairs = (("stage", name), ("quantile", str(quantile)))
                seconds = percentile(ordered, quantile) / 1000
                lines.append(f"{_PREFIX}stage_seconds{_labels(pairs)} {_number(seconds)}")
            labels = _labels((("stage", name),))
            lines.append(f"{_PREFIX}stage_seconds_sum{labels} {_number(sum_ms / 1000)}")
            lines.append(f"{_PREFIX}stage_seconds_count{labels} {count}")
        return "\n".join(lines) + "\n"


def percentile(ordered: list[float], quantile: float) -> float:
    """Nearest-rank percentile of an ascending list; 0.0 when it is empty."""
    if not ordered:
        return 0.0
    rank = max(1, -(-len(ordered) * round(quantile * 1000) // 1000))
    return ordered[rank - 1]


def write_textfile(path: Path, exposition: str) -> None:
    """Replace a file for node_exporter's textfile collector in one step.

    Raises:
        OutputError: the folder is missing, full or read-only.
    """
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as handle:
            temporary = handle.name
            handle.write(exposition)
            os.fchmod(handle.fileno(), 0o644)
        os.replace(temporary, path)
    except OSError as exc:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise OutputError(
            f"the metrics file {path} could not be written ({exc}); "
            "give a folder that exists and that the daemon may write to"
        ) from exc


def _labels(pairs: Labels) -> str:
    if not pairs:
        return ""
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in pairs) + "}"


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(round(value, 9))
