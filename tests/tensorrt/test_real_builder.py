"""Builds every graph with a real parser and builder: TensorRT for RTX, which needs no GPU for it.

It is as strictly typed as TensorRT 11. What it takes says nothing of the
operators of JetPack 5's parser; ``test_operators.py`` looks at those.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tensorrt import rig


def test_every_graph_builds() -> None:
    """In fp32 and fp16, with the voice's profiles; polygraphy finds every node supported."""
    try:
        environment = rig.real_builder_environment()
    except rig.RigError as exc:
        pytest.skip(f"TensorRT for RTX (95 MB) can't be installed here: {exc}")
    checks = Path(__file__).parent / "inside/builder_checks.py"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", "-rP",
         str(checks)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=rig.REPOSITORY,
        check=False,
    )  # fmt: skip
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
