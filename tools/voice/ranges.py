"""Ranges that int8 takes well: weights changed so that the same is spoken in fp32.

A matrix product's input becomes int8 in one range for all its channels, so a few wide ones
cost the others their resolution (SmoothQuant, Xiao et al. 2023).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from tools.voice.dataset import Item, collate
from tools.voice.model import AcousticModel, ConvNeXt, Vocoder
from tools.voice.objectives import frames_of
from tools.voice.signal import N_MELS

# Mel bands, as they are exchanged, reach 2.3; of 1.5 to 4 this left the least error.
LATENT_PEAK = 1.5
# How much of the range of activations goes into the weights: 0.5 to 0.8 lessened the vocoder's
# error alike, by 1.6 dB, and that of the decoder's mel bands by a third.
SMOOTHING = 0.65


@torch.no_grad()
def limit_latents(acoustic: AcousticModel, vocoder: Vocoder, items: list[Item]) -> None:
    """Scale down the latents that reach beyond :data:`LATENT_PEAK`; the vocoder takes them back.

    They are read beside mel bands, as one input.
    """
    if not vocoder.latents:
        return
    peak = torch.zeros(vocoder.latents)
    for item in items:
        frames, _ = frames_of(acoustic, collate([item]))
        latents = acoustic.decode(frames)[0, N_MELS + 2 :]
        peak = torch.maximum(peak, latents.abs().amax(1))
    scale = (peak / LATENT_PEAK).clamp(min=1)
    acoustic.decoder_head.weight[N_MELS:] /= scale[:, None]
    acoustic.decoder_head.bias[N_MELS:] /= scale
    vocoder.input.weight[:, N_MELS + 2 :] *= scale


@torch.no_grad()
def smooth_activations(acoustic: AcousticModel, vocoder: Vocoder, items: list[Item]) -> None:
    """Narrow the wide channels of normalised layers; the products that read them take it back.

    A norm's gain scales its channels, and so costs nothing; what GELU gives can't be scaled.
    """
    read = [
        (m.norm, m.up) for n in (acoustic, vocoder) for m in n.modules() if isinstance(m, ConvNeXt)
    ]
    read += [
        (acoustic.decoder_norm, acoustic.decoder_head),
        (acoustic.pitch_norm, acoustic.pitch_head),
        (vocoder.norm, vocoder.head),
    ]
    peaks = [torch.zeros(norm.normalized_shape) for norm, _ in read]

    def watch(peak: torch.Tensor) -> Callable[..., None]:
        def note(_: nn.Module, __: object, out: torch.Tensor) -> None:
            torch.maximum(peak, out.abs().amax((0, 1)), out=peak)

        return note

    hooks = [
        norm.register_forward_hook(watch(peak)) for (norm, _), peak in zip(read, peaks, strict=True)
    ]
    for item in items:
        frames, _ = frames_of(acoustic, collate([item]))
        vocoder(acoustic.decode(frames))
    for hook in hooks:
        hook.remove()
    for (norm, product), peak in zip(read, peaks, strict=True):
        rows = product.weight.abs().amax(0).clamp(min=1e-5)
        scale = peak.clamp(min=1e-5) ** SMOOTHING / rows ** (1 - SMOOTHING)
        scale /= scale.log().mean().exp()
        norm.weight /= scale
        norm.bias /= scale
        product.weight *= scale
