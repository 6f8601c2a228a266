"""Measures int8 layer kind by layer kind, and calibrates the Wiener filter.

Each scheme makes a pack of its own beside the voice. Against the fp32 run of the
same lines it prints: bytes, time of one chunk on one core, how far the vocoder's
error lies under its signal, log-spectral distance, DistillMOS. The vocoder's error
spectrum goes into ``voice.json`` as ``wiener.noise_log_spectrum``; the filter is
enabled there only where it raises the DistillMOS of int8 by :data:`LEAST_GAIN`.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.synthesis.acoustic_model import AcousticModel
from edge_tts.synthesis.dsp_vocoder import DspVocoder
from edge_tts.synthesis.synthesizer import Synthesizer
from edge_tts.text.front_end import TextFrontEnd
from edge_tts.text.lexicon import Lexicon
from edge_tts.voice import GRAPHS, Voice, load_voice
from tools.voice.description import read_description, write_description
from tools.voice.evaluate import LINES, read_lines
from tools.voice.quantise import Feed, Scheme, quantise
from tools.voice.spoken import (
    Float32,
    Recorder,
    Spoken,
    active_level_dbfs,
    chunk_ms,
    log_spectral_distance,
    mos_rater,
    noise_power,
    speak,
)

CALIBRATION_LINES = 24
# Of DistillMOS, for the filter to be worth it: it takes weak consonants along with the noise. At
# 0.03 Whisper misheard 32 of 91 tokens in single words where it misheard 26 without.
LEAST_GAIN = 0.05

VARIANTS: dict[str, Scheme] = {
    "MatMul dynamic per channel": Scheme(),
    "MatMul dynamic per tensor": Scheme(per_channel=False),
    "MatMul + depthwise Conv dynamic": Scheme(("MatMul", "Conv")),
    "depthwise Conv alone dynamic": Scheme(("Conv",)),
    "MatMul static QDQ": Scheme(static=True),
    "MatMul + depthwise Conv static QDQ": Scheme(("MatMul", "Conv"), static=True),
}


@click.command()
@click.option(
    "--voice", "folder", type=click.Path(path_type=Path, exists=True), default=Path("models/zh-en")
)
@click.option("--mos/--no-mos", default=True, help="DistillMOS for each scheme.")
@click.option(
    "--calibrate-only", is_flag=True, help="Only the noise spectrum of the voice's own int8 form."
)
def main(folder: Path, mos: bool, calibrate_only: bool) -> None:
    """Print the table of schemes and store the noise spectrum in voice.json."""
    voice = load_voice(folder)
    texts = [line["text"] for line in read_lines(LINES)][::3][:CALIBRATION_LINES]
    fp32: dict[str, Recorder] = {g: Recorder(voice.graph_path(g, "fp32")) for g in GRAPHS}
    reference = [speak(voice, dict(fp32), text) for text in texts]
    rate = mos_rater() if mos else None
    plain_paths = {g: voice.graph_path(g, "fp32") for g in GRAPHS}
    click.echo(
        "| scheme | MB | decoder CPU ms | vocoder CPU ms | vocoder error dB "
        "| log-spectral distance dB | DistillMOS |"
    )
    click.echo("|---|---|---|---|---|---|---|")
    feeds = {g: fp32[g].feeds for g in GRAPHS}
    typical = {g: feeds[g][-2] for g in GRAPHS}
    row("fp32", total(plain_paths), plain_paths, voice, typical, reference, texts, rate)
    own = {g: voice.graph_path(g, "int8") for g in GRAPHS}
    noise = calibrate(voice, own, fp32, reference, texts)
    plain = row("the voice's int8", total(own), own, voice, typical, reference, texts, rate, fp32)
    filtered = row(
        "the voice's int8 + Wiener",
        total(own),
        own,
        voice,
        typical,
        reference,
        texts,
        rate,
        fp32,
        noise,
    )
    # Not by the distance to fp32, whose own noise the filter takes away too.
    store(folder, noise, active_level_dbfs(reference), filtered - plain > LEAST_GAIN)
    match_fallback(folder, texts)
    if calibrate_only:
        return
    for name, scheme in VARIANTS.items():
        with tempfile.TemporaryDirectory() as scratch:
            paths = {}
            for graph in GRAPHS:
                paths[graph] = Path(scratch) / f"{graph}.onnx"
                if graph == "encoder":
                    shutil.copy(own[graph], paths[graph])
                else:
                    quantise(
                        voice.graph_path(graph, "fp32"), paths[graph], scheme, feeds[graph][::4]
                    )
            row(name, total(paths), paths, voice, typical, reference, texts, rate, fp32)


def total(paths: dict[str, Path]) -> int:
    return sum(path.stat().st_size for path in paths.values())


def calibrate(
    voice: Voice,
    int8: dict[str, Path],
    fp32: dict[str, Recorder],
    reference: list[Spoken],
    texts: list[str],
) -> npt.NDArray[np.float64]:
    """Natural log of the noise power that the int8 vocoder adds to the same features."""
    sessions = {
        "encoder": fp32["encoder"],
        "decoder": fp32["decoder"],
        "vocoder": OnnxSession(int8["vocoder"]),
    }
    spoken = [speak(voice, sessions, text) for text in texts]
    return np.log(noise_power(reference, spoken) + 1e-12)


def row(
    name: str,
    size: int,
    paths: dict[str, Path],
    voice: Voice,
    typical: dict[str, Feed],
    reference: list[Spoken],
    texts: list[str],
    rate: Callable[[Float32], float] | None,
    fp32: dict[str, Recorder] | None = None,
    noise: npt.NDArray[np.float64] | None = None,
) -> float:
    """Print one line of the table; returns its DistillMOS, NaN without a rater."""
    vocoder = OnnxSession(paths["vocoder"])
    whole = {g: OnnxSession(paths[g]) for g in GRAPHS}
    same = (
        {"encoder": fp32["encoder"], "decoder": fp32["decoder"], "vocoder": vocoder}
        if fp32
        else whole
    )
    spoken = [speak(voice, same, text, noise) for text in texts]
    signal = np.concatenate([np.abs(r.spectra) ** 2 for r in reference]).sum()
    error = noise_power(reference, spoken).sum() * sum(len(r.spectra) for r in reference)
    distance = float(
        np.mean(
            [
                log_spectral_distance(r.samples, s.samples)
                for r, s in zip(reference, spoken, strict=True)
            ]
        )
    )
    mos = float("nan")
    if rate is not None:
        mos = float(np.mean([rate(speak(voice, whole, text, noise).samples) for text in texts]))
    ratio = f"{10 * np.log10(error / signal):.1f}" if error > 0 else "–"
    click.echo(
        f"| {name} | {size / 1e6:.2f} | {chunk_ms(paths['decoder'], typical['decoder']):.2f} "
        f"| {chunk_ms(paths['vocoder'], typical['vocoder']):.2f} | {ratio} | {distance:.2f} "
        f"| {mos:.3f} |"
    )
    return mos


def store(folder: Path, noise: npt.NDArray[np.float64], level_dbfs: float, helps: bool) -> None:
    """Put level, noise spectrum and whether filtering it helps into ``voice.json``."""
    data = read_description(folder)
    data["figures"] = {**data.get("figures", {}), "level_dbfs": round(level_dbfs, 2)}
    data["wiener"] = {"enabled": helps, "noise_log_spectrum": [round(float(x), 3) for x in noise]}
    write_description(folder, data)


def match_fallback(folder: Path, texts: list[str]) -> None:
    """Store the gain that makes the fallback vocoder as loud as the network."""
    voice = load_voice(folder)
    lines = []
    for text in texts:
        synthesizer = Synthesizer(
            TextFrontEnd(Lexicon.open(voice.lexicon_path()), voice.phonemes),
            AcousticModel(
                OnnxSession(voice.graph_path("encoder", "fp32")),
                OnnxSession(voice.graph_path("decoder", "fp32")),
                voice,
            ),
            None,
            DspVocoder(voice),
            voice,
        )
        samples = np.concatenate([chunk.samples for chunk in synthesizer.stream(text)])
        lines.append(Spoken(samples, np.empty((0, 0), np.complex64)))
    data = read_description(folder)
    missing_db = data["figures"]["level_dbfs"] - active_level_dbfs(lines)
    gain_db = data["figures"].get("fallback_gain_db", 0.0) + missing_db
    data["figures"]["fallback_gain_db"] = round(gain_db, 2)
    write_description(folder, data)


if __name__ == "__main__":
    main()
