"""Compares voices on sentences that were never in training, in one table and one plot.

Single words have columns of their own and count in no other error rate or DistillMOS.
Those of ``data/held_out_words.txt`` are in no line of the corpus; ``known_word`` lines are
of the vocabulary that it is made of.

Whisper-base error rates (pinyin without and with tones, English words), DistillMOS,
pace, level, DC, clipping, silence at both ends; teacher, fp32, int8, int8 with the
Wiener filter, the fallback vocoder, and Piper, hibari and espeak-ng for reference.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click
import numpy as np

from edge_tts.text.lexicon import Lexicon
from tools.voice import systems
from tools.voice.description import read_description
from tools.voice.judge import Judge, Verdict
from tools.voice.teacher import BLEND

LINES = Path(__file__).parent / "data" / "evaluation_lines.tsv"
# Kinds with columns of their own. ``word`` was kept from the corpus, ``known_word`` not;
# ``long`` is a minute of text, where drift and repetition would show.
APART = ("word", "known_word", "long")
# Systems that speak from the voice pack, and the figures in it that change what they give.
OURS = ("fp32", "int8", "int8+wiener", "lite", "dsp")
GAINS = ("level_dbfs", "fallback_gain_db")


def read_lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def summary(rows: list[tuple[dict[str, str], Verdict]]) -> dict[str, float | int | None]:
    """Figures of one system over its lines; error rates in per cent."""

    def rate(language: str, kind: str | None, errors: Callable[[Verdict], int]) -> float | None:
        chosen = [
            v
            for line, v in rows
            if line["language"] == language
            and (line["kind"] == kind if kind else line["kind"] not in APART)
        ]
        tokens = sum(v.tokens for v in chosen)
        return 100 * sum(errors(v) for v in chosen) / tokens if tokens else None

    verdicts = [v for _, v in rows]
    voiced_s = sum(max(0.0, v.seconds - (v.lead_ms + v.tail_ms) / 1000) for v in verdicts)
    return {
        "lines": len(rows),
        "pinyin_error": rate("zh", None, lambda v: v.errors),
        "tone_error": rate("zh", None, lambda v: v.tone_errors),
        "word_error": rate("en", None, lambda v: v.errors),
        "one_word_zh_error": rate("zh", "word", lambda v: v.errors),
        "one_word_en_error": rate("en", "word", lambda v: v.errors),
        "known_word_zh_error": rate("zh", "known_word", lambda v: v.errors),
        "long_zh_error": rate("zh", "long", lambda v: v.errors),
        "long_en_error": rate("en", "long", lambda v: v.errors),
        "mixed_error": rate("zh", "mixed", lambda v: v.errors),
        "letters_error": rate("en", "letters", lambda v: v.errors),
        "distillmos": float(np.mean([v.mos for line, v in rows if line["kind"] not in APART])),
        "distillmos_one_word": float(
            np.mean([v.mos for line, v in rows if line["kind"] == "word"] or [np.nan])
        ),
        "tokens_per_s": sum(v.tokens for v in verdicts) / max(voiced_s, 1e-9),
        "rms_dbfs": float(np.mean([v.rms_dbfs for v in verdicts])),
        "peak_dbfs": float(max(v.peak_dbfs for v in verdicts)),
        "dc": float(max(abs(v.dc) for v in verdicts)),
        "clipped_samples": sum(v.clipped_samples for v in verdicts),
        "lead_ms": float(np.mean([v.lead_ms for v in verdicts])),
        "tail_ms": float(np.mean([v.tail_ms for v in verdicts])),
    }


COLUMNS = (
    ("pinyin_error", "pinyin %", ".1f"), ("tone_error", "+ tones %", ".1f"),
    ("word_error", "word %", ".1f"), ("one_word_zh_error", "1-word zh %", ".1f"),
    ("one_word_en_error", "1-word en %", ".1f"), ("known_word_zh_error", "known zh %", ".1f"),
    ("long_zh_error", "60 s zh %", ".1f"), ("long_en_error", "60 s en %", ".1f"),
    ("mixed_error", "mixed %", ".1f"),
    ("letters_error", "letters %", ".1f"), ("distillmos", "MOS", ".2f"),
    ("distillmos_one_word", "MOS 1-word", ".2f"), ("tokens_per_s", "tokens/s", ".1f"),
    ("rms_dbfs", "RMS dBFS", ".1f"), ("peak_dbfs", "peak dBFS", ".1f"),
    ("clipped_samples", "clipped", "d"), ("lead_ms", "lead ms", ".0f"),
    ("tail_ms", "tail ms", ".0f"),
)  # fmt: skip


def table(figures: dict[str, dict[str, float | int | None]]) -> str:
    """The comparison as Markdown."""
    lines = [
        "| system | " + " | ".join(title for _, title, _ in COLUMNS) + " |",
        "|---" * (len(COLUMNS) + 1) + "|",
    ]
    for name, row in figures.items():
        cells = [
            format(row[key], style) if row[key] is not None else "–" for key, _, style in COLUMNS
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(figures: dict[str, dict[str, float | int | None]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = (
        ("distillmos", "DistillMOS"),
        ("pinyin_error", "pinyin error %"),
        ("tone_error", "with tones %"),
        ("word_error", "English word error %"),
    )
    figure, axes = pyplot.subplots(1, len(panels), figsize=(14, 4))
    for axis, (key, title) in zip(axes, panels, strict=True):
        chosen = [(name, row[key]) for name, row in figures.items() if row[key] is not None]
        axis.barh([name for name, _ in chosen], [value for _, value in chosen])
        axis.invert_yaxis()
        axis.set_title(title)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


class Verdicts:
    """Verdicts of one system, a line of JSON each, so that a kill loses one at most.

    Those of another ``print_`` of the voice, or on another text, count no more.
    """

    def __init__(self, path: Path, print_: str) -> None:
        self._path, self._print = path, print_
        self._known: dict[str, Verdict] = {}
        if path.exists():
            for encoded in path.read_text("utf-8").splitlines():
                row = json.loads(encoded)
                text, of_print = row.pop("text"), row.pop("voice_print")
                if of_print == print_:
                    self._known[text] = Verdict(**row)

    def of(self, line: dict[str, str]) -> Verdict | None:
        return self._known.get(line["text"])

    def add(self, line: dict[str, str], verdict: Verdict) -> None:
        row = {"voice_print": self._print, "text": line["text"], **asdict(verdict)}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def lite_of(voice: Path) -> Path:
    """Where the lite form of a voice pack lies."""
    return voice.resolve().with_name(f"{voice.resolve().name}-lite")


def voice_print(voice: Path) -> str:
    """What tells one state of a voice pack from another: its description, figures left out."""
    data = read_description(voice)
    data["figures"] = {k: v for k, v in data.get("figures", {}).items() if k in GAINS}
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def makers(voice: Path, teacher_folder: Path | None) -> dict[str, Callable[[], systems.Speak]]:
    made: dict[str, Callable[[], systems.Speak]] = {}
    if teacher_folder:
        made["teacher"] = lambda: systems.teacher(teacher_folder, voice / "lexicon.bin", BLEND)
    made["fp32"] = lambda: systems.ours(voice, "fp32")
    made["int8"] = lambda: systems.ours(voice, "int8")
    made["int8+wiener"] = lambda: systems.ours(voice, "int8", wiener="on")
    if lite_of(voice).exists():
        made["lite"] = lambda: systems.ours(lite_of(voice), "int8")
    made["dsp"] = lambda: systems.ours(voice, "int8", vocoder="dsp")
    made["piper-joe"], made["hibari"], made["espeak-ng"] = (
        systems.piper,
        systems.hibari,
        systems.espeak,
    )
    return made


@click.command()
@click.option(
    "--voice",
    type=click.Path(path_type=Path, exists=True),
    default=Path("models/zh-en"),
    show_default=True,
)
@click.option(
    "--whisper",
    type=click.Path(path_type=Path, exists=True),
    required=True,
    help="CTranslate2 folder of Whisper-base.",
)
@click.option("--teacher", "teacher_folder", type=click.Path(path_type=Path, exists=True))
@click.option("--system", "wanted", multiple=True, help="Only these; default all.")
@click.option("--lines", "lines_path", type=click.Path(path_type=Path, exists=True), default=LINES)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder for verdicts, table, plot and WAVs.",
)
@click.option("--threads", type=int, default=1)
def main(
    voice: Path,
    whisper: Path,
    teacher_folder: Path | None,
    wanted: tuple[str, ...],
    lines_path: Path,
    out: Path,
    threads: int,
) -> None:
    """Judge each system on each line; lines judged before are kept in OUT."""
    from scipy.io import wavfile

    out.mkdir(parents=True, exist_ok=True)
    judge = Judge(whisper, Lexicon.open(voice / "lexicon.bin"), threads)
    lines = read_lines(lines_path)
    figures_path = out / "figures.json"
    figures = json.loads(figures_path.read_text()) if figures_path.exists() else {}
    for name, make in makers(voice, teacher_folder).items():
        if wanted and name not in wanted:
            continue
        speak = make()
        spoken_by = voice_print(lite_of(voice) if name == "lite" else voice)
        known = Verdicts(out / f"verdicts-{name}.jsonl", spoken_by if name in OURS else "")
        rows = []
        (out / name).mkdir(exist_ok=True)
        with click.progressbar(lines, label=f"{name:12}") as bar:
            for line in bar:
                verdict = known.of(line)
                if verdict is None:
                    spoken = speak(line["text"], line["language"])
                    if spoken is None:
                        continue
                    audio, rate_hz = spoken
                    wavfile.write(
                        out / name / f"{line['id']}.wav",
                        rate_hz,
                        (np.clip(audio, -1, 1) * 32767).astype(np.int16),
                    )
                    verdict = judge.listen(audio, rate_hz, line["text"], line["language"])
                    known.add(line, verdict)
                rows.append((line, verdict))
        figures[name] = summary(rows)
        figures_path.write_text(json.dumps(figures, indent=1))
    click.echo(table(figures))
    (out / "table.md").write_text(table(figures) + "\n", encoding="utf-8")
    draw(figures, out / "figures.png")


if __name__ == "__main__":
    main()
