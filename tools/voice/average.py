"""Averages the weights of two stages of training that began at the same voice.

Between two such sets of weights lie others that are as good or better (model soups,
Wortsman et al. 2022): what each run learned beside noise adds up, and the noise does not.
"""

from __future__ import annotations

from pathlib import Path

import click
import torch

from tools.voice.model import AcousticModel, Size, Vocoder
from tools.voice.train import start_from

SHARE = click.FloatRange(0, 1)


@click.command()
@click.argument("first", type=click.Path(path_type=Path, exists=True))
@click.argument("second", type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Checkpoint to write.")
@click.option(
    "--acoustic",
    type=SHARE,
    default=0.5,
    show_default=True,
    help="Share of FIRST's acoustic model.",
)
@click.option(
    "--vocoder", type=SHARE, default=0.5, show_default=True, help="Share of FIRST's vocoder."
)
def main(first: Path, second: Path, out: Path, acoustic: float, vocoder: float) -> None:
    """Write the weighted mean of the checkpoints FIRST and SECOND, to export or to start from."""
    size = Size()
    shares = {"acoustic": acoustic, "vocoder": vocoder}
    sets = []
    for path in (first, second):
        modules = {"acoustic": AcousticModel(size), "vocoder": Vocoder(size)}
        start_from(path, modules)
        sets.append({key: module.state_dict() for key, module in modules.items()})
    mean = {
        key: {
            name: torch.lerp(sets[1][key][name].float(), value.float(), share)
            for name, value in sets[0][key].items()
        }
        for key, share in shares.items()
    }
    torch.save({"modules": mean, "averages": mean, "step": 0, "spent_s": 0.0}, out)


if __name__ == "__main__":
    main()
