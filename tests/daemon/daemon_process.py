"""A real daemon in a process of its own, on a socket in a temporary folder."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from edge_tts.client import Client, Spoken
from edge_tts.config import Settings, load_settings
from edge_tts.errors import DaemonUnavailableError
from tests.audio_rig import changed_environment, favour

REPOSITORY = Path(__file__).resolve().parents[2]
PATIENCE_S = 30.0


class DaemonProcess:
    """``edgetts serve`` with settings, cache and journal of its own.

    Args:
        folder: everything lives here.
        voice: folder of the voice.
        settings: by section, what differs from the defaults.
        sink: as ``--sink``.
        environment: added to that of this process.
        module: what is run instead of the command line, for a daemon with a
            synthesis that the test controls.
    """

    def __init__(
        self,
        folder: Path,
        voice: Path,
        settings: Mapping[str, Mapping[str, object]] | None = None,
        *,
        sink: str = "null",
        environment: Mapping[str, str] | None = None,
        module: str = "edge_tts",
    ) -> None:
        self.folder = folder
        self.socket_path = folder / "s.sock"
        self.log_path = folder / "log"
        self.sink = sink
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        config = {
            "voice": {"name": str(voice)},
            "journal": {"path": str(folder / "journal")},
            "cache": {"folder": str(folder / "cache")},
            "text": {"lexicon_folder": str(folder / "lexicon.d")},
            "socket": {"rate_per_s": 10_000.0, "rate_burst": 100_000},
        }
        for section, values in (settings or {}).items():
            config[section] = {**config.get(section, {}), **values}
        self.config_path = folder / "edge-tts.toml"
        self.write_config(config)
        self.environment = {
            **os.environ,
            **(environment or {}),
            "EDGETTS_CONFIG": str(self.config_path),
            "PYTHONPATH": str(REPOSITORY),
        }

    def write_config(self, config: Mapping[str, Mapping[str, object]]) -> None:
        self.config = config
        lines = []
        for section, values in config.items():
            lines.append(f"[{section}]")
            lines += [f"{name} = {json.dumps(value)}" for name, value in values.items()]
        self.config_path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def settings(self) -> Settings:
        """The daemon's settings, for expectations made in the test's own process."""
        with changed_environment({"EDGETTS_CONFIG": str(self.config_path)}):
            return load_settings()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self, *, wait: bool = True, **popen: Any) -> None:
        command = [sys.executable, "-m", self._module, "serve"]
        command += ["--socket", str(self.socket_path), "--sink", self.sink]
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                command, env=self.environment, cwd=self.folder, stderr=log, stdout=log, **popen
            )
        favour(self._process.pid)
        if wait:
            self.await_answer()

    def await_answer(self) -> None:
        """Wait until it answers, its device is ready and the phrases are rendered."""

        def ready() -> bool:
            with contextlib.suppress(DaemonUnavailableError):
                picture = self.status()
                rendered = picture["phrases"]["missing"] == 0 or picture["voice"].get("error")
                return bool(rendered) and picture["device"]["state"] == "ready"
            return False

        self.wait(ready)

    def wait(self, condition: Any, patience_s: float = PATIENCE_S) -> None:
        deadline_s = time.monotonic() + patience_s
        while not condition():
            assert time.monotonic() < deadline_s, self.log()
            assert self._process is None or self._process.poll() is None, self.log()
            time.sleep(0.01)

    def client(self, timeout_s: float = PATIENCE_S) -> Client:
        return Client(self.socket_path, timeout_s=timeout_s)

    def say(self, text: str, *, wait: str = "finished", **fields: Any) -> Spoken:
        with self.client() as client:
            return client.say(text, wait=wait, timeout_s=60.0, **fields)

    def status(self) -> dict[str, Any]:
        with self.client() as client:
            picture: dict[str, Any] = json.loads(client.status("json"))
            return picture

    def log(self) -> str:
        return self.log_path.read_text(encoding="utf-8") if self.log_path.exists() else ""

    def kill(self) -> None:
        """As a crash would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def stop(self, timeout_s: float = PATIENCE_S) -> int:
        """SIGTERM; returns the exit status."""
        assert self._process is not None
        self._process.terminate()
        code = self._process.wait(timeout_s)
        self._process = None
        return code

    def exit_code(self, timeout_s: float = PATIENCE_S) -> int:
        """Wait until it ends by itself."""
        assert self._process is not None
        code = self._process.wait(timeout_s)
        self._process = None
        return code

    def cleanup(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextlib.contextmanager
def daemon_process(*args: Any, start: bool = True, **kwargs: Any) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(*args, **kwargs)
    try:
        if start:
            daemon.start()
        yield daemon
    finally:
        daemon.cleanup()


def outcomes_in(log: str) -> dict[int, str]:
    """Alarm id -> outcome, as the log of one or more runs tells it."""
    found: dict[int, str] = {}
    for line in log.splitlines():
        words = line.split()
        if "alarm-finished" in words:
            fields = dict(word.split("=", 1) for word in words if "=" in word)
            found[int(fields["id"])] = fields["outcome"]
    return found


def say_line(daemon: DaemonProcess, words: str) -> socket.socket:
    """Send a SAY and leave the answer unread."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(30)
    sock.connect(str(daemon.socket_path))
    sock.sendall(f"SAY {words}\n".encode())
    return sock


def answer(sock: socket.socket) -> str:
    return sock.makefile(encoding="utf-8").readline()


def id_of(line: str) -> int:
    match = re.match(r"OK id=(\d+)", line)
    assert match, line
    return int(match[1])


def await_outcomes(daemon: DaemonProcess, expected: dict[int, str]) -> None:
    daemon.wait(lambda: expected.items() <= outcomes_in(daemon.log()).items(), 60.0)
