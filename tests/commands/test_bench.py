from __future__ import annotations

import json
from pathlib import Path

import pytest

from edge_tts import cli
from edge_tts.commands.bench import read_lines
from edge_tts.commands.speech_stats import peak_rss_mb, percentile, process_age_ms, rss_mb
from edge_tts.errors import EncodingError, InputError


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tiny_voice: Path, tmp_path: Path) -> None:
    monkeypatch.setenv("EDGETTS_VOICE", str(tiny_voice))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def test_json_has_what_it_promises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("电机过载\n\nMotor stalled\n", "utf-8")
    assert cli.run(["bench", "--lines", str(lines), "--rounds", "2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["voice"], report["provider"]) == ("tiny", "cpu int8")
    assert (report["lines"], report["rounds"]) == (2, 2)
    for spread in (report["first_audio_ms"], *report["stages_ms"].values()):
        assert set(spread) == {"p50", "p95", "p99"}
        assert spread["p50"] <= spread["p95"] <= spread["p99"]
    assert {"text", "encoder", "decoder", "vocoder", "transform"} <= set(report["stages_ms"])
    # Stages are parts of first audio.
    assert all(
        spread["p50"] < report["first_audio_ms"]["p99"] for spread in report["stages_ms"].values()
    )
    assert report["x_real_time"] > 1
    assert report["jitter"] >= 1
    assert report["peak_rss_mb"] >= report["loaded_rss_mb"] > 20
    # What was loaded is given back.
    assert report["idle_rss_mb"] < report["loaded_rss_mb"]


def test_table_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("电机过载\n", "utf-8")
    assert cli.run(["bench", "--lines", str(lines), "--rounds", "1"]) == 0
    out = capsys.readouterr().out
    assert "first audio" in out
    assert "times real time" in out
    assert "P99" in out


def test_lines_of_the_package_are_alarms_of_both_languages() -> None:
    lines = read_lines(None)
    assert len(lines) >= 60
    assert any(line.isascii() for line in lines)
    assert any("报警" in line for line in lines)


def test_lines_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.txt"):
        read_lines(str(tmp_path / "missing.txt"))
    empty = tmp_path / "empty.txt"
    empty.write_text("\n \n")
    with pytest.raises(InputError, match="no text"):
        read_lines(str(empty))
    gbk = tmp_path / "gbk.txt"
    gbk.write_bytes("电机".encode("gbk"))
    with pytest.raises(EncodingError):
        read_lines(str(gbk))


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([], 50, 0), ([7], 99, 7), ([1, 2, 3, 4, 5], 50, 3), ([1, 2], 95, 1.95), ([3, 1, 2], 100, 3)],
)
def test_percentile(values: list[float], percent: float, expected: float) -> None:
    assert percentile(values, percent) == pytest.approx(expected)


def test_own_memory_and_age() -> None:
    assert 5 < rss_mb() <= peak_rss_mb()
    first = process_age_ms()
    assert 0 < first <= process_age_ms() < 24 * 3600 * 1000
