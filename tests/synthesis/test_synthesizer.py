from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.audio_chunk import AudioChunk
from edge_tts.errors import InferenceError, NothingToSpeakError, UsageError
from edge_tts.synthesis.synthesizer import Synthesizer
from edge_tts.synthesis.vocoder import NeuralVocoder, VocoderRun
from edge_tts.voice import Voice
from tests.fakes import FakeFrontEnd

pytestmark = pytest.mark.core

NewSynthesizer = Callable[..., Synthesizer]
TEXT = "The quick brown fox jumps over the lazy dog 0123456789. A second phrase. Z."
WHOLE = [10**6]


def joined(chunks: Iterator[AudioChunk]) -> np.ndarray:
    return np.concatenate([chunk.samples for chunk in chunks])


@pytest.fixture(scope="module")
def one_shot(new_synthesizer: NewSynthesizer) -> np.ndarray:
    return joined(new_synthesizer(chunk_frames=WHOLE).stream(TEXT))


@pytest.mark.parametrize("lengths", [[1], [2], [3], [12], [24, 48], [48], [96], [24, 48, 96]])
def test_chunk_sizes_give_the_same_samples(
    new_synthesizer: NewSynthesizer, one_shot: np.ndarray, lengths: list[int]
) -> None:
    samples = joined(new_synthesizer(chunk_frames=lengths).stream(TEXT))
    assert np.abs(one_shot).max() > 0.1
    np.testing.assert_allclose(samples, one_shot, rtol=0, atol=1e-4)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 80),
    st.lists(st.integers(1, 70), min_size=1, max_size=4),
    st.sampled_from([0.5, 0.9, 1.0, 1.7, 2.0]),
)
def test_any_length_and_chunking_gives_the_same_samples(
    new_synthesizer: NewSynthesizer, letters: int, lengths: list[int], speed: float
) -> None:
    text = ("q8w3z.m" * 12)[:letters]
    whole = joined(new_synthesizer(chunk_frames=WHOLE).stream(text, speed))
    samples = joined(new_synthesizer(chunk_frames=lengths).stream(text, speed))
    np.testing.assert_allclose(samples, whole, rtol=0, atol=1e-4)


def test_no_click_at_seams(new_synthesizer: NewSynthesizer) -> None:
    chunks = list(new_synthesizer().stream(TEXT))
    samples = np.concatenate([chunk.samples for chunk in chunks]).astype(np.float64)
    # A click is a jump of the curvature; compare seams with everywhere else.
    bend = np.abs(np.diff(samples, 2))
    seams = np.cumsum([len(chunk.samples) for chunk in chunks])[:-1]
    at_seams = np.concatenate([bend[seam - 3 : seam + 2] for seam in seams])
    assert at_seams.max() <= np.percentile(bend, 99.9)


def test_chunks_are_numbered_and_the_last_is_marked(new_synthesizer: NewSynthesizer) -> None:
    chunks = list(new_synthesizer().stream(TEXT))
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert [chunk.is_last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert {chunk.via for chunk in chunks} == {"neural"}
    assert {chunk.sample_rate_hz for chunk in chunks} == {24000}
    assert set(chunks[0].stage_ms) == {"text", "encoder", "decoder", "transform", "vocoder"}
    assert all(chunk.samples.dtype == np.float32 for chunk in chunks)
    assert abs(chunks[-1].samples[-1]) < 1e-6


def test_first_sound_needs_one_chunk_however_long_the_text(
    voice: Voice, networks: dict[str, Any], new_synthesizer: NewSynthesizer
) -> None:
    frames: list[int] = []

    class Watched:
        def run(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            frames.append(inputs["features"].shape[2])
            return networks["vocoder"].run(inputs)

        def close(self) -> None: ...

    front_end = FakeFrontEnd()
    synthesizer = new_synthesizer(vocoder=NeuralVocoder(Watched(), voice), front_end=front_end)
    first = next(synthesizer.stream("word " * 2000))
    assert frames == [24 + voice.graphs["vocoder"].context]
    assert front_end.taken == 1
    assert len(first.samples) == 23 * 300


def test_long_text_takes_no_more_memory_than_a_short_one(new_synthesizer: NewSynthesizer) -> None:
    def peak_bytes(text: str) -> int:
        synthesizer = new_synthesizer()
        next(synthesizer.stream("warm up"))
        tracemalloc.start()
        for _ in synthesizer.stream(text):
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert peak_bytes("abcde" * 400) < 1.3 * peak_bytes("abcde" * 20) + 50_000


def test_the_same_text_has_one_sound(new_synthesizer: NewSynthesizer) -> None:
    synthesizer = new_synthesizer()
    first, second = (joined(synthesizer.stream(TEXT)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


class FailsAfter:
    """The network vocoder, until it has made so many chunks."""

    def __init__(self, vocoder: NeuralVocoder, chunks: int) -> None:
        self._vocoder = vocoder
        self._left = chunks
        self.context_frames = vocoder.context_frames

    def start(self, *arguments: Any) -> VocoderRun:
        self._left -= 1
        if self._left < 0:
            raise InferenceError("gone")
        return self._vocoder.start(*arguments)


def test_the_fallback_takes_over_between_two_chunks(
    voice: Voice, networks: dict[str, Any], new_synthesizer: NewSynthesizer, one_shot: np.ndarray
) -> None:
    vocoder = FailsAfter(NeuralVocoder(networks["vocoder"], voice), 2)
    chunks = list(new_synthesizer(vocoder=vocoder).stream(TEXT))
    assert [chunk.via for chunk in chunks][:4] == ["neural", "neural", "dsp", "dsp"]
    samples = np.concatenate([chunk.samples for chunk in chunks])
    assert len(samples) == len(one_shot)
    neural = sum(len(chunk.samples) for chunk in chunks[:2])
    np.testing.assert_allclose(samples[:neural], one_shot[:neural], atol=1e-4)
    assert np.abs(samples[neural:]).max() > 1e-3


def test_the_filter_is_for_the_network_alone(
    voice: Voice, networks: dict[str, Any], new_synthesizer: NewSynthesizer
) -> None:
    filtered: list[int] = []

    def count(spectra: np.ndarray) -> np.ndarray:
        filtered.append(len(spectra))
        return spectra

    vocoder = FailsAfter(NeuralVocoder(networks["vocoder"], voice), 2)
    synthesizer = new_synthesizer(vocoder=vocoder, new_spectral_filter=lambda: count)
    chunks = list(synthesizer.stream(TEXT))
    assert len(filtered) == [chunk.via for chunk in chunks].count("neural") == 2


@pytest.mark.parametrize("speed", [0.0, 0.49, 2.01, float("nan")])
def test_speed_out_of_range_is_refused_at_once(
    new_synthesizer: NewSynthesizer, speed: float
) -> None:
    with pytest.raises(UsageError, match="speed"):
        new_synthesizer().stream("text", speed)


def test_nothing_to_speak(new_synthesizer: NewSynthesizer) -> None:
    with pytest.raises(NothingToSpeakError):
        next(new_synthesizer().stream("..."))
    with pytest.raises(NothingToSpeakError):
        next(new_synthesizer().stream_pieces(["...", " "]))


def test_samples_never_leave_the_range(
    new_synthesizer: NewSynthesizer, voice: Voice, networks: dict[str, Any]
) -> None:
    class Loud(NeuralVocoder):
        def start(self, *arguments: Any) -> Any:
            run = super().start(*arguments)

            class LoudRun:
                def spectra(self, *arguments: Any) -> np.ndarray:
                    return run.spectra(*arguments) * 100

            return LoudRun()

    samples = joined(new_synthesizer(vocoder=Loud(networks["vocoder"], voice)).stream(TEXT))
    assert np.abs(samples).max() == 1.0


def test_each_phrase_has_a_filter_of_its_own(
    new_synthesizer: NewSynthesizer, one_shot: np.ndarray
) -> None:
    made: list[list[int]] = []

    def new_filter() -> Callable[[np.ndarray], np.ndarray]:
        lengths: list[int] = []
        made.append(lengths)

        def halve(spectra: np.ndarray) -> np.ndarray:
            lengths.append(len(spectra))
            return spectra * np.float32(0.5)

        return halve

    chunks = list(new_synthesizer(new_spectral_filter=new_filter).stream(TEXT))
    # The first sentence is too long for one phrase, the last one for none.
    assert [lengths[0] for lengths in made] == [24, 24, 24, 14]
    np.testing.assert_allclose(joined(iter(chunks)), one_shot / 2, atol=1e-4)
    assert "filter" in chunks[0].stage_ms


def test_pieces_are_spoken_at_punctuation(new_synthesizer: NewSynthesizer) -> None:
    taken: list[str] = []

    def writer() -> Iterator[str]:
        for piece in ("War", "ning, ", "tank ", "two. "):
            taken.append(piece)
            yield piece

    stream = new_synthesizer().stream_pieces(writer())
    first = next(stream)
    assert taken == ["War", "ning, "]
    rest = list(stream)
    assert [chunk.is_last for chunk in rest] == [False] * (len(rest) - 1) + [True]
    samples = joined(iter([first, *rest]))
    separate = [joined(new_synthesizer().stream(text)) for text in ("Warning,", "tank two.")]
    np.testing.assert_allclose(samples[:-120], np.concatenate(separate), atol=1e-4)
    assert not samples[-120:].any()


def test_pieces_wait_for_the_listener(new_synthesizer: NewSynthesizer) -> None:
    taken = 0

    def writer() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "word "

    stream = new_synthesizer().stream_pieces(writer())
    heard = 0
    for _ in range(30):
        heard += len(next(stream).samples)
    # 64 phonemes are 16 of these words; a phrase more may be under way.
    frames_a_word = 4 * 6
    assert taken <= heard / 300 / frames_a_word * 3 + 2 * 16
