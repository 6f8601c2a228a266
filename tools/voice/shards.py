"""Shards of a corpus: utterances end to end in one file, written whole or not at all."""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

SAMPLE_RATE_HZ = 24000
HOP_LENGTH = 300


@dataclass(frozen=True)
class Utterance:
    """One line of the corpus.

    ``audio`` (N,) int16 at 24 kHz with N = 300 F, ``ids`` (T,) and ``durations`` (T,)
    with a sum of F, ``f0_hz`` (F,), below 40 where unvoiced.
    """

    kind: str
    text: str
    ids: npt.NDArray[np.int16]
    durations: npt.NDArray[np.int16]
    f0_hz: npt.NDArray[np.float32]
    audio: npt.NDArray[np.int16]


def save_shard(path: Path, utterances: list[Utterance], *, opus: bool = False) -> float:
    """Write a shard whole or not at all; returns its seconds of audio.

    With ``opus`` the samples are packed to about 95 kbit/s, a quarter of their size, with
    an error some 30 dB under them and no delay; :func:`load_shard` reads both.
    """
    audio = np.concatenate([u.audio for u in utterances])
    arrays = {
        **({"opus": encode_opus(audio)} if opus else {"audio": audio}),
        "ids": np.concatenate([u.ids for u in utterances]),
        "durations": np.concatenate([u.durations for u in utterances]),
        "f0_hz": np.concatenate([u.f0_hz for u in utterances]).astype(np.float16),
        "frames": np.array([len(u.f0_hz) for u in utterances], np.int32),
        "phonemes": np.array([len(u.ids) for u in utterances], np.int32),
        "lines": np.frombuffer(
            "\n".join(
                json.dumps([u.kind, u.text], ensure_ascii=False) for u in utterances
            ).encode(),
            np.uint8,
        ),
    }
    aside = path.with_suffix(f".{os.getpid()}.part")
    with aside.open("wb") as file:
        np.savez(file, **arrays)
    # What was aligned to the lines that stood here says nothing about these.
    alignment_path(path).unlink(missing_ok=True)
    aside.replace(path)
    return len(audio) / SAMPLE_RATE_HZ


def encode_opus(audio: npt.NDArray[np.int16]) -> npt.NDArray[np.uint8]:
    """Samples ``(N,)`` at 24 kHz as the bytes of an Ogg Opus file."""
    import soundfile

    file = io.BytesIO()
    soundfile.write(
        file, audio, SAMPLE_RATE_HZ, format="OGG", subtype="OPUS", compression_level=0.6
    )
    return np.frombuffer(file.getvalue(), np.uint8)


def decode_opus(packed: npt.NDArray[np.uint8]) -> npt.NDArray[np.int16]:
    """The inverse of :func:`encode_opus`; as many samples."""
    import soundfile

    audio: npt.NDArray[np.int16] = soundfile.read(io.BytesIO(packed.tobytes()), dtype="int16")[0]
    return audio


def load_shard(path: Path) -> list[Utterance]:
    """Read a shard back as utterances, with the durations that :func:`save_alignment` left."""
    data = np.load(path)
    lines = [json.loads(line) for line in bytes(data["lines"]).decode().split("\n")]
    frame_ends = np.cumsum(data["frames"])
    phoneme_ends = np.cumsum(data["phonemes"])
    ids, durations, f0 = (data[k] for k in ("ids", "durations", "f0_hz"))
    if alignment_path(path).exists():
        durations = np.load(alignment_path(path))
    audio = decode_opus(data["opus"]) if "opus" in data else data["audio"]
    utterances = []
    for (kind, text), frame_end, frames, phoneme_end, count in zip(
        lines, frame_ends, data["frames"], phoneme_ends, data["phonemes"], strict=True
    ):
        frame, phoneme = (
            slice(frame_end - frames, frame_end),
            slice(phoneme_end - count, phoneme_end),
        )
        samples = slice(frame.start * HOP_LENGTH, frame.stop * HOP_LENGTH)
        utterances.append(
            Utterance(
                kind,
                text,
                ids[phoneme],
                durations[phoneme],
                f0[frame].astype(np.float32),
                audio[samples],
            )
        )
    return utterances


def alignment_path(shard: Path) -> Path:
    """Where ``align`` leaves the durations of a shard's lines, end to end."""
    return shard.with_suffix(".durations.npy")


def save_alignment(shard: Path, durations: list[npt.NDArray[np.int64]]) -> None:
    """Durations to read in place of a shard's own, ``(T,)`` a line, written whole or not at all."""
    aside = shard.with_suffix(".durations.part")
    with aside.open("wb") as file:
        np.save(file, np.concatenate(durations).astype(np.int16))
    aside.replace(alignment_path(shard))


# What lines are rejected for: Whisper misses too much of them, or they are rushed or drawn out.
MISHEARD, MISTIMED = "misheard", "mistimed"


def rejections_path(shard: Path, why: str) -> Path:
    """Where ``screen`` notes which lines of a shard the teacher spoiled."""
    return shard.with_suffix(f".{why}.json")


def rejected_lines(shard: Path) -> frozenset[int]:
    """Indices of a shard's lines that are not to be trained on; none before ``screen`` ran."""
    paths = (rejections_path(shard, why) for why in (MISHEARD, MISTIMED))
    lists = [json.loads(path.read_text("utf-8")) for path in paths if path.exists()]
    return frozenset(index for indices in lists for index in indices)


def shard_seconds(path: Path) -> float:
    """Length of a shard's speech, read from its frame counts alone."""
    with np.load(path) as data:
        return float(data["frames"].sum()) * HOP_LENGTH / SAMPLE_RATE_HZ
