"""``edgetts synth``: speak a text into a file, a pipe or a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from edge_tts.commands.speech_stats import SpeechStats
    from edge_tts.pipeline import Pipeline

EPILOG = """\b
Examples:
  edgetts synth "警告，主轴温度过高，当前 85℃" -o alarm.wav
  edgetts synth "Motor stalled" -o - | aplay -q -t raw -f S16_LE -r 24000
  my-language-model | edgetts synth --stream -
"""


@click.command(epilog=EPILOG)
@click.argument("text", nargs=-1, required=True)
@click.option(
    "-o", "--output", metavar="FILE",
    help="WAV file to write; - writes raw PCM (signed 16 bit, little-endian, mono) to "
    "standard output. Without it the text is spoken through the sound device.",
)  # fmt: skip
@click.option("--rate", type=click.IntRange(8000, 192_000), metavar="HZ",
              help="Sample rate of the output instead of the voice's own.")  # fmt: skip
@click.option("--speed", type=click.FloatRange(0.5, 2.0), help="Pace; 2 is twice as fast.")
@click.option("--gain", type=click.FloatRange(-60.0, 24.0), default=0.0, metavar="DB",
              help="Louder or softer by so many decibels.")  # fmt: skip
@click.option("--voice", metavar="NAME", help="Installed voice, or the path of its folder.")
@click.option("--provider", metavar="NAME",
              help="tensorrt, cuda or cpu: that one alone, or an error.")  # fmt: skip
@click.option("--stream", is_flag=True,
              help="Read standard input as it comes, speak at punctuation.")  # fmt: skip
@click.option("--stats", type=click.Choice(["json"]),
              help="Print times, speed and memory (beside -o - on standard error).")  # fmt: skip
def command(
    text: tuple[str, ...],
    output: str | None,
    rate: int | None,
    speed: float | None,
    gain: float,
    voice: str | None,
    provider: str | None,
    stream: bool,
    stats: str | None,
) -> None:
    """Speak TEXT; - in its place reads standard input."""
    import os
    import sys

    from edge_tts.errors import UsageError

    if stream and text != ("-",):
        raise UsageError("--stream reads standard input; give - in place of the text")
    if output == "-" and sys.stdout.isatty():
        raise UsageError("raw PCM does no good on a terminal; give --output a file or a pipe")
    # One core speaks; numpy's threads would only cost memory and start-up.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from edge_tts.commands.speech_output import play, write_file
    from edge_tts.commands.speech_stats import SpeechStats
    from edge_tts.config import load_settings
    from edge_tts.pipeline import build_pipeline

    settings = load_settings(
        overrides={
            "voice.name": voice,
            "inference.provider": provider,
            "synthesis.speed": speed,
        }
    )
    source = None if stream else _whole_text(text)
    pipeline = build_pipeline(settings, real_time=output is None)
    watch = SpeechStats()
    pace = settings.synthesis.speed
    if source is None:
        chunks = pipeline.stream_pieces(_arriving_text(), pace, gain)
    else:
        chunks = pipeline.stream(source, pace, gain)
    if output is None:
        first_pcm_ms = play(watch.watch(chunks), settings.audio, pipeline.sample_rate_hz, rate)
    else:
        first_pcm_ms = write_file(watch.watch(chunks), output, pipeline.sample_rate_hz, rate)
    for warning in pipeline.warnings:
        click.echo(f"edgetts: warning: {warning}", err=True)
    if stats:
        click.echo(_stats_line(watch, first_pcm_ms, pipeline), err=output == "-")


def _whole_text(arguments: tuple[str, ...]) -> str:
    import os
    import sys

    from edge_tts.text.decoding import decode_text

    if arguments == ("-",):
        data = sys.stdin.buffer.read()
    else:
        data = os.fsencode(" ".join(arguments))
    text, warnings = decode_text(data)
    for warning in warnings:
        click.echo(f"edgetts: warning: {warning}", err=True)
    return text


def _arriving_text() -> Iterator[str]:
    """Standard input in pieces, each as soon as it is there; at most 4 KiB wait here."""
    import codecs
    import os

    from edge_tts.text.decoding import decode_text

    decoder = codecs.getincrementaldecoder("utf-8")()
    while data := os.read(0, 4096):
        waiting = decoder.getstate()[0]
        try:
            text = decoder.decode(data)
        except UnicodeDecodeError:
            decode_text(waiting + data)
            raise
        if text:
            yield text
    text, warnings = decode_text(decoder.getstate()[0])
    for warning in warnings:
        click.echo(f"edgetts: warning: {warning}", err=True)


def _stats_line(watch: SpeechStats, first_pcm_ms: float, pipeline: Pipeline) -> str:
    """One line of JSON; ``first_audio_ms`` runs from the text, ``cold_start_ms`` from exec."""
    import json

    from edge_tts.commands.speech_stats import peak_rss_mb

    def rounded(stages_ms: dict[str, float]) -> dict[str, float]:
        return {stage: round(spent_ms, 3) for stage, spent_ms in stages_ms.items()}

    about: dict[str, Any] = {
        **pipeline.describe(),
        "first_audio_ms": round(watch.first_audio_ms or 0.0, 3),
        "first_stages_ms": rounded(watch.first_stages_ms),
        "stages_ms": rounded(watch.stages_ms),
        "cold_start_ms": round(first_pcm_ms, 1),
        "audio_s": round(watch.audio_s, 3),
        "chunks": watch.chunks,
        "x_real_time": round(watch.x_real_time, 1),
        "real_time_factor": round(1.0 / watch.x_real_time, 5) if watch.x_real_time else None,
        "peak_rss_mb": round(peak_rss_mb(), 1),
        "via": sorted(watch.via),
        "warnings": list(pipeline.warnings),
    }
    return json.dumps(about, ensure_ascii=False)
