"""A whole booted device: sound, crashes, power cuts; and upgrades that power cuts interrupt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rigs import ENABLED, run_rig

SCRIPT = Path(__file__).resolve().parent / "run.sh"

pytestmark = pytest.mark.skipif(
    not ENABLED, reason="a machine is built and emulated for minutes: EDGETTS_RIGS=1 runs it"
)


# What differs between architectures shows in one boot; an emulated one takes long enough.
@pytest.mark.parametrize("arguments", [("amd64",), ("arm64", "--short")], ids=" ".join)
def test_alarms_are_heard_whatever_happens(arguments: tuple[str, ...], tmp_path: Path) -> None:
    run_rig(SCRIPT, *arguments, "--keep", str(tmp_path))


def test_an_interrupted_upgrade_leaves_a_device_that_speaks(tmp_path: Path) -> None:
    run_rig(SCRIPT, "cuts", "--keep", str(tmp_path))
