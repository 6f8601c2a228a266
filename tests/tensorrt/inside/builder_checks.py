"""The real parser and builder on every graph of the checkout and of the tiny voice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import pytest
import tensorrt

from edge_tts.errors import InferenceError
from edge_tts.inference.engine_builder import build_engine
from edge_tts.inference.engine_profiles import AxisProfile, axis_profiles
from edge_tts.inference.half_precision import with_half_products
from edge_tts.synthesis.source import lookahead_frames
from edge_tts.voice import GRAPHS, Voice, load_voice
from tests.packs import packs_with_fp32
from tests.tiny_voice import write_tiny_voice

VOICES = packs_with_fp32()
PRECISIONS = ("fp32", "fp16")
every_graph = pytest.mark.parametrize(
    ("folder", "graph", "precision"),
    [(f, g, p) for f in (None, *VOICES) for g in GRAPHS for p in PRECISIONS],
    ids=lambda value: value.name if isinstance(value, Path) else value or "tiny",
)


def voice_of(folder: Path | None, tmp_path: Path) -> Voice:
    return load_voice(folder or write_tiny_voice(tmp_path))


@every_graph
def test_builds(graph: str, precision: str, folder: Path | None, tmp_path: Path) -> None:
    voice = voice_of(folder, tmp_path)
    profiles = axis_profiles(voice, graph, lookahead_frames(voice.n_fft, voice.hop_length))
    cache = tmp_path / "timing.cache"
    built = build_engine(voice.graph_path(graph, "fp32"), profiles, precision, timing_cache=cache)
    assert built.plan
    print(
        f"{voice.name} {graph} {precision}: {len(built.plan)} bytes, {len(profiles)} profiles, "
        f"{built.build_s:.1f} s"
    )


@every_graph
def test_every_node_is_supported(
    graph: str, precision: str, folder: Path | None, tmp_path: Path
) -> None:
    """Polygraphy asks the parser for each node by itself."""
    data = voice_of(folder, tmp_path).graph_path(graph, "fp32").read_bytes()
    model = tmp_path / "model.onnx"
    model.write_bytes(with_half_products(data) if precision == "fp16" else data)
    assert "Graph is fully supported by TensorRT" in capability(model)


def capability(model: Path) -> str:
    """What ``polygraphy inspect capability`` says."""
    done = subprocess.run(
        [sys.executable, "-c", "from polygraphy.tools import main; main()",
         "inspect", "capability", str(model)],
        capture_output=True,
        text=True,
        cwd=model.parent,
        check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_a_node_that_is_not_supported_is_named(tmp_path: Path) -> None:
    """What keeps the check above from passing whatever is there."""
    node = onnx.helper.make_node("Strange", ["x"], ["y"])
    values = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 8]) for name in "xy"
    ]
    graph = onnx.helper.make_graph([node], "one", values[:1], values[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 16)])
    onnx.save(model, tmp_path / "model.onnx")
    text = capability(tmp_path / "model.onnx")
    assert "fully supported" not in text
    assert "Strange" in text


def test_it_is_strictly_typed() -> None:
    """Else fp16 would test the flag of TensorRT 10 and not the converted graph."""
    assert not hasattr(tensorrt.BuilderFlag, "FP16")


def test_a_profile_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """The real log line comes with it."""
    voice = load_voice(write_tiny_voice(tmp_path))
    with pytest.raises(InferenceError, match=r"decoder\.onnx: .*\(.+\)"):
        build_engine(voice.graph_path("decoder", "fp32"), [], "fp32")


def test_junk_is_refused(tmp_path: Path) -> None:
    (tmp_path / "junk.onnx").write_bytes(b"junk")
    with pytest.raises(InferenceError, match="can't parse it"):
        build_engine(tmp_path / "junk.onnx", [AxisProfile(1, 1, 1)], "fp32")
