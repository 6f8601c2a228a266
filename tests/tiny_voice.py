"""Writes a voice pack of a few kilobytes with random weights: every file real, no speech in it.

The graphs have the names, shapes and precisions of the pack contract and a
finite receptive field (two small depthwise convolutions with biases, so that a
wrong padding shows). Weights come from a fixed seed: two calls write the same
bytes.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, save

from edge_tts.text.inventory import PHONEMES

HIDDEN_SIZE = 8
DECODER_WIDTH = 12
VOCODER_WIDTH = 4
N_FFT = 600
N_BINS = N_FFT // 2 + 1
N_LATENTS = 3
N_FEATURES = 82 + N_LATENTS
DECODER_CONTEXT = 6  # two kernels of 7
VOCODER_CONTEXT = 4  # two kernels of 5
MEAN_FRAMES = 6.0

Weights = dict[str, npt.NDArray[Any]]
Float32 = npt.NDArray[np.float32]


def write_tiny_voice(
    folder: Path, *, name: str = "tiny", lexicon: Path | None = None, wiener: bool = False
) -> Path:
    """Write ``voice.json``, three graphs in fp32 and int8 and ``lexicon.bin`` into ``folder``.

    Args:
        folder: made when missing.
        name: the voice's name in ``voice.json``.
        lexicon: a compiled pronunciation table to copy; an empty file without.
        wiener: add a flat ``wiener.noise_log_spectrum``, 40 dB under full scale.

    Returns:
        ``folder``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    graphs = {
        "encoder": (_encoder(np.random.default_rng(11)), 0, None),
        "decoder": (_decoder(np.random.default_rng(12)), DECODER_CONTEXT, [24, 48]),
        "vocoder": (_vocoder(np.random.default_rng(13)), VOCODER_CONTEXT, [24, 48]),
    }
    entries: dict[str, Any] = {}
    for graph, (model, context, chunk_frames) in graphs.items():
        fp32, int8 = folder / f"{graph}.onnx", folder / f"{graph}.int8.onnx"
        save(model, fp32)
        _quantise(fp32, int8)
        entries[graph] = {"context": context, "files": {"fp32": _file(fp32), "int8": _file(int8)}}
        if chunk_frames:
            entries[graph]["chunk_frames"] = chunk_frames
    table = folder / "lexicon.bin"
    table.write_bytes(lexicon.read_bytes() if lexicon else b"")
    pack: dict[str, Any] = {
        "schema": 2,
        "name": name,
        "version": "1.0.0",
        "languages": ["zh", "en"],
        "sample_rate_hz": 24000,
        "hop_length": 300,
        "n_fft": N_FFT,
        "n_mels": 80,
        "n_latents": N_LATENTS,
        "phonemes": list(PHONEMES),
        "frame_positions": 3,
        "max_phonemes": 200,
        "graphs": entries,
        "lexicon": _file(table),
        "figures": {},
        "licence": "Apache-2.0",
        "provenance": {"made_by": "tests/tiny_voice.py", "weights": "random"},
    }
    if wiener:
        pack["wiener"] = {"enabled": True, "noise_log_spectrum": [-4.0] * N_BINS}
    (folder / "voice.json").write_text(json.dumps(pack, ensure_ascii=False, indent=1), "utf-8")
    return folder


def _encoder(rng: np.random.Generator) -> ModelProto:
    """``ids (1, T) -> hidden (1, T, D), log_durations (1, T)``."""
    weights: Weights = {
        "embedding": _normal(rng, (len(PHONEMES), HIDDEN_SIZE)),
        "duration_weight": _normal(rng, (HIDDEN_SIZE, 1), 0.25),
        "duration_bias": np.array([np.log(MEAN_FRAMES)], np.float32),
        "last_axis": np.array([2], np.int64),
    }
    nodes = [
        helper.make_node("Gather", ["embedding", "ids"], ["embedded"]),
        helper.make_node("Transpose", ["embedded"], ["channels"], perm=[0, 2, 1]),
        *_depthwise(rng, weights, "mix", "channels", "mixed", HIDDEN_SIZE, 5),
        helper.make_node("Transpose", ["mixed"], ["hidden"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["hidden", "duration_weight"], ["projected"]),
        helper.make_node("Add", ["projected", "duration_bias"], ["biased"]),
        helper.make_node("Squeeze", ["biased", "last_axis"], ["log_durations"]),
    ]
    return _model(
        nodes,
        weights,
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "T"])],
        {"hidden": [1, "T", HIDDEN_SIZE], "log_durations": [1, "T"]},
    )


def _decoder(rng: np.random.Generator) -> ModelProto:
    """``frames (1, F, D+3) -> features (1, 82 + N_LATENTS, F)``."""
    bias = np.full(N_FEATURES, -1.0, np.float32)
    bias[80:82] = 0.0, 0.3
    weights: Weights = {
        "in_weight": _normal(rng, (HIDDEN_SIZE + 3, DECODER_WIDTH), 0.4),
        "out_weight": _normal(rng, (DECODER_WIDTH, N_FEATURES), 0.3),
        "out_bias": bias,
    }
    nodes = [
        helper.make_node("MatMul", ["frames", "in_weight"], ["wide"]),
        helper.make_node("Transpose", ["wide"], ["channels"], perm=[0, 2, 1]),
        *_depthwise(rng, weights, "first", "channels", "first_out", DECODER_WIDTH, 7),
        *_depthwise(rng, weights, "second", "first_out", "second_out", DECODER_WIDTH, 7),
        helper.make_node("Transpose", ["second_out"], ["rows"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["rows", "out_weight"], ["projected"]),
        helper.make_node("Add", ["projected", "out_bias"], ["biased"]),
        helper.make_node("Transpose", ["biased"], ["features"], perm=[0, 2, 1]),
    ]
    frames = helper.make_tensor_value_info("frames", TensorProto.FLOAT, [1, "F", HIDDEN_SIZE + 3])
    return _model(nodes, weights, [frames], {"features": [1, N_FEATURES, "F"]})


def _vocoder(rng: np.random.Generator) -> ModelProto:
    """``features (1, N_FEATURES, F)`` to harmonics (two) and noise, each ``(1, F, 301)``."""
    weights: Weights = {
        "in_weight": _normal(rng, (N_FEATURES, VOCODER_WIDTH), 0.2),
        "noise_bias": np.full(N_BINS, -3.0, np.float32),
    }
    nodes = [
        helper.make_node("Transpose", ["features"], ["feature_rows"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["feature_rows", "in_weight"], ["narrow"]),
        helper.make_node("Transpose", ["narrow"], ["channels"], perm=[0, 2, 1]),
        *_depthwise(rng, weights, "first", "channels", "first_out", VOCODER_WIDTH, 5),
        *_depthwise(rng, weights, "second", "first_out", "second_out", VOCODER_WIDTH, 5),
        helper.make_node("Transpose", ["second_out"], ["rows"], perm=[0, 2, 1]),
    ]
    for output in ("harmonic_real", "harmonic_imag", "noise_magnitude"):
        weights[f"{output}_weight"] = _normal(rng, (VOCODER_WIDTH, N_BINS), 1.5)
        target = output if output != "noise_magnitude" else "noise_log"
        nodes.append(helper.make_node("MatMul", ["rows", f"{output}_weight"], [target]))
    nodes += [
        helper.make_node("Add", ["noise_log", "noise_bias"], ["noise_biased"]),
        helper.make_node("Exp", ["noise_biased"], ["noise_magnitude"]),
    ]
    features = helper.make_tensor_value_info("features", TensorProto.FLOAT, [1, N_FEATURES, "F"])
    names = ("harmonic_real", "harmonic_imag", "noise_magnitude")
    return _model(nodes, weights, [features], {name: [1, "F", N_BINS] for name in names})


def _depthwise(
    rng: np.random.Generator,
    weights: Weights,
    name: str,
    source: str,
    target: str,
    channels: int,
    kernel: int,
) -> list[NodeProto]:
    """One depthwise convolution with bias and tanh, zero-padded to keep the length."""
    weights[f"{name}_kernel"] = _normal(rng, (channels, 1, kernel), 1.0 / np.sqrt(kernel))
    weights[f"{name}_bias"] = _normal(rng, (channels,), 0.3)
    return [
        helper.make_node(
            "Conv",
            [source, f"{name}_kernel", f"{name}_bias"],
            [f"{name}_raw"],
            group=channels,
            kernel_shape=[kernel],
            pads=[kernel // 2, kernel // 2],
        ),
        helper.make_node("Tanh", [f"{name}_raw"], [target]),
    ]


def _model(
    nodes: Sequence[NodeProto],
    weights: Weights,
    inputs: list[Any],
    outputs: dict[str, list[int | str]],
) -> ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "tiny",
        inputs,
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()],
        [numpy_helper.from_array(value, key) for key, value in weights.items()],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="tiny"
    )


def _quantise(source: Path, target: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    logging.getLogger().addFilter(_no_preprocessing_hint)
    try:
        quantize_dynamic(
            source,
            target,
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            weight_type=QuantType.QInt8,
        )
    finally:
        logging.getLogger().removeFilter(_no_preprocessing_hint)


def _no_preprocessing_hint(record: logging.LogRecord) -> bool:
    return "pre-processing" not in record.getMessage()


def _normal(rng: np.random.Generator, shape: tuple[int, ...], scale: float = 1.0) -> Float32:
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def _file(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return {"path": path.name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
