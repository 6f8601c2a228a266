"""Prints a checkpoint's DistillMOS by language, beside the teacher's, on lines kept from training.

Quicker than ``evaluate`` and without Whisper: for telling during training whether it helps.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import click
import numpy as np

from tools.voice import systems
from tools.voice.dataset import chosen_lines
from tools.voice.export import HEADROOM_DB, VOICED_NOISE, make_pack
from tools.voice.graphs import FORMANT_GAIN
from tools.voice.spoken import mos_rater


@click.command()
@click.option("--corpus", type=click.Path(path_type=Path, exists=True), required=True)
@click.option(
    "--checkpoints", type=click.Path(path_type=Path, exists=True), required=True, help="Folder."
)
@click.option("--lines", default=10, show_default=True, help="Lines of each language.")
@click.option("--precision", type=click.Choice(["fp32", "int8"]), default="fp32", show_default=True)
@click.option("--voiced-noise", default=VOICED_NOISE, show_default=True)
@click.option("--formant-gain", default=FORMANT_GAIN, show_default=True)
@click.option("--match/--no-match", default=True, show_default=True, help="As the export's.")
@click.option(
    "--lexicon",
    type=click.Path(path_type=Path, exists=True),
    default=Path("models/zh-en/lexicon.bin"),
)
def main(
    corpus: Path,
    checkpoints: Path,
    lines: int,
    precision: str,
    voiced_noise: float,
    formant_gain: float,
    match: bool,
    lexicon: Path,
) -> None:
    """DistillMOS of teacher and student, mean by language and of both."""
    mos = mos_rater()
    scores: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        pack = Path(scratch)
        shutil.copy(lexicon, pack / "lexicon.bin")
        made = (voiced_noise, formant_gain, HEADROOM_DB, corpus if match else None)
        make_pack(checkpoints, pack, "heard", "0.0.0", *made)
        speak = systems.ours(pack, precision)
        chosen = chosen_lines(corpus, lines, held_out=True)
        with click.progressbar(chosen, label="listening", file=sys.stderr) as bar:
            for language, line in bar:
                spoken = speak(line.text, language)
                if spoken is not None:
                    taught = line.audio.astype(np.float32) / 32768
                    scores[language].append((mos(taught), mos(spoken[0])))
    scores["both"] = [pair for pairs in list(scores.values()) for pair in pairs]
    for language, pairs in scores.items():
        teacher, student = np.mean(pairs, axis=0)
        click.echo(f"{language}: teacher {teacher:.2f}, student {student:.2f} ({len(pairs)} lines)")


if __name__ == "__main__":
    main()
