"""A virtual device: QEMU with a sound card whose output lands in a WAV file.

By KVM where that works, in real time. Elsewhere the machine computes by
instructions counted, not by the host's clock: it runs one billion instructions
in a second of its own time however slow or busy the host is, and idle time is
skipped. So no sound is late because of the host, and times read inside mean the
same on every host: those of a processor that does one instruction a nanosecond.
A wait for the disk is idle time too, and may be skipped for seconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Literal

# 2**0 nanoseconds an instruction. With sleep=on a busy host's delays would be added to idle time,
# and sound be late: words had holes.
INSTRUCTION_COUNTING = "shift=0,align=off,sleep=off"
SAMPLE_RATE_HZ = 48000
# What the machine has written outlasts its end in this host's memory; to flush that to the host's
# own disk would only take time.
DISK = "format=raw,if=none,cache=unsafe"
QUIET_BOOT = "root=/dev/vda quiet panic=1 systemd.show_status=0"
# Emulator, machine, processor without KVM, console, and this machine's name for that architecture.
EMULATORS = {
    "amd64": ("qemu-system-x86_64", "q35", "max", "ttyS0", "x86_64"),
    "arm64": ("qemu-system-aarch64", "virt", "cortex-a72", "ttyAMA0", "aarch64"),
}
CARDS = {
    # Without its mixer the card passes samples on as they are.
    "hda": ("-device", "intel-hda", "-device", "hda-output,audiodev=hda,mixer=off"),
    "usb": ("-device", "qemu-xhci", "-device", "usb-audio,audiodev=usb,id=card"),
}
Accelerator = Literal["kvm", "tcg"]
_KVM_PROOF_S = 20.0


class MachineError(RuntimeError):
    """The device, or its agent, did not do what the rig asked for."""


def choose_accelerator(architecture: str, image: Path, folder: Path) -> Accelerator:
    """``kvm`` where a kernel runs by it, as far as to miss its disk; RIG_ACCELERATOR overrules.

    That /dev/kvm can be opened says little: some hosts lend one that runs no common kernel.
    """
    forced = os.environ.get("RIG_ACCELERATOR")
    if forced in ("kvm", "tcg"):
        return "kvm" if forced == "kvm" else "tcg"
    emulator, machine, _, console, name = EMULATORS[architecture]
    if os.uname().machine != name or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    output = folder / "kvm.console"
    command = [
        *(emulator, "-machine", f"{machine},accel=kvm", "-cpu", "host", "-m", "512", "-no-reboot"),
        *("-display", "none", "-monitor", "none", "-nic", "none", "-serial", f"file:{output}"),
        *("-kernel", str(image / "vmlinuz"), "-append", f"console={console} panic=-1"),
    ]
    with contextlib.suppress(subprocess.TimeoutExpired, OSError):
        subprocess.run(command, timeout=_KVM_PROOF_S, capture_output=True, check=False)
    ran = output.exists() and b"Unable to mount root" in output.read_bytes()
    return "kvm" if ran else "tcg"


class Machine:
    """One boot of a disk; ends by `power_off` or `power_cut`.

    Args:
        architecture: ``amd64`` or ``arm64``.
        image: folder with ``vmlinuz`` and ``initrd``.
        disk: a copy of its root file system, changed by what the device writes.
        second_disk: an empty one, ``/dev/vdb`` inside.
        folder: gets ``NAME.CARD.wav`` of each card and ``NAME.console``; what a card played
            before it was plugged in for the Nth time goes into ``NAME.CARD.N.wav``.
        name: of this boot.
        accelerator: of :func:`choose_accelerator`.
        cards: of ``hda`` and ``usb``.
        read_only: whether the root is mounted so.
    """

    def __init__(
        self,
        architecture: str,
        image: Path,
        disk: Path,
        second_disk: Path,
        folder: Path,
        name: str,
        accelerator: Accelerator,
        cards: tuple[str, ...] = ("hda",),
        read_only: bool = False,
    ) -> None:
        emulator, machine, processor, console, _ = EMULATORS[architecture]
        if accelerator == "kvm":
            computing = ["-accel", "kvm", "-cpu", "host"]
        else:
            computing = ["-accel", "tcg", "-cpu", processor, "-icount", INSTRUCTION_COUNTING]
            computing += ["-rtc", "clock=vm"]
        self.console = folder / f"{name}.console"
        self._folder, self._name, self._plugs = folder, name, 0
        self._port, self._control = folder / f"{name}.port", folder / f"{name}.control"
        command = [
            *("nice", "-n", os.environ.get("RIG_NICE", "0"), emulator),
            *("-machine", machine, *computing),
            *("-qmp", f"unix:{self._control},server=on,wait=off"),
            *("-smp", "1", "-m", "1024", "-display", "none", "-monitor", "none", "-nic", "none"),
            *("-no-reboot", "-serial", f"file:{self.console}"),
            *("-kernel", str(image / "vmlinuz"), "-initrd", str(image / "initrd")),
            *("-append", f"console={console} {'ro' if read_only else 'rw'} {QUIET_BOOT}"),
            *("-drive", f"file={disk},{DISK},id=disk"),
            *("-device", "virtio-blk-pci,drive=disk"),
            *("-drive", f"file={second_disk},{DISK},id=second"),
            *("-device", "virtio-blk-pci,drive=second"),
            *("-object", "rng-random,filename=/dev/urandom,id=rng"),
            *("-device", "virtio-rng-pci,rng=rng", "-device", "virtio-serial-pci"),
            *("-chardev", f"socket,path={self._port},server=on,wait=off,id=agent"),
            *("-device", "virtserialport,chardev=agent,name=edge-tts-rig"),
        ]
        for card in cards:
            wav = folder / f"{name}.{card}.wav"
            command += ["-audiodev", f"wav,id={card},path={wav},out.frequency={SAMPLE_RATE_HZ}"]
            command += CARDS[card]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        self._waiting = b""
        self._connection = self._connect()

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        for _ in range(600):
            with contextlib.suppress(OSError):
                connection.connect(str(self._port))
                return connection
            if self._process.poll() is not None:
                break
            time.sleep(0.1)
        raise MachineError(f"QEMU did not start (status {self._process.poll()})")

    def wait_until_up(self, limit_s: float) -> None:
        """Wait, in seconds of the host, until the agent answers."""
        if "ready" not in self._read_line(limit_s):
            raise MachineError("the agent's first line was another")

    def do(
        self, request: str, *, limit_s: float = 1800.0, spin_s: float = 0.0, **arguments: Any
    ) -> Any:
        """Let the agent do something; returns its answer.

        Args:
            request: the name of one of the agent's functions.
            limit_s: in seconds of the host.
            spin_s: so long the device computes afterwards, so that its time passes slowly.
            arguments: of the function.
        """
        asked = {"do": request, "with": arguments, "spin_s": spin_s}
        line = json.dumps(asked) + "\n"
        self._connection.sendall(line.encode())
        answer = self._read_line(limit_s)
        if "error" in answer:
            raise MachineError(f"{request} {arguments}: {answer['error']}")
        return answer["ok"]

    def _read_line(self, limit_s: float) -> dict[str, Any]:
        until_s = time.monotonic() + limit_s
        while b"\n" not in self._waiting:
            left_s = until_s - time.monotonic()
            if left_s <= 0 or not select.select([self._connection], [], [], left_s)[0]:
                raise MachineError(f"nothing from the device for {limit_s:.0f} s; {self._last()}")
            data = self._connection.recv(65536)
            if not data:
                raise MachineError(f"the device went away; {self._last()}")
            self._waiting += data
        line, _, self._waiting = self._waiting.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last(self) -> str:
        lines = self.console.read_text("utf-8", "replace").splitlines()[-15:]
        return "the end of its console:\n" + "\n".join(lines)

    def pull_card(self) -> None:
        """Pull the USB card out."""
        self._order("device_del", id="card")

    def plug_card(self) -> None:
        """Plug the USB card in again."""
        # QEMU starts the file anew.
        self._plugs += 1
        wav = self._folder / f"{self._name}.usb.wav"
        wav.replace(wav.with_name(f"{self._name}.usb.{self._plugs}.wav"))
        self._order("device_add", driver="usb-audio", audiodev="usb", id="card")

    def _order(self, command: str, **arguments: str) -> None:
        """Let QEMU do something, by its monitor protocol."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(60.0)
            control.connect(str(self._control))
            lines = control.makefile("rw", encoding="utf-8")
            lines.readline()
            for order in (
                {"execute": "qmp_capabilities"},
                {"execute": command, "arguments": arguments},
            ):
                lines.write(json.dumps(order) + "\n")
                lines.flush()
                while True:
                    answer = json.loads(lines.readline())
                    if "error" in answer:
                        raise MachineError(f"{command}: {answer['error']}")
                    if "return" in answer:
                        break

    def power_off(self, limit_s: float = 600.0) -> None:
        """Shut down in good order; the WAV files are whole, and the log is in ``NAME.log``."""
        log = "\n".join(self.do("log")) + "\n"
        (self._folder / f"{self._name}.log").write_text(log)
        self.do("shell", command="systemctl poweroff --no-block")
        try:
            self._process.wait(limit_s)
        except subprocess.TimeoutExpired as exc:
            raise MachineError(f"the device did not power off; {self._last()}") from exc

    def power_cut(self) -> None:
        """End the machine between two instructions, as pulling its plug would."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End it if it still runs."""
        if self._process.poll() is None:
            self.power_cut()
        self._connection.close()


def must(machine: Machine, command: str) -> str:
    """The output of a command that must succeed."""
    done = machine.do("shell", command=command)
    if done["rc"]:
        raise MachineError(f"{command}: {done['output']}")
    return str(done["output"])


def new_disk(image: Path, disk: Path) -> Path:
    """A copy of the image's root file system for one device to write on."""
    subprocess.run(
        ["cp", "--sparse=always", "--reflink=auto", str(image / "root.img"), str(disk)], check=True
    )
    return disk


def new_second_disk(disk: Path) -> Path:
    """An empty ext4 file system."""
    with disk.open("wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", str(disk)], check=True)
    return disk
