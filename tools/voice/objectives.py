"""What training compares: the student's features and waveform with the teacher's."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import nn

from edge_tts.synthesis.dsp_vocoder import mel_corners_hz
from tools.voice.dataset import SEGMENT_FRAMES, Batch, Item, frames_between, segment
from tools.voice.losses import complex_likelihood, log_magnitude, multi_resolution_stft
from tools.voice.model import AcousticModel, Vocoder
from tools.voice.signal import (
    F0_REFERENCE_HZ,
    HOP_LENGTH,
    MEL_SCALE,
    N_MELS,
    NOISE_LEFT,
    SAMPLE_RATE_HZ,
    VOICED_HZ,
    istft,
)

# Of the utterances; the rest keeps the decoder used to its own, smoother F0.
TOLD_SHARE = 0.7
# Between harmonics of the teacher's highest syllables.
HARMONIC_DISTANCE_HZ = 280.0
# Of a spectrum over two frames, in nepers: half of all frames have 0.6, bursts 2.
MAX_CHANGE = 2.0
# Frames around a segment that the vocoder sees, as it does when it speaks, and that aren't judged.
CONTEXT_FRAMES = 8
EDGE = 2 * HOP_LENGTH  # samples at a segment's ends that its frames don't cover whole


def frames_of(acoustic: AcousticModel, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Decoder input ``(B, F, D + 3)`` on the teacher's durations, and log durations."""
    hidden, log_durations = acoustic.encode(batch.ids, batch.phoneme_mask)
    index = batch.index[..., None].expand(-1, -1, hidden.shape[-1])
    return torch.cat([torch.gather(hidden, 1, index), batch.positions], -1), log_durations


def decode_told(
    acoustic: AcousticModel, frames: torch.Tensor, batch: Batch, random: np.random.Generator
) -> torch.Tensor:
    """Features, most utterances decoded beside the teacher's F0, the others beside their own."""
    told = torch.from_numpy(random.random(len(batch.f0_hz)) < TOLD_SHARE).to(frames.device)
    f0_hz = torch.where(told[:, None], batch.f0_hz, torch.full_like(batch.f0_hz, -1))
    return acoustic.decode(frames, batch.frame_mask, f0_hz)


def envelope_kernel() -> torch.Tensor:
    """``(80, 80)`` rows that average log mel bands over the distance of two harmonics.

    Bands below 2 kHz are narrower than the distance of harmonics. What they hold of single
    harmonics follows from F0, which the vocoder is given, and is not for the decoder to draw.
    """
    centres_hz = mel_corners_hz(N_MELS, SAMPLE_RATE_HZ)[1:-1]
    distance_hz = np.abs(centres_hz[:, None] - centres_hz[None, :])
    rows = np.maximum(0, 1 - distance_hz / HARMONIC_DISTANCE_HZ)
    return torch.tensor(rows / rows.sum(1, keepdims=True), dtype=torch.float32)


_ENVELOPE = envelope_kernel()


def smooth_bands(log_mel: torch.Tensor) -> torch.Tensor:
    """Log mel bands ``(B, 80, F)`` without the ripple of single harmonics."""
    return _ENVELOPE.to(log_mel.device) @ log_mel


def transitions(log_mel: torch.Tensor) -> torch.Tensor:
    """Weights ``(B, F)`` by how much a spectrum ``(B, 80, F)`` changes over each frame.

    Bursts and onsets are few among steady frames, and tell consonants apart.
    """
    change = nn.functional.pad((log_mel[..., 2:] - log_mel[..., :-2]).abs().mean(1), (1, 1))
    return 0.5 + change.clamp(max=MAX_CHANGE)


def acoustic_losses(
    features: torch.Tensor, log_durations: torch.Tensor, batch: Batch
) -> dict[str, torch.Tensor]:
    """Mel and its envelope (in nepers), log duration, log F0 on voiced frames, voicing."""
    frames, phonemes = batch.frame_mask.sum(), batch.phoneme_mask.sum()
    voiced = (batch.f0_hz > VOICED_HZ).float() * batch.frame_mask
    log_f0 = torch.log(batch.f0_hz.clamp(min=VOICED_HZ) / F0_REFERENCE_HZ)
    mel_error = features[:, :N_MELS] * MEL_SCALE - batch.mel
    mel = mel_error.abs().mean(1)
    envelope = smooth_bands(mel_error).abs().mean(1)
    weight = transitions(batch.mel) * batch.frame_mask
    voicing = nn.functional.binary_cross_entropy_with_logits(
        features[:, N_MELS + 1], (batch.f0_hz > VOICED_HZ).float(), reduction="none"
    )
    wanted = torch.log(batch.durations.clamp(min=1).float())
    error = features[:, N_MELS] - log_f0
    slope = (error[:, 1:] - error[:, :-1]).abs() * voiced[:, 1:] * voiced[:, :-1]
    return {
        "mel": (mel * batch.frame_mask).sum() / frames,
        "envelope": (envelope * weight).sum() / weight.sum(),
        "duration": ((log_durations - wanted).abs() * batch.phoneme_mask).sum() / phonemes,
        "f0": (error.abs() * voiced).sum() / voiced.sum(),
        "f0_slope": slope.sum() / voiced.sum(),
        "voicing": (voicing * batch.frame_mask).sum() / frames,
    }


def acoustic_total(losses: dict[str, torch.Tensor]) -> torch.Tensor:
    return (
        0.4 * losses["mel"]
        + losses["envelope"]
        + losses["duration"]
        + 4 * losses["f0"]
        + 4 * losses["f0_slope"]
        + 0.3 * losses["voicing"]
    )


def render(
    vocoder: Vocoder,
    features: torch.Tensor,
    source: torch.Tensor,
    generator: torch.Generator,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Harmonic bins, noise magnitudes ``(B, 301, F)`` and the waveform ``(B, 300 F)``.

    Silent where ``mask`` is 0. It and the features may have more frames, as many on each side,
    than the source ``(B, 301, F)``.
    """
    frames = source.shape[-1]
    margin = (features.shape[-1] - frames) // 2
    bins = vocoder(features) if mask is None else vocoder(features, mask)
    real, imaginary, noise = (x.transpose(1, 2)[..., margin : margin + frames] for x in bins)
    if mask is not None:
        held = mask[:, None, margin : margin + frames]
        real, imaginary, noise = real * held, imaginary * held, noise * held
    harmonic = torch.complex(real, imaginary) * source
    gauss = torch.randn(*noise.shape, 2, generator=generator, device=noise.device) * math.sqrt(0.5)
    spectrum = harmonic + noise * torch.view_as_complex(gauss)
    return harmonic, noise, istft(spectrum, frames * HOP_LENGTH)


@cache
def bfloat16_is_faster() -> bool:
    """Whether this processor multiplies matrices of bfloat16 faster than those of float32.

    Processors that know it take half the time or almost twice as much.
    """
    seconds = []
    for dtype in (torch.bfloat16, torch.float32):
        frames, weights = torch.ones(1600, 224, dtype=dtype), torch.ones(224, 672, dtype=dtype)
        tries = []
        for _ in range(5):
            began = time.perf_counter()
            frames @ weights
            tries.append(time.perf_counter() - began)
        seconds.append(min(tries))
    return seconds[0] < seconds[1]


def half_precision(device: torch.device) -> contextlib.AbstractContextManager[object]:
    """bfloat16 for matrix products, where that is faster."""
    enabled = device.type != "cpu" or bfloat16_is_faster()
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled)


def random_segments(
    items: list[Item], random: np.random.Generator, each: int
) -> list[tuple[int, int, Item]]:
    """Where to cut: (row, first frame, utterance), ``each`` of every utterance.

    A short utterance is taken whole. Of a longer one at least half a segment is: were all of
    it, the first and last sounds would be in fewer segments than any other.
    """

    def first(item: Item) -> int:
        spare = item.frames - SEGMENT_FRAMES
        beyond = SEGMENT_FRAMES // 2 if spare > 0 else 0
        return int(random.integers(min(0, spare) - beyond, max(0, spare) + beyond + 1))

    return [(row, first(item), item) for row, item in enumerate(items) for _ in range(each)]


def with_context(values: torch.Tensor, first: int) -> torch.Tensor:
    """The frames of a segment and its context, of ``(..., F)``."""
    return frames_between(values, first - CONTEXT_FRAMES, SEGMENT_FRAMES + 2 * CONTEXT_FRAMES)


@dataclass(frozen=True)
class Segments:
    """Cut utterances, ``S`` of them: what the vocoder is trained on.

    ``cuts`` are (row of the batch, first frame, utterance); ``audio`` ``(S, 300 n)``, its
    spectrum and the source's ``(S, 301, n)``. With their context ``(S, n + 16)``: F0 in hertz,
    and a mask, 0 beyond an utterance's ends.
    """

    cuts: list[tuple[int, int, Item]]
    audio: torch.Tensor
    spectrum: torch.Tensor
    source: torch.Tensor
    f0_hz: torch.Tensor
    mask: torch.Tensor

    def of(self, features: torch.Tensor | list[torch.Tensor]) -> torch.Tensor:
        """The same frames of ``(B, C, F)``, a tensor or a list of rows, as ``(S, C, n + 16)``."""
        return torch.stack([with_context(features[row], k) for row, k, _ in self.cuts])


def cut_segments(
    items: list[Item], random: np.random.Generator, each: int, device: torch.device
) -> Segments:
    """``each`` random segments of every utterance."""
    cuts = random_segments(items, random, each)
    audio, spectrum, source = (
        torch.stack(x).to(device)
        for x in zip(*[segment(i, k, SEGMENT_FRAMES) for _, k, i in cuts], strict=True)
    )
    f0 = torch.stack([with_context(i.f0_hz, k) for _, k, i in cuts])
    mask = torch.stack([with_context(torch.ones(i.frames), k) for _, k, i in cuts])
    return Segments(cuts, audio, spectrum, source, f0.to(device), mask.to(device))


def generator_losses(
    vocoder: Vocoder,
    features: torch.Tensor,
    cut: Segments,
    noise_generator: torch.Generator,
) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor]:
    """Losses on the spectrum and the waveform, the student's waveform and the teacher's."""
    harmonic, noise, waveform = render(vocoder, features, cut.source, noise_generator, cut.mask)
    waveform, audio = waveform[:, EDGE:-EDGE], cut.audio[:, EDGE:-EDGE]
    lasting = noise * NOISE_LEFT
    losses = {
        "likelihood": complex_likelihood(harmonic, lasting, cut.spectrum),
        "magnitude": log_magnitude(harmonic, lasting, cut.spectrum),
        "stft": multi_resolution_stft(waveform, audio),
    }
    return losses, waveform, audio
