"""The daemon and the folders it needs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from edge_tts.doctor.finding import ERROR, INFO, OK, WARNING, Finding, System

_LEAST_FREE_MB = 20


def check_state_folder(system: System, folder: Path) -> list[Finding]:
    """Can the journal, voices and engines be written?"""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    if not system.access(place, os.W_OK | os.X_OK):
        what = f"{folder} can't be written by this user"
        if place != folder:
            what = f"{folder} is not there and can't be made"
        return [
            Finding(
                WARNING,
                "state",
                f"{what}; the service writes it as its own user, `edgetts synth` does not need it",
                f"sudo install -d -o edge-tts -g edge-tts {folder}",
            )
        ]
    free_mb = shutil.disk_usage(place).free >> 20
    if free_mb < _LEAST_FREE_MB:
        message = f"{place} has {free_mb} MB free; alarms may not survive a restart"
        return [Finding(WARNING, "state", message, f"free space on the disk of {place}")]
    return [Finding(OK, "state", f"{folder} can be written, {free_mb} MB free")]


def check_daemon(system: System, socket_path: Path) -> list[Finding]:
    """Does the daemon answer, and may this user speak to it?"""
    from edge_tts.client import Client
    from edge_tts.errors import EdgeTtsError

    if not socket_path.exists():
        return [_daemon_is_away(system, f"nothing listens at {socket_path}")]
    if not system.access(socket_path, os.R_OK | os.W_OK):
        return [
            Finding(
                WARNING,
                "daemon",
                f"this user may not open {socket_path}",
                "sudo usermod -aG edge-tts $USER, then log in again",
            )
        ]
    try:
        with Client(socket_path, timeout_s=3.0) as client:
            client.request("PING")
    except (EdgeTtsError, OSError) as exc:
        return [_daemon_is_away(system, f"the daemon at {socket_path} does not answer: {exc}")]
    return [Finding(OK, "daemon", f"the daemon at {socket_path} answers")]


def _daemon_is_away(system: System, message: str) -> Finding:
    if not system.run(["systemctl", "cat", "edge-tts.service"], 5.0).succeeded:
        fix = "edgetts serve, or install the service: sudo bash deploy/install.sh"
        return Finding(INFO, "daemon", f"{message}; no service is installed", fix)
    state = system.run(["systemctl", "is-active", "edge-tts.service"], 5.0).output.strip()
    fix = "sudo systemctl restart edge-tts.socket edge-tts.service; journalctl -u edge-tts -n 50"
    return Finding(ERROR, "daemon", f"{message}; the service is {state or 'unknown'}", fix)
