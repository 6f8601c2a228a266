"""A sound card made of software: a private PulseAudio whose sink writes into a pipe.

A thread reads the pipe and stamps what it gets with the monotonic clock, so a
test knows which sample left the player when. PulseAudio paces the sink by the
system clock; it runs as any user, root included, without a session. PortAudio
reaches it through ALSA's pulse plugin.

The environment (``PULSE_SERVER``, ``ALSA_CONFIG_PATH``) is that of the whole
process while the rig is up; give ``rig.environment`` to processes you start.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

Samples = npt.NDArray[np.int16]

_ALSA_CONFIG = """\
pcm_type.pulse { lib "libasound_module_pcm_pulse.so" }
ctl_type.pulse { lib "libasound_module_ctl_pulse.so" }
pcm.!default { type pulse hint { show on description "rig" } }
pcm.pulse { type pulse hint { show on description "rig" } }
ctl.!default { type pulse }
"""
_F_SETPIPE_SZ = 1031


def favour(pid: int) -> None:
    """Let a process that has just started run ahead of a busy machine's other work.

    Sound in real time is what is tested, not the machine; takes the right to do so.
    """
    with contextlib.suppress(PermissionError, ProcessLookupError):
        os.setpriority(os.PRIO_PROCESS, pid, -10)


def missing() -> str | None:
    """Why the rig can't run here; None when it can."""
    if shutil.which("pulseaudio") is None or shutil.which("pactl") is None:
        return "needs pulseaudio and pactl (apt install pulseaudio pulseaudio-utils)"
    plugins = Path("/usr/lib").glob("*/alsa-lib/libasound_module_pcm_pulse.so")
    if next(plugins, None) is None:
        return "needs ALSA's pulse plugin (apt install libasound2-plugins)"
    try:
        import pyaudio  # noqa: F401
    except ImportError as exc:
        return f"needs PyAudio ({exc})"
    return None


needs_rig = pytest.mark.skipif(missing() is not None, reason=str(missing()))


class PulseRig:
    """Server, sink and recording; ``sample_rate_hz`` is that of the sink, mono int16."""

    def __init__(self, sample_rate_hz: int = 48000) -> None:
        self.sample_rate_hz = sample_rate_hz
        self._folder = Path(tempfile.mkdtemp(prefix="edgetts-rig-"))
        self._socket = self._folder / "sock"
        (self._folder / "alsa.conf").write_text(_ALSA_CONFIG)
        self._server: subprocess.Popen[bytes] | None = None
        self._fifos = 0
        self._module = ""
        self._lock = threading.Lock()
        self._chunks: list[tuple[float, bytes]] = []
        self._stop = threading.Event()
        self._readers: list[threading.Thread] = []

    @property
    def environment(self) -> dict[str, str]:
        folder = str(self._folder)
        return {
            "HOME": folder,
            "XDG_RUNTIME_DIR": folder,
            "PULSE_SERVER": f"unix:{self._socket}",
            "PULSE_STATE_PATH": folder,
            "ALSA_CONFIG_PATH": f"{folder}/alsa.conf",
        }

    def start(self) -> None:
        """Start the server and load the sink."""
        self._server = subprocess.Popen(
            [
                "pulseaudio",
                "-n",
                "--exit-idle-time=-1",
                "--daemonize=no",
                "--use-pid-file=no",
                "--disallow-exit=yes",
                f"--log-target=file:{self._folder}/log",
                "-L",
                f"module-native-protocol-unix auth-anonymous=1 socket={self._socket}",
            ],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        favour(self._server.pid)
        self._await(self._socket)
        self.load_sink()

    def _await(self, path: Path) -> None:
        for _ in range(500):
            if path.exists():
                return
            time.sleep(0.01)
        log = self._folder / "log"
        raise RuntimeError(f"{path} did not appear; {log.read_text() if log.exists() else ''}")

    def pactl(self, *words: str) -> str:
        done = subprocess.run(
            ["pactl", *words],
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
        return done.stdout.strip()

    def load_sink(self) -> None:
        """Plug the card in."""
        self._fifos += 1
        fifo = self._folder / f"fifo{self._fifos}"
        self._module = self.pactl(
            "load-module",
            "module-pipe-sink",
            f"file={fifo}",
            "sink_name=out",
            f"rate={self.sample_rate_hz}",
            "channels=1",
            "format=s16le",
            "use_system_clock_for_timing=yes",
        )
        self._await(fifo)
        reader = threading.Thread(target=self._read, args=(fifo,), daemon=True)
        reader.start()
        self._readers.append(reader)

    def unload_sink(self) -> None:
        """Pull the card out."""
        self.pactl("unload-module", self._module)

    def suspend_sink(self, suspended: bool) -> None:
        self.pactl("suspend-sink", "out", "1" if suspended else "0")

    def kill_server(self) -> None:
        """End the server at once, as a crash would; ``start`` brings it back."""
        if self._server is not None:
            self._server.send_signal(signal.SIGKILL)
            self._server.wait()
            self._server = None
            self._socket.unlink(missing_ok=True)

    def close(self) -> None:
        self._stop.set()
        self.kill_server()
        for reader in self._readers:
            reader.join(2)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _read(self, fifo: Path) -> None:
        pipe = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        try:
            # A small pipe, once it is empty: what has been written is what has been played.
            with contextlib.suppress(BlockingIOError):
                while os.read(pipe, 65536):
                    pass
            with contextlib.suppress(OSError):
                fcntl.fcntl(pipe, _F_SETPIPE_SZ, 4096)
            while not self._stop.is_set():
                if not select.select([pipe], [], [], 0.1)[0]:
                    continue
                try:
                    data = os.read(pipe, 4096)
                except BlockingIOError:
                    continue
                if not data:  # the sink is gone
                    return
                with self._lock:
                    self._chunks.append((time.monotonic(), data))
        finally:
            os.close(pipe)

    def recording(self, since_s: float = 0.0) -> Samples:
        """What has been played since a monotonic time, silence included, ``(N,)``."""
        with self._lock:
            parts = [data for at_s, data in self._chunks if at_s >= since_s]
        return np.frombuffer(b"".join(parts), "<i2")

    def time_of(self, index: int, since_s: float = 0.0) -> float:
        """When the sample at ``index`` of ``recording(since_s)`` was read from the pipe."""
        with self._lock:
            for at_s, data in self._chunks:
                if at_s >= since_s:
                    index -= len(data) // 2
                    if index < 0:
                        return at_s
        raise IndexError("not recorded yet")

    def find(self, reference: Samples, since_s: float = 0.0) -> tuple[int, int]:
        """Where ``reference`` lies best in the recording: index, and how many samples agree."""
        recorded = self.recording(since_s)
        size = 1 << (len(recorded) + len(reference)).bit_length()
        spectrum = np.fft.rfft(recorded.astype(float), size)
        spectrum *= np.conj(np.fft.rfft(reference.astype(float), size))
        index = int(np.fft.irfft(spectrum, size)[: max(1, len(recorded))].argmax())
        got = recorded[index : index + len(reference)]
        return index, int((got == reference[: len(got)]).sum())


@contextlib.contextmanager
def changed_environment(changes: Mapping[str, str]) -> Iterator[None]:
    saved = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in saved.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def pulse_rig(sample_rate_hz: int = 48000) -> Iterator[PulseRig]:
    """A rig that is up, with the environment of this process pointing at it."""
    rig = PulseRig(sample_rate_hz)
    try:
        rig.start()
        with changed_environment(rig.environment):
            yield rig
    finally:
        rig.close()
