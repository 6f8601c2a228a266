"""STATUS shows hostile text without obeying it."""

from __future__ import annotations

import json

from edge_tts.daemon.alarm_queue import AlarmQueue
from edge_tts.daemon.metrics import Metrics
from edge_tts.daemon.requests import Priority, Say, StatusFormat
from edge_tts.daemon.status import describe_queue, render


def picture(*texts: str) -> dict:
    queue = AlarmQueue(lambda: 100.0)
    for number, text in enumerate(texts):
        queue.submit(Say(text, Priority.LOW, key=f"k {number}"))
    queue.shelve("pump", 60.0)
    return {
        "state": "idle",
        "version": "1",
        "uptime_s": 3.0,
        "clients": 1,
        "device": {"state": "ready", "losses": 2, "detail": ""},
        "voice": {"name": "v"},
        "queue": describe_queue(queue.status()),
        "journal": {"degraded": False},
    }


def test_escape_sequences_and_direction_marks_are_blanked():
    text = render(picture("\x1b[31mALARM\x1b[0m", "Pump \u202e3"), StatusFormat.TEXT, Metrics())
    assert all(line.isprintable() for line in text.splitlines())
    assert "ALARM" in text
    assert 'key="k 0"' in text
    assert "shelved pump: for_s=60.0" in text


def test_json_is_one_line():
    metrics = Metrics()
    metrics.count("requests_total", verb="SAY")
    text = render(picture("第一\n第二"), StatusFormat.JSON, metrics)
    assert "\n" not in text
    whole = json.loads(text)
    assert whole["queue"]["alarms"][0]["text"] == "第一 第二"
    assert whole["counters"] == {'requests_total{verb="SAY"}': 1}


def test_prometheus_has_the_gauges():
    text = render(picture("x"), StatusFormat.PROMETHEUS, Metrics())
    assert "edgetts_queue_waiting 1" in text.splitlines()
    assert "edgetts_device_up 1" in text.splitlines()
    assert "edgetts_device_losses_total 2" in text.splitlines()
