"""STATUS: one picture of the daemon, written for people, for programs and for Prometheus."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from edge_tts.daemon.metrics import Metrics
from edge_tts.daemon.protocol import quote_value
from edge_tts.daemon.queue_status import QueueStatus
from edge_tts.daemon.requests import StatusFormat

Picture = Mapping[str, Any]


def describe_queue(status: QueueStatus) -> dict[str, Any]:
    """The queue's part of the picture."""
    return {
        "waiting": status.waiting,
        "resting": status.resting,
        "speaking_id": status.speaking_id,
        "silenced_for_s": round(status.silenced_for_s, 1),
        "shelved_for_s": {key: round(s, 1) for key, s in status.shelved_for_s.items()},
        "outcomes": dict(status.outcomes),
        "counts": dict(status.counts),
        "alarms": [
            {
                "id": each.alarm.id,
                "priority": each.alarm.priority.word,
                "state": each.state,
                "key": each.alarm.key,
                "age_s": round(each.age_s, 1),
                "count": each.count,
                "times_spoken": each.times_spoken,
                "text": _printable(each.alarm.text[:80]),
            }
            for each in status.alarms
        ],
    }


def render(picture: Picture, form: StatusFormat, metrics: Metrics) -> str:
    """The picture in one format; text and Prometheus in lines, JSON in one line."""
    if form is StatusFormat.JSON:
        whole = {**picture, "counters": metrics.counters(), "latency": metrics.latencies()}
        return json.dumps(whole, ensure_ascii=False, default=str)
    if form is StatusFormat.PROMETHEUS:
        return prometheus(picture, metrics)
    return "\n".join(_text_lines(picture, metrics))


def prometheus(picture: Picture, metrics: Metrics) -> str:
    """The picture in exposition format."""
    gauges = {
        "up_seconds": picture["uptime_s"],
        "queue_waiting": picture["queue"]["waiting"],
        "clients": picture["clients"],
        "speaking": float(picture["queue"]["speaking_id"] is not None),
        "device_up": float(picture["device"]["state"] in ("ready", "asleep")),
        "device_losses_total": picture["device"]["losses"],
        "journal_degraded": float(picture["journal"]["degraded"]),
    }
    info = {"version": picture["version"], "voice": picture["voice"]["name"]}
    return metrics.exposition(gauges, info)


def _text_lines(picture: Picture, metrics: Metrics) -> list[str]:
    lines = [f"state: {picture['state']}"]
    for name, value in picture.items():
        if name == "queue":
            lines += _queue_lines(value)
        elif isinstance(value, Mapping):
            words = (f"{key}={each}" for key, each in value.items() if each not in ("", None))
            lines.append(f"{name}: " + " ".join(words))
        elif name != "state":
            lines.append(f"{name}: {value}")
    for stage, latency in metrics.latencies().items():
        words = (f"{key}={value:g}" for key, value in latency.items())
        lines.append(f"latency {stage}: " + " ".join(words))
    for name, count in metrics.counters().items():
        lines.append(f"count {name}: {count:g}")
    return [" ".join(line.split()) for line in lines]


def _queue_lines(queue: Picture) -> list[str]:
    silenced = f" silenced_for_s={queue['silenced_for_s']}" if queue["silenced_for_s"] else ""
    lines = [f"queue: waiting={queue['waiting']} resting={queue['resting']}{silenced}"]
    for alarm in queue["alarms"]:
        key = f" key={quote_value(alarm['key'])}" if alarm["key"] else ""
        lines.append(
            f"alarm {alarm['id']}: {alarm['state']} {alarm['priority']}{key} "
            f"age_s={alarm['age_s']} count={alarm['count']} text={alarm['text']}"
        )
    lines += [f"shelved {key}: for_s={left_s}" for key, left_s in queue["shelved_for_s"].items()]
    return lines


def _printable(text: str) -> str:
    """Text that can neither steer a terminal nor turn the line round."""
    return "".join(char if char.isprintable() else " " for char in text)
