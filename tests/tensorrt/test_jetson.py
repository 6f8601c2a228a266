"""What only a board can show; run there with ``pytest -m jetson``."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_tts.cli import run
from edge_tts.inference.provider import probe_board, provider_table

pytestmark = pytest.mark.jetson


@pytest.fixture(scope="module", autouse=True)
def _board() -> None:
    step = provider_table(probe_board())[0]
    if not step.usable:
        pytest.skip(f"TensorRT can't be used here: {step.reason}")


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Engines of the set voice, built on this board."""
    folder = tmp_path_factory.mktemp("engines")
    assert run(["engine", "build", "--folder", str(folder)]) == 0
    return folder


def test_engines_give_what_the_cpu_gives(
    engines: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = tmp_path / "edge-tts.toml"
    settings.write_text(f'[inference]\nengine_folder = "{engines}"\n')
    monkeypatch.setenv("EDGETTS_CONFIG", str(settings))
    assert run(["selftest", "--provider", "tensorrt"]) == 0


def test_a_second_build_has_nothing_to_do(
    engines: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["engine", "build", "--folder", str(engines)]) == 0
    assert "building" not in capsys.readouterr().out
