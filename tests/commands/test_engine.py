from __future__ import annotations

from pathlib import Path

import pytest

from edge_tts.commands.engine import recorded_inputs
from edge_tts.inference.engine_profiles import axis_profiles
from edge_tts.synthesis.source import lookahead_frames
from edge_tts.voice import GRAPHS, load_voice
from tests.packs import packs_with_fp32

VOICES = packs_with_fp32()


@pytest.mark.parametrize("folder", VOICES, ids=lambda path: path.name)
def test_every_profile_of_an_engine_is_compared_with_the_cpu(folder: Path) -> None:
    """Each has kernels of its own, and the lines that are spoken reach all of them."""
    voice = load_voice(folder)
    recorded = recorded_inputs(voice)
    for graph in GRAPHS:
        profiles = axis_profiles(voice, graph, lookahead_frames(voice.n_fft, voice.hop_length))
        fixed = {p.highest for p in profiles if p.lowest == p.highest}
        axis = 2 if graph == "vocoder" else 1
        sizes = {array.shape[axis] for inputs in recorded[graph] for array in inputs.values()}
        for profile in profiles:
            free = profile.lowest != profile.highest
            taken = [
                size
                for size in sizes
                if profile.lowest <= size <= profile.highest and not (free and size in fixed)
            ]
            assert taken, f"{graph}: {profile}"
