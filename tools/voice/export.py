"""Writes the voice pack: three ONNX graphs, their int8 forms and ``voice.json``."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import click
import torch

from edge_tts.text.inventory import PHONEMES
from edge_tts.voice import SCHEMA
from tools.voice.dataset import training_items
from tools.voice.description import file_entry, write_description
from tools.voice.graphs import (
    FORMANT_GAIN,
    INT8_OPSET,
    VocoderGraph,
    export_graphs,
    load_student,
    raise_formants,
)
from tools.voice.match import add_level, colour_db
from tools.voice.quantise import Scheme, quantise
from tools.voice.ranges import limit_latents, smooth_activations
from tools.voice.signal import HOP_LENGTH, N_FFT, N_MELS, SAMPLE_RATE_HZ
from tools.voice.teacher import BLEND, describe_blend

# What training needs beside the fp32 graphs to go on from a pack; no device reads it.
DISCRIMINATORS = "discriminators.pt"
# The first is short for the first sound. What follows wastes less on context the longer it
# is, and must be made while the first is heard (0.3 s), on a board twelve times as slow too.
CHUNK_FRAMES = (24, 144)
MAX_PHONEMES = 200
# Where harmonics are missed, training puts noise of their power, which is heard as breath.
VOICED_NOISE = 0.45
# Of the teacher's tempo: at 0.92 Whisper mishears a sixth fewer words, and DistillMOS stays.
PACE = 0.92
# Loud syllables with raised formants pass full scale, where samples are clipped. The level goes
# into ``voice.json``, and the device makes up for it.
HEADROOM_DB = 5.0
# Utterances of each language that the mean spectrum is taken from.
MATCH_LINES = 24
# What becomes int8: matrix products, and the encoder's embedding table.
SCHEMES = {"encoder": Scheme(("MatMul", "Gather")), "decoder": Scheme(), "vocoder": Scheme()}


def describe(
    folder: Path, name: str, version: str, contexts: dict[str, int], latents: int, **more: Any
) -> None:
    """Write ``voice.json`` for the files in ``folder``; ``more`` adds or replaces fields."""
    graphs = {}
    for graph in ("encoder", "decoder", "vocoder"):
        files = {
            "fp32": file_entry(folder / f"{graph}.onnx"),
            "int8": file_entry(folder / f"{graph}.int8.onnx"),
        }
        graphs[graph] = {"context": contexts[graph], "files": files}
        if graph != "encoder":
            graphs[graph]["chunk_frames"] = list(CHUNK_FRAMES)
    voice = {
        "schema": SCHEMA,
        "name": name,
        "version": version,
        "languages": ["zh", "en"],
        "sample_rate_hz": SAMPLE_RATE_HZ,
        "hop_length": HOP_LENGTH,
        "n_fft": N_FFT,
        "n_mels": N_MELS,
        "n_latents": latents,
        "phonemes": list(PHONEMES),
        "frame_positions": 3,
        "max_phonemes": MAX_PHONEMES,
        "graphs": graphs,
        "licence": "Apache-2.0",
    }
    if (folder / "lexicon.bin").exists():
        voice["lexicon"] = file_entry(folder / "lexicon.bin")
    # Figures and a noise spectrum that lie there are those of other weights.
    voice.update(more)
    write_description(folder, voice)


def keep_discriminators(checkpoints: Path, out: Path) -> None:
    """Write the joint stage's discriminators as float16 beside the graphs, where there are any."""
    joint = checkpoints / "joint.pt"
    modules = torch.load(joint, weights_only=True)["modules"] if joint.exists() else {}
    if "discriminators" in modules:
        halves = {name: value.half() for name, value in modules["discriminators"].items()}
        torch.save(halves, out / DISCRIMINATORS)


def make_pack(
    checkpoints: Path,
    out: Path,
    name: str,
    version: str,
    voiced_noise: float,
    formant_gain: float,
    headroom_db: float,
    match: Path | None,
    pace: float = PACE,
) -> None:
    """Write the student in ``checkpoints`` as a voice pack; a lexicon that lies there goes in.

    With ``match``, a corpus, the voice gets the mean spectrum that the teacher has there, and
    latents of a range that int8 takes well.
    """
    out.mkdir(parents=True, exist_ok=True)
    acoustic, vocoder = load_student(checkpoints)
    raise_formants(vocoder, formant_gain)
    acoustic.duration_head.bias.data -= math.log(pace)
    voiced_gains = torch.full((vocoder.bands,), voiced_noise)
    voiced_db = unvoiced_db = torch.zeros(vocoder.bands)
    if match is not None:
        items = training_items(match, MATCH_LINES)
        limit_latents(acoustic, vocoder, items)
        smooth_activations(acoustic, vocoder, items)
        found = colour_db(acoustic, vocoder, VocoderGraph(vocoder, voiced_gains), items)
        voiced_db, unvoiced_db = ((100 * gains_db).round() / 100 for gains_db in found)
        # Noise gets what unvoiced frames lack; in voiced ones it is to follow the harmonics.
        voiced_gains = voiced_gains * 10 ** ((voiced_db - unvoiced_db) / 20)
    add_level(vocoder.head.bias, voiced_db - headroom_db, unvoiced_db - headroom_db)
    export_graphs(acoustic, vocoder, out, voiced_gains)
    with tempfile.TemporaryDirectory() as scratch:
        export_graphs(acoustic, vocoder, Path(scratch), voiced_gains, INT8_OPSET)
        for graph, scheme in SCHEMES.items():
            quantise(Path(scratch) / f"{graph}.onnx", out / f"{graph}.int8.onnx", scheme)
    describe(
        out, name, version,
        {"encoder": 0, "decoder": acoustic.context, "vocoder": vocoder.context},
        vocoder.latents,
        provenance={
            "teacher": "Kokoro-82M (Apache-2.0), int8 ONNX",
            "speaker": describe_blend(BLEND),
            "weights": int(sum(p.numel() for p in [*acoustic.parameters(), *vocoder.parameters()])),
            "made_by": "tools/voice",
            "formant_gain": formant_gain,
            "headroom_db": headroom_db,
            "pace": pace,
            "equaliser_db": {
                "voiced": [round(gain, 2) for gain in voiced_db.tolist()],
                "unvoiced": [round(gain, 2) for gain in unvoiced_db.tolist()],
            },
        },
    )  # fmt: skip


@click.command()
@click.option("--checkpoints", type=click.Path(path_type=Path, exists=True), required=True)
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("models/zh-en"), show_default=True
)
@click.option("--name", default="zh-en", show_default=True)
@click.option("--version", default="0.1.0", show_default=True)
@click.option(
    "--voiced-noise",
    default=VOICED_NOISE,
    show_default=True,
    help="Gain on the noise under voiced sounds.",
)
@click.option(
    "--formant-gain",
    default=FORMANT_GAIN,
    show_default=True,
    help="How much formants are raised, as a part of what they have.",
)
@click.option(
    "--headroom-db",
    default=HEADROOM_DB,
    show_default=True,
    help="How much quieter than the teacher.",
)
@click.option(
    "--match",
    type=click.Path(path_type=Path, exists=True),
    help="Corpus whose mean spectrum the voice gets.",
)
@click.option(
    "--pace",
    default=PACE,
    show_default=True,
    help="Tempo of the voice, the teacher's being 1; words said slower are understood better.",
)
def main(out: Path, **options: Any) -> None:
    """Export the student as a voice pack with fp32 and int8 graphs."""
    make_pack(out=out, **options)
    keep_discriminators(options["checkpoints"], out)
    total = 0
    for graph in ("encoder", "decoder", "vocoder"):
        size = (out / f"{graph}.int8.onnx").stat().st_size
        total += size
        full = (out / f"{graph}.onnx").stat().st_size
        click.echo(f"{graph}: fp32 {full / 1e6:.2f} MB, int8 {size / 1e6:.2f} MB")
    click.echo(f"int8 together {total / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
