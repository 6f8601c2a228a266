"""Makes the lite form of a voice pack: weights of four bits, unpacked to int8 when it loads.

Each int8 weight becomes a code of four bits times a multiplier that it shares with its block
of an output channel, as block-wise scales of language models do (Dettmers et al. 2022). The
graph says itself how to unpack, by a function of elementary operators on constants, which ONNX
Runtime folds before it speaks: lite takes half the bytes of its voice, and the same time. What
stays float32 is stored as float16.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from edge_tts.voice import GRAPHS, load_voice
from tools.voice.description import file_entry, read_description, write_description

# Weights of one output channel that share a multiplier: at most so many, an even divisor of all.
LARGEST_BLOCK = 32
# Products with fewer weights stay int8: durations and F0, where each step is heard.
FEWEST_WEIGHTS = 4096
LARGEST_CODE = 7
CODE_OFFSET = 8
LARGEST_MULTIPLIER = 127 // LARGEST_CODE
DOMAIN = "edge_tts"
UNPACK = "UnpackFourBits"
LEVELS = ("level_dbfs", "fallback_gain_db")
# float32 tensors below this size aren't worth an operator.
FEWEST_HALVES = 64

Int8 = npt.NDArray[np.int8]
UInt8 = npt.NDArray[np.uint8]


def block_length(rows: int) -> int | None:
    """The longest even block that divides ``rows``; None where there is none of 16 or more."""
    lengths = range(LARGEST_BLOCK, 15, -2)
    return next((length for length in lengths if rows % length == 0), None)


def pack(weights: Int8, block: int) -> tuple[UInt8, Int8]:
    """Codes and multipliers for weights ``(K, N)`` of int8, ``block`` of each column together.

    Returns:
        ``(K / block, block / 2, N)`` two codes a byte, the low half of the block in the low
        bits, and ``(K / block, 1, N)`` multipliers, of 1 to 18: those of the least squared error.
    """
    blocks = weights.reshape(-1, block, weights.shape[1]).astype(np.float32)
    least = np.full((blocks.shape[0], 1, blocks.shape[2]), np.inf, np.float32)
    multipliers = np.ones(least.shape, np.int8)
    codes = np.zeros(blocks.shape, np.int8)
    for multiplier in range(1, LARGEST_MULTIPLIER + 1):
        tried = np.clip(np.round(blocks / multiplier), -LARGEST_CODE, LARGEST_CODE)
        error = ((tried * multiplier - blocks) ** 2).sum(1, keepdims=True)
        better = error < least
        least = np.where(better, error, least)
        multipliers = np.where(better, np.int8(multiplier), multipliers)
        codes = np.where(better, tried.astype(np.int8), codes)
    low, high = np.split((codes + CODE_OFFSET).astype(np.uint8), 2, axis=1)
    return low | high << 4, multipliers


def unpack_function(opset: int) -> onnx.FunctionProto:
    """``(packed, multipliers)`` to the weights ``(K, N)`` of int8, in operators of ``opset``.

    Products are looked up and not computed, which ONNX Runtime has for int8 alone in products
    of matrices: each wider tensor on the way is memory at load.
    """
    codes = np.arange(2 * CODE_OFFSET) - CODE_OFFSET
    products = np.outer(np.arange(LARGEST_MULTIPLIER + 1), np.maximum(codes, -LARGEST_CODE))

    def constant(name: str, value: npt.NDArray[np.generic]) -> onnx.NodeProto:
        return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value))

    nodes = [
        constant("products", products.ravel().astype(np.int8)),
        constant("bits", np.array(4, np.uint8)),
        constant("count", np.array(len(codes), np.uint8)),
        helper.make_node("Mod", ["packed", "count"], ["low"]),
        helper.make_node("BitShift", ["packed", "bits"], ["high"], direction="RIGHT"),
        helper.make_node("Concat", ["low", "high"], ["codes"], axis=1),
        helper.make_node("Cast", ["codes"], ["columns"], to=TensorProto.INT32),
        helper.make_node("Cast", ["count"], ["width"], to=TensorProto.INT32),
        helper.make_node("Cast", ["multipliers"], ["factors"], to=TensorProto.INT32),
        helper.make_node("Mul", ["factors", "width"], ["rows"]),
        helper.make_node("Add", ["rows", "columns"], ["places"]),
        helper.make_node("Gather", ["products", "places"], ["blocks"]),
        helper.make_node("Flatten", ["blocks"], ["weights"], axis=2),
    ]
    return helper.make_function(
        DOMAIN, UNPACK, ["packed", "multipliers"], ["weights"], nodes,
        [helper.make_opsetid("", opset)],
    )  # fmt: skip


def shrink(model: onnx.ModelProto) -> None:
    """Store the weights of an int8 graph in four bits and the rest in halves, in place."""
    graph = model.graph
    kept, unpacked = [], []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        block = block_length(values.shape[0]) if values.ndim == 2 else None
        if values.dtype == np.int8 and block is not None and values.size >= FEWEST_WEIGHTS:
            parts = [f"{tensor.name}_{part}" for part in ("packed", "multipliers")]
            stored = zip(pack(values, block), parts, strict=True)
            kept += [numpy_helper.from_array(part, name) for part, name in stored]
            unpacked.append(helper.make_node(UNPACK, parts, [tensor.name], domain=DOMAIN))
        elif values.dtype == np.float32 and values.size >= FEWEST_HALVES:
            half = f"{tensor.name}_half"
            kept.append(numpy_helper.from_array(values.astype(np.float16), half))
            unpacked.append(helper.make_node("Cast", [half], [tensor.name], to=TensorProto.FLOAT))
        else:
            kept.append(tensor)
    nodes = [*unpacked, *graph.node]
    drop_zero_points(nodes, kept)
    del graph.node[:], graph.initializer[:], graph.value_info[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)
    opset = next(entry.version for entry in model.opset_import if entry.domain == "")
    model.functions.append(unpack_function(opset))
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    shorten_names(graph)


def drop_zero_points(nodes: list[onnx.NodeProto], tensors: list[onnx.TensorProto]) -> None:
    """Take away the zero points of weights that are all zero: it is what their absence means."""
    zeros = {t.name for t in tensors if not numpy_helper.to_array(t).any()}
    dropped = set()
    for node in nodes:
        if node.op_type == "MatMulInteger" and len(node.input) == 4 and node.input[3] in zeros:
            dropped.add(node.input.pop())
    used = {name for node in nodes for name in node.input}
    tensors[:] = [t for t in tensors if t.name not in dropped or t.name in used]


def shorten_names(graph: onnx.GraphProto) -> None:
    """Number the values between a graph's inputs and outputs; their names are a part of it."""
    short = {value.name: value.name for value in (*graph.input, *graph.output)}

    def renamed(name: str) -> str:
        if name not in short:
            short[name] = f"v{len(short)}"
        return short[name]

    for tensor in graph.initializer:
        tensor.name = renamed(tensor.name)
    for node in graph.node:
        node.name = ""
        node.doc_string = ""
        for names in (node.input, node.output):
            names[:] = [name and renamed(name) for name in names]


CARD = """# {name} {version}

The voice [{source}](../{source}/CARD.md) in {megabytes:.2f} MB: each weight of its int8 graphs
is a code of four bits times a multiplier that {block} of them share. The graphs unpack themselves
to int8 when they are loaded, with 20 MB more memory for that moment, so it speaks as fast; what is
smaller is the file, to be sent over thin links. It has no fp32 graphs: the CPU speaks it.

Its figures are the row `lite` of that voice's table. Made by `python -m tools.voice.lite
--voice models/{source} --out models/{name}`; licence and makers are that voice's.
"""


def make_lite(source: Path, out: Path, name: str) -> int:
    """Write the lite form of the pack in ``source``; returns the bytes of its graphs.

    Raises:
        VoiceError: there is no voice in ``source``.
    """
    voice = load_voice(source)
    out.mkdir(parents=True, exist_ok=True)
    data = read_description(source)
    data["name"] = name
    for graph in GRAPHS:
        model = onnx.load(voice.graph_path(graph, "int8"))
        shrink(model)
        path = out / f"{graph}.int8.onnx"
        path.write_bytes(model.SerializeToString(deterministic=True))
        data["graphs"][graph]["files"] = {"int8": file_entry(path)}
    if voice.lexicon is not None:
        shutil.copy(voice.lexicon_path(), out / voice.lexicon.path)
    # What was measured of the voice, its noise too, is not of its lite form; its level is.
    data["figures"] = {k: v for k, v in data.get("figures", {}).items() if k in LEVELS}
    data.setdefault("provenance", {})["made_by"] = (
        f"tools/voice/lite.py from {voice.name} {voice.version}"
    )
    data.pop("wiener", None)
    write_description(out, data)
    total = sum((out / f"{graph}.int8.onnx").stat().st_size for graph in GRAPHS)
    told = {"source": source.resolve().name, "megabytes": total / 1e6, "block": LARGEST_BLOCK}
    card = CARD.format(name=name, version=voice.version, **told)
    (out / "CARD.md").write_text(card, encoding="utf-8")
    return total


@click.command()
@click.option(
    "--voice",
    "source",
    type=click.Path(path_type=Path, exists=True),
    default=Path("models/zh-en"),
    show_default=True,
)
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("models/zh-en-lite"), show_default=True
)
@click.option("--name", default="zh-en-lite", show_default=True)
def main(source: Path, out: Path, name: str) -> None:
    """Write a voice pack of four-bit weights from a VOICE pack's int8 graphs."""
    click.echo(f"{out}: graphs of {make_lite(source, out, name) / 1e6:.2f} MB together")


if __name__ == "__main__":
    main()
