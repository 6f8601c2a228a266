"""Boots of a mounted disk on this machine's processor, and what they say."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.device.lossy_disk import LossyDisk
from tests.device.sound import Signal, find, trimmed

SAME = 0.8
JOB_S = 900.0


@contextmanager
def device(overlay: Path, folder: Path) -> Iterator[LossyDisk]:
    disk = LossyDisk(overlay, folder)
    try:
        yield disk
    finally:
        disk.close()


class Boot:
    """One boot of a mounted disk, for one job of guest/cuts.sh; ``shared`` gets what it saw."""

    def __init__(self, disk: LossyDisk, shared: Path, job: str) -> None:
        shutil.rmtree(shared, ignore_errors=True)
        shared.mkdir()
        (shared / "job").write_text(job + "\n")
        (disk.root / "var/lib/edge-tts/said.wav").unlink(missing_ok=True)
        (disk.root / "etc/machine-id").write_text("")
        self.shared = shared
        self.began_s = uptime_s()
        self._console = open(shared / "console", "wb")  # noqa: SIM115 - until the boot's end
        self._process = subprocess.Popen(
            [
                # Its end is the end of all that it started.
                *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
                *("systemd-nspawn", "--quiet", "--directory", str(disk.root), "--register=no"),
                *("--keep-unit", "--console=read-only", "--private-network", "--machine=cut"),
                *("--bind", f"{shared}:/mnt", "--boot", "systemd.unit=edge-tts-cuts.target"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=self._console,
            stderr=subprocess.STDOUT,
            env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
        )

    def wait_for(self, name: str, limit_s: float = JOB_S) -> None:
        until_s = time.monotonic() + limit_s
        while not (self.shared / name).exists():
            if self._process.poll() is not None or time.monotonic() > until_s:
                console = (self.shared / "console").read_text("utf-8", "replace")
                raise RuntimeError(f"the system did not write {name}:\n{console[-3000:]}")
            time.sleep(0.02)

    def end(self) -> None:
        """Everything in it ends at once."""
        self._process.kill()
        self._process.wait()
        self._console.close()

    def read(self, name: str) -> str:
        with contextlib.suppress(OSError):
            return (self.shared / name).read_text("utf-8", "replace").strip()
        return ""


@dataclass(frozen=True)
class Spoken:
    """What a boot said: ``release`` and ``voice`` are versions.

    ``after_s`` is the first alarm's end, after power-on; ``tries`` counts until the network spoke.
    """

    outcome: str
    release: str
    voice: str
    package: str
    whole: bool
    likeness: float
    after_s: float
    tries: str

    @property
    def good(self) -> bool:
        return "outcome=done via=neural" in self.outcome and self.whole and self.likeness >= SAME


def speak(disk: LossyDisk, shared: Path, job: str, reference: Signal | None) -> Spoken:
    """Boot a disk, let it speak, and read what it told."""
    boot = Boot(disk, shared, job)
    try:
        boot.wait_for("done")
    finally:
        boot.end()
    likeness = 0.0
    if (shared / "said.wav").exists():
        said = read_wav(shared / "said.wav")
        wanted = trimmed(read_wav(shared / "reference.wav")) if reference is None else reference
        likeness = find(said, wanted).likeness
    status = json.loads(boot.read("status") or "{}")
    verify = boot.read("verify").splitlines()
    return Spoken(
        boot.read("said"),
        boot.read("version").removeprefix("edgetts "),
        str(status.get("voice", {}).get("version", "?")),
        boot.read("package").partition("|")[0].strip(),
        bool(verify) and all(" is whole" in line for line in verify),
        likeness,
        float(boot.read("finished")) - boot.began_s,
        boot.read("tries"),
    )


def uptime_s() -> float:
    """The clock that this machine and what boots on it share."""
    return float(Path("/proc/uptime").read_text().split()[0])


def read_wav(path: Path) -> Signal:
    """A mono 16-bit WAV ``(N,)`` in [-1, 1], whose header may not have its lengths yet."""
    data = path.read_bytes()[44:]
    return np.frombuffer(data[: len(data) // 2 * 2], "<i2") / 32768.0
