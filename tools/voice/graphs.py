"""The student as ONNX graphs.

Those in fp32 keep layer norm and GELU as elementary operators (opset 16), which
TensorRT 8.5's parser takes. Those that become int8, which only ONNX Runtime reads, have
layer norm as one operator (opset 17): its own fusion misses those behind a transposition.
Everything that depends on data lengths (repeating hidden states by durations) stays on
the host.
"""

from __future__ import annotations

import copy
from pathlib import Path

import torch
from torch import nn

from edge_tts.text.inventory import PHONEMES
from tools.voice.model import AcousticModel, ConvNeXt, Size, Vocoder, band_centres
from tools.voice.signal import N_FFT, N_MELS, SAMPLE_RATE_HZ

FP32_OPSET = 16
INT8_OPSET = 17
# What the mean over many ways to say a sound flattens: formants, in bands of speech this wide.
FORMANT_WIDTH_HZ = 1500.0
FORMANT_GAIN = 0.3


class EncoderGraph(nn.Module):
    def __init__(self, acoustic: AcousticModel) -> None:
        super().__init__()
        self.acoustic = acoustic
        self.table = nn.Parameter(acoustic.embedding().detach().clone())

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.acoustic.encode_embedded(self.table[ids])


class DecoderGraph(nn.Module):
    def __init__(self, acoustic: AcousticModel) -> None:
        super().__init__()
        self.acoustic = acoustic

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        return self.acoustic.decode(frames)


class VocoderGraph(nn.Module):
    """The vocoder with a gain on the noise of voiced frames, ``voiced_gains`` a band."""

    def __init__(self, vocoder: Vocoder, voiced_gains: torch.Tensor) -> None:
        super().__init__()
        self.vocoder = vocoder
        more = vocoder.to_bins(voiced_gains[None, None])[0, 0] - 1  # (601,)
        self.more = nn.Parameter(more, requires_grad=False)

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        real, imaginary, noise = self.vocoder(features)
        voiced = features[:, N_MELS + 1 : N_MELS + 2].transpose(1, 2)  # (B, F, 1)
        return real, imaginary, noise * (1 + voiced * self.more)


def formant_change(vocoder: Vocoder, gain: float) -> torch.Tensor:
    """``(bands, bands)`` what :func:`raise_formants` adds to the log magnitudes of bands."""
    centres_hz = torch.tensor(band_centres()) * SAMPLE_RATE_HZ / N_FFT
    near = (1 - (centres_hz[:, None] - centres_hz[None, :]).abs() / FORMANT_WIDTH_HZ).clamp(min=0)
    return gain * (torch.eye(vocoder.bands) - near / near.sum(1, keepdim=True))


@torch.no_grad()
def raise_formants(vocoder: Vocoder, gain: float) -> None:
    """Scale what log magnitudes have above their mean over neighbouring bands by ``1 + gain``.

    A formant postfilter as of parametric speech synthesis, taken into the last product's
    weights, where it costs nothing. Harmonics and noise alike.
    """
    change = formant_change(vocoder, gain)
    for first in (0, 2 * vocoder.bands):
        rows = slice(first, first + vocoder.bands)
        for values in (vocoder.head.weight, vocoder.head.bias):
            values[rows] += change @ values[rows]


def load_student(checkpoints: Path, size: Size | None = None) -> tuple[AcousticModel, Vocoder]:
    """The averaged weights of the joint stage, else of the two stages before it."""
    size = size or Size()
    acoustic, vocoder = AcousticModel(size), Vocoder(size)
    joint = checkpoints / "joint.pt"
    for name, key, module in (
        ("acoustic", "acoustic", acoustic),
        ("vocoder", "vocoder", vocoder),
    ):
        path = joint if joint.exists() else checkpoints / f"{name}.pt"
        module.load_state_dict(torch.load(path, weights_only=True)["averages"][key])
        module.eval()
        for block in module.modules():
            if isinstance(block, ConvNeXt):
                block.fold()
    return acoustic, vocoder


class ImageConvNeXt(nn.Module):
    """A folded block whose depthwise convolution has two dimensions, one of them 1.

    ONNX Runtime has its blocked layout for images alone: with it the convolution and the
    transpositions around it take half the time.
    """

    def __init__(self, block: ConvNeXt) -> None:
        super().__init__()
        one = block.depthwise
        width, kernel = one.out_channels, one.kernel_size[0]
        self.depthwise = nn.Conv2d(
            width, width, (1, kernel), padding=(0, kernel // 2), groups=width
        )
        self.depthwise.weight = nn.Parameter(one.weight.detach()[:, :, None])
        self.depthwise.bias = one.bias
        self.norm, self.up, self.down = block.norm, block.up, block.down

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        image = x.unsqueeze(1).permute(0, 3, 1, 2)  # (B, C, 1, T)
        y = self.depthwise(image).permute(0, 2, 3, 1).squeeze(1)
        return x + self.down(nn.functional.gelu(self.up(self.norm(y))))


def with_images(module: nn.Module) -> nn.Module:
    """A copy of a module with :class:`ImageConvNeXt` for each of its folded blocks."""
    copied = copy.deepcopy(module)
    for parent in list(copied.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, ConvNeXt):
                setattr(parent, name, ImageConvNeXt(child))
    return copied


def export_graphs(
    acoustic: AcousticModel,
    vocoder: Vocoder,
    folder: Path,
    voiced_gains: torch.Tensor,
    opset: int = FP32_OPSET,
) -> None:
    """Write ``encoder.onnx``, ``decoder.onnx`` and ``vocoder.onnx`` in fp32.

    Those of :data:`INT8_OPSET` are laid out for ONNX Runtime.
    """
    width = acoustic.encoder_norm.normalized_shape[0]
    graphs: tuple[tuple[str, nn.Module, torch.Tensor, str, list[str], dict[int, str]], ...] = (
        ("encoder", EncoderGraph(acoustic), torch.randint(4, len(PHONEMES), (1, 40)), "ids",
         ["hidden", "log_durations"], {1: "phonemes"}),
        ("decoder", DecoderGraph(acoustic), torch.randn(1, 64, width + 3), "frames",
         ["features"], {1: "frames"}),
        ("vocoder", VocoderGraph(vocoder, voiced_gains),
         torch.randn(1, N_MELS + 2 + vocoder.latents, 64), "features",
         ["harmonic_real", "harmonic_imag", "noise_magnitude"], {2: "frames"}),
    )  # fmt: skip
    for name, module, example, input_name, outputs, axes in graphs:
        laid_out = with_images(module) if opset == INT8_OPSET else module
        torch.onnx.export(
            laid_out.eval(),
            (example,),
            str(folder / f"{name}.onnx"),
            input_names=[input_name],
            output_names=outputs,
            dynamic_axes={input_name: axes},
            opset_version=opset,
            dynamo=False,
        )
