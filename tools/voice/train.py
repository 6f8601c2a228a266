"""Trains the student in three stages, each resumable.

``acoustic``: ids to features on the teacher's durations. ``vocoder``: the
teacher's features to its waveform, with discriminators in the second half.
``joint``: both together, the vocoder fed by the acoustic model. ``acoustic``
and ``vocoder`` are independent and may run side by side; ``joint`` starts from
what they left.

A stage lasts for a number of minutes of its own CPU time a thread, over all
resumes, so a busy machine makes it longer and not worse; its learning rate
follows that clock. A checkpoint is written every few minutes
and at the end.
"""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

import click
import numpy as np
import torch
from torch import nn

from tools.voice.dataset import Batch, Corpus, Item, collate, segment
from tools.voice.losses import (
    Discriminators,
    complex_likelihood,
    log_magnitude,
    multi_resolution_stft,
)
from tools.voice.model import AcousticModel, Size, Vocoder, vocoder_features
from tools.voice.signal import F0_REFERENCE_HZ, HOP_LENGTH, MEL_SCALE, VOICED_HZ, istft
from tools.voice.stage import Stage

SEGMENT_FRAMES = 48
EDGE = 2 * HOP_LENGTH  # samples at a segment's ends that its frames don't cover whole


def frames_of(acoustic: AcousticModel, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Decoder input ``(B, F, D + 3)`` on the teacher's durations, and log durations."""
    hidden, log_durations = acoustic.encode(batch.ids)
    index = batch.index[..., None].expand(-1, -1, hidden.shape[-1])
    return torch.cat([torch.gather(hidden, 1, index), batch.positions], -1), log_durations


def acoustic_losses(
    features: torch.Tensor, log_durations: torch.Tensor, batch: Batch
) -> dict[str, torch.Tensor]:
    """Mel (in nepers), log duration, log F0 on voiced frames, voicing."""
    frames, phonemes = batch.frame_mask.sum(), batch.phoneme_mask.sum()
    voiced = (batch.f0_hz > VOICED_HZ).float() * batch.frame_mask
    log_f0 = torch.log(batch.f0_hz.clamp(min=VOICED_HZ) / F0_REFERENCE_HZ)
    mel = (features[:, :80] - batch.mel / MEL_SCALE).abs().mean(1) * MEL_SCALE
    voicing = nn.functional.binary_cross_entropy_with_logits(
        features[:, 81], (batch.f0_hz > VOICED_HZ).float(), reduction="none"
    )
    wanted = torch.log(batch.durations.clamp(min=1).float())
    error = features[:, 80] - log_f0
    slope = (error[:, 1:] - error[:, :-1]).abs() * voiced[:, 1:] * voiced[:, :-1]
    return {
        "mel": (mel * batch.frame_mask).sum() / frames,
        "duration": ((log_durations - wanted).abs() * batch.phoneme_mask).sum() / phonemes,
        "f0": (error.abs() * voiced).sum() / voiced.sum(),
        "f0_slope": slope.sum() / voiced.sum(),
        "voicing": (voicing * batch.frame_mask).sum() / frames,
    }


def acoustic_total(losses: dict[str, torch.Tensor]) -> torch.Tensor:
    return (
        losses["mel"]
        + losses["duration"]
        + 4 * losses["f0"]
        + 4 * losses["f0_slope"]
        + 0.3 * losses["voicing"]
    )


def render(
    vocoder: Vocoder, features: torch.Tensor, source: torch.Tensor, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Harmonic bins, noise magnitudes ``(B, 601, F)`` and the waveform ``(B, 300 F)``."""
    real, imaginary, noise = (x.transpose(1, 2) for x in vocoder(features))
    harmonic = torch.complex(real, imaginary) * source
    gauss = torch.randn(*noise.shape, 2, generator=generator) * math.sqrt(0.5)
    spectrum = harmonic + noise * torch.view_as_complex(gauss)
    return harmonic, noise, istft(spectrum, features.shape[-1] * HOP_LENGTH)


def half_precision() -> contextlib.AbstractContextManager[object]:
    """bfloat16 for matrix products: twice as fast where the CPU knows it."""
    return torch.autocast("cpu", dtype=torch.bfloat16)


def train_acoustic(stage: Stage, corpus: Corpus, random: np.random.Generator, batch: int) -> None:
    acoustic = stage.modules["acoustic"]
    assert isinstance(acoustic, AcousticModel)
    for step in stage.steps():
        if step % 200 == 199:
            corpus.refresh()
        data = collate(corpus.utterances(random, batch))
        with half_precision():
            frames, log_durations = frames_of(acoustic, data)
            features = acoustic.decode(frames)
        losses = acoustic_losses(features.float(), log_durations.float(), data)
        stage.descend("acoustic", acoustic_total(losses))
        stage.log(losses)


def random_segments(
    items: list[Item], random: np.random.Generator, each: int
) -> list[tuple[int, int, Item]]:
    return [
        (row, int(random.integers(0, item.frames - SEGMENT_FRAMES + 1)), item)
        for row, item in enumerate(items)
        if item.frames >= SEGMENT_FRAMES
        for _ in range(each)
    ]


def generator_losses(
    vocoder: Vocoder,
    features: torch.Tensor,
    audio: torch.Tensor,
    real: torch.Tensor,
    source: torch.Tensor,
    noise_generator: torch.Generator,
) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor]:
    harmonic, noise, waveform = render(vocoder, features, source, noise_generator)
    waveform, audio = waveform[:, EDGE:-EDGE], audio[:, EDGE:-EDGE]
    losses = {
        "likelihood": complex_likelihood(harmonic, noise, real),
        "magnitude": log_magnitude(harmonic, noise, real),
        "stft": multi_resolution_stft(waveform, audio),
    }
    return losses, waveform, audio


def judge(
    stage: Stage, judges: Discriminators, fake: torch.Tensor, audio: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Train the discriminators on a share of the segments, and hear them on it.

    They cost several times the generator, and half of a batch teaches as well.
    """
    share = slice(stage.step % 2, None, 2)
    with half_precision():
        loss = judges.loss(fake[share], audio[share])
    stage.descend("discriminators", loss)
    with half_precision():
        adversarial, matching = judges.verdict(fake[share], audio[share])
    return adversarial.float(), matching.float()


def train_vocoder(
    stage: Stage, corpus: Corpus, random: np.random.Generator, batch: int, adversarial_from: float
) -> None:
    vocoder, judges = stage.modules["vocoder"], stage.modules["discriminators"]
    assert isinstance(vocoder, Vocoder)
    assert isinstance(judges, Discriminators)
    noise_generator = torch.Generator().manual_seed(int(random.integers(2**31)))
    for step in stage.steps():
        if step % 500 == 499:
            corpus.refresh()
        chosen = [corpus.items[i] for i in random.integers(len(corpus.items), size=batch)]
        cuts = random_segments(chosen, random, 1)
        if not cuts:
            continue
        audio, real, source = (
            torch.stack(x)
            for x in zip(*[segment(i, k, SEGMENT_FRAMES) for _, k, i in cuts], strict=True)
        )
        mel = torch.stack([i.mel[:, k : k + SEGMENT_FRAMES].float() for _, k, i in cuts])
        f0 = torch.stack([i.f0_hz[k : k + SEGMENT_FRAMES] for _, k, i in cuts])
        with half_precision():
            losses, fake, audio = generator_losses(
                vocoder, vocoder_features(mel, f0), audio, real, source, noise_generator
            )
        total = 0.2 * losses["likelihood"] + losses["magnitude"] + losses["stft"]
        if stage.progress >= adversarial_from:
            adversarial, matching = judge(stage, judges, fake, audio)
            total = total + 0.3 * adversarial + 0.6 * matching
            losses |= {"adversarial": adversarial, "matching": matching}
        stage.descend("vocoder", total)
        stage.log(losses)


def train_joint(stage: Stage, corpus: Corpus, random: np.random.Generator, batch: int) -> None:
    acoustic, vocoder = stage.modules["acoustic"], stage.modules["vocoder"]
    judges = stage.modules["discriminators"]
    assert isinstance(acoustic, AcousticModel)
    assert isinstance(vocoder, Vocoder)
    assert isinstance(judges, Discriminators)
    noise_generator = torch.Generator().manual_seed(int(random.integers(2**31)))
    for step in stage.steps(25):
        if step % 200 == 199:
            corpus.refresh()
        items = corpus.utterances(random, batch)
        cuts = random_segments(items, random, max(1, 12 // batch))
        if not cuts:
            continue
        data = collate(items)
        with half_precision():
            frames, log_durations = frames_of(acoustic, data)
            features = acoustic.decode(frames).float()
        losses = acoustic_losses(features, log_durations.float(), data)
        audio, real, source = (
            torch.stack(x)
            for x in zip(*[segment(i, k, SEGMENT_FRAMES) for _, k, i in cuts], strict=True)
        )
        mel = torch.stack([features[row, :80, k : k + SEGMENT_FRAMES] for row, k, _ in cuts])
        f0 = torch.stack([i.f0_hz[k : k + SEGMENT_FRAMES] for _, k, i in cuts])
        with half_precision():
            more, fake, audio = generator_losses(
                vocoder, vocoder_features(mel * MEL_SCALE, f0), audio, real, source, noise_generator
            )
        adversarial, matching = judge(stage, judges, fake, audio)
        total = 0.5 * acoustic_total(losses) + more["magnitude"] + more["stft"]
        total = total + min(1, step / 100) * (0.3 * adversarial + 0.6 * matching)
        stage.descend("acoustic", total, also=("vocoder",))
        stage.log(losses | more | {"adversarial": adversarial, "matching": matching})


def start_from(folder: Path, names: tuple[str, ...], modules: dict[str, nn.Module]) -> None:
    """Take the averaged weights that earlier stages left."""
    for name in names:
        path = folder / f"{name}.pt"
        if not path.exists():
            raise click.UsageError(f"{path} is missing: run the stage {name} first")
        state = torch.load(path, weights_only=True)
        for key, weights in state["averages"].items():
            modules[key].load_state_dict(weights)
        if "discriminators" in state["modules"]:
            modules["discriminators"].load_state_dict(state["modules"]["discriminators"])


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
@click.option("--batch", type=int, default=0, help="Utterances (vocoder: segments) a step.")
@click.option("--rate", type=float, default=0.0, help="Highest learning rate.")
@click.option(
    "--adversarial-from",
    type=float,
    default=0.5,
    help="Part of the vocoder stage without discriminators.",
)
@click.option("--threads", type=int, default=2)
@click.option("--seed", type=int, default=1)
def main(
    stage_name: str,
    corpus_folder: Path,
    out: Path,
    minutes: float,
    batch: int,
    rate: float,
    adversarial_from: float,
    threads: int,
    seed: int,
) -> None:
    """Train one STAGE; running it again goes on from its checkpoint."""
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    out.mkdir(parents=True, exist_ok=True)
    size = Size()
    modules: dict[str, nn.Module] = {}
    if stage_name in ("acoustic", "joint"):
        modules["acoustic"] = AcousticModel(size)
    if stage_name in ("vocoder", "joint"):
        modules["vocoder"] = Vocoder(size)
        modules["discriminators"] = Discriminators()
    if stage_name == "joint" and not (out / "joint.pt").exists():
        start_from(out, ("acoustic", "vocoder"), modules)
    stage = Stage(stage_name, out, minutes, modules)
    default_rate = {"acoustic": 1e-3, "vocoder": 1e-3, "joint": 3e-4}[stage_name]
    for key in modules:
        betas = (0.9, 0.98) if stage_name == "acoustic" else (0.8, 0.99)
        stage.optimise(key, 3e-4 if key == "discriminators" else rate or default_rate, betas)
    resumed = stage.load()
    corpus = Corpus(corpus_folder)
    count = sum(
        p.numel() for k, m in modules.items() if k != "discriminators" for p in m.parameters()
    )
    click.echo(
        f"{stage_name}: {count / 1e6:.2f} M weights, {corpus.hours:.2f} hours of speech, "
        f"{'resumed at step ' + str(stage.step) if resumed else 'from the start'}"
    )
    random = np.random.default_rng(seed + stage.step)
    if stage_name == "acoustic":
        train_acoustic(stage, corpus, random, batch or 12)
    elif stage_name == "vocoder":
        train_vocoder(stage, corpus, random, batch or 16, adversarial_from)
    else:
        train_joint(stage, corpus, random, batch or 4)


if __name__ == "__main__":
    main()
