"""Makes the corpus: the teacher speaks generated lines, shard by shard.

A shard is one ``shard-00012.npz`` of :data:`LINES_PER_SHARD` lines: all samples,
ids, durations and F0 values end to end, with the lengths that cut them apart.
Each shard has a seed of its own, so shards can be made in any order, by any
number of processes, again after a kill, and always hold the same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import cache
from itertools import count as numbers_from_zero
from multiprocessing import get_context
from pathlib import Path
from random import Random

import click
import numpy as np

from edge_tts.text.inventory import END, PAUSES, PHONEMES, START
from tools.voice import texts
from tools.voice.processes import end_with_parent
from tools.voice.pronounce import Pronouncer
from tools.voice.shards import HOP_LENGTH, Utterance, save_shard, shard_seconds
from tools.voice.teacher import BLEND, Speech, Teacher, parse_blend, spell_blend

LINES_PER_SHARD = 64
# Silence kept at the cut ends of a single word, in frames of 12.5 ms.
MAX_EDGE_FRAMES = 14

Pronounce = Callable[[str], tuple[str, ...]]
_IDS = {phoneme: index for index, phoneme in enumerate(PHONEMES)}


def _utterance(kind: str, text: str, speech: Speech) -> Utterance:
    frames = int(speech.durations.sum())
    audio = np.zeros(frames * HOP_LENGTH, np.float32)
    count = min(len(audio), len(speech.audio))
    audio[:count] = speech.audio[:count]
    f0 = np.zeros(frames, np.float32)
    count = min(frames, len(speech.f0_hz))
    f0[:count] = speech.f0_hz[:count]
    return Utterance(
        kind,
        text,
        np.array([_IDS[phoneme] for phoneme in speech.phonemes], np.int16),
        speech.durations.astype(np.int16),
        f0,
        (np.clip(audio, -1, 1) * 32767).astype(np.int16),
    )


def cut_words(speech: Speech, drop_pause: Random | None = None) -> Iterator[Speech]:
    """Cut a line of one-word sentences apart, in the middle of each pause.

    The teacher mumbles a lone word but not one among others. With ``drop_pause``, half
    of the pieces lose their closing mark: its frames go to the end symbol.
    """
    starts = np.concatenate([[0], np.cumsum(speech.durations)])
    begin = 1
    lead = int(speech.durations[0])
    for index, phoneme in enumerate(speech.phonemes):
        if phoneme not in PAUSES:
            continue
        pause = int(speech.durations[index])
        tail = pause // 2
        lead_kept = min(lead, MAX_EDGE_FRAMES)
        tail_kept = max(2, min(tail, MAX_EDGE_FRAMES))
        body = speech.durations[begin:index]
        first, last = int(starts[begin]) - lead_kept, int(starts[index]) + tail_kept
        if len(body) and lead_kept >= 2:
            if drop_pause is not None and drop_pause.random() < 0.5:
                phonemes = (START, *speech.phonemes[begin:index], END)
                durations = np.array([lead_kept, *body, tail_kept], np.int64)
            else:
                phonemes = (START, *speech.phonemes[begin:index], phoneme, END)
                durations = np.array([lead_kept, *body, tail_kept - 1, 1], np.int64)
            yield Speech(
                phonemes,
                speech.audio[first * HOP_LENGTH : last * HOP_LENGTH],
                durations,
                speech.f0_hz[first:last],
            )
        lead = pause - tail
        begin = index + 1


def shard_lines(
    number: int, teacher: Teacher, pronounce: Pronounce, speed: float = 1.0
) -> list[Utterance]:
    """Speak the lines of one shard; a line the teacher can't say is left out."""
    random = Random(f"edge-tts corpus {number}")
    spoken: list[Utterance] = []
    for _ in range(LINES_PER_SHARD):
        line = texts.line(random)
        try:
            phonemes = pronounce(line.text)
            speech = teacher.speak(phonemes, speed)
        except (ValueError, KeyError):
            continue
        if line.kind == "words":
            spoken += [
                _utterance(line.kind, line.text, piece) for piece in cut_words(speech, random)
            ]
        else:
            spoken.append(_utterance(line.kind, line.text, speech))
    return spoken


def _make_shard(task: tuple[int, Path, Path, Path, dict[str, float]]) -> float:
    number, target, teacher_folder, lexicon, blend = task
    teacher, pronounce = _workers(teacher_folder, lexicon, tuple(sorted(blend.items())))
    return save_shard(target, shard_lines(number, teacher, pronounce))


@cache
def _workers(
    teacher_folder: Path, lexicon: Path, blend: tuple[tuple[str, float], ...]
) -> tuple[Teacher, Pronounce]:
    return Teacher(teacher_folder, dict(blend)), Pronouncer(lexicon)


@click.command()
@click.option(
    "--teacher", "teacher_folder", type=click.Path(path_type=Path, exists=True), required=True
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the shards.")
@click.option(
    "--hours", type=float, default=8.0, show_default=True, help="Speech to have in the end."
)
@click.option("--workers", type=int, default=2, show_default=True)
@click.option(
    "--lexicon",
    type=click.Path(path_type=Path, exists=True),
    default=Path("models/zh-en/lexicon.bin"),
)
@click.option(
    "--blend",
    default=spell_blend(BLEND),
    show_default=True,
    help="Speakers and their weights.",
)
def main(
    teacher_folder: Path, out: Path, hours: float, workers: int, lexicon: Path, blend: str
) -> None:
    """Let the teacher speak until OUT holds enough; run again, it goes on where it was."""
    out.mkdir(parents=True, exist_ok=True)
    for torn in out.glob("*.part"):
        torn.unlink()
    seconds = sum(shard_seconds(path) for path in out.glob("shard-*.npz"))
    missing = (
        (number, path, teacher_folder, lexicon, parse_blend(blend))
        for number in numbers_from_zero()
        if not (path := out / f"shard-{number:05d}.npz").exists()
    )
    with (
        ProcessPoolExecutor(workers, get_context("spawn"), end_with_parent) as pool,
        click.progressbar(length=round(hours * 3600), label="speech (s)") as bar,
    ):
        bar.update(min(round(seconds), round(hours * 3600)))
        pending = set()
        while seconds < hours * 3600:
            while len(pending) < workers:
                pending.add(pool.submit(_make_shard, next(missing)))
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                seconds += future.result()
                bar.update(round(future.result()))
    click.echo(f"{seconds / 3600:.2f} hours of speech in {out}")


if __name__ == "__main__":
    main()
