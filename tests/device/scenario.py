"""A device from its first boot to a power cut and the boot after it.

Alarms go through the socket; what left the emulated card is compared with what
``edgetts synth`` makes of the same text on the same device. Prints a line for
each check and each time, and ends with status 1 when a check failed.
"""

from __future__ import annotations

import argparse
import base64
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from edge_tts.audio.tones import attention_tone
from tests.device.machine import SAMPLE_RATE_HZ, Machine, new_disk
from tests.device.sound import Signal, find, likeness_at, read_capture, read_mono, trimmed

# A sound converted to the card's rate and back in level scores above 0.95, another text below 0.3.
SAME = 0.8
OTHER = 0.6
ONSET_S = 0.25
BOOT_S = 1800.0

TEXTS = {
    "activation": ("medium", "三号泵 low oil pressure，当前压力 0.2 MPa。"),
    "first": ("medium", "Motor stalled on line four, please check."),
    "last": ("low", "二号冷却塔水位偏低。"),
    "urgent": ("high", "主轴温度过高，当前 85℃。"),
    "killed": ("medium", "一号锅炉压力超过上限，请立即检查安全阀。"),
    "stopped": ("medium", "Compressor two has lost its cooling water, shut it down now."),
    "cut": ("critical", "危险，氨气泄漏，请所有人员立即撤离。Evacuate the building at once."),
    "never sent": ("medium", "五号传送带已经恢复正常。The conveyor is running again."),
}


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


def log_time_s(line: str) -> float:
    """The monotonic clock in front of a line of ``journalctl -o short-monotonic``."""
    found = re.match(r"\[\s*([0-9.]+)\]", line)
    if found is None:
        raise ValueError(f"no time in front of {line!r}")
    return float(found[1])


def say(machine: Machine, name: str) -> dict[str, float]:
    priority, text = TEXTS[name]
    key = name.replace(" ", "-")
    answer = machine.do("say", text=text, key=key, prio=priority)
    if "state=accepted" not in answer["reply"]:
        raise RuntimeError(f"{name}: {answer['reply']}")
    return {"sent_s": answer["sent_s"], "replied_s": answer["replied_s"]}


def references(machine: Machine, folder: Path) -> dict[str, Signal]:
    """What each text sounds like, made on the device, at the card's rate."""
    sounds = {}
    for name, (_, text) in TEXTS.items():
        made = machine.do("shell", command=f"edgetts synth '{text}' -o /tmp/reference.wav")
        if made["rc"]:
            raise RuntimeError(f"edgetts synth failed: {made['output']}")
        path = folder / f"reference-{name.replace(' ', '-')}.wav"
        path.write_bytes(base64.b64decode(machine.do("fetch", path="/tmp/reference.wav")))
        sounds[name] = trimmed(read_mono(path, SAMPLE_RATE_HZ))
    return sounds


def check_start(machine: Machine, report: Report) -> None:
    """From ``systemctl start`` to READY against an import of numpy, both with files in memory."""
    numpy = ["env", "PYTHONPATH=/usr/lib/edge-tts-runtime", "python3", "-c", "import numpy"]
    start_s, numpy_s = [], []
    for _ in range(3):
        machine.do("shell", command="systemctl stop edge-tts.service")
        start_s.append(
            machine.do("time", command=["systemctl", "start", "edge-tts.service"])["seconds"]
        )
        numpy_s.append(machine.do("time", command=numpy)["seconds"])
    ratio = min(start_s) / min(numpy_s)
    report.check(
        ratio <= 3.0,
        f"systemctl start to READY {min(start_s):.2f} s, import numpy {min(numpy_s):.2f} s, "
        f"ratio {ratio:.2f}, at most 3",
    )


def check_activation(machine: Machine, report: Report) -> None:
    machine.do("shell", command="systemctl stop edge-tts.service")
    before = machine.do("state")["ActiveState"]
    said = say(machine, "activation")
    started = machine.do("wait", key="activation", event="started")
    ended = machine.do("wait", key="activation", event="finished")
    report.check(
        before == "inactive" and "outcome=done via=neural" in ended["line"],
        f"a stopped service is started by its socket and speaks ({ended['line']})",
    )
    report.figure(
        f"accepted {said['replied_s'] - said['sent_s']:.2f} s and heard "
        f"{started['at_s'] - said['sent_s']:.2f} s after it was sent to the stopped service"
    )


def speak_in_order(machine: Machine, report: Report) -> None:
    say(machine, "first")
    machine.do("wait", key="first", event="started")
    say(machine, "last")
    say(machine, "urgent")
    for name in ("urgent", "last"):
        ended = machine.do("wait", key=name, event="finished")["line"]
        report.check("outcome=done via=neural" in ended, f"{name}: {ended}")


def check_loss(machine: Machine, report: Report, name: str, signal: str) -> None:
    """The process goes away in mid-speech; its alarm is told again by the next one."""
    say(machine, name)
    machine.do("wait", key=name, event="started")
    # Some words have left the card.
    machine.do("sleep", seconds=0.8)
    sent = machine.do("signal", name=signal)
    after = machine.do("await_new_process", pid=sent["pid"])
    started = log_time_s(machine.do("await_log", words=["alarm-started", f"key={name}"], count=2))
    ended = machine.do("await_log", words=["alarm-finished", f"key={name}"])
    report.check("outcome=done" in ended, f"{name} by {signal}: the alarm is told again, whole")
    report.figure(
        f"{signal} to READY of the next process {after['at_s'] - sent['sent_s']:.2f} s, "
        f"to the alarm's first sound {started - sent['sent_s']:.2f} s"
    )


def check_sound(
    capture: Signal, sounds: dict[str, Signal], name: str, report: Report, start: int = 0
) -> int:
    """Tone, then words, whole; returns where the words begin, in samples."""
    sound = sounds[name]
    words = find(capture, sound, start)
    onset = likeness_at(capture, sound[: round(ONSET_S * SAMPLE_RATE_HZ)], words.index)
    tone = trimmed(attention_tone(TEXTS[name][0], SAMPLE_RATE_HZ).astype(float))
    before = capture[: words.index]
    # The tone, the silence after it, and that in front of the words.
    tone_start = max(0, words.index - len(tone) - SAMPLE_RATE_HZ)
    heard_tone = find(before, tone, tone_start)
    pause_s = (words.index - heard_tone.index - len(tone)) / SAMPLE_RATE_HZ
    report.check(
        min(words.likeness, onset, heard_tone.likeness) >= SAME and pause_s >= 0,
        f"{name} at {words.index / SAMPLE_RATE_HZ:.2f} s: words {words.likeness:.3f}, first "
        f"syllable {onset:.3f}, tone {heard_tone.likeness:.3f}, {pause_s * 1000:.0f} ms before it",
    )
    return words.index


def check_captures(captures: dict[str, Signal], sounds: dict[str, Signal], report: Report) -> None:
    first, again = captures["first"], captures["again"]
    stranger = find(first, sounds["never sent"]).likeness
    report.check(stranger < OTHER, f"a text that was never sent is not found ({stranger:.3f})")
    places = {
        name: check_sound(first, sounds, name, report)
        for name in ("activation", "first", "urgent", "last", "killed", "stopped")
    }
    order = sorted(places, key=places.__getitem__)
    report.check(order == list(places), f"order of the sounds: {', '.join(order)}")
    for name in ("killed", "stopped"):
        begun = sounds[name][: round(0.5 * SAMPLE_RATE_HZ)]
        cut = find(first[: places[name]], begun)
        report.check(
            cut.likeness >= SAME,
            f"{name} had begun at {cut.index / SAMPLE_RATE_HZ:.2f} s when the process went "
            f"({cut.likeness:.3f})",
        )
    begun = sounds["cut"][: round(0.3 * SAMPLE_RATE_HZ)]
    whole = find(first, sounds["cut"]).likeness
    heard = find(first, begun).likeness
    report.check(
        heard >= SAME > whole,
        f"the power went in mid-speech (beginning {heard:.3f}, whole {whole:.3f})",
    )
    check_sound(again, sounds, "cut", report)


def run(architecture: str, image: Path, folder: Path) -> int:
    report = Report()
    disk = new_disk(image, folder / "disk.img")
    began_s = time.monotonic()
    machine = Machine(architecture, image, disk, folder, "first")
    try:
        machine.wait_until_up(BOOT_S)
        machine.do("await_new_process", pid=0)
        report.figure(f"booted, service up {machine.do('now'):.1f} s after the kernel's start")
        status = machine.do("status")
        provider, voice = status["synthesis"].get("provider"), status["voice"]["name"]
        report.figure(f"provider {provider}, voice {voice} {status['voice']['version']}")
        sounds = references(machine, folder)
        check_start(machine, report)
        check_activation(machine, report)
        speak_in_order(machine, report)
        check_loss(machine, report, "killed", "SIGKILL")
        check_loss(machine, report, "stopped", "SIGSTOP")
        say(machine, "cut")
        machine.do("wait", key="cut", event="started", seconds=0.8, then_spin=True)
        machine.power_cut()
    finally:
        machine.close()
    machine = Machine(architecture, image, disk, folder, "again")
    try:
        machine.wait_until_up(BOOT_S)
        started_s = log_time_s(machine.do("await_log", words=["alarm-started", "key=cut"]))
        ended = machine.do("await_log", words=["alarm-finished", "key=cut"])
        report.check("outcome=done" in ended, "after a power cut in mid-speech the alarm is told")
        report.figure(f"first sound of it {started_s:.1f} s after the kernel's start")
        machine.do("sleep", seconds=1.0)
        machine.power_off()
    finally:
        machine.close()
    captures = {name: read_capture(folder / f"{name}.wav") for name in ("first", "again")}
    check_captures(captures, sounds, report)
    report.figure(f"all in {time.monotonic() - began_s:.0f} s of the host")
    for what in report.failed:
        print(f"failed: {what}")
    return 1 if report.failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("architecture", choices=("amd64", "arm64"))
    parser.add_argument("image", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    return run(options.architecture, options.image, options.folder)


if __name__ == "__main__":
    sys.exit(main())
