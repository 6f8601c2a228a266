from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edge_tts.inference.engine_profiles import AxisProfile, axis_profiles
from edge_tts.voice import Voice, load_voice


@pytest.fixture
def voice(tiny_voice: Path) -> Voice:
    return load_voice(tiny_voice)


@pytest.mark.parametrize("longest", [1, 40, 41, 64, 90, 91, 200, 500])
def test_the_encoder_has_just_one_profile_for_each_length(voice: Voice, longest: int) -> None:
    profiles = axis_profiles(replace(voice, max_phonemes=longest), "encoder", 2)
    assert 1 <= len(profiles) <= 3
    covered = [size for p in profiles for size in range(p.lowest, p.highest + 1)]
    assert covered == list(range(1, longest + 1))


def test_chunks_have_no_freedom_and_short_utterances_have(voice: Voice) -> None:
    *fixed, short = axis_profiles(voice, "vocoder", 2)
    assert all(p.lowest == p.usual == p.highest for p in fixed)
    assert short.lowest == 1
    assert short.highest == max(p.highest for p in fixed)


def test_a_profile_is_in_order() -> None:
    with pytest.raises(ValueError, match="order"):
        AxisProfile(3, 2, 4)
