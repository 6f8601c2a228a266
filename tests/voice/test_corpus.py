"""The corpus: words cut apart at pauses, shards that read back as they were written."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner

from edge_tts.text.inventory import END, START
from tools.voice.corpus import MAX_EDGE_FRAMES, cut_words
from tools.voice.shards import HOP_LENGTH, Utterance, load_shard, save_shard, shard_seconds
from tools.voice.teacher import Speech

PHONEMES = (START, "j", "ing3", "g", "ao4", ".", "t", "ing2", ".", END)
DURATIONS = np.array([30, 6, 10, 6, 14, 40, 8, 20, 44, 2])


def _speech() -> Speech:
    frames = int(DURATIONS.sum())
    # Each frame carries its own number, so that a wrong cut shows.
    audio = np.repeat(np.arange(frames, dtype=np.float32) / 1000, HOP_LENGTH)
    return Speech(PHONEMES, audio, DURATIONS, np.arange(frames, dtype=np.float32))


def test_each_word_keeps_its_phonemes_frames_and_samples() -> None:
    first, second = cut_words(_speech())
    assert first.phonemes == (START, "j", "ing3", "g", "ao4", ".", END)
    assert second.phonemes == (START, "t", "ing2", ".", END)
    for piece, begin in ((first, 30), (second, 106)):
        frames = int(piece.durations.sum())
        lead = int(piece.durations[0])
        assert len(piece.audio) == frames * HOP_LENGTH
        assert piece.f0_hz[lead] == begin  # the frame where the first sound begins
        assert piece.audio[lead * HOP_LENGTH] == np.float32(begin / 1000)


def test_silence_at_the_cuts_is_short() -> None:
    for piece in cut_words(_speech()):
        assert piece.durations[0] <= MAX_EDGE_FRAMES
        assert piece.durations[-2:].sum() <= MAX_EDGE_FRAMES


def test_a_dropped_pause_leaves_its_frames_to_the_end() -> None:
    pieces = [list(cut_words(_speech(), Random(seed))) for seed in range(20)]
    dropped = [p for line in pieces for p in line if "." not in p.phonemes]
    assert 5 < len(dropped) < 35
    for piece in dropped:
        assert int(piece.durations.sum()) * HOP_LENGTH == len(piece.audio)
        assert piece.durations[-1] > 1


def _utterances() -> list[Utterance]:
    random = np.random.default_rng(1)
    written = []
    for index, frames in enumerate((12, 30, 7)):
        written.append(
            Utterance(
                "zh_alarm",
                f'第{index}行\t"{index}"',
                random.integers(0, 200, 4).astype(np.int16),
                np.array([1, 2, 3, frames - 6], np.int16),
                random.random(frames).astype(np.float16).astype(np.float32),
                random.integers(-32768, 32767, frames * HOP_LENGTH).astype(np.int16),
            )
        )
    return written


def test_a_shard_reads_back_as_written(tmp_path: Path) -> None:
    written = _utterances()
    path = tmp_path / "shard-00001.npz"
    seconds = save_shard(path, written)
    assert seconds == shard_seconds(path) == 49 * HOP_LENGTH / 24000
    assert [p.name for p in tmp_path.iterdir()] == ["shard-00001.npz"]
    for was, now in zip(written, load_shard(path), strict=True):
        assert (now.kind, now.text) == (was.kind, was.text)
        for name in ("ids", "durations", "f0_hz", "audio"):
            np.testing.assert_array_equal(getattr(now, name), getattr(was, name))


def test_packed_shards_are_small_and_true(tmp_path: Path) -> None:
    pytest.importorskip("soundfile", reason="soundfile, which packs to Opus, is not installed")
    from tools.voice import pack

    time_s = np.arange(400 * HOP_LENGTH) / 24000
    tone = (12000 * np.sin(2 * np.pi * 210 * time_s)).astype(np.int16)
    was = Utterance(
        "zh_alarm", "一", np.array([1], np.int16), np.array([400], np.int16),
        np.full(400, 210, np.float32), tone,
    )  # fmt: skip
    corpus, out = tmp_path / "corpus", tmp_path / "packed"
    corpus.mkdir()
    for number in range(3):
        save_shard(corpus / f"shard-{number:05d}.npz", [was])
    size = (corpus / "shard-00000.npz").stat().st_size
    options = ["--corpus", str(corpus), "--out", str(out), "--part-mb", str(size * 0.7e-6)]
    for _ in range(2):  # the second run finds nothing to do
        assert CliRunner().invoke(pack.main, options, catch_exceptions=False).exit_code == 0
        shards = sorted(out.rglob("shard-*.npz"))
        assert len(shards) == 3
        assert len({path.parent for path in shards}) > 1
    (now,) = load_shard(shards[0])
    assert len(now.audio) == len(was.audio)
    error = now.audio.astype(float) - was.audio
    assert np.mean(error**2) < 0.003 * np.mean(was.audio.astype(float) ** 2)
    np.testing.assert_array_equal(now.f0_hz, was.f0_hz)
