#!/usr/bin/env python3
"""What ONNX Runtime's arena, memory pattern and threads cost and bring, for a voice's networks.

``python3 tools/measure_sessions.py models/zh-en`` prints a row for each choice,
measured in a process of its own: resident memory with the networks loaded, the
same after a long phrase, and the time of one encoder run and one chunk.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import quantiles

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

CHOICES = (
    # precision, threads, keep_memory
    ("int8", 1, False),
    ("int8", 1, True),
    ("int8", 2, False),
    ("fp32", 1, False),
    ("fp32", 1, True),
    ("fp32", 2, False),
)
ROUNDS = 100


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def measure(folder: Path, precision: str, threads: int, keep_memory: bool) -> dict[str, float]:
    """Load the three networks as the runtime does, and run them."""
    import numpy as np

    from edge_tts.inference.onnx_session import OnnxSession
    from edge_tts.voice import load_voice

    voice = load_voice(folder)
    rng = np.random.default_rng(0)

    def session(graph: str) -> OnnxSession:
        path = voice.graph_path(graph, precision)
        return OnnxSession(path, threads=threads, keep_memory=keep_memory).load()

    encoder, decoder, vocoder = session("encoder"), session("decoder"), session("vocoder")
    loaded_mb = resident_mb()
    hidden = encoder.run({"ids": np.full((1, 4), 10)})["hidden"].shape[2]

    def speak(phonemes: int, frames: int) -> None:
        encoder.run({"ids": rng.integers(8, len(voice.phonemes), (1, phonemes))})
        shape = (1, frames, hidden + voice.frame_positions)
        decoder.run({"frames": rng.standard_normal(shape).astype(np.float32)})
        features = rng.standard_normal((1, voice.n_features, frames)).astype(np.float32)
        vocoder.run({"features": features})

    chunk = voice.graphs["vocoder"].chunk_frames[-1] + 2 * voice.graphs["vocoder"].context
    for _ in range(5):
        speak(40, chunk)
    times_ms = []
    for _ in range(ROUNDS):
        began_s = time.perf_counter()
        speak(40, chunk)
        times_ms.append(1000 * (time.perf_counter() - began_s))
    speak(voice.max_phonemes, 10 * chunk)
    speak(40, chunk)
    cuts = quantiles(times_ms, n=100)
    return {
        "loaded_mb": loaded_mb,
        "after_long_mb": resident_mb(),
        "p50_ms": cuts[49],
        "p99_ms": cuts[98],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("voice", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.voice, *json.loads(options.one))))
        return
    print("precision threads keep_memory  loaded MB  after long MB  P50 ms  P99 ms")
    for choice in CHOICES:
        command = [sys.executable, __file__, str(options.voice), "--one", json.dumps(choice)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        row = json.loads(done.stdout)
        precision, threads, keep = choice
        print(
            f"{precision:<9} {threads:^7} {keep!s:<11} {row['loaded_mb']:10.1f} "
            f"{row['after_long_mb']:14.1f} {row['p50_ms']:7.2f} {row['p99_ms']:7.2f}"
        )


if __name__ == "__main__":
    main()
