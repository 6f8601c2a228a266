"""What the device says in the scenario, and whether a capture holds it."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from edge_tts.audio.tones import attention_tone
from tests.device.machine import SAMPLE_RATE_HZ, Machine, MachineError
from tests.device.sound import Signal, find, find_pieces, likeness_at, read_mono, trimmed

# A sound converted to the card's rate and back in level scores above 0.95, another text below 0.3.
SAME = 0.8
OTHER = 0.6
ONSET_S = 0.25
# How often the device may run dry while a new process loads its networks and speaks.
RAN_DRY = 2

# Name of an alarm -> its priority and text.
TEXTS = {
    "activation": ("medium", "三号泵 low oil pressure，当前压力 0.2 MPa。"),
    "first": ("medium", "Motor stalled on line four, please check."),
    "last": ("low", "二号冷却塔水位偏低。"),
    "urgent": ("high", "主轴温度过高，当前 85℃。"),
    "killed": ("medium", "一号锅炉压力超过上限，请立即检查安全阀。"),
    "stopped": ("medium", "Compressor two has lost its cooling water, shut it down now."),
    "cut": ("critical", "危险，氨气泄漏，请所有人员立即撤离。Evacuate the building at once."),
    "pulled": ("high", "四号储罐液位过低，请关闭出口阀门。Close the outlet valve now."),
    "rebooted": ("medium", "六号风机振动过大，请在本班内检查轴承。"),
    "never sent": ("medium", "五号传送带已经恢复正常。The conveyor is running again."),
}


def into_words_s(name: str) -> float:
    """From an alarm's first sound to the midst of its words."""
    return len(attention_tone(TEXTS[name][0], SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ + 1.2


@dataclass
class Report:
    """Prints what was found, and remembers what failed."""

    failed: list[str] = field(default_factory=list)

    def check(self, good: bool, what: str) -> None:
        print(f"{'ok    ' if good else 'FAILED'} {what}", flush=True)
        if not good:
            self.failed.append(what)

    def figure(self, what: str) -> None:
        print(f"       {what}", flush=True)


def synth_here(voice: Path) -> Callable[[str, Path], None]:
    """``edgetts synth`` on this machine."""

    def synth(text: str, path: Path) -> None:
        subprocess.run(
            [sys.executable, "-m", "edge_tts", "synth", text, "-o", str(path)],
            check=True,
            env={**os.environ, "EDGETTS_VOICE": str(voice), "EDGETTS_CONFIG": os.devnull},
        )

    return synth


def synth_there(machine: Machine) -> Callable[[str, Path], None]:
    """``edgetts synth`` on the device."""

    def synth(text: str, path: Path) -> None:
        made = machine.do("shell", command=f"edgetts synth '{text}' -o /tmp/reference.wav")
        if made["rc"]:
            raise MachineError(f"edgetts synth failed: {made['output']}")
        path.write_bytes(base64.b64decode(machine.do("fetch", path="/tmp/reference.wav")))

    return synth


def references(folder: Path, synth: Callable[[str, Path], None]) -> dict[str, Signal]:
    """What each text sounds like, at the card's rate."""
    sounds = {}
    for name, (_, text) in TEXTS.items():
        path = folder / f"reference-{name.replace(' ', '-')}.wav"
        synth(text, path)
        sounds[name] = trimmed(read_mono(path, SAMPLE_RATE_HZ))
    return sounds


@dataclass(frozen=True)
class Captures:
    """What left the card in each boot, and what the texts sound like."""

    boots: dict[str, Signal]
    sounds: dict[str, Signal]
    report: Report

    def whole(self, boot: str, name: str) -> int:
        """Check tone, then words, whole; returns where the words begin, in samples."""
        capture, sound = self.boots[boot], self.sounds[name]
        words = find(capture, sound)
        onset = likeness_at(capture, sound[: round(ONSET_S * SAMPLE_RATE_HZ)], words.index)
        tone = trimmed(attention_tone(TEXTS[name][0], SAMPLE_RATE_HZ).astype(float))
        # The tone, the silence after it, and that in front of the words.
        tone_start = max(0, words.index - len(tone) - SAMPLE_RATE_HZ)
        heard = find(capture[: words.index], tone, tone_start)
        pause_s = (words.index - heard.index - len(tone)) / SAMPLE_RATE_HZ
        self.report.check(
            min(words.likeness, onset, heard.likeness) >= SAME and pause_s >= 0,
            f"{name} at {words.index / SAMPLE_RATE_HZ:.2f} s: words {words.likeness:.3f}, first "
            f"syllable {onset:.3f}, tone {heard.likeness:.3f}, {pause_s * 1000:.0f} ms before it",
        )
        return words.index

    def retold(self, boot: str, name: str) -> int:
        """Check words that a process speaks while it still loads its networks.

        On one slow core the device may run dry meanwhile: all pieces but those with such a
        place in them must be heard, in order; what moved by how much is printed.
        """
        capture, sound = self.boots[boot], self.sounds[name]
        index = find(capture, sound).index
        rate_hz = SAMPLE_RATE_HZ
        pieces = find_pieces(capture, sound, index, rate_hz // 4, rate_hz // 4, SAME)
        self.report.check(
            pieces.heard >= pieces.count - RAN_DRY,
            f"{name} at {index / rate_hz:.2f} s: {pieces.heard} of {pieces.count} quarters of a "
            f"second of its words, moved by up to {pieces.largest_shift / rate_hz * 1e3:.0f} ms",
        )
        return index

    def begun(self, boot: str, name: str, before: int, seconds: float = 0.5) -> None:
        """Check that a text had begun before a place, where it was cut off."""
        sound = self.sounds[name]
        start = find(self.boots[boot][:before], sound[: round(seconds * SAMPLE_RATE_HZ)])
        self.report.check(
            start.likeness >= SAME,
            f"{name} had begun at {start.index / SAMPLE_RATE_HZ:.2f} s when it was cut off "
            f"({start.likeness:.3f})",
        )

    def absent(self, boot: str, name: str, limit: float = OTHER) -> None:
        """Check that a text is nowhere, whole."""
        likeness = find(self.boots[boot], self.sounds[name]).likeness
        self.report.check(likeness < limit, f"{name} is not heard whole ({likeness:.3f})")
