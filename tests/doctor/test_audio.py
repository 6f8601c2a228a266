from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from edge_tts.doctor.audio import OutputDevice, check_audio, output_devices, playback_cards
from edge_tts.doctor.finding import System, run_command
from tests.doctor.systems import (
    MICROPHONE_CARD,
    MICROPHONE_PCM,
    PI_CARDS,
    PI_PCM,
    USB_CARD,
    USB_PCM,
    make_system,
    severities,
    sound,
)
from tests.inference.boards import write


def test_cards_that_play_are_listed(tmp_path: Path) -> None:
    sound(tmp_path, PI_CARDS + USB_CARD + MICROPHONE_CARD, PI_PCM + USB_PCM + MICROPHONE_PCM)
    cards = playback_cards(make_system(tmp_path))
    assert [(card.number, card.card_id, card.driver) for card in cards] == [
        (0, "vc4hdmi0", "vc4-hdmi"),
        (1, "vc4hdmi1", "vc4-hdmi"),
        (2, "Device", "USB-Audio"),
    ]


@pytest.mark.parametrize("cards", ["", "--- no soundcards ---\n"])
def test_a_machine_without_sound(tmp_path: Path, cards: str) -> None:
    sound(tmp_path, cards, "")
    system = make_system(tmp_path)
    assert playback_cards(system) == []
    (finding,) = check_audio(system, "device", [], [])
    assert finding.severity == "error"
    assert "USB sound card" in finding.fix


def findings_for(tmp_path: Path, sink: str, **options: object) -> list:
    system = make_system(tmp_path, **options)  # type: ignore[arg-type]
    return check_audio(system, sink, playback_cards(system), [])


class TestChoice:
    def test_one_card_is_enough(self, tmp_path: Path) -> None:
        sound(tmp_path, USB_CARD, USB_PCM)
        assert severities(findings_for(tmp_path, "device")) == ["ok", "ok"]

    def test_several_cards_ask_for_a_choice_by_id(self, tmp_path: Path) -> None:
        sound(tmp_path, PI_CARDS + USB_CARD, PI_PCM + USB_PCM)
        first = findings_for(tmp_path, "device")[0]
        assert first.severity == "warning"
        assert "device:Device" in first.fix

    def test_the_card_that_is_set_by_id(self, tmp_path: Path) -> None:
        sound(tmp_path, PI_CARDS + USB_CARD, PI_PCM + USB_PCM)
        assert severities(findings_for(tmp_path, "device:device")) == ["ok", "ok"]

    def test_part_of_a_name(self, tmp_path: Path) -> None:
        devices = [OutputDevice("USB Audio Device: - (hw:2,0)", 48000, True)]
        (finding,) = check_audio(make_system(tmp_path), "device:usb audio", [], devices)
        assert finding.severity == "ok"

    def test_one_that_is_not_there_names_those_that_are(self, tmp_path: Path) -> None:
        sound(tmp_path, USB_CARD, USB_PCM)
        first = findings_for(tmp_path, "device:Headset")[0]
        assert first.severity == "error"
        assert "there are Device" in first.message

    def test_a_null_sink_is_told(self, tmp_path: Path) -> None:
        assert severities(findings_for(tmp_path, "null")) == ["warning"]

    def test_a_file_needs_no_device(self, tmp_path: Path) -> None:
        assert severities(findings_for(tmp_path, "wav:/tmp/x.wav")) == ["info"]


class TestAccess:
    def test_a_closed_device_names_the_group(self, tmp_path: Path) -> None:
        sound(tmp_path, USB_CARD, USB_PCM)
        findings = findings_for(tmp_path, "device", closed=["pcmC2D0p"], groups=["users"])
        (finding,) = [finding for finding in findings if finding.severity == "error"]
        assert "not in the group audio" in finding.message
        assert "usermod -aG audio" in finding.fix

    def test_a_container_without_the_device(self, tmp_path: Path) -> None:
        sound(tmp_path, USB_CARD, USB_PCM)
        (tmp_path / "dev/snd/pcmC2D0p").unlink()
        findings = findings_for(tmp_path, "device")
        assert "--device /dev/snd" in findings[1].fix


class TestHdmi:
    def status(self, root: Path, *states: str) -> None:
        for index, state in enumerate(states):
            write(root / f"sys/class/drm/card1-HDMI-A-{index + 1}/status", state + "\n")

    def test_hdmi_alone_without_a_screen_is_silent(self, tmp_path: Path) -> None:
        sound(tmp_path, PI_CARDS, PI_PCM)
        self.status(tmp_path, "disconnected", "disconnected")
        findings = findings_for(tmp_path, "device")
        assert "error" in severities(findings)
        assert any("no screen is connected" in finding.message for finding in findings)

    def test_a_screen_is_enough(self, tmp_path: Path) -> None:
        sound(tmp_path, PI_CARDS, PI_PCM)
        self.status(tmp_path, "disconnected", "connected")
        assert "error" not in severities(findings_for(tmp_path, "device"))

    def test_another_card_that_is_chosen_needs_no_screen(self, tmp_path: Path) -> None:
        sound(tmp_path, PI_CARDS + USB_CARD, PI_PCM + USB_PCM)
        self.status(tmp_path, "disconnected")
        assert "error" not in severities(findings_for(tmp_path, "device:Device"))


MIXER = """\
Simple mixer control 'Speaker',0
  Capabilities: pvolume pswitch
  Playback channels: Front Left - Front Right
  Front Left: Playback 0 [0%] [-37.00dB] [{left}]
  Front Right: Playback 120 [80%] [-7.00dB] [off]
Simple mixer control 'Mic',0
  Capabilities: cvolume cswitch
  Front Left: Capture 0 [0%] [off]
"""


@pytest.mark.parametrize("left", ["off", "on"])
def test_a_mixer_that_is_off_or_at_zero_is_told(tmp_path: Path, left: str) -> None:
    sound(tmp_path, USB_CARD, USB_PCM)
    commands = {"amixer -c 2": (0, MIXER.format(left=left))}
    findings = findings_for(tmp_path, "device", commands=commands)
    assert severities(findings) == ["ok", "ok", "warning"]
    assert "amixer -c Device sset Speaker 80% unmute" in [finding.fix for finding in findings]


def test_an_open_mixer_is_no_finding(tmp_path: Path) -> None:
    sound(tmp_path, USB_CARD, USB_PCM)
    commands = {"amixer": (0, MIXER.replace("0 [0%]", "9 [9%]").format(left="on"))}
    assert severities(findings_for(tmp_path, "device", commands=commands)) == ["ok", "ok"]


class TestPortAudio:
    def test_devices_are_read_past_its_noise(self, tmp_path: Path) -> None:
        line = json.dumps([{"name": "USB", "rate_hz": 48000.0, "default": True}])
        output = f"ALSA lib confmisc.c: cannot find card\nDEVICES {line}\n"
        devices, trouble = output_devices(make_system(tmp_path, {"pyaudio": (0, output)}))
        assert devices == [OutputDevice("USB", 48000.0, True)]
        assert trouble is None

    @pytest.mark.parametrize(
        ("status", "output", "message"),
        [
            (1, "ModuleNotFoundError: No module named 'pyaudio'", "PyAudio is not installed"),
            (None, "no answer within 10 s", "PortAudio hangs"),
            (1, "OSError: [Errno -9999] host error", "can't start: OSError"),
            (-11, "", "can't start: status -11"),
        ],
    )
    def test_trouble_is_told(
        self, tmp_path: Path, status: int | None, output: str, message: str
    ) -> None:
        system = make_system(tmp_path, {"pyaudio": (status, output)})
        devices, trouble = output_devices(system)
        assert devices == []
        assert trouble is not None
        assert trouble.severity == "error"
        assert message in trouble.message
        assert trouble.fix

    def test_the_real_one_in_a_process_of_its_own(self) -> None:
        loaded = "pyaudio" in sys.modules
        devices, trouble = output_devices(System())
        if trouble is None:
            assert all(device.rate_hz > 0 for device in devices)
        else:
            assert trouble.fix
        assert ("pyaudio" in sys.modules) == loaded, "PortAudio ran in this process"


def test_a_command_that_hangs_is_ended() -> None:
    began = time.monotonic()
    done = run_command([sys.executable, "-c", "import time; time.sleep(60)"], 0.2)
    assert done.status is None
    assert "0.2 s" in done.output
    assert time.monotonic() - began < 30


def test_a_command_that_is_missing_is_no_exception() -> None:
    assert run_command(["/nonexistent/command"], 1).status is None


class TestHolders:
    """The kernel names the program that has a card open."""

    def put(self, tmp_path: Path, command: str, comm: str) -> list:
        sound(tmp_path, USB_CARD, USB_PCM)
        status = "state: RUNNING\nowner_pid   : 4242\ntrigger_time: 1.0\n"
        write(tmp_path / "proc/asound/card2/pcm0p/sub0/status", status)
        write(tmp_path / "proc/4242/cmdline", command.replace(" ", "\0"))
        write(tmp_path / "proc/4242/comm", f"{comm}\n")
        return findings_for(tmp_path, "device:Device")

    def test_another_program(self, tmp_path: Path) -> None:
        finding = self.put(tmp_path, "mpv radio", "mpv")[-1]
        assert finding.severity == "warning"
        assert "mpv (process 4242) holds the card Device" in finding.message
        assert "kill 4242" in finding.fix

    def test_the_daemon_itself(self, tmp_path: Path) -> None:
        found = self.put(tmp_path, "/opt/edge-tts/current/bin/edgetts serve", "edgetts")
        assert severities(found) == ["ok", "ok"]

    def test_a_card_that_is_not_chosen(self, tmp_path: Path) -> None:
        self.put(tmp_path, "mpv radio", "mpv")
        sound(tmp_path, PI_CARDS + USB_CARD, PI_PCM + USB_PCM)
        assert severities(findings_for(tmp_path, "device:vc4hdmi0")) == ["ok", "ok"]

    def test_nobody(self, tmp_path: Path) -> None:
        sound(tmp_path, USB_CARD, USB_PCM)
        write(tmp_path / "proc/asound/card2/pcm0p/sub0/status", "closed\n")
        assert severities(findings_for(tmp_path, "device")) == ["ok", "ok"]


def test_a_pyaudio_that_fails_on_its_first_write(tmp_path: Path) -> None:
    """It lists devices as ever; Ubuntu 22.04 has it."""
    output = 'PYAUDIO 0.2.11\nDEVICES [{"name": "USB", "rate_hz": 48000.0, "default": true}]\n'
    devices, finding = output_devices(make_system(tmp_path, {"pyaudio": (0, output)}))
    assert devices == []
    assert finding is not None
    assert finding.severity == "error"
    assert "PYAUDIO 0.2.11 fails" in finding.message
