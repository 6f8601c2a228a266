"""The corpus in memory, with what training needs computed once an utterance."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from edge_tts.text.inventory import PAUSES, PHONEMES
from tools.voice.shards import Utterance, load_shard, rejected_lines
from tools.voice.signal import HOP_LENGTH, LOG_FLOOR, PULSE_SCALE, log_mel, pulses, stft

# Shards whose number is a multiple of this are never trained on.
HELD_OUT_EVERY = 40
# Of the draws, however much the corpus has: with a third of them English was behind Chinese.
ENGLISH_SHARE = 0.5
# What training renders at once: a word or two, whole. Longer texts are cut.
SEGMENT_FRAMES = 72
# Lines that say much about a language: its kinds, and how long they are at least.
KINDS = {
    "zh": ("zh_alarm", "zh_general", "zh_numbers"),
    "en": ("en_alarm", "en_general", "en_sentence", "en_ending", "en_numbers"),
}
SHORTEST_FRAMES = 120
# Silence around an utterance teaches nothing and takes its share of every step. Sounds come up
# to eight frames before the phoneme that owns them.
MAX_LEAD_FRAMES = 10
MAX_TAIL_FRAMES = 36


@dataclass
class Item:
    """One utterance: ids and durations ``(T,)``, the rest by frames or samples."""

    kind: str
    text: str
    ids: torch.Tensor
    durations: torch.Tensor
    mel: torch.Tensor  # (80, F) float16
    f0_hz: torch.Tensor  # (F,)
    audio: torch.Tensor  # (300 F,) int16
    source: torch.Tensor  # (300 F,) float16 pulses

    @property
    def frames(self) -> int:
        return len(self.f0_hz)


def make_item(utterance: Utterance) -> Item:
    audio = torch.from_numpy(utterance.audio.astype(np.float32) / 32768)
    f0 = torch.from_numpy(utterance.f0_hz)
    return Item(
        utterance.kind,
        utterance.text,
        torch.from_numpy(utterance.ids.astype(np.int64)),
        torch.from_numpy(utterance.durations.astype(np.int64)),
        log_mel(stft(audio)[:, : len(f0)]).half(),
        f0,
        torch.from_numpy(utterance.audio),
        pulses(f0).half(),
    )


def without_silence(utterance: Utterance) -> Utterance:
    """The utterance with no more silence at its ends than belongs to speech.

    What is cut at the end is of its last pause; a phoneme that owns silence keeps it.
    """
    durations = utterance.durations.copy()
    lead = max(0, int(durations[0]) - MAX_LEAD_FRAMES)
    tail = min(max(0, int(durations[-2:].sum()) - MAX_TAIL_FRAMES), max(0, int(durations[-2]) - 1))
    if PHONEMES[utterance.ids[-2]] not in PAUSES:
        tail = 0
    durations[0] -= lead
    durations[-2] -= tail
    frames = slice(lead, len(utterance.f0_hz) - tail)
    return replace(
        utterance,
        durations=durations,
        f0_hz=utterance.f0_hz[frames],
        audio=utterance.audio[frames.start * HOP_LENGTH : frames.stop * HOP_LENGTH],
    )


def chosen_lines(corpus: Path, count: int, *, held_out: bool) -> list[tuple[str, Utterance]]:
    """The first ``count`` longer lines of each language with their language."""
    found: dict[str, list[Utterance]] = {language: [] for language in KINDS}
    for path in sorted(corpus.rglob("shard-*.npz")):
        if is_held_out(path) != held_out:
            continue
        for line in load_shard(path):
            for language, kinds in KINDS.items():
                if line.kind in kinds and len(line.f0_hz) >= SHORTEST_FRAMES:
                    found[language].append(line)
        if all(len(lines) >= count for lines in found.values()):
            break
    return [(language, line) for language, lines in found.items() for line in lines[:count]]


def training_items(corpus: Path, count: int) -> list[Item]:
    """``count`` utterances of each language that are trained on."""
    return [make_item(line) for _, line in chosen_lines(corpus, count, held_out=False)]


def is_held_out(shard: Path) -> bool:
    """Whether a shard is kept from training."""
    return int(shard.stem.split("-")[1]) % HELD_OUT_EVERY == 0


class Corpus:
    """All shards of a folder; :meth:`refresh` takes in those written meanwhile."""

    def __init__(self, folder: Path, *, held_out: bool = False) -> None:
        self._folder = folder
        self._held_out = held_out
        self._seen: set[str] = set()
        self.items: list[Item] = []
        self.refresh()

    def refresh(self) -> int:
        """Load new shards; returns how many utterances came."""
        before = len(self.items)
        for path in sorted(self._folder.rglob("shard-*.npz")):
            if path.name in self._seen or is_held_out(path) != self._held_out:
                continue
            self._seen.add(path.name)
            rejected = rejected_lines(path)
            self.items += [
                make_item(utterance)
                for index, utterance in enumerate(map(without_silence, load_shard(path)))
                if index not in rejected and 20 <= len(utterance.f0_hz) <= 1200
            ]
        self.lengths = np.array([item.frames for item in self.items])
        english = np.array([item.text.isascii() for item in self.items])
        self._share = np.ones(len(self.items))
        if 0 < english.sum() < len(english):
            self._share[english] = ENGLISH_SHARE / english.sum()
            self._share[~english] = (1 - ENGLISH_SHARE) / (~english).sum()
        self._share /= self._share.sum()
        return len(self.items) - before

    @property
    def hours(self) -> float:
        return float(self.lengths.sum()) / 80 / 3600

    def of_any_length(self, random: np.random.Generator, count: int) -> list[Item]:
        """Random utterances; each language has its share."""
        return [self.items[i] for i in random.choice(len(self.items), count, p=self._share)]

    def utterances(self, random: np.random.Generator, count: int) -> list[Item]:
        """Utterances of similar length, so that little is padding; each language has its share.

        Twice as many of those that fit one segment: of longer ones two are cut.
        """
        centre = self.lengths[random.choice(len(self.items), p=self._share)]
        if centre <= SEGMENT_FRAMES:
            count *= 2
        distance = np.abs(self.lengths - centre) + random.random(len(self.items)) * 60
        near = np.argsort(distance)[: 4 * count]
        share = self._share[near] / self._share[near].sum()
        return [self.items[i] for i in random.choice(near, count, replace=False, p=share)]


def positions(durations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Durations ``(T,)`` to the phoneme of each frame ``(F,)`` and position features ``(F, 3)``."""
    index = torch.repeat_interleave(torch.arange(len(durations)), durations)
    start = torch.cumsum(durations, 0) - durations
    offset = (torch.arange(len(index)) - start[index]).float() + 0.5
    length = durations[index].float()
    return index, torch.stack([offset / length, (length - offset) / 20, offset / 20], -1)


@dataclass
class Batch:
    """Padded utterances: ``(B, T)`` by phoneme, ``(B, F)`` by frame."""

    ids: torch.Tensor
    durations: torch.Tensor
    index: torch.Tensor
    positions: torch.Tensor
    mel: torch.Tensor
    f0_hz: torch.Tensor
    phoneme_mask: torch.Tensor
    frame_mask: torch.Tensor

    def to(self, device: torch.device) -> Batch:
        return Batch(*(getattr(self, field.name).to(device) for field in fields(self)))


def collate(items: list[Item]) -> Batch:
    phonemes, frames = max(len(i.ids) for i in items), max(i.frames for i in items)

    def pad(tensor: torch.Tensor, length: int, value: float = 0) -> torch.Tensor:
        return F.pad(tensor, (0, length - tensor.shape[-1]), value=value)

    located = [positions(item.durations) for item in items]
    return Batch(
        torch.stack([pad(i.ids, phonemes) for i in items]),
        torch.stack([pad(i.durations, phonemes) for i in items]),
        torch.stack([pad(index, frames, phonemes - 1) for index, _ in located]),
        torch.stack([pad(where.T, frames).T for _, where in located]),
        torch.stack([pad(i.mel.float(), frames, float(np.log(LOG_FLOOR))) for i in items]),
        torch.stack([pad(i.f0_hz, frames) for i in items]),
        torch.stack([pad(torch.ones(len(i.ids)), phonemes) for i in items]),
        torch.stack([pad(torch.ones(i.frames), frames) for i in items]),
    )


def frames_between(values: torch.Tensor, first: int, count: int) -> torch.Tensor:
    """``count`` frames of ``(..., F)`` from ``first`` on, which may be negative; zero beyond."""
    stop = first + count
    inner = values[..., max(0, first) : stop]
    return F.pad(inner, (max(0, -first), max(0, stop - values.shape[-1])))


def segment(item: Item, first: int, frames: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Frames of an utterance: audio ``(300 n,)``, its spectrum and the source's ``(301, n)``.

    One window more is taken on each side, so that the spectra are those of the whole. Beyond
    the utterance's ends there is silence.
    """
    margin = 2
    begin, end = (first - margin) * HOP_LENGTH, (first + frames + margin) * HOP_LENGTH
    left, right = max(0, -begin), max(0, end - len(item.audio))
    span = slice(max(0, begin), min(end, len(item.audio)))
    audio = F.pad(item.audio[span].float() / 32768, (left, right))
    source = F.pad(item.source[span].float() / PULSE_SCALE, (left, right))
    spectra = stft(torch.stack([audio, source]))[:, :, margin : margin + frames]
    inner = slice(margin * HOP_LENGTH, (margin + frames) * HOP_LENGTH)
    return audio[inner], spectra[0], spectra[1]
