"""What the device says in the scenario, and whether a capture holds it."""

from __future__ import annotations

import base64
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from edge_tts.audio.tones import attention_tone
from tests.device.machine import SAMPLE_RATE_HZ, Machine, must
from tests.device.sound import Signal, find, likeness_at, read_mono, trimmed

# A sound converted to the card's rate and back in level scores above 0.95, another text below 0.3.
SAME = 0.8
OTHER = 0.6
ONSET_S = 0.25

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
    "late": ("high", "五号电机过载，请降低负荷。"),
    "drained": ("medium", "六号风机振动过大，请在本班内检查轴承。"),
    "rebooted": ("medium", "Filter seven is clogged, replace it today."),
    "never sent": ("medium", "五号传送带已经恢复正常。The conveyor is running again."),
}
SHORT = ("activation", "first", "last", "urgent", "killed", "never sent")
# All in one process: an emulated machine takes longer for its start than for the speech.
SYNTH = """import sys
from edge_tts.commands.synth import command
for number, text in enumerate(sys.argv[2:]):
    command.main([text, "-o", f"{sys.argv[1]}/{number}.wav"], standalone_mode=False)
"""


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


def synth_here(folder: Path, voice: Path, names: Sequence[str]) -> None:
    """``edgetts synth`` in fp32 on this machine: samples that any other makes too."""
    settings = folder / "fp32.toml"
    settings.write_text('[inference]\nprovider = "cpu"\nprecision = "fp32"\n')
    subprocess.run(
        [sys.executable, "-c", SYNTH, str(folder), *(TEXTS[name][1] for name in names)],
        check=True,
        env={**os.environ, "EDGETTS_VOICE": str(voice), "EDGETTS_CONFIG": str(settings)},
    )


def synth_there(folder: Path, machine: Machine, names: Sequence[str]) -> None:
    """``edgetts synth`` on the device: int8 differs on a processor of another kind."""
    program = shlex.join(["python3", "-c", SYNTH, "/tmp", *(TEXTS[name][1] for name in names)])
    must(machine, f"PYTHONPATH=/usr/lib/edge-tts-runtime/current {program}")
    for number in range(len(names)):
        data = base64.b64decode(machine.do("fetch", path=f"/tmp/{number}.wav"))
        (folder / f"{number}.wav").write_bytes(data)


def read_references(folder: Path, names: Sequence[str]) -> dict[str, Signal]:
    """What was made of the texts, at the card's rate."""
    paths = {name: folder / f"reference-{name.replace(' ', '-')}.wav" for name in names}
    for number, path in enumerate(paths.values()):
        (folder / f"{number}.wav").replace(path)
    return {name: trimmed(read_mono(path, SAMPLE_RATE_HZ)) for name, path in paths.items()}


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

    def in_order(self, boot: str, names: Sequence[str]) -> None:
        """Check that the texts were told whole, one after the other."""
        places = {name: self.whole(boot, name) for name in names}
        order = sorted(names, key=places.__getitem__)
        self.report.check(order == list(names), f"order of the sounds: {', '.join(order)}")

    def begun(self, boot: str, name: str, seconds: float = 0.5) -> None:
        """Check that a text had begun before it was told whole, if it ever was."""
        capture, sound = self.boots[boot], self.sounds[name]
        whole = find(capture, sound)
        before = whole.index if whole.likeness >= SAME else len(capture)
        start = find(capture[:before], sound[: round(seconds * SAMPLE_RATE_HZ)])
        self.report.check(
            start.likeness >= SAME,
            f"{name} had begun at {start.index / SAMPLE_RATE_HZ:.2f} s when it was cut off "
            f"({start.likeness:.3f})",
        )

    def silent(self, boot: str) -> None:
        """Check that nothing but silence left a card."""
        loudest = float(abs(self.boots[boot]).max(initial=0.0))
        self.report.check(loudest == 0.0, f"nothing is heard of {boot} ({loudest:.3f})")

    def absent(self, boot: str, name: str, limit: float = OTHER) -> None:
        """Check that a text is nowhere, whole."""
        likeness = find(self.boots[boot], self.sounds[name]).likeness
        self.report.check(likeness < limit, f"{name} is not heard whole ({likeness:.3f})")
