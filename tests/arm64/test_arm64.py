"""The core of the tests and ``edgetts synth`` on aarch64, by user-mode emulation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rigs import ENABLED, run_rig

SCRIPT = Path(__file__).resolve().parent / "run.sh"


@pytest.mark.skipif(
    not ENABLED, reason="tools/test.sh runs it after pytest; EDGETTS_RIGS=1 runs it in here"
)
@pytest.mark.parametrize("part", ["samples", "tests", "installed"])
def test_aarch64_agrees_with_this_machine(part: str) -> None:
    run_rig(SCRIPT, part)
