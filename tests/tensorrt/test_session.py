"""Runs the checks of ``inside/`` under each TensorRT release's real bindings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tensorrt import rig

INSIDE = Path(__file__).parent / "inside"


@pytest.mark.parametrize("release", rig.BINDINGS)
def test_session_under_the_bindings_of(release: str) -> None:
    try:
        environment = rig.environment(release)
    except rig.RigError as exc:
        pytest.skip(f"the rig of TensorRT {release} can't be built here: {exc}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs",
         *map(str, sorted(INSIDE.glob("*_checks.py")))],
        capture_output=True,
        text=True,
        env=environment,
        cwd=rig.REPOSITORY,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
