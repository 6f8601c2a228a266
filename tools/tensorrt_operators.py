"""Which ONNX operators each TensorRT release can parse, as far as a voice may need them.

Source: the support matrix and the change log of NVIDIA's ONNX parser
(``docs/operators.md`` and ``docs/Changelog.md`` of onnx-tensorrt): 8.5 takes
opsets 9 to 17, 10.0 to 20, 10.15 to 24; LayerNormalization and
GroupNormalization came with 8.6, INT64 inputs that stay INT64 with 9.0. A
release whose matrix was not seen has that of the nearest older one. Quantised
operators are left out on purpose: an engine is made from the fp32 graph.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

_SINCE_8_5 = frozenset(
    "Abs Add And Cast Ceil Clip Concat Constant ConstantOfShape Conv ConvTranspose Cos "
    "CumSum Div Elu Equal Erf Exp Expand Flatten Floor Gather GatherElements GatherND Gemm "
    "GlobalAveragePool Greater GreaterOrEqual HardSigmoid Identity InstanceNormalization "
    "LeakyRelu Less LessOrEqual Log LogSoftmax MatMul Max Mean Min Mul Neg Not Or Pad Pow "
    "PRelu Range ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
    "ReduceSumSquare Relu Reshape Selu Shape Sigmoid Sign Sin Slice Softmax Softplus "
    "Softsign Split Sqrt Squeeze Sub Sum Tanh Tile Transpose Unsqueeze Where".split()
)
_SINCE_8_6 = _SINCE_8_5 | {"LayerNormalization", "GroupNormalization"}
_SINCE_10_15 = _SINCE_8_6 | {"Gelu", "RMSNormalization"}

# Release -> (newest opset, operators); the releases that a JetPack brings, and the newest.
OPERATORS: dict[str, tuple[int, frozenset[str]]] = {
    "8.5": (17, _SINCE_8_5),
    "8.6": (17, _SINCE_8_6),
    "10.3": (20, _SINCE_8_6),
    "10.13": (20, _SINCE_8_6),
    "10.16": (24, _SINCE_10_15),
    "11.4": (24, _SINCE_10_15),
}


def operators_of(path: Path) -> tuple[int, Counter[str]]:
    """The opset of a graph's standard operators, and how often it uses each operator."""
    import onnx

    model = onnx.load(str(path), load_external_data=False)
    opset = next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
    names: Counter[str] = Counter()

    def visit(graph: Any) -> None:
        for node in graph.node:
            names[f"{node.domain}.{node.op_type}" if node.domain else node.op_type] += 1
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    visit(attribute.g)

    visit(model.graph)
    return opset, names


def objections(path: Path, release: str) -> list[str]:
    """What keeps a TensorRT release from parsing a graph; empty when nothing does."""
    newest, operators = OPERATORS[release]
    opset, names = operators_of(path)
    found = [f"opset {opset}, it takes up to {newest}"] if opset > newest else []
    return found + [
        f"{name} ({count} times)" for name, count in names.items() if name not in operators
    ]
