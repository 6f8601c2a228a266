"""Runs the rigs that emulate a machine: scripts that end with 0, a failure, or "can't run here"."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENABLED = os.environ.get("EDGETTS_RIGS") == "1"
NOT_HERE = 77


def run_rig(script: Path, *arguments: str) -> None:
    """Run a rig with this interpreter; skip with its reason where it can't run here."""
    done = subprocess.run(
        ["bash", str(script), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHON": sys.executable},
    )
    print(done.stdout)
    if done.returncode == NOT_HERE:
        pytest.skip(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout
