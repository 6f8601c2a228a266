"""The units as systemd itself reads them, and what they must promise."""

from __future__ import annotations

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest

from edge_tts.config.environment import SYSTEM_SOCKET

UNITS = Path(__file__).resolve().parents[2] / "systemd"
DROP_INS = sorted((UNITS / "drop-ins").glob("*.conf"))

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
)


def read_unit(path: Path) -> configparser.RawConfigParser:
    """An ini file whose keys keep their case; of a key that repeats the last value holds."""
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(path, encoding="utf-8")
    return unit


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The units in a folder of their own, with a command that exists on this machine."""
    service = (UNITS / "edge-tts.service").read_text("utf-8")
    command = "/opt/edge-tts/current/bin/edgetts"
    assert f"ExecStart={command} serve\n" in service
    (tmp_path / "edge-tts.service").write_text(service.replace(command, "/bin/true"))
    shutil.copy(UNITS / "edge-tts.socket", tmp_path)
    return tmp_path


def analyze(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *args], cwd=folder, capture_output=True, text=True, timeout=60
    )


def add(folder: Path, drop_in: Path) -> None:
    target = folder / "edge-tts.service.d"
    target.mkdir(exist_ok=True)
    shutil.copy(drop_in, target)


@needs_systemd
@pytest.mark.parametrize("drop_in", [None, *DROP_INS], ids=lambda path: path.name if path else "-")
def test_verify_has_nothing_to_say(installed: Path, drop_in: Path | None) -> None:
    """Unknown keys only warn on standard error with status 0, so the output must be empty too."""
    if drop_in is not None:
        add(installed, drop_in)
    done = analyze(installed, "verify", "--man=no", "./edge-tts.service", "./edge-tts.socket")
    about_us = [line for line in done.stderr.splitlines() if "edge-tts" in line]
    assert about_us == []
    assert done.returncode == 0, done.stderr


@needs_systemd
def test_verify_would_have_told(installed: Path) -> None:
    unit = installed / "edge-tts.service"
    unit.write_text(unit.read_text().replace("WatchdogSec=", "WatchdogSek="))
    done = analyze(installed, "verify", "--man=no", "./edge-tts.service")
    assert "WatchdogSek" in done.stderr


@needs_systemd
@pytest.mark.parametrize("drop_in", [None, *DROP_INS], ids=lambda path: path.name if path else "-")
def test_exposure_is_at_most_two(installed: Path, drop_in: Path | None) -> None:
    if drop_in is not None:
        add(installed, drop_in)
    done = analyze(installed, "security", "--offline=true", "--threshold=20", "./edge-tts.service")
    assert done.returncode == 0, done.stdout[-300:]
    assert "Overall exposure level" in done.stdout


def test_the_service_never_gives_up() -> None:
    unit = read_unit(UNITS / "edge-tts.service")
    assert unit["Unit"]["StartLimitIntervalSec"] == "0"
    service = unit["Service"]
    assert service["Type"] == "notify"
    assert service["Restart"] == "always"
    assert "WatchdogSec" in service
    # Without this the restart of the service would delete the socket that systemd listens on.
    assert service["RuntimeDirectoryPreserve"] == "yes"
    assert read_unit(UNITS / "edge-tts.socket")["Socket"]["TriggerLimitIntervalSec"] == "0"


def test_the_socket_is_where_clients_look() -> None:
    socket = read_unit(UNITS / "edge-tts.socket")["Socket"]
    assert socket["ListenStream"] == str(SYSTEM_SOCKET)
    assert socket["SocketMode"] == "0660"
    assert socket["SocketGroup"] == "edge-tts"


@pytest.mark.parametrize("kind", ["Runtime", "State", "Cache", "Configuration"])
def test_each_folder_is_made_by_systemd(kind: str) -> None:
    assert read_unit(UNITS / "edge-tts.service")["Service"][f"{kind}Directory"] == "edge-tts"


def test_realtime_needs_no_capability() -> None:
    service = read_unit(UNITS / "drop-ins/realtime.conf")["Service"]
    assert int(service["LimitRTPRIO"]) >= 90, "the settings allow up to 90"
    assert service["RestrictRealtime"] == "no"


def test_sound_is_open_to_a_service_that_starts_before_its_driver() -> None:
    """systemd looks a name up in /proc/devices at the start; ALSA's number is 116 everywhere."""
    text = (UNITS / "edge-tts.service").read_text("utf-8")
    allowed = [line for line in text.splitlines() if line.startswith("DeviceAllow=")]
    assert allowed == ["DeviceAllow=char-116 rw"]
