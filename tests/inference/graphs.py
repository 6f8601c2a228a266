"""Small networks for tests, in the shapes that a voice's networks have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
FEATURES = 82
BINS = 601


class GraphBuilder:
    """Collects nodes and random weights; each call returns the name of its output."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []

    def weight(self, *shape: int, scale: float = 0.1) -> str:
        return self.constant((self._rng.standard_normal(shape) * scale).astype(np.float32))

    def constant(self, value: np.ndarray) -> str:
        name = f"w{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(value, name))
        return name

    def node(self, op: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"n{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def save(self, path: Path, inputs: dict[str, tuple], outputs: dict[str, tuple]) -> Path:
        types = {"ids": TensorProto.INT64}
        graph = helper.make_graph(
            self._nodes,
            path.stem,
            [
                helper.make_tensor_value_info(name, types.get(name, TensorProto.FLOAT), shape)
                for name, shape in inputs.items()
            ],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                for name, shape in outputs.items()
            ],
            self._weights,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8
        )
        onnx.checker.check_model(model)
        onnx.save(model, str(path))
        return path


def save_matrix_graph(path: Path, width: int = 8, layers: int = 1, seed: int = 0) -> Path:
    """``x (N, width)`` through ``layers`` products to ``y``: 4 * width² bytes a layer."""
    build = GraphBuilder(seed)
    name = "x"
    for index in range(layers):
        last = "y" if index == layers - 1 else ""
        name = build.node("MatMul", name, build.weight(width, width), output=last)
    return build.save(path, {"x": ("N", width)}, {"y": ("N", width)})


def save_encoder_graph(path: Path, phonemes: int = 300, width: int = 16) -> Path:
    """``ids (1, T)`` to ``hidden (1, T, D)`` and ``log_durations (1, T)``."""
    build = GraphBuilder()
    embedded = build.node("Gather", build.weight(phonemes, width), "ids")
    build.node("Tanh", embedded, output="hidden")
    durations = build.node("MatMul", "hidden", build.weight(width, 1))
    build.node("Squeeze", durations, build.constant(np.array([2])), output="log_durations")
    return build.save(
        path,
        {"ids": (1, "T")},
        {"hidden": (1, "T", width), "log_durations": (1, "T")},
    )


def save_decoder_graph(path: Path, width: int = 16) -> Path:
    """``frames (1, F, D + 3)`` to ``features (1, 82, F)`` by a convolution over 3 frames."""
    build = GraphBuilder()
    columns = build.node("Transpose", "frames", perm=[0, 2, 1])
    build.node(
        "Conv",
        columns,
        build.weight(FEATURES, width + 3, 3),
        build.weight(FEATURES),
        output="features",
        kernel_shape=[3],
        pads=[1, 1],
    )
    return build.save(path, {"frames": (1, "F", width + 3)}, {"features": (1, FEATURES, "F")})


def save_vocoder_graph(path: Path, width: int = 8) -> Path:
    """``features (1, 82, F)`` to three spectra ``(1, F, 601)``."""
    build = GraphBuilder()
    hidden = build.node(
        "Conv", "features", build.weight(width, FEATURES, 3), kernel_shape=[3], pads=[1, 1]
    )
    rows = build.node("Transpose", hidden, perm=[0, 2, 1])
    outputs = {}
    for name in ("harmonic_real", "harmonic_imag", "noise_magnitude"):
        product = build.node("MatMul", rows, build.weight(width, BINS))
        build.node("Abs" if name == "noise_magnitude" else "Tanh", product, output=name)
        outputs[name] = (1, "F", BINS)
    return build.save(path, {"features": (1, FEATURES, "F")}, outputs)
