"""The teacher's graph: unfolded convolutions sum the very same integers."""

from __future__ import annotations

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="onnx, which changes graphs, is not installed")

import onnxruntime  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from tools.voice.teacher_graph import unfold_convolutions  # noqa: E402


def _graph(kernel: int, **attributes: object) -> tuple[object, np.ndarray]:
    random = np.random.default_rng(kernel)
    weight = random.integers(0, 256, (5, 3, kernel)).astype(np.uint8)
    node = helper.make_node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], **attributes)
    graph = helper.make_graph(
        [node],
        "convolution",
        [
            helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 3, None]),
            helper.make_tensor_value_info("xz", TensorProto.UINT8, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.INT32, [1, 5, None])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(np.uint8(131), "wz")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return model, random.integers(0, 256, (1, 3, 40)).astype(np.uint8)


def _run(model: object, signal: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    found = session.run(None, {"x": signal, "xz": np.array(117, np.uint8)})[0]
    return np.asarray(found)


@pytest.mark.parametrize(
    ("kernel", "attributes"),
    [
        (3, {"pads": [1, 1]}),
        (7, {"pads": [9, 9], "dilations": [3]}),
        (1, {}),
        (5, {"pads": [4, 0]}),
        (3, {}),
    ],
)
def test_an_unfolded_convolution_gives_the_same_integers(kernel: int, attributes: dict) -> None:
    model, signal = _graph(kernel, **attributes)
    expected = _run(model, signal)
    assert unfold_convolutions(model.graph) == 1
    assert "ConvInteger" not in {node.op_type for node in model.graph.node}
    assert "w" not in {tensor.name for tensor in model.graph.initializer}
    np.testing.assert_array_equal(_run(model, signal), expected)


def test_a_stride_stays_a_convolution() -> None:
    model, _ = _graph(3, strides=[2])
    assert unfold_convolutions(model.graph) == 0
    assert [node.op_type for node in model.graph.node] == ["ConvInteger"]
