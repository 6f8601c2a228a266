"""Makes the teacher's published graph the one the corpus is spoken with.

ONNX Runtime has ``ConvInteger`` for unsigned weights alone, which processors with VNNI
multiply no faster than float32; ``MatMulInteger`` takes signed weights and is some four times
faster there. So convolutions become matrix products over their unfolded input. Both sum the
same integers, so every sample stays what it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

DURATIONS = "/encoder/Gather_output_0"
F0 = "/encoder/Squeeze_output_0"
# From unsigned to signed 8 bit; weights and their zero point move together.
_UNSIGNED_OFFSET = 128
_TO_THE_END = np.iinfo(np.int64).max


def prepare_graph(source: Path, target: Path) -> None:
    """Copy the teacher's graph with durations and F0 as outputs and faster convolutions."""
    import onnx

    model = onnx.load(source)
    for name in (DURATIONS, F0):
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    unfold_convolutions(model.graph)
    onnx.save(model, target)


def unfold_convolutions(graph: GraphProto) -> int:
    """Replace each one-dimensional ``ConvInteger`` of stride 1; returns how many there were."""
    from onnx import numpy_helper

    arrays = {tensor.name: tensor for tensor in graph.initializer}
    nodes: list[NodeProto] = []
    replaced: set[str] = set()
    count = 0
    for node in graph.node:
        weight = arrays.get(node.input[1]) if node.op_type == "ConvInteger" else None
        zero = arrays.get(node.input[3]) if weight is not None else None
        if weight is None or zero is None or not _is_plain(node) or len(weight.dims) != 3:
            nodes.append(node)
            continue
        unfolded = _unfolded(node, numpy_helper.to_array(weight), numpy_helper.to_array(zero))
        nodes += unfolded[0]
        graph.initializer.extend(unfolded[1])
        replaced |= {node.input[1], node.input[3]}
        count += 1
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    for name in replaced - used:
        graph.initializer.remove(arrays[name])
    return count


def _attributes(node: NodeProto) -> dict[str, list[int]]:
    return {item.name: list(item.ints) or [item.i] for item in node.attribute}


def _is_plain(node: NodeProto) -> bool:
    found = _attributes(node)
    return found.get("strides", [1]) == [1] and found.get("group", [1]) == [1]


def _unfolded(
    node: NodeProto, weight: np.ndarray, zero: np.ndarray
) -> tuple[list[NodeProto], list[object]]:
    """The nodes and constants for ``node``; ``weight`` (out, in, kernel) uint8."""
    from onnx import helper, numpy_helper

    name, signal, zero_point = node.output[0], node.input[0], node.input[2]
    found = _attributes(node)
    before, after = found.get("pads", [0, 0])
    dilation = found.get("dilations", [1])[0]
    kernel = weight.shape[2]
    constants: list[object] = []
    made: list[NodeProto] = []

    def constant(key: str, value: np.ndarray) -> str:
        constants.append(numpy_helper.from_array(value, f"{name}/{key}"))
        return f"{name}/{key}"

    def step(kind: str, inputs: list[str], key: str, **options: object) -> str:
        made.append(helper.make_node(kind, inputs, [f"{name}/{key}" if key else name], **options))
        return str(made[-1].output[0])

    def signed(values: np.ndarray) -> np.ndarray:
        return (values.astype(np.int16) - _UNSIGNED_OFFSET).astype(np.int8)

    def whole(*values: int) -> np.ndarray:
        return np.array(values, np.int64)

    frames = step("Transpose", [signal], "frames", perm=[0, 2, 1])
    if before or after:
        pads = constant("pads", whole(0, before, 0, 0, after, 0))
        frames = step("Pad", [frames, pads, zero_point], "padded")
    axis = constant("axis", whole(1))
    taps = []
    for tap in range(kernel):
        first, last = dilation * tap, dilation * (tap - kernel + 1) or _TO_THE_END
        edges = [constant(f"first{tap}", whole(first)), constant(f"last{tap}", whole(last))]
        taps.append(step("Slice", [frames, *edges, axis], f"tap{tap}"))
    columns = step("Concat", taps, "columns", axis=2)
    matrix = signed(weight).transpose(2, 1, 0).reshape(-1, weight.shape[0])
    factors = [constant("matrix", np.ascontiguousarray(matrix)), zero_point]
    zero_name = constant("zero", signed(zero.reshape(())))
    product = step("MatMulInteger", [columns, factors[0], zero_point, zero_name], "product")
    step("Transpose", [product], "", perm=[0, 2, 1])
    return made, constants
