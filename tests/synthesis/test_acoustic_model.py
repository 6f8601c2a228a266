from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.errors import InferenceError
from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.synthesis.acoustic_model import (
    MIN_FRAMES,
    AcousticModel,
    Utterance,
    expand,
    whole_durations,
)
from edge_tts.voice import Voice
from tests.fakes import fake_phrase
from tests.synthesis.reference import cut

pytestmark = pytest.mark.core


@given(
    st.lists(st.floats(0.0, 4.0), min_size=1, max_size=100),
    st.floats(0.5, 2.0),
)
def test_rounding_keeps_the_tempo(log_durations: list[float], speed: float) -> None:
    durations = whole_durations(np.array(log_durations), speed, longest=1000)
    exact = np.maximum(1.0, np.exp(log_durations) / speed)
    assert (durations >= 1).all()
    assert np.abs(np.cumsum(durations) - np.cumsum(exact)).max() <= 0.5 + 1e-9


def test_every_phoneme_lasts_a_frame_and_none_for_ever() -> None:
    durations = whole_durations(np.array([-900.0, 0.0, 900.0, -3.0]), 1.0, longest=240)
    assert durations.tolist() == [1, 1, 240, 1]


def test_expand_places_each_frame_in_its_phoneme() -> None:
    hidden = np.arange(6, dtype=np.float32).reshape(3, 2)
    durations = np.array([1, 3, 2])
    utterance = Utterance(hidden, durations, np.repeat(np.arange(3), durations))
    frames = expand(utterance, 0, 6)[0]
    assert frames.dtype == np.float32
    np.testing.assert_array_equal(frames[:, :2], hidden[[0, 1, 1, 1, 2, 2]])
    # The second of three frames: half way, 1.5 frames to go, 1.5 passed.
    np.testing.assert_allclose(frames[2, 2:], [0.5, 1.5 / 20, 1.5 / 20])
    np.testing.assert_allclose(frames[5, 2:], [0.75, 0.5 / 20, 1.5 / 20])
    np.testing.assert_array_equal(expand(utterance, 2, 5)[0], frames[2:5])


def test_speed_scales_the_length(acoustic_model: AcousticModel) -> None:
    ids = fake_phrase("abcdefghijklmnopqrstuvwxyz").ids
    normal, fast = acoustic_model.encode(ids), acoustic_model.encode(ids, speed=2.0)
    # The first phoneme is the leading silence, held to lead_ms.
    ratio = normal.durations[1:].sum() / fast.durations[1:].sum()
    assert ratio == pytest.approx(2.0, rel=0.02)


def test_leading_silence_is_held_short(voice: Voice, networks: dict[str, OnnxSession]) -> None:
    ids = fake_phrase("abc").ids

    def first_frames(lead_ms: float) -> int:
        model = AcousticModel(networks["encoder"], networks["decoder"], voice, lead_ms=lead_ms)
        return int(model.encode(ids).durations[0])

    whole = first_frames(10_000)
    assert whole > 2
    assert first_frames(25) == 2
    assert first_frames(0) == 1


def test_the_shortest_text_fills_a_window(acoustic_model: AcousticModel) -> None:
    assert acoustic_model.encode(fake_phrase("a").ids, speed=2.0).frames >= MIN_FRAMES


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.lists(st.integers(1, 60), min_size=1, max_size=3))
def test_decoded_chunks_equal_one_run(
    acoustic_model: AcousticModel,
    networks: dict[str, OnnxSession],
    letters: int,
    lengths: list[int],
) -> None:
    utterance = acoustic_model.encode(fake_phrase("x7k" * letters).ids)
    total = utterance.frames
    whole = networks["decoder"].run({"frames": expand(utterance, 0, total)})["features"][0]
    chunks = [
        acoustic_model.start_decoding(
            utterance, start, stop, lengths[min(number, len(lengths) - 1)]
        ).features()
        for number, (start, stop) in enumerate(cut(total, lengths))
    ]
    np.testing.assert_allclose(np.concatenate(chunks, axis=1), whole, atol=1e-5)


def test_broken_durations_are_an_error(voice: Voice) -> None:
    class Broken:
        def run(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            count = inputs["ids"].shape[1]
            return {
                "hidden": np.zeros((1, count, 8), np.float32),
                "log_durations": np.full((1, count), np.nan, np.float32),
            }

        def close(self) -> None: ...

    with pytest.raises(InferenceError, match="durations"):
        AcousticModel(Broken(), Broken(), voice).encode(fake_phrase("a").ids)
