"""What a listener hears of a GPU that is lost in mid-sentence.

``python3 -m tools.measure_gpu_loss`` speaks one line in real time again and
again; each time the process that holds the GPU's networks is stopped (as by a
driver that hangs) or killed, before the first chunk or after another one. A row says how long the
player had nothing to play, by its own clock, and on what the line ended.

Where there is no GPU, a process that runs the fp32 networks on the CPU stands
in for it: what is measured is how soon its loss is noticed and made up for.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edge_tts.audio.limiter import to_int16
from edge_tts.audio.player import Player
from edge_tts.audio.virtual_sinks import NullSink
from edge_tts.config import load_settings
from edge_tts.inference.fallback_session import FallbackSession, Opener
from edge_tts.inference.gpu_thread import open_prompt, shared_gpu_thread
from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.inference.provider import choose_provider, open_session, probe_board
from edge_tts.inference.provider_plan import ProviderPlan, ProviderStep
from edge_tts.inference.session import InferenceSession
from edge_tts.inference.worker_session import shared_worker
from edge_tts.synthesis.acoustic_model import AcousticModel
from edge_tts.synthesis.dsp_vocoder import DspVocoder
from edge_tts.synthesis.listener import Listener
from edge_tts.synthesis.synthesizer import Synthesizer
from edge_tts.synthesis.vocoder import NeuralVocoder
from edge_tts.text.front_end import TextFrontEnd
from edge_tts.text.lexicon import Lexicon
from edge_tts.voice import GRAPHS, Voice, find_voice, load_voice

LINE = "警告，主轴温度过高，当前 85℃，请立即检查冷却系统。Pump 3 tripped on overload, error E01."
FAULTS: Mapping[str, int] = {"hangs": signal.SIGSTOP, "dies": signal.SIGKILL}
BLOCK_MS = 10.0


@dataclass(frozen=True)
class Row:
    """One line, spoken with a fault after so many chunks."""

    first_audio_ms: float
    gap_ms: float
    underruns: int
    chunks: int
    ended_on: str


def stand_in(voice: Voice, graph: str, plan: ProviderPlan) -> FallbackSession:
    def on_gpu(path: Path, step: ProviderStep) -> InferenceSession:
        arguments = (str(path), "cpu", 1, False)
        return open_prompt(lambda: shared_worker().open(graph, "onnx", *arguments), f"the {graph}")

    def on_cpu(path: Path, step: ProviderStep) -> InferenceSession:
        return OnnxSession(path).load()

    openers: dict[str, Opener] = {"cuda": on_gpu, "cpu": on_cpu}
    return open_session(voice.graph_paths(graph), plan, graph=graph, openers=openers)


def sessions_of(voice: Voice, real: bool) -> tuple[dict[str, FallbackSession], ProviderPlan]:
    if real:
        plan = choose_provider(probe_board())
        if not plan.steps[0].on_gpu:
            raise SystemExit(f"no GPU can be used here: {plan.skipped[0].reason}")
        folder = load_settings().inference.engine_folder
        return {
            graph: open_session(
                voice.graph_paths(graph), plan, graph=graph, engine_folder=folder, gpu_worker=True
            )
            for graph in GRAPHS
        }, plan
    plan = ProviderPlan(
        (
            ProviderStep("cuda", "fp32", "a process on the CPU stands in"),
            ProviderStep("cpu", "int8", "int8"),
            ProviderStep("cpu", "fp32", "the reference"),
        )
    )
    return {graph: stand_in(voice, graph, plan) for graph in GRAPHS}, plan


def speak(voice: Voice, line: str, fault: str | None, after_chunks: int, real: bool) -> Row:
    """Speak a line into a device made of a clock, and lose the GPU after so many chunks."""
    sessions, plan = sessions_of(voice, real)
    synthesizer = Synthesizer(
        TextFrontEnd(
            Lexicon.open(voice.lexicon_path()), voice.phonemes, max_phonemes=voice.max_phonemes
        ),
        AcousticModel(sessions["encoder"], sessions["decoder"], voice),
        NeuralVocoder(sessions["vocoder"], voice),
        DspVocoder(voice),
        voice,
        new_listener=Listener,
    )
    for _ in synthesizer.stream("OK."):  # As the daemon warms up.
        pass
    rate_hz = voice.sample_rate_hz
    player = Player(lambda: NullSink(rate_hz, block_ms=BLOCK_MS), sample_rate_hz=rate_hz)
    player.open(wait_s=2.0)

    def lose_gpu(chunks_made: int) -> None:
        process_id = shared_worker().process_id
        if fault is not None and chunks_made == after_chunks and process_id is not None:
            os.kill(process_id, FAULTS[fault])

    lose_gpu(0)
    began_s = time.monotonic()
    first_audio_ms, parts = 0.0, []
    with player.start() as utterance:
        for chunk in synthesizer.stream(line):
            samples = to_int16(chunk.samples)
            utterance.write(samples)
            if not parts:
                first_audio_ms = 1000 * (time.monotonic() - began_s)
            parts.append(samples)
            lose_gpu(len(parts))
    report = utterance.wait()
    player.close()
    for session in sessions.values():
        session.close()
    deadline_s = time.monotonic() + 30
    while shared_gpu_thread().is_stuck and time.monotonic() < deadline_s:
        time.sleep(0.05)
    if report is None or report.started_s is None or report.finished_s is None:
        raise SystemExit("the player did not play the line")
    audible = np.abs(np.concatenate(parts).astype(np.int32)) >= 32
    sounding_s = (len(audible) - int(np.argmax(audible))) / rate_hz
    ended_on = " + ".join(sorted({str(step) for step in plan.in_use.values()}))
    gap_ms = 1000 * (report.finished_s - report.started_s - sounding_s)
    return Row(first_audio_ms, max(0.0, gap_ms), report.underruns, len(parts), ended_on)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--voice", default="zh-en", help="installed voice, or its folder")
    parser.add_argument("--line", default=LINE, help="what is spoken")
    parser.add_argument("--chunks", type=int, default=4, help="faults after none to so many chunks")
    parser.add_argument("--gpu", action="store_true", help="use this device's GPU")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    voice = load_voice(find_voice(options.voice))

    def show(what: str, row: Row) -> None:
        print(
            f"{what:<22} {row.first_audio_ms:>14.0f} {row.gap_ms:>9.1f} {row.underruns:>9}  "
            f"{row.ended_on}",
            flush=True,
        )

    whole = speak(voice, options.line, None, 0, options.gpu)
    print(f"{'the GPU':<22} {'first audio ms':>14} {'silent ms':>9} {'underruns':>9}  ended on")
    show("works", whole)
    longest_ms = 0.0
    for fault in FAULTS:
        for after in range(min(options.chunks, whole.chunks - 1) + 1):
            row = speak(voice, options.line, fault, after, options.gpu)
            show(f"{fault} after chunk {after}" if after else f"{fault} beforehand", row)
            longest_ms = max(longest_ms, row.gap_ms)
    print(f"longest gap {longest_ms:.1f} ms; a block of the device is {BLOCK_MS:g} ms")


if __name__ == "__main__":
    main()
