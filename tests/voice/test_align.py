"""Alignment: boundaries follow the sound, silence goes to pauses, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="the voice factory's torch is not installed")

from edge_tts.text.inventory import END, PHONEMES, START
from tools.voice import align
from tools.voice.dataset import (
    MAX_LEAD_FRAMES,
    MAX_TAIL_FRAMES,
    without_silence,
)
from tools.voice.shards import Utterance, load_shard, save_alignment, save_shard


def _bumps(places: list[int], frames: int) -> np.ndarray:
    """``(80, F)`` with a burst of three frames at each place, each its own colour."""
    mel = np.full((80, frames), -9.0, np.float32)
    for index, place in enumerate(places):
        mel[10 * index : 10 * index + 20, place : place + 3] = 2.0
    return mel


def test_offsets_say_where_each_sound_lies_in_the_teacher() -> None:
    student, teacher = _bumps([20, 50, 80], 120), _bumps([18, 50, 83], 120)
    found = align.offsets(student, teacher)
    assert [found[k] for k in (21, 51, 81)] == [-2, 0, 3]
    assert np.abs(np.diff(found)).max() <= 1


def test_equal_spectra_move_nothing() -> None:
    mel = np.random.default_rng(0).normal(size=(80, 60)).astype(np.float32)
    assert not align.offsets(mel, mel).any()


def test_boundaries_move_with_the_sound() -> None:
    durations = np.array([10, 20, 30])
    offset = np.zeros(60, np.int64)
    offset[8:15] = -2
    assert align.moved(durations, offset).tolist() == [8, 22, 30]


@given(
    st.lists(st.integers(1, 9), min_size=3, max_size=12),
    st.lists(st.integers(-5, 5), min_size=108, max_size=108),
)
def test_every_phoneme_keeps_a_frame_and_the_sum_stays(
    durations: list[int], offset: list[int]
) -> None:
    total = sum(durations)
    found = align.moved(np.array(durations), np.array(offset)[:total])
    assert found.sum() == total
    assert found.min() >= 1


def test_a_last_consonant_ends_where_it_is_heard() -> None:
    phonemes = [START, "T", "R", "IH1", "P", "T", ".", END]
    durations = np.array([10, 4, 4, 12, 6, 40, 18, 2])
    loud = np.zeros(96, bool)
    loud[6:35] = True
    found = align.give_silence_to_pauses(phonemes, durations, loud)
    assert found.tolist() == [10, 4, 4, 12, 6, 3, 55, 2]


def test_a_silent_last_consonant_keeps_two_frames() -> None:
    phonemes = [START, "AO1", "F", ",", "AO1", "N", END]
    durations = np.array([5, 10, 20, 6, 10, 30, 3])
    loud = np.zeros(84, bool)
    loud[2:12] = loud[38:50] = True
    found = align.give_silence_to_pauses(phonemes, durations, loud)
    assert found.tolist() == [5, 10, 2, 24, 10, 3, 30]


def _utterance(phonemes: list[str], durations: list[int]) -> Utterance:
    frames = sum(durations)
    return Utterance(
        "en_alarm",
        "trip.",
        np.array([PHONEMES.index(p) for p in phonemes], np.int16),
        np.array(durations, np.int16),
        np.arange(frames, dtype=np.float32),
        np.repeat(np.arange(frames, dtype=np.int16), 300),
    )


def test_training_leaves_out_silence_that_pauses_own() -> None:
    long = without_silence(_utterance([START, "T", "IH1", "P", ".", END], [35, 4, 9, 5, 60, 2]))
    assert long.durations.tolist() == [MAX_LEAD_FRAMES, 4, 9, 5, MAX_TAIL_FRAMES - 2, 2]
    assert long.f0_hz[0] == 35 - MAX_LEAD_FRAMES
    assert long.audio[0] == 35 - MAX_LEAD_FRAMES
    assert len(long.audio) == 300 * long.durations.sum() == 300 * len(long.f0_hz)
    unpaused = without_silence(_utterance([START, "T", "IH1", "P", END], [4, 4, 9, 80, 3]))
    assert unpaused.durations.tolist() == [4, 4, 9, 80, 3]


def test_a_shard_is_read_with_the_durations_that_were_left_beside_it(tmp_path: Path) -> None:
    shard = tmp_path / "shard-00001.npz"
    lines = [_utterance([START, "T", ".", END], [5, 9, 4, 2]) for _ in range(2)]
    save_shard(shard, lines)
    save_alignment(shard, [np.array([5, 4, 9, 2]), np.array([5, 3, 10, 2])])
    assert [line.durations.tolist() for line in load_shard(shard)] == [[5, 4, 9, 2], [5, 3, 10, 2]]
    save_shard(shard, lines)
    assert [line.durations.tolist() for line in load_shard(shard)] == [[5, 9, 4, 2], [5, 9, 4, 2]]
