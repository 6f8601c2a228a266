"""A device from its first boot over crashes and a power cut to a reboot.

Alarms go through the socket; what left the emulated card is compared with what
``edgetts synth`` makes of the same text. Prints a line for
each check and each time, and ends with status 1 when a check failed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.device.checks import (
    OWN_TIME,
    check_activation,
    check_late_card,
    check_loss,
    check_pull,
    check_read_only,
    check_retold,
    check_start,
    make_read_only,
    say,
    say_into,
    speak_in_order,
)
from tests.device.machine import (
    Accelerator,
    Machine,
    MachineError,
    choose_accelerator,
    must,
    new_disk,
    new_second_disk,
)
from tests.device.sound import Signal, read_captures
from tests.device.speech import (
    SAME,
    SHORT,
    TEXTS,
    Captures,
    Report,
    read_references,
    synth_here,
    synth_there,
)

BOOT_S = 1800.0


def check_captures(captures: Captures) -> None:
    """What left the cards in the boots that there were."""
    boots = captures.boots
    captures.absent("first.hda", "never sent")
    lost = [name for name in ("killed", "stopped") if name == "killed" or "usb.usb" in boots]
    names = ["activation", "first", "urgent", "last", *lost]
    captures.in_order("first.hda", names)
    for name in lost:
        captures.begun("first.hda", name)
    if "usb.usb" in boots:
        captures.begun("first.hda", "cut", 0.3)
        captures.absent("first.hda", "cut", SAME)
        captures.in_order("usb.usb", ["cut", "pulled", "late", "drained"])
        captures.begun("usb.usb", "pulled")
        captures.absent("usb.usb", "rebooted")
    if "both.usb" in boots:
        captures.in_order("both.usb", ["rebooted"])
        captures.absent("both.usb", "drained")
        captures.silent("both.hda")


class Device:
    """The boots of one disk."""

    def __init__(self, architecture: str, image: Path, folder: Path, report: Report) -> None:
        self._disk = new_disk(image, folder / "disk.img")
        self._second_disk = new_second_disk(folder / "second.img")
        self._architecture, self._image, self._folder = architecture, image, folder
        self._accelerator: Accelerator = choose_accelerator(architecture, image, folder)
        report.figure(f"{architecture}, computed by {self._accelerator}")
        self.needs_int8 = architecture == "amd64" and self._accelerator == "tcg"

    @contextmanager
    def boot(self, name: str, cards: tuple[str, ...], read_only: bool = False) -> Iterator[Machine]:
        machine = Machine(
            self._architecture,
            self._image,
            self._disk,
            self._second_disk,
            self._folder,
            name,
            self._accelerator,
            cards,
            read_only,
        )
        try:
            machine.wait_until_up(BOOT_S)
            machine.do("await_new_process", pid=0)
            yield machine
        finally:
            machine.close()


def describe(machine: Machine, report: Report) -> str:
    """Print what booted; returns the provider and the precision that compute there."""
    asked = "systemctl show --value --property ActiveEnterTimestampMonotonic edge-tts.service"
    up_s = int(machine.do("shell", command=asked)["output"]) / 1e6
    report.figure(f"booted, service up {up_s:.1f} s after the kernel's start, {OWN_TIME}")
    status = machine.do("status")
    provider, voice = status["synthesis"].get("provider"), status["voice"]
    report.figure(
        f"provider {provider}, voice {voice['name']} {voice['version']}, device {status['device']}"
    )
    return str(provider)


def set_up_as_a_board(machine: Machine, report: Report) -> str:
    """Let an emulated x86 compute and play as boards do; returns what computes then.

    It has no VNNI, so the program takes fp32, which at one instruction a nanosecond leaves no
    time for the sound; and floating point is what an emulator is slowest at. The blocks of its
    device are as long as ``deploy/raspberry_pi.toml`` has them.
    """
    settings = "/etc/edge-tts/edge-tts.toml"
    for name, value in (("precision", '"int8"'), ("block_ms", "20.0")):
        must(
            machine,
            f"sed -i 's/^# {name} = .*/{name} = {value}/' {settings} && "
            f"grep -q '^{name}' {settings}",
        )
    must(machine, "systemctl restart edge-tts.service")
    report.figure("from here on by settings cpu int8, blocks of 20 ms")
    return "cpu int8"


def references(
    machine: Machine, folder: Path, voice: Path, provider: str, names: Sequence[str]
) -> dict[str, Signal]:
    """What ``edgetts synth`` makes of the texts with the device's voice and precision."""
    if "fp32" in provider:
        synth_here(folder, voice, names)
    else:
        must(machine, "systemctl stop edge-tts.service")
        synth_there(folder, machine, names)
        must(machine, "systemctl start edge-tts.service")
    return read_references(folder, names)


def first_boot(machine: Machine, report: Report, short: bool) -> None:
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
    with device.boot("usb", ("usb",)) as machine:
        check_retold(machine, report, "cut", "a power cut in mid-speech")
        check_pull(machine, report)
        check_late_card(machine, report)
        make_read_only(machine)
        say_into(machine, "drained")
        say(machine, "rebooted")
        machine.power_off()
    with device.boot("both", ("hda", "usb"), read_only=True) as machine:
        check_retold(machine, report, "rebooted", "a shutdown in mid-speech of another")
        check_read_only(machine, report)
        machine.do("sleep", seconds=1.0)
        machine.power_off()


def run(architecture: str, image: Path, folder: Path, voice: Path, short: bool) -> int:
    report = Report()
    began_s = time.monotonic()
    sounds: dict[str, Signal] = {}
    device = Device(architecture, image, folder, report)
    try:
        with device.boot("first", ("hda",)) as machine:
            provider = describe(machine, report)
            if device.needs_int8:
                provider = set_up_as_a_board(machine, report)
            names = SHORT if short else tuple(TEXTS)
            sounds = references(machine, folder, voice, provider, names)
            first_boot(machine, report, short)
        if not short:
            later_boots(device, report)
    except MachineError as exc:
        report.check(False, f"the device did not go on: {exc}")
    if sounds:
        check_captures(Captures(read_captures(folder), sounds, report))
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
