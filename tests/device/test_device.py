"""A whole booted device: sound, crashes, power cuts; and upgrades that power cuts interrupt."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ENABLED = os.environ.get("EDGETTS_RIGS") == "1"
NOT_HERE = 77

pytestmark = pytest.mark.skipif(
    not ENABLED, reason="a machine is built and emulated for minutes: EDGETTS_RIGS=1 runs it"
)


def run(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["bash", str(HERE / "run.sh"), *arguments, "--keep", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHON": sys.executable},
    )
    print(done.stdout)
    if done.returncode == NOT_HERE:
        pytest.skip(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout


# What differs between architectures shows in one boot; an emulated one takes long enough.
@pytest.mark.parametrize("arguments", [("amd64",), ("arm64", "--short")], ids=" ".join)
def test_alarms_are_heard_whatever_happens(arguments: tuple[str, ...], tmp_path: Path) -> None:
    run(tmp_path, *arguments)


def test_an_interrupted_upgrade_leaves_a_device_that_speaks(tmp_path: Path) -> None:
    run(tmp_path, "cuts")
