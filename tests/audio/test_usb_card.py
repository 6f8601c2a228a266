"""A USB sound card, emulated down to the kernel's driver, is pulled out in mid-word.

The hardest loss there is: nothing raises, the stream calls itself active and
the library loops. Build the guest with tests/usb_card/build.sh.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).parents[2]
GUEST = os.environ.get("EDGETTS_USB_VM")
BOOT_S = 900.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(GUEST is None, reason="set EDGETTS_USB_VM, see tests/usb_card/build.sh"),
    pytest.mark.skipif(
        shutil.which("qemu-system-x86_64") is None, reason="needs qemu-system-x86_64"
    ),
]


class Machine:
    """The guest, its log and its monitor."""

    def __init__(self, guest: Path, folder: Path) -> None:
        self.share = folder / "share"
        self.share.mkdir()
        self.wav = folder / "out.wav"
        self._monitor = folder / "qmp"
        nine_p = "security_model=none,mount_tag="
        self._process = subprocess.Popen(
            [
                *("qemu-system-x86_64", "-machine", "q35", "-cpu", "max", "-accel", "tcg"),
                *("-smp", "1", "-m", "1024", "-display", "none", "-monitor", "none"),
                *("-nic", "none", "-no-reboot", "-serial", f"file:{folder}/console"),
                *("-kernel", str(guest / "vmlinuz"), "-initrd", str(guest / "initrd")),
                *("-append", "console=ttyS0 quiet panic=1 root=/dev/vda rw init=/sbin/guest-init"),
                *("-drive", f"file={guest}/root.img,format=raw,if=virtio,snapshot=on"),
                *("-virtfs", f"local,path={REPOSITORY},readonly=on,{nine_p}source"),
                *("-virtfs", f"local,path={self.share},{nine_p}share"),
                *("-audiodev", f"wav,id=a,path={self.wav},out.frequency=48000"),
                *("-device", "qemu-xhci", "-device", "usb-audio,audiodev=a,id=card"),
                *("-qmp", f"unix:{self._monitor},server=on,wait=off"),
            ],
            stdin=subprocess.DEVNULL,
        )

    def log(self) -> str:
        path = self.share / "log"
        return path.read_text("utf-8", "replace") if path.exists() else ""

    def wait_for(self, words: str) -> None:
        deadline_s = time.monotonic() + BOOT_S
        while words not in self.log():
            ended = self._process.poll() is not None or "exit status" in self.log()
            assert not (ended and words not in self.log()), self.log()
            assert time.monotonic() < deadline_s, self.log()
            time.sleep(0.1)

    def monitor(self, command: str) -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._monitor))
            with connection.makefile("rw") as stream:
                for request in (
                    {"execute": "qmp_capabilities"},
                    {
                        "execute": "human-monitor-command",
                        "arguments": {"command-line": command},
                    },
                ):
                    stream.write(json.dumps(request) + "\n")
                    stream.flush()
                    while "return" not in json.loads(stream.readline()):
                        pass

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(10)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(Path(str(GUEST)), tmp_path)
    yield machine
    machine.close()


def test_card_pulled_in_mid_word_comes_back_and_plays_again(machine):
    machine.wait_for("PULL")
    time.sleep(1.0)
    machine.monitor("device_del card")
    machine.wait_for("REPLUG")
    machine.monitor("device_add usb-audio,audiodev=a,id=card")
    machine.wait_for("exit status 0")
    print(machine.log())
    # ALSA would convert for its mixer, but badly.
    assert "default plays 24000 Hz at 48000 Hz" in machine.log()
    assert "SPOKEN AGAIN losses=1" in machine.log()
    data = machine.wav.read_bytes()[44:]
    heard = np.frombuffer(data[: len(data) // 4 * 4], "<i2").reshape(-1, 2)
    np.testing.assert_array_equal(heard[:, 0], heard[:, 1])
    tail = heard[np.flatnonzero(heard[:, 0])[-1] - 24000 :, 0][:24000]
    spectrum = np.abs(np.fft.rfft(tail * np.hanning(len(tail))))
    assert spectrum.argmax() * 48000 / len(tail) == pytest.approx(880, abs=2)
