"""Screens a corpus for the teacher's mistakes: by Whisper, and by a student's sense of time.

Whisper listens to every line; one is rejected where it understands less than half. It errs too,
the more so on words without a sentence around them, so short lines and single words stay. Those
a student screens that learned from the whole corpus: it knows how long sounds last, and the
teacher rushes a list of single words now and then.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np

from edge_tts.text.inventory import END, PAUSES, PHONEMES, START
from edge_tts.text.lexicon import Lexicon
from tools.voice.judge import Judge, resample
from tools.voice.shards import MISHEARD, MISTIMED, Utterance, load_shard, rejections_path
from tools.voice.teacher import SAMPLE_RATE_HZ

FEWEST_TOKENS = 5
LARGEST_ERROR = 0.5
# Of the mean length of a line's sounds against what the student expects, as a natural logarithm.
# In 1,300 sentences none is rushed so much, of 1,200 single words 45 are: lists in half the time.
LARGEST_TEMPO = 0.35

Spoiled = Callable[[Utterance], bool]


def by_whisper(judge: Judge) -> Spoiled:
    """Whether Whisper misses more than half of a line's pinyin or words."""

    def misheard(line: Utterance) -> bool:
        if line.kind in ("words", "spelled"):
            return False
        language = "en" if line.text.isascii() else "zh"
        if len(judge.tokens(line.text, language)) < FEWEST_TOKENS:
            return False
        audio = resample(line.audio.astype(np.float32) / 32768, SAMPLE_RATE_HZ)
        heard = judge.transcribe(audio, language, beam=1)
        errors, _, tokens = judge.errors(line.text, heard, language)
        return errors > LARGEST_ERROR * tokens

    return misheard


def by_student(checkpoint: Path) -> Spoiled:
    """Whether a line is rushed or drawn out, for what the student in ``checkpoint`` learned."""
    import torch

    from tools.voice.model import AcousticModel, Size

    acoustic = AcousticModel(Size())
    averages = torch.load(checkpoint, weights_only=True)["averages"]
    acoustic.load_state_dict(averages["acoustic"])
    acoustic.eval()
    silent = {START, END, *PAUSES}

    @torch.no_grad()
    def mistimed(line: Utterance) -> bool:
        _, expected = acoustic.encode(torch.from_numpy(line.ids.astype(np.int64))[None])
        sounds = np.array([PHONEMES[index] not in silent for index in line.ids])
        if not sounds.any():
            return False
        tempo = np.log(np.maximum(line.durations, 1)) - expected[0].numpy()
        return bool(abs(tempo[sounds].mean()) > LARGEST_TEMPO)

    return mistimed


@click.command()
@click.option("--corpus", type=click.Path(path_type=Path, exists=True), required=True)
@click.option(
    "--whisper",
    type=click.Path(path_type=Path, exists=True),
    help="CTranslate2 folder of Whisper-base.",
)
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path, exists=True),
    help="Of a student, in place of Whisper.",
)
@click.option(
    "--lexicon",
    type=click.Path(path_type=Path, exists=True),
    default=Path("models/zh-en/lexicon.bin"),
)
@click.option("--threads", type=int, default=1, show_default=True)
def main(
    corpus: Path, whisper: Path | None, checkpoint: Path | None, lexicon: Path, threads: int
) -> None:
    """Note beside each shard of CORPUS which lines not to train on; run again, it goes on."""
    if whisper is not None and checkpoint is None:
        why, spoiled = MISHEARD, by_whisper(Judge(whisper, Lexicon.open(lexicon), threads))
    elif checkpoint is not None and whisper is None:
        why, spoiled = MISTIMED, by_student(checkpoint)
    else:
        raise click.UsageError("name who listens: either --whisper or --checkpoint")
    shards = [
        p for p in sorted(corpus.rglob("shard-*.npz")) if not rejections_path(p, why).exists()
    ]
    heard = rejected = 0
    with click.progressbar(shards, label="screening") as bar:
        for shard in bar:
            lines = load_shard(shard)
            bad = [index for index, line in enumerate(lines) if spoiled(line)]
            aside = rejections_path(shard, why).with_suffix(".part")
            aside.write_text(json.dumps(bad), "utf-8")
            aside.replace(rejections_path(shard, why))
            for index in bad:
                click.echo(f"{shard.stem} {index}: {lines[index].text}")
            heard, rejected = heard + len(lines), rejected + len(bad)
    click.echo(f"{rejected} of {heard} lines rejected")


if __name__ == "__main__":
    main()
