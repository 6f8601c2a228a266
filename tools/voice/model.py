"""The student: a ConvNeXt acoustic model and a ConvNeXt source-filter vocoder.

ConvNeXt blocks after Liu et al. 2022, used for speech as in Vocos (Siuzdak
2023). Every layer after the encoder has a finite receptive field, stated by
``context``: what it needs on each side of the frames it is asked for.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import torch
from torch import nn

from edge_tts.text.inventory import ARPABET_VOWELS, FINALS, PHONEMES
from tools.voice.signal import F0_REFERENCE_HZ, MEL_SCALE, N_BINS, N_MELS, VOICED_HZ


@dataclass(frozen=True)
class Size:
    """Widths and depths; the defaults make the ``zh-en`` voice."""

    encoder_width: int = 192
    encoder_kernels: tuple[int, ...] = (5, 5, 7, 7, 9)
    duration_kernels: tuple[int, ...] = (5, 5)
    pitch_width: int = 144
    pitch_kernels: tuple[int, ...] = (9, 9, 9)
    decoder_width: int = 224
    decoder_kernels: tuple[int, ...] = (7, 7, 7, 7, 7)
    # Channels from decoder to vocoder beside mel and pitch: what a mel spectrum blurs.
    latents: int = 48
    vocoder_width: int = 256
    vocoder_kernels: tuple[int, ...] = (7, 7, 7, 7, 7)
    expansion: int = 3

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


class ConvNeXt(nn.Module):
    """Depthwise convolution, norm, pointwise network, residual: ``(B, T, C)`` to the same."""

    def __init__(self, width: int, kernel: int, expansion: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width)
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, width * expansion)
        self.down = nn.Linear(width * expansion, width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))
        self.folded = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.depthwise(x.transpose(1, 2)).transpose(1, 2)  # (B, T, C)
        y = self.down(nn.functional.gelu(self.up(self.norm(y))))
        return x + (y if self.folded else y * self.scale)

    @torch.no_grad()
    def fold(self) -> None:
        """Take the scale into the last product, which saves the export an operator."""
        if not self.folded:
            self.down.weight.mul_(self.scale[:, None])
            self.down.bias.mul_(self.scale)
            self.folded = True


def stack(width: int, kernels: tuple[int, ...], expansion: int) -> nn.Sequential:
    return nn.Sequential(*[ConvNeXt(width, kernel, expansion) for kernel in kernels])


def run_stack(
    blocks: nn.Sequential, x: torch.Tensor, mask: torch.Tensor | None = None
) -> torch.Tensor:
    """``x`` ``(B, T, C)`` through the blocks; padding, 0 in ``mask`` ``(B, T)``, stays zero.

    A text alone has nothing but zeros beyond its ends, in every layer.
    """
    if mask is None:
        return blocks(x)
    held = mask[..., None].to(x.dtype)
    x = x * held
    for block in blocks:
        x = block(x) * held
    return x


def context(kernels: tuple[int, ...]) -> int:
    """Frames that a stack of odd kernels sees on each side."""
    return sum(kernel // 2 for kernel in kernels)


def phoneme_attributes() -> tuple[list[int], list[int]]:
    """For each phoneme its base sound and its tone or stress, as indices."""
    bases: dict[str, int] = {}
    base_ids, mark_ids = [], []
    for phoneme in PHONEMES:
        base, mark = phoneme, 0
        if phoneme[:-1] in FINALS and phoneme[-1].isdigit():
            base, mark = phoneme[:-1], int(phoneme[-1])
        elif phoneme[:-1] in ARPABET_VOWELS:
            base, mark = phoneme[:-1], 6 + int(phoneme[-1])
        base_ids.append(bases.setdefault(base, len(bases)))
        mark_ids.append(mark)
    return base_ids, mark_ids


class AcousticModel(nn.Module):
    """Ids to hidden states and log durations, frames to mel, F0 and voicing."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width = size.encoder_width
        bases, marks = phoneme_attributes()
        self.register_buffer("bases", torch.tensor(bases), persistent=False)
        self.register_buffer("marks", torch.tensor(marks), persistent=False)
        # A phoneme is its sound, its tone or stress, and what is its own.
        self.base_embedding = nn.Embedding(max(bases) + 1, width)
        self.mark_embedding = nn.Embedding(9, width)
        self.own_embedding = nn.Embedding(len(PHONEMES), width)
        nn.init.zeros_(self.own_embedding.weight)
        self.encoder = stack(width, size.encoder_kernels, size.expansion)
        self.encoder_norm = nn.LayerNorm(width)
        # The teacher normalises over a whole text, and picks its style by length.
        self.whole = nn.Linear(width, width)
        nn.init.zeros_(self.whole.weight)
        nn.init.zeros_(self.whole.bias)
        self.duration = stack(width, size.duration_kernels, 2)
        self.duration_head = nn.Linear(width, 1)
        self.pitch_in = nn.Linear(width + 3, size.pitch_width)
        self.pitch = stack(size.pitch_width, size.pitch_kernels, 2)
        self.pitch_norm = nn.LayerNorm(size.pitch_width)
        self.pitch_head = nn.Linear(size.pitch_width, 2)
        self.decoder_in = nn.Linear(width + 3 + 2, size.decoder_width)
        self.decoder = stack(size.decoder_width, size.decoder_kernels, size.expansion)
        self.decoder_norm = nn.LayerNorm(size.decoder_width)
        self.decoder_head = nn.Linear(size.decoder_width, N_MELS + size.latents)
        self.context = context(size.pitch_kernels) + context(size.decoder_kernels)

    def embedding(self) -> torch.Tensor:
        """The table ``(phonemes, width)`` that the export bakes in."""
        return (
            self.base_embedding.weight[self.bases]
            + self.mark_embedding.weight[self.marks]
            + self.own_embedding.weight
        )

    def encode(
        self, ids: torch.Tensor, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """``(B, T)`` to hidden ``(B, T, D)`` and log durations ``(B, T)``."""
        return self.encode_embedded(nn.functional.embedding(ids, self.embedding()), mask)

    def encode_embedded(
        self, x: torch.Tensor, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """:meth:`encode` from rows of the table ``(B, T, D)``."""
        hidden = self.encoder_norm(run_stack(self.encoder, x, mask))
        if mask is None:
            mean = hidden.mean(1, keepdim=True)
        else:
            mean = (hidden * mask[..., None]).sum(1, keepdim=True) / mask.sum(1)[:, None, None]
        hidden = hidden + self.whole(mean)
        # Durations learn from the encoder, but hardly shape it.
        seen = hidden.detach() * 0.8 + hidden * 0.2 if self.training else hidden
        return hidden, self.duration_head(run_stack(self.duration, seen, mask))[..., 0]

    def decode(
        self,
        frames: torch.Tensor,
        mask: torch.Tensor | None = None,
        told: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """``(B, F, D + 3)`` to features ``(B, 82 + latents, F)``: mel, F0, voicing, latents.

        ``told`` ``(B, F)`` is F0 in hertz for the decoder to go by in place of its own
        (below 0: none told): spectra learned beside another F0 than they were spoken with blur.
        """
        pitch = self.pitch_head(self.pitch_norm(run_stack(self.pitch, self.pitch_in(frames), mask)))
        followed = pitch if told is None else tell(pitch, told)
        x = self.decoder_in(torch.cat([frames, followed.to(frames.dtype)], -1))
        out = self.decoder_head(self.decoder_norm(run_stack(self.decoder, x, mask)))
        return torch.cat([out[..., :N_MELS], pitch, out[..., N_MELS:]], -1).transpose(1, 2)


def tell(pitch: torch.Tensor, told_hz: torch.Tensor) -> torch.Tensor:
    """Predicted log F0 and voicing ``(B, F, 2)`` with what is told in their place."""
    log_f0, voicing = pitch.float().unbind(-1)
    voiced = told_hz > VOICED_HZ
    certain = voicing.abs().clamp(min=2)
    told_log = torch.log(told_hz.clamp(min=VOICED_HZ) / F0_REFERENCE_HZ)
    replaced = torch.stack(
        [torch.where(voiced, told_log, log_f0), torch.where(voiced, certain, -certain)], -1
    )
    return torch.where((told_hz < 0)[..., None], pitch.float(), replaced)


def band_centres() -> list[int]:
    """The bins in which the vocoder's bands lie, closer below."""
    centres = [*range(50), *range(50, 126, 2), *range(126, N_BINS, 4)]
    if centres[-1] < N_BINS - 1:
        centres.append(N_BINS - 1)
    return centres


def band_grid() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What each bin takes from the bands beside it: lower band, upper band and weight."""
    centres = band_centres()
    bins = torch.arange(N_BINS)
    points = torch.tensor(centres)
    upper = torch.searchsorted(points, bins).clamp(min=1, max=len(centres) - 1)
    lower = upper - 1
    weight = (bins - points[lower]).float() / (points[upper] - points[lower]).float()
    return lower, upper, weight


class Vocoder(nn.Module):
    """Features to a complex harmonic filter and a noise magnitude, bin by bin."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        lower, upper, weight = band_grid()
        self.register_buffer("lower", lower, persistent=False)
        self.register_buffer("upper", upper, persistent=False)
        self.register_buffer("weight", weight, persistent=False)
        self.bands = int(upper.max()) + 1
        width = size.vocoder_width
        self.latents = size.latents
        self.input = nn.Linear(N_MELS + 2 + size.latents, width)
        self.blocks = stack(width, size.vocoder_kernels, size.expansion)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 3 * self.bands)
        with torch.no_grad():
            self.head.weight.mul_(0.3)
            self.head.bias[: self.bands] = -4
            self.head.bias[2 * self.bands :] = -6
        self.context = context(size.vocoder_kernels)

    def to_bins(self, bands: torch.Tensor) -> torch.Tensor:
        """``(B, F, bands)`` to ``(B, F, 301)``, linear between the bands beside each bin."""
        # Rows are gathered, not columns: ONNX Runtime copies those one value at a time,
        # which took a third of the vocoder's time.
        rows = bands.transpose(1, 2)
        low, high = rows[:, self.lower], rows[:, self.upper]
        return (low + (high - low) * self.weight[:, None]).transpose(1, 2)

    def forward(
        self, features: torch.Tensor, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """``(B, 82 + latents, F)`` to real, imaginary, noise magnitude, each ``(B, F, 301)``.

        Frames that are 0 in ``mask`` ``(B, F)`` lie beyond a text's ends.
        """
        x = self.norm(run_stack(self.blocks, self.input(features.transpose(1, 2)), mask))
        log_magnitude, phase, log_noise = self.head(x).float().chunk(3, -1)
        magnitude = torch.exp(log_magnitude.clamp(-12, 6))
        angle = math.pi * torch.tanh(phase)
        return (
            self.to_bins(magnitude * torch.cos(angle)),
            self.to_bins(magnitude * torch.sin(angle)),
            self.to_bins(torch.exp(log_noise.clamp(-10, 4))),
        )


def vocoder_features(
    log_mel: torch.Tensor, f0_hz: torch.Tensor, latents: torch.Tensor | int
) -> torch.Tensor:
    """Features ``(B, 82 + L, F)`` from log mel ``(B, 80, F)``, F0 ``(B, F)`` and latents.

    ``latents`` are ``(B, L, F)``, or how many there are where the teacher, which has none, speaks.
    """
    voiced = (f0_hz > VOICED_HZ).float()
    log_f0 = torch.log(f0_hz.clamp(min=VOICED_HZ) / F0_REFERENCE_HZ) * voiced
    if isinstance(latents, int):
        latents = log_mel.new_zeros(len(log_mel), latents, log_mel.shape[-1])
    return torch.cat([log_mel / MEL_SCALE, log_f0[:, None], voiced[:, None], latents], 1)
