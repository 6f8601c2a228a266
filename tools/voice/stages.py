"""The three stages of training, step by step; :mod:`tools.voice.train` runs them."""

from __future__ import annotations

import numpy as np
import torch

from tools.voice.dataset import Corpus, Item, collate
from tools.voice.losses import Discriminators
from tools.voice.model import AcousticModel, Vocoder, vocoder_features
from tools.voice.objectives import (
    acoustic_losses,
    acoustic_total,
    cut_segments,
    decode_told,
    frames_of,
    generator_losses,
    half_precision,
)
from tools.voice.signal import MEL_SCALE, N_MELS
from tools.voice.stage import Stage

# A discriminator's features differ by hundredths where its score differs by tenths.
MATCHING_WEIGHT = 6.0
ADVERSARIAL_WEIGHT = 0.5
SEGMENTS_A_STEP = 8
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
        items = share(stage, corpus.of_any_length(random, batch))
        cut = cut_segments(items, random, 1, stage.device)
        mel = cut.of([item.mel.float().to(stage.device) for item in items])
        features = vocoder_features(mel, cut.f0_hz, vocoder.latents)
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
        each = max(1, SEGMENTS_A_STEP // (len(items) * stage.peers.count))
        cut = cut_segments(items, own_random, each, stage.device)
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
