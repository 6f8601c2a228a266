"""Machines described by a folder and by what their commands print."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from edge_tts.doctor.finding import CommandResult, Finding, System
from tests.inference.boards import write

PI_CARDS = """\
 0 [vc4hdmi0       ]: vc4-hdmi - vc4-hdmi-0
                      vc4-hdmi-0
 1 [vc4hdmi1       ]: vc4-hdmi - vc4-hdmi-1
                      vc4-hdmi-1
"""
PI_PCM = """\
00-00: MAI PCM i2s-hifi-0 : MAI PCM i2s-hifi-0 : playback 1
01-00: MAI PCM i2s-hifi-0 : MAI PCM i2s-hifi-0 : playback 1
"""
USB_CARD = """\
 2 [Device         ]: USB-Audio - USB Audio Device
                      C-Media Electronics Inc. USB Audio Device at usb-0000:01:00.0-1.3, full speed
"""
USB_PCM = "02-00: USB Audio : USB Audio : playback 1 : capture 1\n"
MICROPHONE_CARD = """\
 3 [Webcam         ]: USB-Audio - HD Webcam
                      Some HD Webcam
"""
MICROPHONE_PCM = "03-00: USB Audio : USB Audio : capture 1\n"


def sound(root: Path, cards: str, pcm: str) -> None:
    write(root / "proc/asound/cards", cards)
    write(root / "proc/asound/pcm", pcm)
    for line in pcm.splitlines():
        if "playback" in line:
            card, device = line[:5].split("-")
            write(root / f"dev/snd/pcmC{int(card)}D{int(device)}p", "")


def make_system(
    root: Path,
    commands: dict[str, tuple[int | None, str]] | None = None,
    *,
    closed: Sequence[str] = (),
    groups: Sequence[str] = ("audio",),
) -> System:
    """A system under ``root`` whose commands print what ``commands`` says, by their start."""

    def run(command: Sequence[str], timeout_s: float) -> CommandResult:
        line = " ".join(command)
        for start, (status, output) in (commands or {}).items():
            if start in line:
                return CommandResult(status, output)
        return CommandResult(None, f"{command[0]}: No such file or directory")

    def access(path: Path, mode: int) -> bool:
        return path.name not in closed and os.access(path, mode)

    return System(root, run, access, environ={}, groups=frozenset(groups), is_root=False)


def severities(findings: Sequence[Finding]) -> list[str]:
    return [finding.severity for finding in findings]
