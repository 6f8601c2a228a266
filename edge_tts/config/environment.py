"""What the process environment says: folders, the socket, variables that override settings.

systemd names the folders it made in ``STATE_DIRECTORY`` and its kin
(systemd.exec(5)); outside of it the XDG base directories hold.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

PROGRAM = "edge-tts"
SYSTEM_SETTINGS_FILE = Path("/etc/edge-tts/edge-tts.toml")
SYSTEM_SOCKET = Path("/run/edge-tts/edge-tts.sock")
SYSTEM_STATE_FOLDER = Path("/var/lib/edge-tts")

# Variable -> the setting that it overrides.
OVERRIDES = {
    "EDGETTS_VOICE": "voice.name",
    "EDGETTS_SOCKET": "socket.path",
    "EDGETTS_PROVIDER": "inference.provider",
    "EDGETTS_LEXICON_D": "text.lexicon_folder",
}


def _folder(service_variable: str, xdg_variable: str, home_folder: str) -> Path:
    """systemd's folder, else the XDG one, else the XDG default in the home folder."""
    environ = os.environ
    if environ.get(service_variable):
        return Path(environ[service_variable].split(":")[0])
    if environ.get(xdg_variable):
        return Path(environ[xdg_variable]) / PROGRAM
    return Path(environ.get("HOME") or "/tmp") / home_folder / PROGRAM


def _is_service_account() -> bool:
    """Is this user the one whose home is the service's folder?"""
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir == str(SYSTEM_STATE_FOLDER)
    except KeyError:
        return False


def state_folder() -> Path:
    """Where the journal, installed voices and built engines live.

    A command that the service's account runs by hand means the service's folder.
    """
    if not os.environ.get("STATE_DIRECTORY") and _is_service_account():
        return SYSTEM_STATE_FOLDER
    return _folder("STATE_DIRECTORY", "XDG_STATE_HOME", ".local/state")


def cache_folder() -> Path:
    """Where rendered phrases live; may vanish at any time."""
    return _folder("CACHE_DIRECTORY", "XDG_CACHE_HOME", ".cache")


def config_folder() -> Path:
    """Where ``lexicon.d`` lives: ``/etc/edge-tts`` for a service, else the user's folder."""
    if os.environ.get("STATE_DIRECTORY") or os.geteuid() == 0 or _is_service_account():
        return SYSTEM_SETTINGS_FILE.parent
    return _folder("CONFIGURATION_DIRECTORY", "XDG_CONFIG_HOME", ".config")


def server_socket_path() -> Path:
    """Where a daemon of this user listens unless told otherwise."""
    environ = os.environ
    if environ.get("RUNTIME_DIRECTORY"):
        return Path(environ["RUNTIME_DIRECTORY"].split(":")[0]) / SYSTEM_SOCKET.name
    if os.geteuid() == 0:
        return SYSTEM_SOCKET
    return (
        Path(environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}")
        / PROGRAM
        / SYSTEM_SOCKET.name
    )


def client_socket_path(settings_path: Path | None = None) -> Path:
    """The socket a client should knock at.

    ``EDGETTS_SOCKET`` wins, then ``settings_path``, then the user's own
    daemon if its socket is there, then the system's.
    """
    if os.environ.get("EDGETTS_SOCKET"):
        return Path(os.environ["EDGETTS_SOCKET"])
    if settings_path is not None:
        return settings_path
    own = server_socket_path()
    return own if own.exists() else SYSTEM_SOCKET


def settings_file(environ: Mapping[str, str]) -> tuple[Path | None, bool]:
    """The settings file to read, and whether it was asked for by name.

    ``EDGETTS_CONFIG`` wins, then the user's ``~/.config/edge-tts/edge-tts.toml``,
    then the system's ``/etc/edge-tts/edge-tts.toml``, then none.
    """
    if environ.get("EDGETTS_CONFIG"):
        return Path(environ["EDGETTS_CONFIG"]), True
    for path in (config_folder() / SYSTEM_SETTINGS_FILE.name, SYSTEM_SETTINGS_FILE):
        if path.is_file():
            return path, False
    return None, False
