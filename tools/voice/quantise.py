"""int8 forms of a graph: which layers, dynamic or static.

The default is weights in int8 per output channel and activations quantised on
the fly, matrix products alone: ``ConvInteger`` runs unoptimised in ONNX Runtime
(microsoft/onnxruntime issue 12854).
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Feed = dict[str, np.ndarray]


@dataclass(frozen=True)
class Scheme:
    """How to quantise: operators, weights per output channel, activations ahead (static) or not."""

    operators: tuple[str, ...] = ("MatMul",)
    per_channel: bool = True
    static: bool = False


class _Feeds:
    """Hands recorded inputs to the calibration of ONNX Runtime."""

    def __init__(self, feeds: Iterable[Feed]) -> None:
        self._feeds = iter(feeds)

    def get_next(self) -> Feed | None:
        return next(self._feeds, None)


def quantise(
    source: Path, target: Path, scheme: Scheme | None = None, feeds: Iterable[Feed] = ()
) -> None:
    """Write the int8 form of ``source``.

    Args:
        source: fp32 graph.
        target: where the int8 graph goes.
        scheme: default: matrix products, dynamic, per channel.
        feeds: inputs to calibrate a static scheme with.
    """
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_dynamic, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    scheme = scheme or Scheme()
    logging.getLogger().setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        common = {
            "op_types_to_quantize": list(scheme.operators),
            "per_channel": scheme.per_channel,
            "weight_type": QuantType.QInt8,
        }
        if scheme.static:
            quantize_static(
                str(prepared),
                str(target),
                _Feeds(feeds),
                quant_format=QuantFormat.QDQ,
                activation_type=QuantType.QInt8,
                **common,
            )
        else:
            quantize_dynamic(str(prepared), str(target), **common)
