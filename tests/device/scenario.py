"""A device from its first boot over crashes and a power cut to a reboot.

Alarms go through the socket; what left the emulated card is compared with what
``edgetts synth`` makes of the same text. Prints a line for
each check and each time, and ends with status 1 when a check failed.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.device.machine import Accelerator, Machine, MachineError, choose_accelerator, new_disk
from tests.device.sound import Signal, read_capture
from tests.device.speech import (
    SAME,
    TEXTS,
    Captures,
    Report,
    into_words_s,
    references,
    synth_here,
    synth_there,
)

BOOT_S = 1800.0
OWN_TIME = "which by instructions counted every wait for the disk stretches"


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


def say_into(machine: Machine, name: str, spin_s: float = 0.3) -> None:
    """Send an alarm and go on in mid-speech, at once while the device's time passes slowly."""
    say(machine, name)
    machine.do("wait", key=name, event="started", seconds=into_words_s(name), spin_s=spin_s)


def check_start(machine: Machine, report: Report) -> None:
    """From ``systemctl start`` to READY against an import of numpy, both with files in memory."""
    numpy = ["env", "PYTHONPATH=/usr/lib/edge-tts-runtime/current", "python3", "-c", "import numpy"]
    start_s, numpy_s = [], []
    for _ in range(2):
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
    say_into(machine, name)
    sent = machine.do("signal", name=signal)
    after = machine.do("await_new_process", pid=sent["pid"])
    started = log_time_s(machine.do("await_log", words=["alarm-started", f"key={name}"], count=2))
    ended = machine.do("await_log", words=["alarm-finished", f"key={name}"])
    report.check("outcome=done" in ended, f"{name} by {signal}: the alarm is told again, whole")
    report.figure(
        f"{signal} to READY of the next process {after['at_s'] - sent['sent_s']:.2f} s, "
        f"to the alarm's first sound {started - sent['sent_s']:.2f} s"
    )


def check_pull(machine: Machine, report: Report) -> None:
    """The USB card is pulled out in mid-speech and comes back: the alarm is told again."""
    say_into(machine, "pulled", spin_s=1.0)
    machine.pull_card()
    lost_s = log_time_s(machine.do("await_log", words=["device", "state=lost"]))
    machine.do("sleep", seconds=2.0)
    back_s = machine.do("now", spin_s=0.5)
    machine.plug_card()
    started = log_time_s(machine.do("await_log", words=["alarm-started", "key=pulled"], count=2))
    ended = machine.do("await_log", words=["alarm-finished", "key=pulled"])
    report.check("outcome=done" in ended, "the card pulled and plugged: the alarm is told again")
    report.figure(
        f"the loss was noticed at {lost_s:.1f} s; plugged in to the alarm's first sound "
        f"{started - back_s:.2f} s"
    )


def check_retold(machine: Machine, report: Report, name: str, after: str) -> None:
    started_s = log_time_s(machine.do("await_log", words=["alarm-started", f"key={name}"]))
    ended = machine.do("await_log", words=["alarm-finished", f"key={name}"])
    report.check("outcome=done" in ended, f"after {after} in mid-speech the alarm is told")
    report.figure(f"first sound of it {started_s:.1f} s after the kernel's start, {OWN_TIME}")


def check_captures(captures: Captures) -> None:
    """What left the card in the boots that there were."""
    captures.absent("first", "never sent")
    lost = [name for name in ("killed", "stopped") if name == "killed" or "usb" in captures.boots]
    names = ["activation", "first", "urgent", "last", *lost]
    places = {
        name: captures.retold("first", name) if name in lost else captures.whole("first", name)
        for name in names
    }
    order = sorted(places, key=places.__getitem__)
    captures.report.check(order == names, f"order of the sounds: {', '.join(order)}")
    for name in lost:
        captures.begun("first", name, places[name])
    if "usb" in captures.boots:
        captures.begun("first", "cut", len(captures.boots["first"]), 0.3)
        captures.absent("first", "cut", SAME)
        captures.whole("usb", "cut")
        captures.begun("usb", "pulled", captures.whole("usb", "pulled"))
    if "again" in captures.boots:
        captures.whole("again", "rebooted")


class Device:
    """The boots of one disk."""

    def __init__(self, architecture: str, image: Path, folder: Path, report: Report) -> None:
        self._disk = new_disk(image, folder / "disk.img")
        self._architecture, self._image, self._folder = architecture, image, folder
        self._accelerator: Accelerator = choose_accelerator(architecture, image, folder)
        report.figure(f"{architecture}, computed by {self._accelerator}")
        # Emulated x86 has no VNNI, and without it ONNX Runtime's int8 computes other samples.
        self.own_samples = architecture == "amd64" and self._accelerator == "tcg"

    @contextmanager
    def boot(self, name: str, card: str = "hda") -> Iterator[Machine]:
        machine = Machine(
            self._architecture, self._image, self._disk, self._folder, name, card, self._accelerator
        )
        try:
            machine.wait_until_up(BOOT_S)
            machine.do("await_new_process", pid=0)
            yield machine
        finally:
            machine.close()


def first_boot(machine: Machine, report: Report, short: bool) -> None:
    asked = "systemctl show --value --property ActiveEnterTimestampMonotonic edge-tts.service"
    up_s = int(machine.do("shell", command=asked)["output"]) / 1e6
    report.figure(f"booted, service up {up_s:.1f} s after the kernel's start, {OWN_TIME}")
    status = machine.do("status")
    provider, voice = status["synthesis"].get("provider"), status["voice"]
    report.figure(
        f"provider {provider}, voice {voice['name']} {voice['version']}, device {status['device']}"
    )
    check_start(machine, report)
    check_activation(machine, report)
    speak_in_order(machine, report)
    check_loss(machine, report, "killed", "SIGKILL")
    if short:
        machine.do("sleep", seconds=1.0)
        machine.power_off()
        return
    check_loss(machine, report, "stopped", "SIGSTOP")
    say_into(machine, "cut", spin_s=3600.0)
    machine.power_cut()


def later_boots(device: Device, report: Report) -> None:
    with device.boot("usb", "usb") as machine:
        check_retold(machine, report, "cut", "a power cut")
        check_pull(machine, report)
        say_into(machine, "rebooted")
        machine.power_off()
    with device.boot("again") as machine:
        check_retold(machine, report, "rebooted", "a shutdown")
        machine.do("sleep", seconds=1.0)
        machine.power_off()


def run(architecture: str, image: Path, folder: Path, voice: Path, short: bool) -> int:
    report = Report()
    began_s = time.monotonic()
    sounds: dict[str, Signal] = {}
    device = Device(architecture, image, folder, report)
    try:
        with device.boot("first") as machine:
            synth = synth_there(machine) if device.own_samples else synth_here(voice)
            sounds = references(folder, synth)
            first_boot(machine, report, short)
        if not short:
            later_boots(device, report)
    except MachineError as exc:
        report.check(False, f"the device did not go on: {exc}")
    boots = {
        name: read_capture(path)
        for name in ("first", "usb", "again")
        if (path := folder / f"{name}.wav").exists()
    }
    if sounds:
        check_captures(Captures(boots, sounds, report))
    report.figure(f"all in {time.monotonic() - began_s:.0f} s of the host")
    for what in report.failed:
        print(f"failed: {what}")
    return 1 if report.failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("architecture", choices=("amd64", "arm64"))
    parser.add_argument("image", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("voice", type=Path, help="the voice that the device speaks with")
    parser.add_argument("--short", action="store_true", help="one boot, one crash")
    options = parser.parse_args()
    return run(options.architecture, options.image, options.folder, options.voice, options.short)


if __name__ == "__main__":
    sys.exit(main())
