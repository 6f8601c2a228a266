"""A network of a chosen size: nothing but matrix products."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def save_matrix_graph(path: Path, width: int = 8, layers: int = 1, seed: int = 0) -> Path:
    """``x (N, width)`` through ``layers`` products to ``y``: 4 * width² bytes a layer."""
    rng = np.random.default_rng(seed)
    weights, nodes, name = [], [], "x"
    for index in range(layers):
        value = (rng.standard_normal((width, width)) / np.sqrt(width)).astype(np.float32)
        weights.append(numpy_helper.from_array(value, f"w{index}"))
        output = "y" if index == layers - 1 else f"x{index}"
        nodes.append(helper.make_node("MatMul", [name, f"w{index}"], [output]))
        name = output
    shape = ["N", width]
    graph = helper.make_graph(
        nodes,
        "matrix",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    return path
