"""``edgetts bench``: latency, speed and memory on this device, over alarm lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from edge_tts.commands.speech_stats import SpeechStats
    from edge_tts.pipeline import Pipeline

PERCENTILES = (50, 95, 99)
# Alarms of each kind in a round against a daemon, which speaks in real time.
SOCKET_ALARMS = 10

EPILOG = """\b
Examples:
  edgetts bench
  taskset -c 2 edgetts bench --lines my_alarms.txt --json
"""


@click.command(epilog=EPILOG)
@click.option("--lines", "lines_file", metavar="FILE",
              help="Texts to speak, one a line; by default alarms of many plants.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(1, 1000), default=3, show_default=True,
              help="How often each line is spoken.")  # fmt: skip
@click.option("--voice", metavar="NAME", help="Installed voice, or the path of its folder.")
@click.option("--provider", metavar="NAME",
              help="tensorrt, cuda or cpu: that one alone, or an error.")  # fmt: skip
@click.option("--socket", "socket_path", is_flag=False, flag_value="", metavar="[PATH]",
              help="Time a running daemon instead, from the request to the sound.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    lines_file: str | None,
    rounds: int,
    voice: str | None,
    provider: str | None,
    socket_path: str | None,
    as_json: bool,
) -> None:
    """Measure how soon and how fast this device speaks.

    First audio runs from the text to its first PCM samples, with everything
    loaded; stages are those of the first chunk, which add up to it.
    """
    import json
    import os

    if socket_path is not None:
        from edge_tts.commands import bench_socket

        timed = bench_socket.measure_socket(socket_path or None, SOCKET_ALARMS * rounds)
        click.echo(json.dumps(timed) if as_json else bench_socket.table(timed))
        return

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from edge_tts.config import load_settings
    from edge_tts.pipeline import build_pipeline

    lines = read_lines(lines_file)
    settings = load_settings(overrides={"voice.name": voice, "inference.provider": provider})
    report = measure(build_pipeline(settings), lines, rounds)
    click.echo(json.dumps(report, ensure_ascii=False) if as_json else table(report))


def read_lines(path: str | None) -> list[str]:
    """The texts of a file, one a line; without a path those of the package.

    Raises:
        InputError: the file can't be read, is not UTF-8, or holds no text.
    """
    from pathlib import Path

    import edge_tts
    from edge_tts.errors import InputError
    from edge_tts.text.decoding import decode_text

    package = Path(edge_tts.__file__).parent
    source = Path(path) if path is not None else package / "data" / "alarm_lines.txt"
    try:
        text, _ = decode_text(source.read_bytes())
    except OSError as exc:
        raise InputError(f"{source} can't be read: {exc.strerror}") from exc
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{source} holds no text; give one text a line")
    return lines


def measure(pipeline: Pipeline, lines: list[str], rounds: int) -> dict[str, Any]:
    """Speak every line ``rounds`` times and report; the keys are those of ``--json``.

    Raises:
        EdgeTtsError: a line can't be spoken.
    """
    import time

    from edge_tts.commands.speech_stats import peak_rss_mb, percentile, rss_mb

    loaded_s = time.perf_counter()
    pipeline.warm_up()
    # Twice, so that every network has seen both of its window lengths.
    _speak(pipeline, lines[0])
    warm_up_ms = 1000.0 * (time.perf_counter() - loaded_s)
    runs = [_speak(pipeline, line) for _ in range(rounds) for line in lines]
    about = pipeline.describe()
    peak_mb, loaded_mb = peak_rss_mb(), rss_mb()
    pipeline.unload()

    def spread(values: list[float]) -> dict[str, float]:
        return {f"p{percent}": round(percentile(values, percent), 3) for percent in PERCENTILES}

    first = [run.first_audio_ms or 0.0 for run in runs]
    stages = sorted({stage for run in runs for stage in run.first_stages_ms})
    work_ms, audio_s = (sum(getattr(run, name) for run in runs) for name in ("work_ms", "audio_s"))
    middle = percentile(first, 50)
    return {
        "voice": about["voice"],
        "voice_version": about["voice_version"],
        "provider": about["provider"],
        "wiener_filter": about["wiener_filter"],
        "lines": len(lines),
        "rounds": rounds,
        "first_audio_ms": spread(first),
        "jitter": round(percentile(first, 99) / middle, 3) if middle else None,
        "stages_ms": {
            stage: spread([run.first_stages_ms.get(stage, 0.0) for run in runs]) for stage in stages
        },
        "x_real_time": round(1000.0 * audio_s / work_ms, 1),
        "real_time_factor": round(work_ms / audio_s / 1000.0, 5),
        "audio_s": round(audio_s, 2),
        "warm_up_ms": round(warm_up_ms, 1),
        "peak_rss_mb": round(peak_mb, 1),
        "loaded_rss_mb": round(loaded_mb, 1),
        "idle_rss_mb": round(rss_mb(), 1),
        "via": sorted({via for run in runs for via in run.via}),
    }


def _speak(pipeline: Pipeline, line: str) -> SpeechStats:
    from edge_tts.commands.speech_stats import SpeechStats

    run = SpeechStats()
    for _ in run.watch(pipeline.stream(line)):
        pass
    return run


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    heading = f"{report['voice']} {report['voice_version']} on {report['provider']}"
    rows = [f"{heading}, {report['lines']} lines x {report['rounds']}", ""]
    rows.append(f"{'ms':<14}" + "".join(f"{'P' + str(p):>9}" for p in PERCENTILES))
    spreads = {"first audio": report["first_audio_ms"]}
    spreads.update({f"  {stage}": spread for stage, spread in report["stages_ms"].items()})
    for name, spread in spreads.items():
        cells = "".join(f"{spread[f'p{percent}']:>9.3f}" for percent in PERCENTILES)
        rows.append(f"{name:<14}{cells}")
    rows += [
        "",
        f"jitter P99/P50        {report['jitter']:.2f}",
        f"times real time       {report['x_real_time']:.0f}"
        f"  (real-time factor {report['real_time_factor']:.4f})",
        f"loading and first run {report['warm_up_ms']:.0f} ms",
        f"memory                {report['peak_rss_mb']:.0f} MB peak, "
        f"{report['loaded_rss_mb']:.0f} MB loaded, {report['idle_rss_mb']:.0f} MB unloaded",
        f"Wiener filter         {'on' if report['wiener_filter'] else 'off'}",
    ]
    if report["via"] != ["neural"]:
        rows.append(f"vocoder               {', '.join(report['via'])}")
    return "\n".join(rows)
