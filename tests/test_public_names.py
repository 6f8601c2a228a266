"""The names that users may rely on, pinned: a change here is a change of the interface."""

from __future__ import annotations

import subprocess
import sys

import pytest

import edge_tts

PUBLIC = [
    "AudioChunk",
    "EdgeTtsError",
    "Pipeline",
    "Settings",
    "Voice",
    "__version__",
    "build_pipeline",
    "find_voice",
    "load_settings",
    "load_voice",
]


def test_public_names() -> None:
    assert edge_tts.__all__ == PUBLIC
    assert dir(edge_tts) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_each_name_resolves(name: str) -> None:
    assert getattr(edge_tts, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'speak'"):
        edge_tts.speak  # noqa: B018


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import importlib, sys, typing; before = set(sys.modules); import edge_tts; "
        "print(sorted(m for m in set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() in ("['edge_tts']", "['__future__', 'edge_tts']")
