"""A whole booted device, by emulation: sound, crashes and a power cut."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ENABLED = os.environ.get("EDGETTS_RIGS") == "1"
NOT_HERE = 77


@pytest.mark.skipif(not ENABLED, reason="a machine is emulated for minutes: EDGETTS_RIGS=1 runs it")
@pytest.mark.parametrize("architecture", ["amd64", "arm64"])
def test_alarms_are_heard_whatever_happens(architecture: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", str(HERE / "run.sh"), architecture, "--keep", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHON": sys.executable},
    )
    print(done.stdout)
    if done.returncode == NOT_HERE:
        pytest.skip(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout
