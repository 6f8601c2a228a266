"""Bundle and package in the root file systems of other distributions, without a network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rigs import ENABLED, run_rig

SCRIPT = Path(__file__).resolve().parent / "distribution.sh"


@pytest.mark.skipif(
    not ENABLED, reason="root file systems are made for minutes: EDGETTS_RIGS=1 runs it"
)
@pytest.mark.parametrize("suite", ["bookworm", "trixie", "jammy", "noble"])
def test_installs_speaks_and_leaves_no_trace(suite: str) -> None:
    run_rig(SCRIPT, suite)
