"""The rig's shell functions: what they call a failure, and what a machine that can't."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
NOT_HERE = 77
COMMANDS = ("mmdebstrap", "arch-test", "qemu-aarch64-static", "update-binfmts", "setpriv")


def rig(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-euc", f". {HERE}/rig.sh; {code}"], capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("W: Failed to fetch x  Temporary failure resolving 'deb.invalid'", NOT_HERE),
        ("E: Could not connect to deb.invalid:80 (192.0.2.1), connection timed out", NOT_HERE),
        ("WARNING: Retrying after connection broken by 'NewConnectionError'", NOT_HERE),
        ("E: Unable to locate package no-such-package", 1),
        ("ERROR: No matching distribution found for numpy==99", 1),
    ],
)
def test_only_a_missing_network_is_an_excuse(tmp_path: Path, message: str, status: int) -> None:
    tool = tmp_path / "fetch-it"
    tool.write_text(f'#!/bin/sh\necho "{message}"\nexit 2\n')
    tool.chmod(0o755)
    done = rig(f"fetch {tmp_path}/log {tool}; echo went on")
    assert done.returncode == status
    assert message in done.stderr
    assert "went on" not in done.stdout
    assert ("not run: " in done.stderr) == (status == NOT_HERE)


def test_what_is_missing_is_named() -> None:
    done = rig("need no-such-command its-package bash bash")
    assert done.returncode == NOT_HERE
    assert done.stderr == "not run: apt-get install its-package\n"


@pytest.mark.skipif(
    os.geteuid() != 0 or not all(map(shutil.which, COMMANDS)), reason=f"needs root, {COMMANDS}"
)
@pytest.mark.parametrize(
    ("prefix", "reason"),
    [
        (["unshare", "--net"], "not run: mmdebstrap reached no mirror"),
        (
            ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"],
            "not run: this machine lets nobody mount anything",
        ),
    ],
)
def test_a_machine_that_can_not_says_so(tmp_path: Path, prefix: list[str], reason: str) -> None:
    done = subprocess.run(
        [*prefix, "bash", str(HERE / "run.sh"), "samples"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHON": sys.executable, "RIG_CACHE": str(tmp_path)},
    )
    assert done.returncode == NOT_HERE, done.stderr[-2000:]
    assert done.stderr.splitlines()[-1] == reason
