"""The daemon and the folders it needs."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edge_tts.doctor.finding import ERROR, INFO, OK, WARNING, Finding, System

_LEAST_FREE_MB = 20
# A board without a battery begins at 1970, or at the day its system was made.
_FIRST_SANE_S = 1735689600.0  # 2025-01-01
_MEND_VOICE = "sudo edgetts voices verify; sudo edgetts voices install PACK.tar.gz"
_RESTART = "sudo systemctl restart edge-tts"


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
            status = json.loads(client.status("json"))
    except (EdgeTtsError, OSError, ValueError) as exc:
        return [_daemon_is_away(system, f"the daemon at {socket_path} does not answer: {exc}")]
    return [
        Finding(OK, "daemon", f"the daemon at {socket_path} answers"),
        *_check_status(status),
    ]


def _check_status(status: Mapping[str, Any]) -> list[Finding]:
    """What the daemon itself complains of; its STATUS as JSON is documented in docs/protocol.md."""
    device, voice, journal = (status.get(part) or {} for part in ("device", "voice", "journal"))
    findings = []
    if device.get("state", "ready") not in ("ready", "asleep"):
        message = f"the daemon has no sound device: {device.get('detail')}"
        fix = "see what is said of audio here; it opens the device by itself once that is mended"
        findings.append(Finding(ERROR, "daemon", message, fix))
    if voice.get("error"):
        message = f"the daemon plays tones instead of words: {voice['error']}"
        findings.append(Finding(ERROR, "daemon", message, f"{_MEND_VOICE}; {_RESTART}"))
    if journal.get("degraded"):
        reason = str(journal.get("reason"))
        message = f"alarms do not survive a restart, the journal is not written: {reason}"
        fix = "edgetts doctor as the service sees it: sudo -u edge-tts edgetts doctor"
        if "another process" in reason:
            fix = "end the other daemon: pgrep -af 'edgetts serve'"
        elif reason == "switched off":
            fix = "set enabled = true under [journal]"
        findings.append(Finding(WARNING, "daemon", message, fix))
    if journal.get("damaged_records"):
        message = (
            f"{journal['damaged_records']} damaged records of the journal were passed over at "
            "the start: alarms from before it may not have been told"
        )
        fix = "look for a failing disk: sudo dmesg | grep -iE 'mmc|I/O error'"
        findings.append(Finding(WARNING, "daemon", message, fix))
    return findings


def check_clock(now_s: float | None = None) -> list[Finding]:
    """Is the time of day believable? Alarms go by another clock, log and voices don't."""
    now_s = time.time() if now_s is None else now_s
    if now_s >= _FIRST_SANE_S:
        return []
    day = time.strftime("%Y-%m-%d %H:%M", time.gmtime(now_s))
    message = f"the clock says {day}: the times in the log are wrong, alarms are told all the same"
    fix = "sudo timedatectl set-ntp true; without a network: sudo date -s 'YYYY-MM-DD HH:MM'"
    return [Finding(WARNING, "clock", message, fix)]


def _daemon_is_away(system: System, message: str) -> Finding:
    if not system.run(["systemctl", "cat", "edge-tts.service"], 5.0).succeeded:
        fix = "edgetts serve, or install the service: sudo bash deploy/install.sh"
        return Finding(INFO, "daemon", f"{message}; no service is installed", fix)
    state = system.run(["systemctl", "is-active", "edge-tts.service"], 5.0).output.strip()
    fix = "sudo systemctl restart edge-tts.socket edge-tts.service; journalctl -u edge-tts -n 50"
    return Finding(ERROR, "daemon", f"{message}; the service is {state or 'unknown'}", fix)
