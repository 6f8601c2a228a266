"""Aligns a corpus's durations anew, to the frame, by a student that has learned from it.

The teacher counts in steps of 25 ms, leads some 50 ms with its sounds, and gives a word's last
phoneme the silence behind it. A student that learns from that has to guess where within a few
frames a consonant bursts, and smears it. So its own spectra, which lie where a sound mostly
comes, are laid over the teacher's by dynamic programming (a banded alignment after Sakoe and
Chiba 1978), and every boundary moves with them: a forced alignment by the model itself.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
import torch

from edge_tts.text.inventory import END, PAUSES, PHONEMES, START
from tools.voice.dataset import collate, make_item
from tools.voice.model import AcousticModel, Size
from tools.voice.objectives import frames_of
from tools.voice.shards import (
    HOP_LENGTH,
    Utterance,
    alignment_path,
    load_shard,
    save_alignment,
)
from tools.voice.signal import MEL_SCALE, N_MELS
from tools.voice.train import start_from

# Frames that a boundary may move, and what moving by one more costs, in nepers of mel distance.
BAND = 5
MOVE_COST = 0.5
# Below it there is silence.
SILENCE_DBFS = -52.0
# By so many frames the teacher's sounds come before the phonemes that own them.
LEAD_FRAMES = 4
# No sound is shorter.
MIN_SOUND_FRAMES = 2


def offsets(
    student: npt.NDArray[np.float32], teacher: npt.NDArray[np.float32], move_cost: float = MOVE_COST
) -> npt.NDArray[np.int64]:
    """``(F,)``: how much later than in ``student`` ``(80, F)`` a frame comes in ``teacher``."""
    frames = student.shape[1]
    padded = np.pad(teacher, ((0, 0), (BAND, BAND)), mode="edge")
    distance = np.stack(
        [np.abs(student - padded[:, k : k + frames]).mean(0) for k in range(2 * BAND + 1)], 1
    )
    best = distance[0].copy()
    came_from = np.zeros((frames, 2 * BAND + 1), np.int64)
    steps = np.array([-1, 0, 1])
    for frame in range(1, frames):
        reach = np.pad(best, 1, constant_values=np.inf)
        options = np.stack([reach[:-2] + move_cost, best, reach[2:] + move_cost])
        choice = options.argmin(0)
        came_from[frame] = np.arange(2 * BAND + 1) + steps[choice]
        best = options.min(0) + distance[frame]
    path = np.empty(frames, np.int64)
    path[-1] = best.argmin()
    for frame in range(frames - 1, 0, -1):
        path[frame - 1] = came_from[frame, path[frame]]
    return path - BAND


def moved(durations: npt.NDArray[np.int64], offset: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Durations ``(T,)`` whose boundaries went along with ``offset`` ``(F,)``; each at least 1."""
    ends = np.cumsum(durations)
    ends[:-1] += offset[ends[:-1]]
    return _durations(ends)


def _durations(ends: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Durations of at least one frame whose ends are as near to ``ends`` as that allows."""
    number = np.arange(len(ends))
    pushed = np.maximum.accumulate(np.maximum(ends, 1) - number) + number
    latest = ends[-1] - number[::-1]
    return np.diff(np.minimum(pushed, latest), prepend=0)


def give_silence_to_pauses(
    phonemes: list[str], durations: npt.NDArray[np.int64], loud: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Durations ``(T,)`` where the sound before a pause ends with what is heard of it.

    ``loud`` ``(F,)`` says in which frames something is.
    """
    ends = np.cumsum(durations)
    for index in range(2, len(phonemes)):
        before = phonemes[index - 1]
        if phonemes[index] not in (*PAUSES, END) or before in (*PAUSES, START):
            continue
        first, last = ends[index - 2], ends[index - 1]
        # The sound may be over before the phoneme that owns it begins.
        begin = max(0, first - LEAD_FRAMES)
        heard = np.flatnonzero(loud[begin:last])
        silent_from = begin + (int(heard[-1]) + 1 if len(heard) else 0)
        ends[index - 1] = min(last, max(silent_from + LEAD_FRAMES, first + MIN_SOUND_FRAMES))
    return _durations(ends)


def loud_frames(audio: npt.NDArray[np.int16]) -> npt.NDArray[np.bool_]:
    """``(300 F,)`` samples to whether each of the ``(F,)`` frames is above silence."""
    power = ((audio.reshape(-1, HOP_LENGTH) / 32768.0) ** 2).mean(1)
    return power > 10 ** (SILENCE_DBFS / 10)


def aligned(acoustic: AcousticModel, utterance: Utterance) -> npt.NDArray[np.int64]:
    """The utterance's durations ``(T,)`` as the student hears them."""
    item = make_item(utterance)
    batch = collate([item])
    with torch.no_grad():
        frames, _ = frames_of(acoustic, batch)
        features = acoustic.decode(frames, batch.frame_mask, batch.f0_hz)
    student = features[0, :N_MELS].numpy() * MEL_SCALE
    durations = moved(utterance.durations.astype(np.int64), offsets(student, batch.mel[0].numpy()))
    phonemes = [PHONEMES[index] for index in utterance.ids]
    return give_silence_to_pauses(phonemes, durations, loud_frames(utterance.audio))


@click.command()
@click.option("--corpus", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--checkpoint", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--again", is_flag=True, help="Shards that are aligned too, from where they are.")
def main(corpus: Path, checkpoint: Path, again: bool) -> None:
    """Write beside each shard of CORPUS its durations by the student in CHECKPOINT."""
    torch.set_num_threads(1)
    acoustic = AcousticModel(Size())
    start_from(checkpoint, {"acoustic": acoustic})
    acoustic.eval()
    shards = sorted(corpus.rglob("shard-*.npz"))
    shards = [p for p in shards if again or not alignment_path(p).exists()]
    kept = boundaries = 0
    with click.progressbar(shards, label="aligning") as bar:
        for shard in bar:
            lines = load_shard(shard)
            durations = [aligned(acoustic, line) for line in lines]
            save_alignment(shard, durations)
            for line, found in zip(lines, durations, strict=True):
                kept += int((np.cumsum(found) == np.cumsum(line.durations)).sum())
                boundaries += len(found)
    click.echo(f"{boundaries - kept} of {boundaries} boundaries moved")


if __name__ == "__main__":
    main()
