"""Takes a voice pack's fp32 graphs back as a checkpoint, to train on where the first is lost.

What the export did to the weights is undone exactly; the discriminators lie beside the
graphs. The state of the optimisers is not kept.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click
import torch

from tools.voice.description import read_description
from tools.voice.export import DISCRIMINATORS
from tools.voice.graphs import formant_change
from tools.voice.match import add_level
from tools.voice.model import AcousticModel, Size, Vocoder, phoneme_attributes

Weights = dict[str, torch.Tensor]


def graph_weights(path: Path) -> Weights:
    """The weights of one exported graph by their names in the module.

    The exporter keeps the names of biases, norms and convolutions. A linear layer's matrix
    it transposes and numbers; its name follows from the bias that is added to the product.
    """
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    values = {i.name: torch.from_numpy(numpy_helper.to_array(i).copy()) for i in graph.initializer}
    products = {n.output[0]: n.input[1] for n in graph.node if n.op_type == "MatMul"}
    for node in graph.node:
        if node.op_type != "Add":
            continue
        bias = next((name for name in node.input if name.endswith(".bias")), None)
        product = next((name for name in node.input if name in products), None)
        if bias is not None and product is not None:
            name = f"{bias.removesuffix('.bias')}.weight"
            values[name] = values[products[product]].T.contiguous()
    return {
        name.split(".", 1)[-1]: value
        for name, value in values.items()
        if name == "table" or name.startswith(("acoustic.", "vocoder."))
    }


def unfold(weights: Weights) -> None:
    """Split each block's last product into a layer as initialised and a scale of channels.

    Folded, rows are as small as their scale, and a learning rate would move them too far.
    """
    for name in [n for n in weights if n.endswith(".down.weight")]:
        rows = weights[name]
        usual = 1 / math.sqrt(3 * rows.shape[1])
        scale = (rows.pow(2).mean(1).sqrt() / usual).clamp(min=1e-4)
        block = name.removesuffix("down.weight")
        weights[name] = rows / scale[:, None]
        weights[f"{block}down.bias"] = weights[f"{block}down.bias"] / scale
        weights[f"{block}scale"] = scale


def split_table(table: torch.Tensor) -> Weights:
    """The three embeddings whose sum is the exported table: sound, tone or stress, and the rest."""
    bases, marks = (torch.tensor(part) for part in phoneme_attributes())
    rest = table.clone()
    parts: Weights = {}
    for name, index, count in (
        ("base_embedding.weight", bases, int(bases.max()) + 1),
        ("mark_embedding.weight", marks, 9),
    ):
        sums = torch.zeros(count, table.shape[1]).index_add_(0, index, rest)
        mean = sums / torch.bincount(index, minlength=count).clamp(min=1)[:, None]
        parts[name] = mean
        rest = rest - mean[index]
    return parts | {"own_embedding.weight": rest}


def plain_head(weights: Weights, vocoder: Vocoder, made: dict[str, Any]) -> None:
    """Take back from the vocoder's last product what ``made``, a pack's provenance, put there."""
    formant_gain, headroom_db = made["formant_gain"], made["headroom_db"]
    equaliser = made["equaliser_db"]
    voiced_db, unvoiced_db = (torch.tensor(equaliser[key]) for key in ("voiced", "unvoiced"))
    back = torch.linalg.inv(torch.eye(vocoder.bands) + formant_change(vocoder, formant_gain))
    weights["head.bias"] = weights["head.bias"].clone()
    add_level(weights["head.bias"], headroom_db - voiced_db, headroom_db - unvoiced_db)
    for first in (0, 2 * vocoder.bands):
        rows = slice(first, first + vocoder.bands)
        for name in ("head.weight", "head.bias"):
            weights[name][rows] = back @ weights[name][rows]


def restore(pack: Path) -> dict[str, Weights]:
    """The weights of a pack by network, under the names that they have in training.

    Raises:
        KeyError: ``voice.json`` does not tell how the weights were changed at export.
        RuntimeError: the graphs are not those of networks of the default size.
    """
    made = read_description(pack).get("provenance", {})
    acoustic = graph_weights(pack / "encoder.onnx") | graph_weights(pack / "decoder.onnx")
    acoustic |= split_table(acoustic.pop("table"))
    vocoder = graph_weights(pack / "vocoder.onnx")
    for weights in (acoustic, vocoder):
        unfold(weights)
    acoustic["duration_head.bias"] = acoustic["duration_head.bias"] + math.log(
        made.get("pace", 1.0)
    )
    size = Size()
    networks = {"acoustic": AcousticModel(size), "vocoder": Vocoder(size)}
    plain_head(vocoder, networks["vocoder"], made)
    found = {"acoustic": acoustic, "vocoder": vocoder}
    for key, network in networks.items():
        network.load_state_dict(found[key])
    restored = {key: network.state_dict() for key, network in networks.items()}
    if (pack / DISCRIMINATORS).exists():
        halves = torch.load(pack / DISCRIMINATORS, weights_only=True)
        restored["discriminators"] = {name: value.float() for name, value in halves.items()}
    return restored


@click.command()
@click.argument("pack", type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Checkpoint to write.")
def main(pack: Path, out: Path) -> None:
    """Write the weights of the voice PACK as a checkpoint for ``train --start``."""
    try:
        weights = restore(pack)
    except (KeyError, RuntimeError) as exc:
        raise click.ClickException(
            f"{pack} is not a pack that tools.voice.export made with these networks: {exc}"
        ) from exc
    torch.save({"modules": weights, "averages": {}, "step": 0, "spent_s": 0.0}, out)
    click.echo(f"{out}: the weights of {pack}")


if __name__ == "__main__":
    main()
