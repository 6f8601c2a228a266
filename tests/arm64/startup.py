"""Times the daemon's start against ``import numpy``: ``startup.py [PYTHON]``.

PYTHON is the interpreter of the installation (default: the one that runs this).
From exec to ``READY=1`` on the service manager's socket, with nothing loaded
before; the same interpreter importing numpy is the measure of how slow the
machine is. Prints both and their ratio; status 1 when it is beyond the limit.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 3.0
ROUNDS = 5
_GIVE_UP_S = 300.0

SETTINGS = """
[journal]
path = "{folder}/journal"
[cache]
folder = "{folder}/cache"
[audio]
sink = "null"
"""


def cost_of(process: subprocess.Popen[bytes], began_s: float) -> tuple[float, float]:
    """Seconds on the clock and on the processor of a process, which is ended."""
    took_s = time.monotonic() - began_s
    # Not Popen.kill(): it would take the figures of one that has ended by itself.
    os.kill(process.pid, signal.SIGKILL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = -1
    return took_s, usage.ru_utime + usage.ru_stime


def import_numpy(python: str) -> tuple[float, float]:
    began_s = time.monotonic()
    process = subprocess.Popen(
        [python, "-c", "import numpy, os; os.write(1, b'.')"], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    with process.stdout:
        if process.stdout.read(1) != b".":
            raise SystemExit(f"startup.py: {python} has no numpy")
        return cost_of(process, began_s)


def start_daemon(python: str, folder: Path) -> tuple[float, float]:
    address = folder / "notify"
    environment = {
        **os.environ,
        "NOTIFY_SOCKET": str(address),
        "EDGETTS_CONFIG": str(folder / "settings.toml"),
        "EDGETTS_SOCKET": str(folder / "socket"),
    }
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(address))
        manager.settimeout(1.0)
        began_s = time.monotonic()
        process = subprocess.Popen(
            [python, "-m", "edge_tts", "serve"], env=environment, stderr=subprocess.DEVNULL
        )
        try:
            while not _is_ready(manager):
                if process.poll() is not None or time.monotonic() > began_s + _GIVE_UP_S:
                    raise SystemExit(
                        f"startup.py: the daemon never became ready (status {process.poll()})"
                    )
            return cost_of(process, began_s)
        finally:
            address.unlink()
            process.kill()


def _is_ready(manager: socket.socket) -> bool:
    try:
        return b"READY=1" in manager.recv(4096).splitlines()
    except TimeoutError:
        return False


def main(python: str = sys.executable) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "settings.toml").write_text(SETTINGS.format(folder=folder), "utf-8")
        rounds = [(start_daemon(python, folder), import_numpy(python)) for _ in range(ROUNDS)]
    ready, numpy = (
        [min(each[part][clock] for each in rounds) for clock in (0, 1)] for part in (0, 1)
    )
    # Another program's work lengthens the clock's time, not the processor's.
    ratio = ready[1] / numpy[1]
    print(
        f"start to READY {ready[0]:.2f} s ({ready[1]:.2f} s of CPU), "
        f"import numpy {numpy[0]:.2f} s ({numpy[1]:.2f} s of CPU): "
        f"{ready[0] / numpy[0]:.2f} times as long, {ratio:.2f} times the work, at most {LIMIT:g}"
    )
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
