from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.synthesis.acoustic_model import AcousticModel
from edge_tts.synthesis.dsp_vocoder import DspVocoder
from edge_tts.synthesis.synthesizer import Synthesizer
from edge_tts.synthesis.vocoder import NeuralVocoder
from edge_tts.voice import Voice, load_voice
from tests.fakes import FakeFrontEnd


@pytest.fixture(scope="session")
def voice(tiny_voice: Path) -> Voice:
    return load_voice(tiny_voice)


@pytest.fixture(scope="session")
def networks(voice: Voice) -> dict[str, OnnxSession]:
    return {name: OnnxSession(voice.graph_path(name, "fp32")) for name in voice.graphs}


@pytest.fixture(scope="session")
def acoustic_model(voice: Voice, networks: dict[str, OnnxSession]) -> AcousticModel:
    return AcousticModel(networks["encoder"], networks["decoder"], voice)


@pytest.fixture(scope="session")
def new_synthesizer(
    voice: Voice, networks: dict[str, OnnxSession], acoustic_model: AcousticModel
) -> Callable[..., Synthesizer]:
    """Builds a synthesizer on real networks; keyword arguments replace its parts."""

    def build(**changes: Any) -> Synthesizer:
        parts: dict[str, Any] = {
            "front_end": FakeFrontEnd(),
            "acoustic_model": acoustic_model,
            "vocoder": NeuralVocoder(networks["vocoder"], voice),
            "fallback_vocoder": DspVocoder(voice),
            "voice": voice,
        }
        return Synthesizer(**(parts | changes))

    return build
