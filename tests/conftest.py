"""Fixtures that several test files share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.tiny_voice import write_tiny_voice

REPOSITORY = Path(__file__).resolve().parents[1]

# A slow machine fails no test: under an emulator a draw may take seconds.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def compiled_lexicon() -> Path:
    """The pronunciation table of the checkout."""
    return REPOSITORY / "models" / "zh-en" / "lexicon.bin"


@pytest.fixture(scope="session")
def tiny_voice(tmp_path_factory: pytest.TempPathFactory, compiled_lexicon: Path) -> Path:
    """The folder of a random voice of a few kilobytes; treat it as read-only."""
    return write_tiny_voice(tmp_path_factory.mktemp("voices") / "tiny", lexicon=compiled_lexicon)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak-minutes", default="1", help="length of the daemon's soak test; hours find leaks"
    )
