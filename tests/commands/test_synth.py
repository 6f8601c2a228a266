from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from edge_tts import cli
from edge_tts.config import load_settings
from edge_tts.pipeline import build_pipeline

REPOSITORY = Path(__file__).resolve().parents[2]
EDGETTS = [sys.executable, "-m", "edge_tts"]
TEXT = "警告，主轴温度过高，当前 85℃"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tiny_voice: Path, tmp_path: Path) -> None:
    monkeypatch.setenv("EDGETTS_VOICE", str(tiny_voice))
    monkeypatch.setenv("EDGETTS_LEXICON_D", str(tmp_path / "lexicon.d"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(REPOSITORY), *sys.path]))
    monkeypatch.delenv("EDGETTS_CONFIG", raising=False)


@pytest.fixture
def expected(tiny_voice: Path) -> Callable[[str], np.ndarray]:
    """The int16 samples that the pipeline gives for a text."""

    def speak(text: str) -> np.ndarray:
        pipeline = build_pipeline(load_settings())
        samples = np.concatenate([chunk.samples for chunk in pipeline.stream(text)])
        return np.rint(samples * 32767).astype("<i2")

    return speak


def read_wav(path: Path) -> tuple[int, np.ndarray]:
    with wave.open(str(path)) as reader:
        assert (reader.getnchannels(), reader.getsampwidth()) == (1, 2)
        return reader.getframerate(), np.frombuffer(reader.readframes(reader.getnframes()), "<i2")


def test_writes_a_wav(tmp_path: Path, expected: Callable[[str], np.ndarray]) -> None:
    path = tmp_path / "alarm.wav"
    assert cli.run(["synth", TEXT, "-o", str(path)]) == 0
    rate_hz, samples = read_wav(path)
    assert rate_hz == 24000
    np.testing.assert_array_equal(samples, expected(TEXT))


def test_stats_are_one_line_of_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "alarm.wav"
    assert cli.run(["synth", TEXT, "-o", str(path), "--stats", "json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    stats = json.loads(line)
    assert stats["voice"] == "tiny"
    assert stats["provider"] == "cpu int8"
    assert stats["audio_s"] == pytest.approx(len(read_wav(path)[1]) / 24000, abs=1e-3)
    assert stats["x_real_time"] * stats["real_time_factor"] == pytest.approx(1.0, rel=0.01)
    assert set(stats["stages_ms"]) >= {"text", "encoder", "decoder", "vocoder", "transform"}
    assert stats["first_audio_ms"] >= max(stats["first_stages_ms"].values())
    assert stats["cold_start_ms"] > 0
    assert 20 < stats["peak_rss_mb"] < 2000


def test_speed_rate_and_gain(tmp_path: Path) -> None:
    def spoken(*options: str) -> tuple[int, np.ndarray]:
        path = tmp_path / "out.wav"
        assert cli.run(["synth", "电机过载报警", "-o", str(path), "--gain", "-12", *options]) == 0
        return read_wav(path)

    rate_hz, plain = spoken()
    _, fast = spoken("--speed", "2")
    assert len(plain) / len(fast) == pytest.approx(2.0, rel=0.2)
    other_rate_hz, converted = spoken("--rate", "16000")
    assert other_rate_hz == 16000
    assert len(converted) == -(-len(plain) * 16000 // rate_hz)
    _, quieter = spoken("--gain", "-18")
    assert np.abs(quieter).max() == pytest.approx(np.abs(plain).max() / 10 ** (6 / 20), rel=0.01)


def test_without_a_file_it_plays_into_the_sink_of_the_settings(
    tmp_path: Path, expected: Callable[[str], np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    played = tmp_path / "played.wav"
    settings = tmp_path / "settings.toml"
    settings.write_text(f'[audio]\nsink = "wav:{played}"\n', "utf-8")
    monkeypatch.setenv("EDGETTS_CONFIG", str(settings))
    assert cli.run(["synth", "断电"]) == 0
    rate_hz, samples = read_wav(played)
    assert rate_hz == 24000
    spoken = expected("断电")
    # Players may put silence around what they play.
    start = int(np.argmax(samples != 0)) - int(np.argmax(spoken != 0))
    np.testing.assert_array_equal(samples[start : start + len(spoken)], spoken)


def test_standard_input_and_raw_output(expected: Callable[[str], np.ndarray]) -> None:
    done = subprocess.run(
        [*EDGETTS, "synth", "-", "-o", "-", "--stats", "json"],
        input=TEXT.encode(), capture_output=True, check=True,
    )  # fmt: skip
    np.testing.assert_array_equal(np.frombuffer(done.stdout, "<i2"), expected(TEXT))
    assert json.loads(done.stderr)["via"] == ["neural"]


def test_text_is_spoken_while_it_still_comes(expected: Callable[[str], np.ndarray]) -> None:
    with subprocess.Popen(
        [*EDGETTS, "synth", "--stream", "-", "-o", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        first = "电机过载，".encode()
        # Cut within a character, as a pipe may.
        process.stdin.write(first[:4])
        process.stdin.write(first[4:])
        heard = process.stdout.read(1000)
        assert len(heard) == 1000  # sound, though the text has not ended
        process.stdin.write("请检查。".encode())
        process.stdin.close()
        heard += process.stdout.read()
    assert process.returncode == 0
    samples = np.frombuffer(heard, "<i2")
    begin = expected("电机过载，")
    np.testing.assert_array_equal(samples[: len(begin) - 120], begin[:-120])
    assert len(samples) > 1.5 * len(begin)


def test_a_slow_listener_holds_the_writer_back() -> None:
    with subprocess.Popen(
        [*EDGETTS, "synth", "--stream", "-", "-o", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        os.set_blocking(process.stdin.fileno(), False)
        line, written, last_progress_s = "电机过载。".encode() * 100, 0, time.monotonic()
        # Nobody listens: both pipes fill up and then nothing moves any more.
        while time.monotonic() - last_progress_s < 2.0:
            count = process.stdin.write(line)  # None when the pipe is full
            if count:
                written += count
                last_progress_s = time.monotonic()
            else:
                time.sleep(0.05)
            assert written < 2_000_000
        assert process.poll() is None
        process.kill()


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        ([], 64, "TEXT"),
        (["x", "-o", "a.wav", "--speed", "3"], 64, "--speed"),
        (["x", "-o", "a.wav", "--rate", "99"], 64, "--rate"),
        (["x", "-o", "a.wav", "--provider", "magic"], 64, "magic"),
        (["x", "-o", "a.wav", "--voice", "no-such-voice"], 70, "no-such-voice"),
        (["x", "-o", "a.wav", "--stream"], 64, "--stream"),
        (["", "-o", "a.wav"], 65, "nothing to speak"),
        (["……！？", "-o", "a.wav"], 65, "nothing to speak"),
        (["x", "-o", "/nonexistent/a.wav"], 74, "/nonexistent/a.wav"),
        (["x", "-o", "/dev/full"], 74, "/dev/full"),
    ],
)
def test_each_failure_has_its_status_and_one_line(
    arguments: list[str],
    status: int,
    says: str,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(["synth", *arguments]) == status
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("edgetts: ")
    assert says.lower() in line.lower()
    assert not (tmp_path / "a.wav").exists()


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    with subprocess.Popen(
        [*EDGETTS, "synth", "电机过载。" * 200, "-o", "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(100)
        process.stdout.close()
        assert process.wait() == 74
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    "command",
    [
        "import edge_tts; edge_tts.__version__",
        "from edge_tts.cli import run; run(['--help'])",
        "from edge_tts.cli import run; run(['synth', '--help'])",
        "from edge_tts.cli import run; run(['bench', '--help'])",
    ],
)
def test_nothing_heavy_is_loaded_before_the_first_text(command: str) -> None:
    script = f"""
{command}
import sys
heavy = {{"numpy", "onnxruntime", "scipy", "pyaudio", "edge_tts.pipeline", "edge_tts.text.lexicon"}}
print(sorted(heavy & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert done.stderr.strip() == "[]"
