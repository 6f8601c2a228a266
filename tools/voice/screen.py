"""Screens a corpus for the teacher's mistakes: Whisper listens to every line.

A line is rejected where Whisper understands less than half of it. Whisper errs too, the
more so on words without a sentence around them, so short lines and single words stay.
"""

from __future__ import annotations

import json
from pathlib import Path

import click
import numpy as np

from edge_tts.text.lexicon import Lexicon
from tools.voice.judge import Judge, resample
from tools.voice.shards import Utterance, load_shard, rejections_path
from tools.voice.teacher import SAMPLE_RATE_HZ

FEWEST_TOKENS = 5
LARGEST_ERROR = 0.5


def spoiled(judge: Judge, line: Utterance) -> bool:
    """Whether Whisper misses more than half of a line's pinyin or words."""
    if line.kind in ("words", "spelled"):
        return False
    language = "en" if line.text.isascii() else "zh"
    if len(judge.tokens(line.text, language)) < FEWEST_TOKENS:
        return False
    audio = resample(line.audio.astype(np.float32) / 32768, SAMPLE_RATE_HZ)
    errors, _, tokens = judge.errors(line.text, judge.transcribe(audio, language, beam=1), language)
    return errors > LARGEST_ERROR * tokens


@click.command()
@click.option("--corpus", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--whisper", type=click.Path(path_type=Path, exists=True), required=True)
@click.option(
    "--lexicon",
    type=click.Path(path_type=Path, exists=True),
    default=Path("models/zh-en/lexicon.bin"),
)
@click.option("--threads", type=int, default=1, show_default=True)
def main(corpus: Path, whisper: Path, lexicon: Path, threads: int) -> None:
    """Note beside each shard of CORPUS which lines not to train on; run again, it goes on."""
    judge = Judge(whisper, Lexicon.open(lexicon), threads)
    shards = [p for p in sorted(corpus.rglob("shard-*.npz")) if not rejections_path(p).exists()]
    heard = rejected = 0
    with click.progressbar(shards, label="screening") as bar:
        for shard in bar:
            lines = load_shard(shard)
            bad = [index for index, line in enumerate(lines) if spoiled(judge, line)]
            aside = rejections_path(shard).with_suffix(".part")
            aside.write_text(json.dumps(bad), "utf-8")
            aside.replace(rejections_path(shard))
            for index in bad:
                click.echo(f"{shard.stem} {index}: {lines[index].text}")
            heard, rejected = heard + len(lines), rejected + len(bad)
    click.echo(f"{rejected} of {heard} lines rejected")


if __name__ == "__main__":
    main()
