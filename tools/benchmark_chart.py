"""Draws the figures of ``tools/benchmark.py``, read as JSON from standard input, into a PNG."""

from __future__ import annotations

import json
import sys
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

OURS, THEIRS = "#0b6e4f", "#8d99ae"


def main() -> int:
    report = json.load(sys.stdin)
    engines = {
        name: engine for name, engine in report["engines"].items() if "en" in engine["languages"]
    }
    names = list(engines)[::-1]
    colours = [OURS if name.startswith("edgetts") else THEIRS for name in names]
    figure, (latency, speed, memory) = pyplot.subplots(
        1, 3, figsize=(13, 1.6 + 0.45 * len(names)), sharey=True, width_ratios=(2, 1, 1)
    )
    spreads = [engines[name]["languages"]["en"]["first_audio_ms"] for name in names]
    latency.barh(names, [spread["p95"] for spread in spreads], color=colours)
    for row, spread in enumerate(spreads):
        latency.plot([spread["p50"], spread["p99"]], [row, row], "k|-", lw=1)
        latency.annotate(f" {spread['p95']:.1f}", (spread["p99"], row), va="center", size=9)
    latency.set(xscale="log", title="First audio, ms: bar P95, line P50 to P99")
    latency.margins(x=0.15)
    bars(speed, names, [engines[n]["languages"]["en"]["x_real_time"] for n in names], colours)
    speed.set(xscale="log", title="Times real time")
    bars(memory, names, [engines[name]["peak_rss_mb"] for name in names], colours)
    memory.set(title="Peak memory, MB")
    for axes in (latency, speed, memory):
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(
        f"{report['lines']['en']} English alarm lines x {report['rounds']}, one core of "
        f"{report['machine']}, all in one run",
        size=10,
    )
    figure.tight_layout()
    figure.savefig(sys.argv[1], dpi=130)
    return 0


def bars(axes: Any, names: list[str], values: list[float], colours: list[str]) -> None:
    axes.barh(names, values, color=colours)
    for row, value in enumerate(values):
        axes.annotate(f" {value:.0f}", (value, row), va="center", size=9)
    axes.margins(x=0.25)


if __name__ == "__main__":
    sys.exit(main())
