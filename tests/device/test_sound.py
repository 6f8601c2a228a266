"""The rig's ear must hear what is there, and nothing else."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np

from tests.device.sound import Signal, find, likeness_at, read_capture, read_captures, trimmed

RATE_HZ = 48000


def _noise(seconds: float, seed: int) -> Signal:
    return np.random.default_rng(seed).normal(0.0, 0.1, round(seconds * RATE_HZ))


def _write(path: Path, samples: Signal, *, cut_off: bool = False) -> Path:
    pcm = np.round(np.repeat(samples, 2) * 32768).clip(-32768, 32767).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, RATE_HZ, 0, "NONE", ""))
        file.writeframes(pcm.tobytes())
    if cut_off:
        data = path.read_bytes()
        path.write_bytes(data[:4] + bytes(4) + data[8:40] + bytes(4) + data[44:-3])
    return path


def test_a_sound_is_found_where_it_lies_at_any_level() -> None:
    sound = _noise(0.5, 1)
    capture = np.concatenate([_noise(0.3, 2), np.zeros(1000), sound * 0.2, np.zeros(500)])
    match = find(capture, sound)
    assert match.index == round(0.3 * RATE_HZ) + 1000
    assert match.likeness > 0.99


def test_another_sound_a_part_of_it_and_silence_are_not_it() -> None:
    sound = _noise(0.5, 1)
    assert find(_noise(2.0, 2), sound).likeness < 0.1
    assert find(np.concatenate([sound[: len(sound) // 4], np.zeros(RATE_HZ)]), sound).likeness < 0.6
    assert find(np.zeros(RATE_HZ), sound).likeness < 0.1
    assert find(sound[:-1], sound).likeness == 0.0


def test_a_first_syllable_that_is_missing_shows_at_its_place() -> None:
    sound = _noise(0.5, 1)
    capture = np.concatenate([np.zeros(1000), sound])
    onset = sound[: RATE_HZ // 10]
    assert likeness_at(capture, onset, 1000) > 0.99
    capture[1000 : 1000 + len(onset)] = 0.0
    assert likeness_at(capture, onset, 1000) < 0.6


def test_a_capture_is_read_though_its_writer_was_cut_off(tmp_path: Path) -> None:
    samples = _noise(0.1, 1)
    whole = read_capture(_write(tmp_path / "whole.wav", samples))
    cut = read_capture(_write(tmp_path / "cut.wav", samples, cut_off=True))
    assert np.abs(whole - samples).max() < 1e-4
    assert np.array_equal(cut, whole[:-1])


def test_what_a_card_played_before_it_was_plugged_in_again_comes_first(tmp_path: Path) -> None:
    parts = [_noise(0.1, seed) for seed in range(12)]
    for number, samples in enumerate(parts[:-1], 1):
        _write(tmp_path / f"usb.usb.{number}.wav", samples)
    _write(tmp_path / "usb.usb.wav", parts[-1])
    _write(tmp_path / "usb.hda.wav", parts[0])
    _write(tmp_path / "reference-cut.wav", parts[0])
    captures = read_captures(tmp_path)
    assert list(captures) == ["usb.hda", "usb.usb"]
    assert np.abs(captures["usb.usb"] - np.concatenate(parts)).max() < 1e-4


def test_silence_is_taken_off_both_ends() -> None:
    samples = np.concatenate([np.zeros(10), [0.5, 0.0, -0.5], np.full(10, 1e-4)])
    assert trimmed(samples).tolist() == [0.5, 0.0, -0.5]
    assert len(trimmed(np.zeros(10))) == 0
