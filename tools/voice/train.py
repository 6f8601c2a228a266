"""Trains the student in three stages, each resumable.

``acoustic``: ids to features on the teacher's durations. ``vocoder``: the
teacher's features to its waveform, with discriminators in the second half.
``joint``: both together, the vocoder fed by the acoustic model. ``acoustic``
and ``vocoder`` are independent and may run side by side; ``joint`` starts from
what they left, or with ``--start`` from any earlier voice.

A stage lasts for a number of minutes of its own CPU time a thread (on a GPU:
of time), over all resumes, so a busy machine makes it longer and not worse; its
learning rate follows that clock. A checkpoint is written every few minutes and at
the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import torch
from torch import nn

from tools.voice import peers
from tools.voice.dataset import Corpus
from tools.voice.losses import Discriminators
from tools.voice.model import AcousticModel, Size, Vocoder
from tools.voice.stage import Stage, take
from tools.voice.stages import DISCRIMINATOR_RATE, train_acoustic, train_joint, train_vocoder


def start_from(path: Path, modules: dict[str, nn.Module]) -> set[str]:
    """Take the averaged weights of an earlier stage or voice, its layers the same or narrower.

    Returns the names of the modules that the checkpoint had.
    """
    state = torch.load(path, weights_only=True)
    weights = state["modules"] | state.get("averages", {})
    found = modules.keys() & weights.keys()
    for key in found:
        take(modules[key], weights[key])
    return found


@click.command()
@click.argument("stage_name", metavar="STAGE", type=click.Choice(["acoustic", "vocoder", "joint"]))
@click.option(
    "--corpus", "corpus_folder", type=click.Path(path_type=Path, exists=True), required=True
)
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Folder of checkpoints."
)
@click.option(
    "--minutes",
    type=float,
    required=True,
    help="CPU time a thread of this stage, over all resumes.",
)
@click.option(
    "--start",
    type=click.Path(path_type=Path, exists=True),
    help="Checkpoint to start the stage from, a small one too.",
)
@click.option("--batch", type=int, default=0, help="Utterances (vocoder: segments) a step.")
@click.option("--rate", type=float, default=0.0, help="Highest learning rate.")
@click.option(
    "--adversarial-from",
    type=float,
    default=0.5,
    help="Part of the vocoder stage without discriminators.",
)
@click.option(
    "--processes", type=int, default=1, show_default=True, help="That share each batch; CPU only."
)
@click.option("--threads", type=int, default=1, show_default=True, help="Of each process.")
@click.option(
    "--device",
    default="cuda" if torch.cuda.is_available() else "cpu",
    show_default=True,
    help="cpu or cuda.",
)
@click.option("--seed", type=int, default=1)
def main(**options: object) -> None:
    """Train one STAGE; running it again goes on from its checkpoint."""
    chosen = Options(**options)  # type: ignore[arg-type]
    chosen.out.mkdir(parents=True, exist_ok=True)
    if chosen.processes > 1 and chosen.device != "cpu":
        raise click.UsageError("--processes is for the CPU: leave it out, or add --device cpu")
    peers.run(chosen.processes, train, chosen)


@dataclass(frozen=True)
class Options:
    """The command line of ``train``."""

    stage_name: str
    corpus_folder: Path
    out: Path
    minutes: float
    start: Path | None
    batch: int
    rate: float
    adversarial_from: float
    processes: int
    threads: int
    device: str
    seed: int


def train(together: peers.Peers, options: Options) -> None:
    """Train a stage in this process, together with its peers."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    name = options.stage_name
    modules = new_modules(name, Size())
    device = torch.device(options.device)
    stage = Stage(name, options.out, options.minutes, modules, device, together)
    begins = not (stage.path.exists() or stage.small_path.exists())
    found: set[str] = set()
    if begins and options.start is not None:
        found = start_from(options.start, modules)
    elif begins and name == "joint":
        for earlier in ("acoustic", "vocoder"):
            if not (path := options.out / f"{earlier}.pt").exists():
                raise click.UsageError(f"{path} is missing: run the stage {earlier} first")
            start_from(path, modules)
    default_rate = {"acoustic": 1e-3, "vocoder": 1e-3, "joint": 3e-4}[name]
    for key, module in modules.items():
        module.to(device)
        betas = (0.9, 0.98) if name == "acoustic" else (0.8, 0.99)
        rate = DISCRIMINATOR_RATE if key == "discriminators" else options.rate or default_rate
        stage.optimise(key, rate, betas)
    stage.average_weights()
    resumed = stage.load()
    corpus = Corpus(options.corpus_folder)
    count = sum(
        p.numel() for k, m in modules.items() if k != "discriminators" for p in m.parameters()
    )
    if together.leads:
        click.echo(
            f"{name}: {count / 1e6:.2f} M weights, {corpus.hours:.2f} hours of speech, "
            f"{'resumed at step ' + str(stage.step) if resumed else 'from the start'}"
        )
    random = np.random.default_rng(options.seed + stage.step)
    if name == "acoustic":
        train_acoustic(stage, corpus, random, options.batch or 12)
    elif name == "vocoder":
        train_vocoder(stage, corpus, random, options.batch or 16, options.adversarial_from)
    else:
        judges_are_new = begins and "discriminators" not in found
        train_joint(stage, corpus, random, options.batch or 4, judges_are_new)


def new_modules(stage_name: str, size: Size) -> dict[str, nn.Module]:
    """The networks that a stage trains, newly initialised."""
    modules: dict[str, nn.Module] = {}
    if stage_name in ("acoustic", "joint"):
        modules["acoustic"] = AcousticModel(size)
    if stage_name in ("vocoder", "joint"):
        modules["vocoder"] = Vocoder(size)
        modules["discriminators"] = Discriminators()
    return modules


if __name__ == "__main__":
    main()
