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
from tools.voice.dataset import Corpus, Item, collate
from tools.voice.losses import Discriminators
from tools.voice.model import AcousticModel, Size, Vocoder, vocoder_features
from tools.voice.objectives import (
    SEGMENT_FRAMES,
    acoustic_losses,
    acoustic_total,
    cut_segments,
    decode_told,
    frames_of,
    generator_losses,
    half_precision,
)
from tools.voice.signal import MEL_SCALE, N_MELS
from tools.voice.stage import Stage, take

# A discriminator's features differ by hundredths where its score differs by tenths.
MATCHING_WEIGHT = 6.0
ADVERSARIAL_WEIGHT = 0.5
SEGMENTS_A_STEP = 12
# Steps before the joint stage in which new discriminators learn alone: their first verdicts are
# noise, and a voice that is trained on by the distances alone meanwhile loses its sharpness.
JUDGES_ALONE_STEPS = 400
# At the rate below they still took everything for real after 500 steps.
JUDGES_ALONE_RATE = 1e-3
# At 8e-4 their loss fell from 1.5 to 1.2, and DistillMOS with it, while every distance shrank.
DISCRIMINATOR_RATE = 3e-4


def train_acoustic(stage: Stage, corpus: Corpus, random: np.random.Generator, batch: int) -> None:
    acoustic = stage.modules["acoustic"]
    assert isinstance(acoustic, AcousticModel)
    own_random = own_generator(stage, random)
    for step in stage.steps():
        if step % 200 == 199:
            corpus.refresh()
        data = collate(share(stage, corpus.utterances(random, batch))).to(stage.device)
        with half_precision(stage.device):
            frames, log_durations = frames_of(acoustic, data)
            features = decode_told(acoustic, frames, data, own_random)
        losses = acoustic_losses(features.float(), log_durations.float(), data)
        stage.descend("acoustic", acoustic_total(losses))
        stage.log(losses)


def share(stage: Stage, items: list[Item]) -> list[Item]:
    """This process's part of a batch that all of them drew alike, lengths dealt out evenly."""
    ordered = sorted(items, key=lambda item: item.frames)
    return ordered[stage.peers.rank :: stage.peers.count]


def judge(
    stage: Stage, fake: torch.Tensor, audio: torch.Tensor
) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Train one discriminator on half of the segments, and hear it on them.

    All of them on all segments take more than half of a step's time.
    """
    judges = stage.modules["discriminators"]
    assert isinstance(judges, Discriminators)
    which = stage.step % len(judges)
    half = slice(stage.step // len(judges) % 2, None, 2)
    with half_precision(stage.device):
        loss = judges.loss(which, fake[half], audio[half])
    stage.descend("discriminators", loss)
    with half_precision(stage.device):
        adversarial, matching = judges.verdict(which, fake[half], audio[half])
    adversarial, matching = adversarial.float(), matching.float()
    total = ADVERSARIAL_WEIGHT * adversarial + MATCHING_WEIGHT * matching
    return {"adversarial": adversarial, "matching": matching, "judge": loss}, total


def teach_judges(stage: Stage, fake: torch.Tensor, audio: torch.Tensor) -> None:
    """Train every discriminator on all segments, and nothing else."""
    judges = stage.modules["discriminators"]
    assert isinstance(judges, Discriminators)
    with half_precision(stage.device):
        losses = torch.stack([judges.loss(which, fake, audio) for which in range(len(judges))])
    stage.descend("discriminators", losses.sum())
    stage.log({"judge": losses.mean()})


def own_generator(stage: Stage, random: np.random.Generator) -> np.random.Generator:
    """For what each process draws for itself; utterances all draw alike."""
    return np.random.default_rng((stage.peers.rank, int(random.integers(2**31))))


def noise_generator(stage: Stage, random: np.random.Generator) -> torch.Generator:
    seed = int(random.integers(2**31)) + stage.peers.rank
    return torch.Generator(stage.device).manual_seed(seed)


def train_vocoder(
    stage: Stage, corpus: Corpus, random: np.random.Generator, batch: int, adversarial_from: float
) -> None:
    vocoder = stage.modules["vocoder"]
    assert isinstance(vocoder, Vocoder)
    noise = noise_generator(stage, random)
    for step in stage.steps():
        if step % 500 == 499:
            corpus.refresh()
        chosen = [corpus.long_item(random) for _ in range(batch)]
        cut = cut_segments(share(stage, chosen), random, 1, stage.device)
        mel = torch.stack([i.mel[:, k : k + cut.frames].float() for _, k, i in cut.cuts])
        features = vocoder_features(mel.to(stage.device), cut.f0_hz, vocoder.latents)
        with half_precision(stage.device):
            losses, fake, audio = generator_losses(vocoder, features, cut, noise)
        total = 0.2 * losses["likelihood"] + losses["magnitude"] + losses["stft"]
        if stage.progress >= adversarial_from:
            more, judged = judge(stage, fake, audio)
            total = total + judged
            losses |= more
        stage.descend("vocoder", total)
        stage.log(losses)


def train_joint(
    stage: Stage, corpus: Corpus, random: np.random.Generator, batch: int, judges_are_new: bool
) -> None:
    acoustic, vocoder = stage.modules["acoustic"], stage.modules["vocoder"]
    assert isinstance(acoustic, AcousticModel)
    assert isinstance(vocoder, Vocoder)
    noise = noise_generator(stage, random)
    own_random = own_generator(stage, random)

    def speak() -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor]:
        items = share(stage, corpus.utterances(random, batch))
        if items[-1].frames < SEGMENT_FRAMES:
            items[-1] = corpus.long_item(own_random)
        cut = cut_segments(items, own_random, SEGMENTS_A_STEP // batch, stage.device)
        data = collate(items).to(stage.device)
        with half_precision(stage.device):
            frames, log_durations = frames_of(acoustic, data)
            decoded = decode_told(acoustic, frames, data, own_random).float()
        losses = acoustic_losses(decoded, log_durations.float(), data)
        cut_frames = cut.of(decoded)
        features = vocoder_features(
            cut_frames[:, :N_MELS] * MEL_SCALE, cut.f0_hz, cut_frames[:, N_MELS + 2 :]
        )
        with half_precision(stage.device):
            more, fake, audio = generator_losses(vocoder, features, cut, noise)
        return losses | more, fake, audio

    if judges_are_new:
        stage.set_rate("discriminators", JUDGES_ALONE_RATE)
        for count in range(1, JUDGES_ALONE_STEPS + 1):
            with torch.no_grad():
                _, fake, audio = speak()
            teach_judges(stage, fake, audio)
            if count % 50 == 0 and stage.peers.leads:
                stage.report(f"discriminators alone {count}")
    for step in stage.steps():
        if step % 200 == 199:
            corpus.refresh()
        losses, fake, audio = speak()
        heard, judged = judge(stage, fake, audio)
        total = 0.5 * acoustic_total(losses) + losses["magnitude"] + losses["stft"]
        total = total + 0.1 * losses["likelihood"] + judged
        stage.descend("acoustic", total, also=("vocoder",))
        stage.log(losses | heard)


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
