from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from edge_tts.doctor.report import as_json, as_text, examine
from tests.doctor.systems import USB_CARD, USB_PCM, make_system, sound
from tests.inference import boards

ONNXRUNTIME = {"onnxruntime": (0, "1.23.0 CPUExecutionProvider\n")}
DEVICES = {"pyaudio": (0, 'DEVICES [{"name": "USB", "rate_hz": 48000.0, "default": true}]')}


@pytest.fixture
def environment(
    tmp_path: Path, tiny_voice: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    variables = {
        "EDGETTS_VOICE": str(tiny_voice),
        "EDGETTS_SOCKET": str(tmp_path / "none.sock"),
        "EDGETTS_LEXICON_D": str(tmp_path / "lexicon.d"),
        "EDGETTS_CONFIG": "",
        "STATE_DIRECTORY": str(tmp_path / "state"),
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


def test_a_good_pi(tmp_path: Path, environment: dict[str, str]) -> None:
    sound(tmp_path, USB_CARD, USB_PCM)
    system = make_system(tmp_path, ONNXRUNTIME | DEVICES)
    report = examine(system, lambda: boards.pi_5(tmp_path))
    assert report.can_speak, as_text(report)
    text = as_text(report)
    assert "Raspberry Pi 5 Model B Rev 1.0, aarch64, 4 cores, 8061 MB" in text
    assert "cpu int8       yes" in text
    assert "tensorrt fp16  no   no NVIDIA driver" in text
    assert "2: Device (USB Audio Device)" in text
    assert text.endswith("ready to speak")
    data = json.loads(json.dumps(as_json(report)))
    assert data["can_speak"] is True
    assert data["providers"][2]["usable"] is True
    assert data["audio"]["cards"][0]["card_id"] == "Device"


@pytest.mark.parametrize(
    ("variable", "value", "subject"),
    [
        ("EDGETTS_VOICE", "/nonexistent/voice", "voice"),
        ("EDGETTS_PROVIDER", "cuda", "provider"),
        ("EDGETTS_CONFIG", "/nonexistent.toml", "settings"),
    ],
)
def test_what_keeps_it_from_speaking_comes_first(
    tmp_path: Path,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    subject: str,
) -> None:
    monkeypatch.setenv(variable, value)
    sound(tmp_path, USB_CARD, USB_PCM)
    report = examine(make_system(tmp_path, ONNXRUNTIME | DEVICES), lambda: boards.pi_5(tmp_path))
    assert not report.can_speak
    assert (report.findings[0].severity, report.findings[0].subject) == ("error", subject)
    assert report.findings[0].fix
    assert as_text(report).endswith("something keeps it from speaking")


def test_a_check_that_breaks_down_does_not_hide_the_others(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from edge_tts.doctor import power

    def broken(system: object, board: object) -> list:
        raise RuntimeError("divided by zero")

    monkeypatch.setattr(power, "check_power", broken)
    report = examine(make_system(tmp_path, ONNXRUNTIME), lambda: boards.pi_5(tmp_path))
    assert any("divided by zero" in finding.message for finding in report.findings)
    assert {"voice", "packages", "daemon"} <= {finding.subject for finding in report.findings}


def run_doctor(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "edge_tts", "doctor", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        check=False,
    )


def test_the_command_on_this_machine(environment: dict[str, str], tmp_path: Path) -> None:
    settings = tmp_path / "edge-tts.toml"
    settings.write_text(f'[audio]\nsink = "wav:{tmp_path}/out.wav"\n')
    done = run_doctor("--json", EDGETTS_CONFIG=str(settings))
    data = json.loads(done.stdout)
    assert done.stderr == ""
    errors = [finding for finding in data["findings"] if finding["severity"] == "error"]
    assert errors == []
    assert done.returncode == 0


def test_the_command_s_status_is_1_when_it_can_not_speak(environment: dict[str, str]) -> None:
    done = run_doctor(EDGETTS_VOICE="/nonexistent/voice")
    assert done.returncode == 1
    assert "voice.json is missing" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
