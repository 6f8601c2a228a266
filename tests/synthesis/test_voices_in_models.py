"""What must hold for a trained voice as for the tiny one; nothing to do where none is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.synthesis.acoustic_model import AcousticModel
from edge_tts.synthesis.dsp_vocoder import DspVocoder
from edge_tts.synthesis.synthesizer import Synthesizer
from edge_tts.synthesis.vocoder import NeuralVocoder
from edge_tts.text.front_end import TextFrontEnd
from edge_tts.text.lexicon import Lexicon
from edge_tts.voice import Voice, load_voice
from tests.packs import checkout_packs, packs_with_fp32

TEXT = "1号主变油温85℃，重瓦斯保护跳闸。Motor overload, check pump 3."


@pytest.fixture(scope="module", params=checkout_packs(), ids=lambda folder: folder.name)
def voice(request: pytest.FixtureRequest) -> Voice:
    return load_voice(request.param)


class Speaker:
    def __init__(self, voice: Voice, precision: str) -> None:
        self._voice = voice
        self._front_end = TextFrontEnd(Lexicon.open(voice.lexicon_path()), voice.phonemes)
        self._sessions = {
            graph: OnnxSession(voice.graph_path(graph, precision)) for graph in voice.graphs
        }

    def speak(
        self, text: str, chunk_frames: Sequence[int] | None = None, *, neural: bool = True
    ) -> np.ndarray:
        synthesizer = Synthesizer(
            self._front_end,
            AcousticModel(self._sessions["encoder"], self._sessions["decoder"], self._voice),
            NeuralVocoder(self._sessions["vocoder"], self._voice) if neural else None,
            DspVocoder(self._voice),
            self._voice,
            chunk_frames=chunk_frames,
        )
        return np.concatenate([chunk.samples for chunk in synthesizer.stream(text)])


@pytest.fixture(scope="module", params=packs_with_fp32(), ids=lambda folder: folder.name)
def full(request: pytest.FixtureRequest) -> Speaker:
    return Speaker(load_voice(request.param), "fp32")


@pytest.mark.parametrize("chunk_frames", [None, [3], [7, 11], [24], [100]])
def test_chunks_equal_one_run(full: Speaker, chunk_frames: list[int] | None) -> None:
    whole = full.speak(TEXT, [10**6])
    assert np.abs(whole).max() > 0.05
    np.testing.assert_allclose(full.speak(TEXT, chunk_frames), whole, rtol=0, atol=1e-4)


def test_the_fallback_is_as_loud_as_the_network(full: Speaker) -> None:
    network, fallback = (full.speak(TEXT, neural=neural) for neural in (True, False))
    assert len(network) == len(fallback)
    level_db = [10 * np.log10(np.mean(np.square(s, dtype=np.float64))) for s in (network, fallback)]
    assert abs(level_db[0] - level_db[1]) < 3.0


@pytest.mark.parametrize("text", ["断电", "1", "Stop", "啊"])
def test_the_shortest_texts_are_heard(voice: Voice, text: str) -> None:
    samples = Speaker(voice, "int8").speak(text)
    blocks = samples[: len(samples) // 240 * 240].reshape(-1, 240)
    loud_ms = 10 * int((np.sqrt((blocks**2).mean(axis=1)) > 0.01).sum())
    assert loud_ms >= 80
