"""Open the listening socket at its path."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from edge_tts.daemon import log
from edge_tts.errors import DaemonUnavailableError, OutputError

_BACKLOG = 128
_PROBE_TIMEOUT_S = 1.0


def open_listener(path: Path, mode: int = 0o660, group: str | None = None) -> socket.socket:
    """Listen on a new Unix socket, replacing one that nobody answers on.

    Raises:
        DaemonUnavailableError: another daemon already answers on ``path``.
        OutputError: the folder is missing or may not be written to.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(path)
        # Nobody may connect between bind and chmod.
        previous_umask = os.umask(0o777 & ~mode)
        try:
            listener.bind(str(path))
        finally:
            os.umask(previous_umask)
        os.chmod(path, mode)
        listener.listen(_BACKLOG)
    except OSError as exc:
        listener.close()
        raise OutputError(
            f"the socket {path} could not be opened ({exc}); give another path with --socket"
        ) from exc
    except DaemonUnavailableError:
        listener.close()
        raise
    if group:
        _give_to_group(path, group)
    return listener


def _remove_stale(path: Path) -> None:
    if not path.is_socket():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_TIMEOUT_S)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
            return
        except OSError:
            pass
    raise DaemonUnavailableError(
        f"a daemon already answers on {path}; stop it or give another path with --socket"
    )


def _give_to_group(path: Path, group: str) -> None:
    # Not part of every Python build, and needed here alone.
    import grp

    try:
        os.chown(path, -1, grp.getgrnam(group).gr_gid)
    except (KeyError, PermissionError) as exc:
        log.event("socket-group-unchanged", path=path, group=group, error=exc)
