"""The signal model that teacher data, training and runtime share, in torch.

80 frames a second at 24 kHz, a sine window of 600 samples, mel bands after the
HTK formula. The window is as short as these frames allow, as nothing that is made
of noise of random phase can be shorter: neither bursts nor the onset of a hiss. The
pulse train repeats the phase of the teacher's own harmonic source (a cumulative
sum of F0, linearly upsampled), so the student's harmonic part can be trained on
the complex spectrum.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from edge_tts.synthesis.dsp_vocoder import mel_bands

SAMPLE_RATE_HZ = 24000
HOP_LENGTH = 300
N_FFT = 600
N_BINS = N_FFT // 2 + 1
N_MELS = 80
VOICED_HZ = 40.0
F0_REFERENCE_HZ = 200.0
HIGHEST_HARMONIC_HZ = 11000.0
LOG_FLOOR = 1e-4
# Decoder and vocoder exchange log mel bands divided by this, near unit variance.
MEL_SCALE = 4.0

# The root of a periodic Hann window: its squares add up to 1 at every sample, so noise of
# random phase keeps an even level (Princen and Bradley 1986).
_WINDOW = torch.hann_window(N_FFT).sqrt()
# Divides the pulses' spectrum: a harmonic of amplitude 1 has magnitude 1 in it.
PULSE_SCALE = float(_WINDOW.sum()) / 2
# Of noise that is drawn frame by frame overlap-add leaves so much, as an amplitude.
NOISE_LEFT = math.sqrt(HOP_LENGTH / N_FFT)


def stft(audio: torch.Tensor) -> torch.Tensor:
    """``(..., N)`` samples to ``(..., 301, N / 300 + 1)`` complex bins."""
    return torch.stft(
        audio, N_FFT, HOP_LENGTH, window=_WINDOW.to(audio.device), return_complex=True
    )


def istft(spectrum: torch.Tensor, samples: int) -> torch.Tensor:
    """The inverse of :func:`stft`."""
    return torch.istft(
        spectrum, N_FFT, HOP_LENGTH, window=_WINDOW.to(spectrum.device), length=samples
    )


def mel_filters() -> torch.Tensor:
    """``(80, 301)`` from the runtime's :func:`edge_tts.synthesis.dsp_vocoder.mel_bands`."""
    return torch.from_numpy(mel_bands(N_MELS, SAMPLE_RATE_HZ, N_FFT))


_MEL = mel_filters()


def log_mel(spectrum: torch.Tensor) -> torch.Tensor:
    """Complex bins ``(..., 301, F)`` to natural-log mel bands ``(..., 80, F)``."""
    return (_MEL.to(spectrum.device) @ spectrum.abs()).clamp(min=LOG_FLOOR).log()


def pulses(f0_hz: torch.Tensor) -> torch.Tensor:
    """F0 ``(F,)`` to a band-limited pulse train ``(300 F,)``, zero where unvoiced."""
    f0 = f0_hz.double()
    phase = torch.cumsum((f0 / SAMPLE_RATE_HZ) % 1, 0) * 2 * math.pi * HOP_LENGTH
    phase = F.interpolate(
        phase[None, None], scale_factor=HOP_LENGTH, mode="linear", align_corners=False
    )[0, 0]
    f0 = f0.repeat_interleave(HOP_LENGTH)
    harmonics = torch.floor(HIGHEST_HARMONIC_HZ / f0.clamp(min=VOICED_HZ))
    angle = torch.remainder(phase, 2 * math.pi)
    half = torch.sin(angle / 2)
    at_peak = half.abs() < 1e-4
    half = torch.where(at_peak, torch.ones_like(half), half)
    # Dirichlet kernel: the sum of `harmonics` cosines in closed form
    train = torch.sin((harmonics + 0.5) * angle) / (2 * half) - 0.5
    train = torch.where(at_peak, harmonics, train)
    return torch.where(f0 > VOICED_HZ, train, torch.zeros_like(train)).float()
