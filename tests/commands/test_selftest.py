from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from edge_tts.cli import run
from edge_tts.commands import selftest
from edge_tts.commands.selftest import LineResult
from tests.packs import copy_pack


@pytest.fixture(autouse=True)
def _voice(
    tiny_voice: Path,
    compiled_lexicon: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EDGETTS_VOICE", str(copy_pack(tiny_voice, tmp_path / "pack")))
    monkeypatch.setenv("EDGETTS_LEXICON_D", str(tmp_path / "none"))


def test_the_cpu_speaks_every_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["selftest", "--provider", "cpu", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert [result["text"] for result in results] == list(selftest.LINES)
    for result in results:
        assert result["provider"] == "cpu int8"
        assert result["duration_s"] > 0.3
        assert result["level_dbfs"] > -50
        assert result["first_audio_ms"] > 0


def test_a_provider_that_is_missing_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["selftest", "--provider", "tensorrt"]) == 70
    error = capsys.readouterr().err
    assert error.startswith("edgetts: provider tensorrt can't be used here")
    assert error.count("\n") == 1


GOOD = LineResult(
    text="好",
    provider="tensorrt fp16",
    first_audio_ms=3.0,
    duration_s=1.0,
    reference_duration_s=1.0,
    level_dbfs=-20.0,
    log_spectral_distance_db=0.2,
)


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({}, 0, ""),
        ({"log_spectral_distance_db": 4.0}, 70, "does not give what the CPU gives"),
        ({"log_spectral_distance_db": None, "duration_s": 1.1}, 70, "does not give"),
        ({"level_dbfs": -80.0}, 70, "nothing that can be heard"),
        ({"provider": "cpu int8", "log_spectral_distance_db": None}, 0, ""),
        ({"provider": "cpu int8", "level_dbfs": -80.0}, 70, "nothing that can be heard"),
    ],
)
def test_what_counts_as_a_failure(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: dict,
    status: int,
    words: str,
) -> None:
    result = replace(GOOD, **change)
    monkeypatch.setattr(selftest, "compare_pipelines", lambda candidate, reference: [result])
    assert run(["selftest"]) == status
    captured = capsys.readouterr()
    assert words in captured.err
    assert "first audio 3.0 ms" in captured.out


def test_the_reference_equals_itself() -> None:
    from edge_tts.config import load_settings
    from edge_tts.pipeline import build_pipeline

    fp32 = {"inference.provider": "cpu", "inference.precision": "fp32"}
    pipelines = [build_pipeline(load_settings(overrides=fp32)) for _ in range(2)]
    for result in selftest.compare_pipelines(*pipelines):
        assert result.log_spectral_distance_db == 0.0
        assert result.is_equal
