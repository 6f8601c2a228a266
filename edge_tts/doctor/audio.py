"""Is there a device to sound through, and may this user open it?"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass

from edge_tts.doctor.finding import ERROR, INFO, OK, WARNING, Finding, System
from edge_tts.doctor.packages import how_to_install

_ENUMERATE_TIMEOUT_S = 10.0
# PortAudio can hang on a half-removed card, and prints to the terminal.
_ENUMERATE_SCRIPT = """
import json, pyaudio
print("PYAUDIO " + pyaudio.__version__)
audio = pyaudio.PyAudio()
try:
    default = audio.get_default_output_device_info()["index"]
except OSError:
    default = -1
devices = [audio.get_device_info_by_index(i) for i in range(audio.get_device_count())]
print("DEVICES " + json.dumps([
    {"name": d["name"], "rate_hz": d["defaultSampleRate"], "default": d["index"] == default}
    for d in devices if d["maxOutputChannels"] > 0
]))
"""
_TOO_OLD = tuple(f"PYAUDIO 0.2.{patch}" for patch in (8, 9, 10, 11))
_OWNER = re.compile(r"^owner_pid\s*:\s*(\d+)", re.MULTILINE)
_CARD = re.compile(r"^\s*(\d+) \[(\S+)\s*\]: (\S+) - (.*)$", re.MULTILINE)
_PLAYBACK = re.compile(r"^(\d+)-\d+:.*: playback \d+", re.MULTILINE)
_MUTED = re.compile(r"Simple mixer control '(Master|PCM|Speaker|Headphone)'")


@dataclass(frozen=True)
class Card:
    """An ALSA card that can play: its number (may change), its id (stays) and its driver."""

    number: int
    card_id: str
    driver: str
    name: str


@dataclass(frozen=True)
class OutputDevice:
    """An output that PortAudio offers."""

    name: str
    rate_hz: float
    is_default: bool


def playback_cards(system: System) -> list[Card]:
    """The ALSA cards with a playback device, as the kernel lists them."""
    playing = set(_PLAYBACK.findall(system.read("proc/asound/pcm")))
    return [
        Card(int(number), card_id, driver, name.strip())
        for number, card_id, driver, name in _CARD.findall(system.read("proc/asound/cards"))
        if f"{int(number):02d}" in playing
    ]


def output_devices(system: System) -> tuple[list[OutputDevice], Finding | None]:
    """What PortAudio offers, asked in a process of its own, or why it can't tell."""
    done = system.run([sys.executable, "-c", _ENUMERATE_SCRIPT], _ENUMERATE_TIMEOUT_S)
    for line in done.output.splitlines():
        if line.startswith(_TOO_OLD):
            message = f"{line} fails on its first write with Python 3.10 and later"
            return [], Finding(ERROR, "audio", message, how_to_install("'PyAudio>=0.2.14'"))
        if line.startswith("DEVICES "):
            devices = json.loads(line.removeprefix("DEVICES "))
            return [OutputDevice(d["name"], d["rate_hz"], d["default"]) for d in devices], None
    if "No module named 'pyaudio'" in done.output:
        message, fix = "PyAudio is not installed", "sudo apt install python3-pyaudio"
        if sys.prefix != sys.base_prefix:
            fix = f"sudo apt install portaudio19-dev && {how_to_install('PyAudio')}"
    elif done.status is None:
        message = f"PortAudio hangs while it lists devices ({done.output})"
        fix = "unplug and replug the sound card; sudo alsa force-reload"
    else:
        lines = done.output.strip().splitlines()
        message = f"PortAudio can't start: {lines[-1] if lines else f'status {done.status}'}"
        fix = "sudo apt install --reinstall libportaudio2"
    return [], Finding(ERROR, "audio", message, fix)


def check_audio(
    system: System, sink: str, cards: list[Card], devices: list[OutputDevice]
) -> list[Finding]:
    """Will the sink that is set find its device?

    Args:
        system: the machine.
        sink: ``device``, ``device:NAME``, ``wav:PATH`` or ``null``.
        cards: from :func:`playback_cards`.
        devices: from :func:`output_devices`.
    """
    kind, _, name = sink.partition(":")
    if kind == "null":
        return [Finding(WARNING, "audio", "the sink is null: nothing will be heard", _SINK_FIX)]
    if kind == "wav":
        return [Finding(INFO, "audio", f"the sink is the file {name}; no device is used")]
    if not cards and not devices:
        return [
            Finding(
                ERROR,
                "audio",
                "the kernel knows no sound card that plays",
                "plug in a USB sound card; on a Raspberry Pi also see that "
                "/boot/firmware/config.txt has dtparam=audio=on",
            )
        ]
    findings = _check_choice(name, cards, devices)
    if cards:
        findings += _check_access(system)
        findings += _check_holders(system, name, cards)
        findings += _check_hdmi(system, name, cards)
        findings += _check_mixers(system, cards)
    return findings


_SINK_FIX = 'set sink = "device" under [audio] in /etc/edge-tts/edge-tts.toml'


def _check_choice(name: str, cards: list[Card], devices: list[OutputDevice]) -> list[Finding]:
    known = ", ".join([card.card_id for card in cards] + [device.name for device in devices])
    if name:
        wanted = name.casefold()
        found = [card.card_id for card in cards if wanted == card.card_id.casefold()]
        found += [device.name for device in devices if wanted in device.name.casefold()]
        if found:
            return [Finding(OK, "audio", f"device {name} is there: {found[0]}")]
        message = f"the device {name!r} that is set is not there; there are {known}"
        fix = "plug it in, or set [audio] sink to one of those"
        return [Finding(ERROR, "audio", message, fix)]
    if len(cards) > 1:
        message = (
            "several sound cards and none chosen; their numbers can change at a reboot: "
            + ", ".join(f"{card.card_id} ({card.name})" for card in cards)
        )
        fix = f'set sink = "device:{cards[-1].card_id}" under [audio]'
        return [Finding(WARNING, "audio", message, fix)]
    return [Finding(OK, "audio", f"plays through {known}")]


def _check_access(system: System) -> list[Finding]:
    nodes = system.glob("dev/snd/pcmC*D*p")
    if not nodes:
        message = "the kernel has a card but /dev/snd shows no playback device"
        fix = "in a container pass --device /dev/snd; else sudo udevadm trigger -s sound"
        return [Finding(ERROR, "permissions", message, fix)]
    closed = [node for node in nodes if not system.access(node, os.R_OK | os.W_OK)]
    if not closed:
        return [Finding(OK, "permissions", "this user may open the sound devices")]
    outside = "" if "audio" in system.groups else ", and is not in the group audio"
    return [
        Finding(
            ERROR,
            "permissions",
            f"this user may not open {closed[0].name}{outside}",
            "sudo usermod -aG audio $USER, then log in again",
        )
    ]


def _check_holders(system: System, name: str, cards: list[Card]) -> list[Finding]:
    """A card without a mixer of its own plays for one program at a time; the kernel names it."""
    findings = []
    for card in cards:
        if name and name.casefold() != card.card_id.casefold():
            continue
        for path in system.glob(f"proc/asound/card{card.number}/pcm*p/sub*/status"):
            owner = _OWNER.search(system.read(str(path.relative_to(system.root))))
            process = owner.group(1) if owner else ""
            command = system.read(f"proc/{process}/cmdline").replace("\0", " ").strip()
            if not owner or "edgetts" in command or "edge_tts" in command:
                continue
            what = system.read(f"proc/{process}/comm") or "a program"
            message = f"{what} (process {process}) holds the card {card.card_id}"
            fix = f"end it (kill {process}), or its service; sudo fuser -v /dev/snd/* shows all"
            findings.append(Finding(WARNING, "audio", message, fix))
    return findings


def _check_hdmi(system: System, name: str, cards: list[Card]) -> list[Finding]:
    """A Pi 5 has no other output than HDMI, which is silent without a screen."""
    hdmi = [card for card in cards if "hdmi" in (card.card_id + card.driver).casefold()]
    chosen = [card for card in cards if not name or name.casefold() == card.card_id.casefold()]
    if not chosen or any(card not in hdmi for card in chosen):
        return []
    states = [path.read_text().strip() for path in system.glob("sys/class/drm/*HDMI*/status")]
    if states and "connected" not in states:
        message = "only HDMI can play and no screen is connected: nothing will be heard"
        return [Finding(ERROR, "audio", message, "connect a screen, or plug in a USB sound card")]
    return []


def _check_mixers(system: System, cards: list[Card]) -> list[Finding]:
    findings = []
    for card in cards:
        done = system.run(["amixer", "-c", str(card.number), "scontents"], 5.0)
        if not done.succeeded:
            continue
        for control in done.output.split("Simple mixer control ")[1:]:
            found = _MUTED.match(f"Simple mixer control {control}")
            playback = [line for line in control.splitlines() if "Playback" in line and "[" in line]
            if not found or not playback:
                continue
            if all("[off]" in line or "[0%]" in line for line in playback):
                findings.append(
                    Finding(
                        WARNING,
                        "audio",
                        f"{found.group(1)} of {card.card_id} is muted or at zero",
                        f"amixer -c {card.card_id} sset {found.group(1)} 80% unmute",
                    )
                )
    return findings
