"""One connection to the daemon's socket, in lines."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from pathlib import Path

from edge_tts.config.environment import client_socket_path, settings_file
from edge_tts.errors import ConfigError, DaemonUnavailableError, WaitTimeoutError

FOREVER = float("inf")


class LineConnection:
    """A Unix stream socket that carries lines both ways; connects when it is first used.

    Args:
        socket_path: of the listening socket.
        timeout_s: longest wait for an answer.
    """

    def __init__(self, socket_path: Path, timeout_s: float) -> None:
        self.socket_path = socket_path
        self.timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._buffer = b""

    def connect(self) -> None:
        """Connect, if it is not.

        Raises:
            DaemonUnavailableError: nobody listens, or this user may not connect.
        """
        if self._socket is not None:
            return
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(self.timeout_s)
        try:
            sock.connect(str(self.socket_path))
        except OSError as exc:
            sock.close()
            hint = "start it with: edgetts serve"
            if isinstance(exc, PermissionError):
                hint = "join the group that owns the socket, usually edge-tts"
            raise DaemonUnavailableError(
                f"no daemon answers on {self.socket_path} ({exc.strerror or exc}); {hint}"
            ) from exc
        self._socket = sock
        self._buffer = b""

    def close(self) -> None:
        """Close it; calling it twice is harmless."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, line: str) -> None:
        """Send one line as it is; the LF is added.

        Raises:
            WaitTimeoutError, DaemonUnavailableError: the daemon does not take it.
        """
        self.connect()
        assert self._socket is not None
        self._socket.settimeout(self.timeout_s)
        try:
            self._socket.sendall(line.encode("utf-8", "replace") + b"\n")
        except TimeoutError as exc:
            raise self._no_answer() from exc
        except OSError as exc:
            # What it said before it closed the connection is still to be read.
            if not self._has_input():
                raise self._gone() from exc

    def read_line(self, deadline_s: float | None = None) -> str:
        """The next line without its LF.

        ``deadline_s`` is a time of the monotonic clock or `FOREVER`; None waits
        as long as for an answer.

        Raises:
            WaitTimeoutError: no line came in time.
            DaemonUnavailableError: the other side closed the connection.
        """
        if self._socket is None:
            raise self._gone()
        if deadline_s is None:
            deadline_s = time.monotonic() + self.timeout_s
        while b"\n" not in self._buffer:
            remaining_s = deadline_s - time.monotonic()
            if remaining_s <= 0:
                raise self._no_answer()
            self._socket.settimeout(None if remaining_s == FOREVER else remaining_s)
            try:
                data = self._socket.recv(65536)
            except TimeoutError as exc:
                raise self._no_answer() from exc
            except OSError as exc:
                raise self._gone() from exc
            if not data:
                raise self._gone()
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode("utf-8", "replace")

    def _has_input(self) -> bool:
        assert self._socket is not None
        try:
            return b"\n" in self._buffer or bool(self._socket.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def _no_answer(self) -> WaitTimeoutError:
        return WaitTimeoutError(
            f"the daemon on {self.socket_path} did not answer in time; see: edgetts status"
        )

    def _gone(self) -> DaemonUnavailableError:
        return DaemonUnavailableError(
            f"the daemon on {self.socket_path} closed the connection; "
            "alarms that it accepted are spoken after its restart"
        )


def usual_socket() -> Path:
    """Where the daemon is knocked at: environment, settings file, usual places."""
    path, _ = settings_file(os.environ)
    if path is None or os.environ.get("EDGETTS_SOCKET"):
        return client_socket_path()
    from edge_tts.config.loader import read_settings_file

    configured = None
    # What else is wrong in the file must not keep an alarm from being sent.
    with contextlib.suppress(ConfigError):
        _, configured = read_settings_file(path).get("socket.path", ("", None))
    return client_socket_path(Path(configured) if isinstance(configured, str) else None)
