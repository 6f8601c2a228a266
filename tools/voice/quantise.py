"""int8 forms of a graph: which layers, dynamic or static, measured one by one.

The default is weights in int8 per output channel and activations quantised on
the fly, matrix products alone: ``ConvInteger`` runs unoptimised in ONNX Runtime
(microsoft/onnxruntime issue 12854).
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path


def quantise(source: Path, target: Path, operators: tuple[str, ...] = ("MatMul",)) -> None:
    """Write the dynamically quantised int8 form of ``source``."""
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    logging.getLogger().setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        quantize_dynamic(
            str(prepared),
            str(target),
            op_types_to_quantize=list(operators),
            per_channel=True,
            weight_type=QuantType.QInt8,
        )
