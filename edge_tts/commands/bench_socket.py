"""Latency of a running daemon, from the request line to sound: `edgetts bench --socket`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from edge_tts.client import Client, Reply
from edge_tts.errors import EdgeTtsError

CACHED_TEXT = "警告"
LONG_TEXT = "一号电机温度过高，请立即检查冷却水泵和通风机，并通知值班工程师到场处理。"
_CUT_AFTER_S = 0.3
_PERCENTILES = (50, 95, 99)


def measure_socket(
    socket_path: str | None, rounds: int, cached_text: str = CACHED_TEXT
) -> dict[str, Any]:
    """Speak through a daemon and time its ``started`` events.

    Each figure is the time from before the request line is sent until the first
    non-silent sample left the device, by the device's clock as the ``started``
    event tells it, less the device's own buffer at that moment; milliseconds.
    Tones are off, except for the critical alarm that cuts in.

    Raises:
        DaemonUnavailableError: there is no daemon.
        RequestError: this user may not speak or the daemon is full.
    """
    with Client(socket_path, timeout_s=30.0) as client, Client(socket_path) as other:
        picture = json.loads(client.status("json"))

        def first_sound_ms(number: int) -> tuple[float, str]:
            return _timed(client, f"{number}号泵", "high", "off")

        def cached_ms(_: int) -> tuple[float, str]:
            return _timed(client, cached_text, "high", "off")

        def cut_in_ms(number: int) -> tuple[float, str]:
            long = other.request(
                "SAY", prio="low", tone="off", wait="started", key="bench", text=LONG_TEXT
            )
            other.follow(long, "started")
            time.sleep(_CUT_AFTER_S)
            try:
                return _timed(client, f"{number}号罐着火", "critical", "critical")
            finally:
                other.request("CLEAR", key="bench")

        return {
            "device_buffer_ms": picture["device"]["latency_ms"],
            "sink": picture["device"]["sink"],
            "provider": picture["synthesis"].get("provider"),
            "voice": picture["voice"]["name"],
            "cached": _series(cached_ms, rounds),
            "synthesised": _series(first_sound_ms, rounds),
            "cut_in": _series(cut_in_ms, max(1, rounds // 4)),
            "underruns": _underruns(client),
        }


def table(report: dict[str, Any]) -> str:
    """The report for a person."""
    lines = [
        f"voice {report['voice']} on {report['provider']}, sink {report['sink']}, "
        f"device buffer {report['device_buffer_ms']:g} ms (taken off)",
        f"{'from request to first sound, ms':34}" + "".join(f"{f'P{p}':>8}" for p in _PERCENTILES),
    ]
    names = {
        "cached": "cached phrase",
        "synthesised": "synthesised",
        "cut_in": "critical cut-in",
    }
    for key, name in names.items():
        series = report[key]
        values = "".join(f"{series[f'p{p}_ms']:8.1f}" for p in _PERCENTILES)
        lines.append(f"{name:34}{values}  ({series['count']} alarms via {series['via']})")
    lines.append(f"underruns: {report['underruns']:g}")
    return "\n".join(lines)


def _timed(client: Client, text: str, priority: str, tone: str) -> tuple[float, str]:
    sounding_s: list[float] = []

    def note(event: Reply) -> None:
        if "started" in event.words:
            device_s = float(event.fields["device_ms"]) / 1000
            sounding_s.append(float(event.fields["at_s"]) - device_s)

    began_s = time.monotonic()
    reply = client.request("SAY", prio=priority, tone=tone, wait="finished", text=text)
    spoken = client.follow(reply, "finished", on_event=note)
    if not sounding_s or spoken.exit_code != 0:
        raise EdgeTtsError(f"the daemon could not speak {text!r}: {spoken.describe()}")
    return (sounding_s[0] - began_s) * 1000, spoken.via


def _series(one: Callable[[int], tuple[float, str]], rounds: int) -> dict[str, Any]:
    results = [one(number) for number in range(1, rounds + 1)]
    ordered = sorted(value for value, _ in results)
    ranks = {p: ordered[max(1, -(-len(ordered) * p // 100)) - 1] for p in _PERCENTILES}
    vias = sorted({via for _, via in results})
    return {
        "count": rounds,
        "via": "+".join(vias),
        **{f"p{p}_ms": round(value, 2) for p, value in ranks.items()},
    }


def _underruns(client: Client) -> float:
    counters = json.loads(client.status("json"))["counters"]
    return float(counters.get("underruns_total", 0))
