"""The core of the tests and ``edgetts synth`` on aarch64, by user-mode emulation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ENABLED = os.environ.get("EDGETTS_RIGS") == "1"
NOT_HERE = 77


@pytest.mark.skipif(
    not ENABLED, reason="tools/test.sh runs it after pytest; EDGETTS_RIGS=1 runs it in here"
)
@pytest.mark.parametrize("part", ["samples", "tests", "installed"])
def test_aarch64_agrees_with_this_machine(part: str) -> None:
    done = subprocess.run(
        ["bash", str(HERE / "run.sh"), part],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHON": sys.executable},
    )
    print(done.stdout)
    if done.returncode == NOT_HERE:
        pytest.skip(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout
