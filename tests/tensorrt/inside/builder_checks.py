"""The real parser and builder on every graph of the checkout and of the tiny voice."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_tts.errors import InferenceError
from edge_tts.inference.engine_builder import build_engine
from edge_tts.inference.engine_profiles import AxisProfile, axis_profiles
from edge_tts.synthesis.source import LOOKAHEAD_FRAMES
from edge_tts.voice import CHECKOUT_VOICES, GRAPHS, load_voice
from tests.tiny_voice import write_tiny_voice

VOICES = sorted(path.parent for path in CHECKOUT_VOICES.glob("*/voice.json"))


@pytest.mark.parametrize("folder", [None, *VOICES], ids=lambda f: f.name if f else "tiny")
@pytest.mark.parametrize("graph", GRAPHS)
def test_builds(
    graph: str, folder: Path | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    voice = load_voice(folder or write_tiny_voice(tmp_path))
    profiles = axis_profiles(voice, graph, LOOKAHEAD_FRAMES)
    cache = tmp_path / "timing.cache"
    built = build_engine(voice.graph_path(graph, "fp32"), profiles, "fp32", timing_cache=cache)
    assert len(built.plan) > 1000
    with capsys.disabled():
        print(f"\n{voice.name} {graph}: {len(built.plan)} bytes in {built.build_s:.1f} s")


def test_a_profile_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """The real log line comes with it."""
    voice = load_voice(write_tiny_voice(tmp_path))
    with pytest.raises(InferenceError, match=r"decoder\.onnx: .*\(.+\)"):
        build_engine(voice.graph_path("decoder", "fp32"), [], "fp32")


def test_junk_is_refused(tmp_path: Path) -> None:
    (tmp_path / "junk.onnx").write_bytes(b"junk")
    with pytest.raises(InferenceError, match="can't parse it"):
        build_engine(tmp_path / "junk.onnx", [AxisProfile(1, 1, 1)], "fp32")
