from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from edge_tts.errors import InferenceError, ProviderError
from edge_tts.inference.half_precision import with_half_products
from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.voice import GRAPHS, load_voice
from tests.packs import packs_with_fp32


def inputs_of(graph: Path, size: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    inputs = {}
    for value in onnx.load(graph).graph.input:
        kind = value.type.tensor_type
        shape = [d.dim_value if d.HasField("dim_value") else size for d in kind.shape.dim]
        if kind.elem_type == TensorProto.INT64:
            inputs[value.name] = rng.integers(0, 200, shape)
        else:
            inputs[value.name] = (0.3 * rng.standard_normal(shape)).astype(np.float32)
    return inputs


def graphs() -> list[Path]:
    voices = [load_voice(folder) for folder in packs_with_fp32()]
    return [voice.graph_path(graph, "fp32") for voice in voices for graph in GRAPHS]


def check(graph: Path, tmp_path: Path) -> None:
    """The same inputs and outputs, half the weights, and nearly the same numbers."""
    converted = tmp_path / "half.onnx"
    converted.write_bytes(with_half_products(graph.read_bytes()))
    model = onnx.load(converted)
    onnx.checker.check_model(model)
    products = [n for n in model.graph.node if n.op_type in ("Conv", "MatMul", "Gemm")]
    assert products
    kinds = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    weights = [name for node in products for name in node.input if name in kinds]
    assert {kinds[name] for name in weights} == {TensorProto.FLOAT16}
    inputs = inputs_of(graph, 30)
    expected, found = OnnxSession(graph).run(inputs), OnnxSession(converted).run(inputs)
    apart = 0.0
    for name, value in expected.items():
        assert found[name].dtype == value.dtype
        error = np.abs(found[name] - value).max() / np.abs(value).max()
        assert error < 0.02, name
        apart = max(apart, float(error))
    assert apart > 1e-6, "nothing was rounded"


@pytest.mark.parametrize("name", GRAPHS)
def test_a_tiny_graph(name: str, tiny_voice: Path, tmp_path: Path) -> None:
    check(tiny_voice / f"{name}.onnx", tmp_path)


@pytest.mark.parametrize("graph", graphs(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_exported_graph(graph: Path, tmp_path: Path) -> None:
    check(graph, tmp_path)


def test_weights_that_others_take_too_stay(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.full((4, 4), 1e6, np.float32), "w")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Add", ["p", "w"], ["y"]),
    ]
    shapes = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4, 4]) for n in ("x", "y")]
    graph = helper.make_graph(nodes, "one", shapes[:1], shapes[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    path = tmp_path / "half.onnx"
    path.write_bytes(with_half_products(model.SerializeToString()))
    found = OnnxSession(path).run({"x": np.zeros((4, 4), np.float32)})["y"]
    # What half precision can't hold is its largest number, not infinity times zero.
    np.testing.assert_array_equal(found, np.full((4, 4), 1e6, np.float32))


def test_junk_is_refused() -> None:
    with pytest.raises(InferenceError, match="can't be read"):
        with_half_products(b"junk")


def test_without_onnx_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ProviderError, match="pip install onnx"):
        with_half_products(b"")
