"""What the comparison of two processors' samples accepts, and what it does not."""

from __future__ import annotations

import json
import wave
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.arm64 import compare

RATE_HZ = 24_000
NETWORKS = ("encoder", "decoder", "vocoder")


def speech(seconds: float = 1.0) -> npt.NDArray[np.float64]:
    """A voiced sound of many harmonics under a slow envelope, with a little noise."""
    at_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    harmonics = sum(np.sin(2 * np.pi * 180 * n * at_s + n * n) / n for n in range(1, 30))
    noise = np.random.default_rng(5).normal(0, 0.01, len(at_s))
    return 0.1 * harmonics * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * at_s)) + noise


def write(folder: Path, name: str, signal: npt.NDArray[np.float64], via: str = "neural") -> None:
    with wave.open(str(folder / f"{name}.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(np.round(32767 * signal).astype("<i2").tobytes())
    precision = "int8" if "-int8-" in name else "fp32"
    stats = {"networks": dict.fromkeys(NETWORKS, f"cpu {precision}"), "via": [via]}
    (folder / f"{name}.json").write_text(json.dumps(stats), "utf-8")


@pytest.mark.parametrize(
    ("precision", "gain_db", "status"),
    [("fp32", 0.01, 0), ("fp32", 0.05, 1), ("int8", 1.0, 0), ("int8", 2.0, 1)],
)
def test_a_difference_is_measured_against_the_precision(
    tmp_path: Path, precision: str, gain_db: float, status: int
) -> None:
    one, other = f"v-{precision}-x86", f"v-{precision}-arm"
    signal, louder = speech(), speech() * 10 ** (gain_db / 20)
    write(tmp_path, one, signal)
    write(tmp_path, other, louder)
    assert compare.mel_distance_db(signal, louder) == pytest.approx(gain_db, rel=0.1)
    assert compare.main(str(tmp_path), one, other) == status


def test_phase_is_for_fp32_alone(tmp_path: Path) -> None:
    """Pulses that come a little later sound the same."""
    for precision, status in (("fp32", 1), ("int8", 0)):
        write(tmp_path, f"v-{precision}-x86", speech())
        write(tmp_path, f"v-{precision}-arm", np.roll(speech(), 5))
        assert compare.main(str(tmp_path), f"v-{precision}-x86", f"v-{precision}-arm") == status


def test_equal_samples_agree(tmp_path: Path) -> None:
    names = [f"zh-en-{each}" for each in ("fp32-x86", "fp32-cortex-a72", "fp32-cortex-a76")]
    for name in names:
        write(tmp_path, name, speech())
    assert compare.main(str(tmp_path), *names[:2], *names[1:]) == 0
    assert compare.mel_distance_db(speech(), speech()) == 0.0


def test_a_quiet_word_that_is_missing_shows_in_the_spectrum(tmp_path: Path) -> None:
    """Thirty decibels under the loud part: the ratio of powers hardly notices it."""
    signal = speech(2.0)
    signal[RATE_HZ:] *= 10 ** (-30 / 20)
    dropped = signal.copy()
    dropped[RATE_HZ:] = 0.0
    assert compare.snr_db(signal, dropped) > 29
    write(tmp_path, "v-int8-x86", signal)
    write(tmp_path, "v-int8-arm", dropped)
    assert compare.main(str(tmp_path), "v-int8-x86", "v-int8-arm") == 1


def test_a_frame_more_is_another_rhythm(tmp_path: Path) -> None:
    write(tmp_path, "v-int8-x86", speech())
    write(tmp_path, "v-int8-arm", speech()[:-300])
    assert compare.main(str(tmp_path), "v-int8-x86", "v-int8-arm") == 1


def test_another_precision_or_the_fallback_is_no_match(tmp_path: Path) -> None:
    write(tmp_path, "v-fp32-x86", speech())
    write(tmp_path, "v-fp32-arm", speech(), via="dsp")
    assert compare.main(str(tmp_path), "v-fp32-x86", "v-fp32-arm") == 1
    write(tmp_path, "v-int8-x86", speech())
    assert compare.main(str(tmp_path), "v-fp32-x86", "v-int8-x86") == 1


def test_silence_proves_nothing(tmp_path: Path) -> None:
    for name in ("v-fp32-x86", "v-fp32-arm"):
        write(tmp_path, name, np.zeros(RATE_HZ))
    assert compare.main(str(tmp_path), "v-fp32-x86", "v-fp32-arm") == 1


def test_nothing_compared_is_no_success(tmp_path: Path) -> None:
    assert compare.main(str(tmp_path)) == 1


@pytest.mark.parametrize(
    ("precision", "frames", "status"),
    [("int8", 1, 0), ("int8", 20, 1), ("fp32", 1, 1)],
)
def test_a_frame_more_in_a_pause_is_a_rounding_of_int8(
    tmp_path: Path, precision: str, frames: int, status: int
) -> None:
    pause = np.random.default_rng(6).normal(0, 0.001, 3000 + 300 * frames)
    one, other = f"v-{precision}-x86", f"v-{precision}-arm"
    write(tmp_path, one, np.concatenate([speech(2.0), pause[:3000], speech(1.0)]))
    write(tmp_path, other, np.concatenate([speech(2.0), pause, speech(1.0)]))
    assert compare.main(str(tmp_path), one, other) == status


def test_other_words_are_not_warped_away(tmp_path: Path) -> None:
    signal = speech(2.0)
    write(tmp_path, "v-int8-x86", signal)
    write(tmp_path, "v-int8-arm", np.concatenate([signal[:24000][::-1], signal[24000 - 120 :]]))
    assert compare.main(str(tmp_path), "v-int8-x86", "v-int8-arm") == 1
