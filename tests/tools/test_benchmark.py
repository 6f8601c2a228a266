from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tools.benchmark import Engine, Speaker, figures, table, take_turns

CORE = min(os.sched_getaffinity(0))


def engine(name: str, *options: str) -> Engine:
    return Engine(name, "none", (), ("en", "zh"), options)


def test_engines_take_turns_and_their_figures_are_printed(tiny_voice: Path) -> None:
    speakers = [
        Speaker(engine(name, "edgetts", option), Path(sys.executable), CORE, str(tiny_voice))
        for name, option in (("edgetts", "wiener=off"), ("hibari", "vocoder=dsp"))
    ]
    lines = [("Motor stalled", "en"), ("电机过载", "zh"), ("Tank 3", "en")]
    runs = take_turns(speakers, lines, rounds=2)
    assert len(runs["edgetts"]["en"].first_ms) == 4
    assert len(runs["hibari"]["zh"].first_ms) == 2
    assert runs["edgetts"]["en"].audio_s == pytest.approx(runs["hibari"]["en"].audio_s)
    report = {
        "machine": "test",
        "core": CORE,
        "rounds": 2,
        "lines": {"en": 2, "zh": 1},
        "engines": {speaker.engine.name: figures(speaker, runs[speaker.engine.name])
                    for speaker in speakers},
    }  # fmt: skip
    ours = report["engines"]["edgetts"]
    assert ours["what"] == "tiny 1.0.0, cpu int8"
    assert 20 < ours["peak_rss_mb"] < 2000
    english = ours["languages"]["en"]
    assert english["first_audio_ms"]["p50"] <= english["first_audio_ms"]["p99"]
    assert english["first_audio_cpu_ms"]["p50"] <= english["first_audio_ms"]["p99"]
    text = table(report)
    assert "times sooner than hibari" in text
    assert f"{english['first_audio_ms']['p95']:.2f}" in text


def test_an_engine_that_cannot_start_says_why(tiny_voice: Path) -> None:
    with pytest.raises(RuntimeError, match="noise spectrum"):
        Speaker(engine("x", "edgetts", "wiener=on"), Path(sys.executable), CORE, str(tiny_voice))
    with pytest.raises(RuntimeError, match="hibari"):
        Speaker(engine("x", "hibari"), Path(sys.executable), CORE, "")
