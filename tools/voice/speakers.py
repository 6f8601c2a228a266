"""Chooses the teacher's speaker by measurement: blends compared on the same lines.

Lines come from the corpus generators under a seed of their own. Half of them are word
salad, so error rates are high; compare them down the column only.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import click
import numpy as np

from edge_tts.text.lexicon import Lexicon
from tools.voice import texts
from tools.voice.judge import Judge, Verdict
from tools.voice.pronounce import Pronouncer
from tools.voice.teacher import SAMPLE_RATE_HZ, Teacher, parse_blend

CHINESE_KINDS = (texts.zh_alarm, texts.zh_general, texts.zh_numbers, texts.mixed)
ENGLISH_KINDS = (texts.en_alarm, texts.en_general, texts.en_numbers)
BLENDS = (
    "zf_xiaoxiao=0.7,af_heart=0.3",
    "zf_xiaoxiao=0.5,af_heart=0.5",
    "zf_xiaobei=0.6,af_heart=0.4",
    "zm_yunjian=0.7,am_michael=0.3",
)


def lines(language: str, count: int) -> list[str]:
    """``count`` texts of one language, each kind in turn, always the same."""
    random = Random(f"edge-tts speakers {language}")
    kinds = CHINESE_KINDS if language == "zh" else ENGLISH_KINDS
    return [kinds[index % len(kinds)](random) for index in range(count)]


def rate(verdicts: list[Verdict], *, tones: bool = False) -> float:
    """Errors in per cent of the tokens asked for."""
    errors = sum(v.tone_errors if tones else v.errors for v in verdicts)
    return 100 * errors / sum(v.tokens for v in verdicts)


@click.command()
@click.option("--teacher", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--whisper", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--blend", "blends", multiple=True, default=BLENDS, help="May be given repeatedly.")
@click.option("--count", type=int, default=100, show_default=True, help="Lines a language.")
@click.option("--threads", type=int, default=2, show_default=True)
@click.option(
    "--lexicon",
    type=click.Path(path_type=Path, exists=True),
    default=Path("models/zh-en/lexicon.bin"),
)
@click.option("--json", "as_json", is_flag=True)
def main(
    teacher: Path,
    whisper: Path,
    blends: tuple[str, ...],
    count: int,
    threads: int,
    lexicon: Path,
    as_json: bool,
) -> None:
    """Print pinyin, tone and word errors and DistillMOS of each blend of speakers."""
    judge, pronounce = Judge(whisper, Lexicon.open(lexicon), threads), Pronouncer(lexicon)
    figures = {}
    for blend in blends:
        speaker = Teacher(teacher, parse_blend(blend), threads)
        heard: dict[str, list[Verdict]] = {"zh": [], "en": []}
        tasks = [(language, text) for language in heard for text in lines(language, count)]
        with click.progressbar(tasks, label=blend) as bar:
            for language, text in bar:
                speech = speaker.speak(pronounce(text))
                heard[language].append(judge.listen(speech.audio, SAMPLE_RATE_HZ, text, language))
        figures[blend] = {
            "pinyin_error": rate(heard["zh"]),
            "tone_error": rate(heard["zh"], tones=True),
            "word_error": rate(heard["en"]),
            "distillmos_zh": float(np.mean([v.mos for v in heard["zh"]])),
            "distillmos_en": float(np.mean([v.mos for v in heard["en"]])),
        }
    if as_json:
        click.echo(json.dumps(figures, indent=1))
        return
    click.echo(
        "| blend | pinyin % | + tones % | word % | MOS zh | MOS en |\n|---|---|---|---|---|---|"
    )
    for blend, row in figures.items():
        cells = " | ".join(f"{value:.2f}" for value in row.values())
        click.echo(f"| {blend} | {cells} |")


if __name__ == "__main__":
    main()
