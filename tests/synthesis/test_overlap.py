"""Networks that run beside their caller: the same samples, and work for both at any time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.inference.session import Array
from edge_tts.synthesis.acoustic_model import AcousticModel
from edge_tts.synthesis.listener import LONGEST_WAIT_S, Listener
from edge_tts.synthesis.synthesizer import Synthesizer
from edge_tts.synthesis.vocoder import NeuralVocoder
from edge_tts.voice import Voice

NewSynthesizer = Callable[..., Synthesizer]
TEXT = "The quick brown fox jumps over the lazy dog 0123456789. A second phrase. Z."


@dataclass
class Beside:
    """A session with a thread of its own, which tells what happens when."""

    name: str
    session: OnnxSession
    executor: ThreadPoolExecutor
    events: list[str]
    due_s: list[float | None]

    def start(self, inputs: dict[str, Array]) -> BesideRun:
        self.events.append(f"start {self.name}")
        # What the caller does to its arrays afterwards must not matter.
        return BesideRun(self, self.executor.submit(self.session.run, inputs))

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        raise AssertionError("it was waited for at once")

    def close(self) -> None: ...


@dataclass
class BesideRun:
    owner: Beside
    future: Future[dict[str, Array]]

    def result(self, due_s: float | None = None) -> dict[str, Array]:
        self.owner.events.append(f"take {self.owner.name}")
        self.owner.due_s.append(due_s)
        return self.future.result(30)


class Rig:
    def __init__(
        self, voice: Voice, networks: dict[str, OnnxSession], new_synthesizer: NewSynthesizer
    ) -> None:
        self.executor = ThreadPoolExecutor(1)
        self.events: list[str] = []
        self.due_s: list[float | None] = []
        sessions: dict[str, Any] = {
            name: Beside(name, session, self.executor, self.events, self.due_s)
            for name, session in networks.items()
        }
        self.parts = {
            "acoustic_model": AcousticModel(sessions["encoder"], sessions["decoder"], voice),
            "vocoder": NeuralVocoder(sessions["vocoder"], voice),
        }
        self._new_synthesizer = new_synthesizer

    def synthesizer(self, **changes: Any) -> Synthesizer:
        return self._new_synthesizer(**self.parts, **changes)


@pytest.fixture
def rig(voice: Voice, networks: dict[str, OnnxSession], new_synthesizer: NewSynthesizer) -> Rig:
    return Rig(voice, networks, new_synthesizer)


def test_the_samples_are_the_same(rig: Rig, new_synthesizer: NewSynthesizer) -> None:
    expected = np.concatenate([chunk.samples for chunk in new_synthesizer().stream(TEXT)])
    for _ in range(3):
        found = np.concatenate([chunk.samples for chunk in rig.synthesizer().stream(TEXT)])
        np.testing.assert_array_equal(found, expected)


def test_the_next_chunk_is_decoded_while_this_one_is_taken(rig: Rig) -> None:
    def note(spectra: np.ndarray) -> np.ndarray:
        rig.events.append("filter")
        return spectra

    synthesizer = rig.synthesizer(new_spectral_filter=lambda: note)
    chunks = 0
    for _ in synthesizer.stream("The quick brown fox jumps over the lazy dog"):
        rig.events.append("play")
        chunks += 1
    first = ["start encoder", "take encoder", "start decoder"]
    middle = ["take decoder", "start vocoder", "take vocoder", "start decoder", "filter", "play"]
    last = ["take decoder", "start vocoder", "take vocoder", "filter", "play"]
    assert chunks > 3
    # The last chunk's features are there before it: the decoder is ahead.
    without_decoder = ["start vocoder", "take vocoder", "filter", "play"]
    begun = rig.events.count("start decoder")
    expected = first + middle * (begun - 1) + last + without_decoder * (chunks - begun)
    assert rig.events == expected


def test_speech_that_was_cut_does_no_harm_to_the_next(
    rig: Rig, new_synthesizer: NewSynthesizer
) -> None:
    expected = np.concatenate([chunk.samples for chunk in new_synthesizer().stream("quick fox")])
    synthesizer = rig.synthesizer()
    cut = synthesizer.stream(TEXT)
    next(cut)
    cut.close()  # type: ignore[attr-defined]
    found = np.concatenate([chunk.samples for chunk in synthesizer.stream("quick fox")])
    np.testing.assert_array_equal(found, expected)


def test_a_network_is_due_before_the_sound_ends(rig: Rig) -> None:
    class Clock:
        now_s = 10.0

        def __call__(self) -> float:
            return self.now_s

    clock = Clock()
    handed_over_s = 0.0
    stream = rig.synthesizer(new_listener=lambda: Listener(clock)).stream(TEXT)
    for chunk in stream:
        # At a clock that stands still, all that was handed over is still to be heard.
        wait_s = min(handed_over_s / 2, LONGEST_WAIT_S) if handed_over_s else LONGEST_WAIT_S
        assert rig.due_s == pytest.approx([10.0 + wait_s] * len(rig.due_s))
        assert rig.due_s
        rig.due_s.clear()
        handed_over_s += len(chunk.samples) / chunk.sample_rate_hz


def test_without_a_listener_nothing_is_due(rig: Rig) -> None:
    for _ in rig.synthesizer().stream(TEXT):
        pass
    assert set(rig.due_s) == {None}
