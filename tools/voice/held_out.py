"""Prints a checkpoint's errors on the shards that training never sees."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import click
import numpy as np
import torch

from tools.voice.dataset import Corpus, collate
from tools.voice.model import AcousticModel, Size
from tools.voice.objectives import acoustic_losses, frames_of
from tools.voice.train import start_from

BATCH = 12


@click.command()
@click.option("--corpus", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--checkpoint", type=click.Path(path_type=Path, exists=True), required=True)
def main(corpus: Path, checkpoint: Path) -> None:
    """Mel distance in nepers, errors of log duration and log F0, voicing."""
    acoustic = AcousticModel(Size())
    start_from(checkpoint, {"acoustic": acoustic})
    acoustic.eval()
    items = Corpus(corpus, held_out=True).items
    errors = defaultdict(list)
    for first in range(0, len(items), BATCH):
        batch = collate(items[first : first + BATCH])
        with torch.no_grad():
            frames, log_durations = frames_of(acoustic, batch)
            losses = acoustic_losses(
                acoustic.decode(frames, batch.frame_mask), log_durations, batch
            )
        for name, value in losses.items():
            errors[name].append(float(value))
    means = ", ".join(f"{name} {np.mean(values):.4f}" for name, values in errors.items())
    click.echo(f"{len(items)} utterances: {means}")


if __name__ == "__main__":
    main()
