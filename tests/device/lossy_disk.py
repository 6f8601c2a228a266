"""A disk that a power cut can be tried on, mounted on this machine.

QEMU's storage daemon serves a copy-on-write file as a disk. What a program
writes and the disk doesn't flush stays in the daemon's memory as far as the
file's index goes: stopped and copied at any moment, the file is what a device
would find after a power cut at that moment, without the pages that had not
reached the disk and without the blocks that the disk had not flushed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

PATIENCE_S = 120.0


def run(*command: str | Path) -> str:
    return subprocess.run(
        [str(word) for word in command], check=True, capture_output=True, text=True
    ).stdout


def new_overlay(base: Path, overlay: Path) -> Path:
    """An empty copy-on-write file over a disk."""
    kind = "qcow2" if base.suffix == ".qcow2" else "raw"
    run("qemu-img", "create", "-q", "-f", "qcow2", "-b", base.resolve(), "-F", kind, overlay)
    return overlay


class LossyDisk:
    """A copy-on-write file, served and mounted; ends by :meth:`close`.

    Args:
        overlay: of :func:`new_overlay`, or a copy that :meth:`cut` made.
        folder: gets the mount point and the served file.
    """

    def __init__(self, overlay: Path, folder: Path) -> None:
        self.overlay = overlay
        self.root = folder / "root"
        self._served = folder / "disk"
        self._process: subprocess.Popen[bytes] | None = None
        self.root.mkdir(parents=True, exist_ok=True)
        self._served.touch()
        self._serve()
        run("mount", "-o", "loop", self._served, self.root)

    def _serve(self) -> None:
        size_before = self._served.stat().st_size
        self._process = subprocess.Popen(
            [
                *("qemu-storage-daemon", "--blockdev"),
                f"driver=file,filename={self.overlay},node-name=file",
                *("--blockdev", "driver=qcow2,file=file,node-name=disk"),
                "--export",
                f"type=fuse,id=disk,node-name=disk,mountpoint={self._served},writable=on",
            ]
        )
        until_s = time.monotonic() + PATIENCE_S
        while self._served.stat().st_size == size_before:
            if self._process.poll() is not None or time.monotonic() > until_s:
                raise RuntimeError("qemu-storage-daemon does not serve the disk")
            time.sleep(0.02)

    def written_bytes(self) -> int:
        """What the file has grown to: a measure of how far the writing has come."""
        return self.overlay.stat().st_blocks * 512

    def cut(self, copy: Path) -> None:
        """Copy what the disk would hold if the power went now; the disk goes on."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)
        try:
            run("cp", "--sparse=always", self.overlay, copy)
        finally:
            os.kill(self._process.pid, signal.SIGCONT)

    def close(self) -> None:
        """Unmount and stop serving; everything is written."""
        with contextlib.suppress(subprocess.CalledProcessError):
            run("sync", "-f", self.root)
        for _ in range(100):
            if subprocess.run(["umount", str(self.root)], capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE_S)
            self._process = None


def loses_what_is_not_flushed(base: Path, folder: Path) -> bool:
    """Of two files that reached the disk only the one that was flushed must outlast a cut."""
    folder.mkdir(parents=True, exist_ok=True)
    disk = LossyDisk(new_overlay(base, folder / "proof.qcow2"), folder)
    try:
        for name, flags in (("flushed", "direct,sync"), ("written", "direct")):
            place = f"of={disk.root / name}"
            run("dd", "if=/dev/urandom", place, "bs=64k", "count=16", f"oflag={flags}")
        disk.cut(folder / "proof-cut.qcow2")
    finally:
        disk.close()
    after = LossyDisk(folder / "proof-cut.qcow2", folder)
    try:
        sizes = [
            path.stat().st_size if path.exists() else 0
            for path in (after.root / "flushed", after.root / "written")
        ]
    finally:
        after.close()
    return sizes == [16 << 16, 0]
