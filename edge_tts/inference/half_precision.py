"""An ONNX graph whose matrix products are in half precision; the sole importer of onnx.

Up to TensorRT 10 the builder lowers an fp32 graph by a flag. TensorRT 11 and
TensorRT for RTX compute in the types that the graph states, so there the graph
is changed before it is parsed.
"""

from __future__ import annotations

from typing import Any

from edge_tts.errors import InferenceError, ProviderError

# Nearly all of a network's arithmetic. Norms, which sum squares, and functions with a wide
# range stay in fp32; a conversion at each border costs little beside a product.
HALF_OPERATORS = frozenset({"Conv", "Gemm", "MatMul"})
_LARGEST_HALF = 65504.0


def with_half_products(data: bytes) -> bytes:
    """The graph ``data`` with convolutions and matrix products in half precision.

    Inputs and outputs keep their types; the weights of the products are
    rounded, and are half as large.

    Raises:
        ProviderError: the package onnx is missing.
        InferenceError: ``data`` is no ONNX graph.
    """
    onnx = _import_onnx()
    try:
        model = onnx.load_from_string(data)
    except Exception as exc:  # protobuf's DecodeError has no base of its own
        raise InferenceError(f"the graph can't be read: {exc}") from exc
    graph = model.graph
    half, full = onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT
    weights = {tensor.name: tensor for tensor in graph.initializer}
    halves: dict[str, str] = {}
    nodes: list[Any] = []

    def cast(name: str) -> str:
        """The name of a tensor's half, made where it is first needed."""
        if name not in halves:
            halves[name] = f"{name}::half"
            if name in weights:
                rounded = _rounded(onnx, weights[name], halves[name])
                graph.initializer.append(rounded)
            else:
                nodes.append(onnx.helper.make_node("Cast", [name], [halves[name]], to=half))
        return halves[name]

    for node in graph.node:
        if node.op_type not in HALF_OPERATORS or node.domain not in ("", "ai.onnx"):
            nodes.append(node)
            continue
        inputs = [cast(name) if name else name for name in node.input]
        (output,) = node.output
        changed = type(node)()
        changed.CopyFrom(node)
        changed.input[:] = inputs
        changed.output[:] = [f"{output}::product"]
        nodes.append(changed)
        nodes.append(onnx.helper.make_node("Cast", list(changed.output), [output], to=full))
    del graph.node[:]
    graph.node.extend(nodes)
    _drop_unused(graph)
    return bytes(model.SerializeToString())


def _rounded(onnx: Any, tensor: Any, name: str) -> Any:
    import numpy as np

    values = onnx.numpy_helper.to_array(tensor)
    rounded = np.clip(values, -_LARGEST_HALF, _LARGEST_HALF).astype(np.float16)
    return onnx.numpy_helper.from_array(rounded, name)


def _drop_unused(graph: Any) -> None:
    """Remove the fp32 weights that no node takes any more."""
    taken = {name for node in graph.node for name in node.input}
    taken |= {output.name for output in graph.output}
    kept = [tensor for tensor in graph.initializer if tensor.name in taken]
    del graph.initializer[:]
    graph.initializer.extend(kept)


def _import_onnx() -> Any:
    try:
        import onnx
    except ImportError as exc:
        raise ProviderError(
            f"this TensorRT takes half precision from the graph alone, and changing a graph needs "
            f"the package onnx ({exc}): pip install onnx"
        ) from exc
    return onnx
