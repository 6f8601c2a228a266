"""Lines spoken in parts: what the study of int8 records, compares and rates."""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from edge_tts.audio.wiener_filter import WienerFilter
from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.synthesis.acoustic_model import AcousticModel
from edge_tts.synthesis.dsp_vocoder import DspVocoder
from edge_tts.synthesis.synthesizer import Synthesizer
from edge_tts.synthesis.vocoder import NeuralVocoder
from edge_tts.text.front_end import TextFrontEnd
from edge_tts.text.lexicon import Lexicon
from edge_tts.voice import Voice
from tools.voice.quantise import Feed

Float32 = npt.NDArray[np.float32]


class Recorder:
    """A session that keeps what it was fed."""

    def __init__(self, path: Path) -> None:
        self._session = OnnxSession(path)
        self.feeds: list[Feed] = []

    def run(self, inputs: Feed) -> Feed:
        self.feeds.append({k: np.array(v) for k, v in inputs.items()})
        return self._session.run(inputs)

    def close(self) -> None:
        self._session.close()


@dataclass
class Spoken:
    """Samples and spectra ``(F, 301)`` of one line."""

    samples: Float32
    spectra: npt.NDArray[np.complex64]


def speak(
    voice: Voice,
    sessions: dict[str, object],
    text: str,
    wiener: npt.NDArray[np.float64] | None = None,
) -> Spoken:
    """One line, with the vocoder's spectra kept before the filter."""
    kept: list[npt.NDArray[np.complex64]] = []

    def new_filter() -> Callable[[npt.NDArray[np.complex64]], npt.NDArray[np.complex64]]:
        active = WienerFilter(wiener) if wiener is not None else None

        def keep(spectra: npt.NDArray[np.complex64]) -> npt.NDArray[np.complex64]:
            kept.append(spectra.copy())
            return active.apply(spectra) if active else spectra

        return keep

    synthesizer = Synthesizer(
        TextFrontEnd(Lexicon.open(voice.lexicon_path()), voice.phonemes),
        AcousticModel(sessions["encoder"], sessions["decoder"], voice),
        NeuralVocoder(sessions["vocoder"], voice),
        DspVocoder(voice),
        voice,
        new_spectral_filter=new_filter,
        fixed_shapes=lambda: False,
    )
    samples = np.concatenate([chunk.samples for chunk in synthesizer.stream(text)])
    return Spoken(samples, np.concatenate(kept))


def log_spectral_distance(a: Float32, b: Float32) -> float:
    """Root mean square of the difference of log spectra, in dB, over frames that sound."""
    count = min(len(a), len(b)) // 256 * 256
    frames = [np.lib.stride_tricks.sliding_window_view(x[:count], 1024)[::256] for x in (a, b)]
    power = [np.abs(np.fft.rfft(f * np.hanning(1024))) ** 2 + 1e-5 for f in frames]
    sounding = power[0].sum(1) > 1e-2
    difference = 10 * np.log10(power[0][sounding] / power[1][sounding])
    return float(np.sqrt((difference**2).mean(1)).mean())


def chunk_ms(path: Path, feed: Feed) -> float:
    """Median CPU time of one run on one core; other programs' share does not count."""
    session = OnnxSession(path)
    times = []
    for _ in range(40):
        begun = time.process_time()
        session.run(feed)
        times.append(1000 * (time.process_time() - begun))
    return float(np.median(times[8:]))


def noise_power(reference: list[Spoken], others: list[Spoken]) -> npt.NDArray[np.float64]:
    """Mean power of the vocoder's error in each bin ``(301,)``."""
    errors = [np.abs(a.spectra - b.spectra) ** 2 for a, b in zip(reference, others, strict=True)]
    return np.concatenate(errors).mean(0).astype(np.float64)


def active_level_dbfs(lines: list[Spoken]) -> float:
    """RMS level of what sounds, in blocks of 20 ms within 40 dB of the loudest of its line."""
    powers = []
    for line in lines:
        blocks = line.samples[: len(line.samples) // 480 * 480].reshape(-1, 480)
        power = (blocks.astype(np.float64) ** 2).mean(1)
        powers.append(power[power > power.max() * 1e-4])
    return float(10 * np.log10(np.concatenate(powers).mean()))


def mos_rater() -> Callable[[Float32], float]:
    """DistillMOS of samples at 24 kHz."""
    import torch

    from tools.voice.judge import resample

    sys.modules.setdefault("torchaudio", types.ModuleType("torchaudio"))
    from distillmos import ConvTransformerSQAModel

    model = ConvTransformerSQAModel()
    model.eval()

    def rate(samples: Float32) -> float:
        with torch.no_grad():
            return float(model(torch.from_numpy(resample(samples, 24000))[None])[0])

    return rate
