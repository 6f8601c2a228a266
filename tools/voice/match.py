"""Takes from a student what its mean spectrum has other than the teacher's.

Distances in log magnitude and verdicts on spectrograms leave the mean a few decibels off,
and raised formants shift it further: lows too strong, highs too weak. An equaliser for the
voice, which costs nothing as it lies in the vocoder's last bias.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch

from tools.voice.dataset import Item, collate, segment
from tools.voice.model import AcousticModel, Vocoder, band_centres, band_grid, vocoder_features
from tools.voice.objectives import frames_of, render
from tools.voice.signal import MEL_SCALE, N_BINS, N_FFT, N_MELS, SAMPLE_RATE_HZ, VOICED_HZ, stft

# Frames this far below an utterance's loudest say more of its noise floor than of the voice.
QUIETEST_DB = -34.0
# Below, there is no voice but rumble, which costs headroom and moves a loudspeaker's cone.
LOWEST_HZ = 60.0
RUMBLE_DB = -20.0
LARGEST_DB = 6.0


def band_power(vocoder: Vocoder, spectrum: torch.Tensor) -> torch.Tensor:
    """``(301, F)`` to decibels ``(bands, F)`` in the vocoder's bands."""
    lower, upper, weight = band_grid()
    bins = torch.arange(N_BINS)
    shares = torch.zeros(vocoder.bands, N_BINS)
    shares[lower, bins] += 1 - weight
    shares[upper, bins] += weight
    power = (shares / shares.sum(1, keepdim=True)) @ spectrum.abs().pow(2)
    return 10 * torch.log10(power + 1e-9)


@torch.no_grad()
def colour_db(
    acoustic: AcousticModel, vocoder: Vocoder, render_with: torch.nn.Module, items: Iterable[Item]
) -> tuple[torch.Tensor, torch.Tensor]:
    """What each band ``(bands,)`` of voiced and of unvoiced frames lacks in decibels, on the mean.

    Args:
        acoustic: as it is exported, in evaluation mode.
        vocoder: for its bands and number of latents.
        render_with: what is exported for the vocoder, with its gain on noise.
        items: utterances of the teacher; it is followed in durations and F0.
    """
    noise = torch.Generator().manual_seed(0)
    missing: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
    for item in items:
        batch = collate([item])
        frames, _ = frames_of(acoustic, batch)
        decoded = acoustic.decode(frames, batch.frame_mask, batch.f0_hz)
        features = vocoder_features(
            decoded[:, :N_MELS] * MEL_SCALE, batch.f0_hz, decoded[:, N_MELS + 2 :]
        )
        _, spectrum, source = segment(item, 0, item.frames)
        _, _, waveform = render(render_with, features, source[None], noise)  # type: ignore[arg-type]
        spoken = stft(waveform)[0, :, : item.frames]
        power = spectrum.abs().pow(2).sum(0)
        heard = power > power.max() * 10 ** (QUIETEST_DB / 10)
        voiced = item.f0_hz > VOICED_HZ
        difference = band_power(vocoder, spectrum) - band_power(vocoder, spoken)
        for found, frames_meant in zip(missing, (voiced & heard, ~voiced & heard), strict=True):
            found.append(difference[:, frames_meant])
    centres_hz = torch.tensor(band_centres()) * SAMPLE_RATE_HZ / N_FFT
    return mean_db(missing[0], centres_hz), mean_db(missing[1], centres_hz)


def mean_db(missing: list[torch.Tensor], centres_hz: torch.Tensor) -> torch.Tensor:
    """The mean over frames of ``(bands, F)`` parts, as far as it is safe to make up for it."""
    frames = torch.cat(missing, 1)
    mean = frames.sum(1) / max(1, frames.shape[1])
    return torch.where(centres_hz < LOWEST_HZ, RUMBLE_DB, mean.clamp(-LARGEST_DB, LARGEST_DB))


@torch.no_grad()
def add_level(
    bias: torch.Tensor, voiced_db: torch.Tensor, unvoiced_db: torch.Tensor | None = None
) -> None:
    """Add decibels, one or ``(bands,)``, to the vocoder's last bias ``(3 bands,)``.

    Harmonics sound in voiced frames alone; noise gets what unvoiced ones need.
    """
    bands = len(bias) // 3
    bias[:bands] += voiced_db * math.log(10) / 20
    bias[2 * bands :] += (voiced_db if unvoiced_db is None else unvoiced_db) * math.log(10) / 20
