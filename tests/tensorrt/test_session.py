"""Runs the checks of ``inside/`` under each TensorRT release's real bindings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tensorrt import rig

INSIDE = Path(__file__).parent / "inside"
# The oldest, the one of JetPack 6, and the newest behave for all; names are looked at in each.
BEHAVIOUR = ("8.6", "10.3", "11.4")


@pytest.mark.parametrize("release", rig.BINDINGS)
def test_under_the_bindings_of(release: str) -> None:
    checks = ["bindings", "session", "engine"] if release in BEHAVIOUR else ["bindings"]
    try:
        environment = rig.environment(release)
    except rig.RigError as exc:
        pytest.skip(f"the rig of TensorRT {release} can't be built here: {exc}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rsP",
         *(str(INSIDE / f"{name}_checks.py") for name in checks)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=rig.REPOSITORY,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
