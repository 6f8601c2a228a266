from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from edge_tts.errors import InferenceError
from edge_tts.synthesis.vocoder_chain import RETRY_S, VocoderChain

ANY: Any = None


class ConstantVocoder:
    """Gives the same value for every bin, or fails with it."""

    def __init__(self, value: complex | Exception, context_frames: int = 0) -> None:
        self.value = value
        self.context_frames = context_frames
        self.calls = 0

    def start(self, *arguments: Any) -> ConstantVocoder:
        return self

    def spectra(self, *arguments: Any) -> np.ndarray:
        self.calls += 1
        if isinstance(self.value, Exception):
            raise self.value
        return np.full((2, 3), self.value, np.complex64)


def spectra_of(chain: VocoderChain) -> tuple[np.ndarray, str]:
    return chain.start(ANY, slice(0, 2)).spectra(ANY, ANY)


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_takes_the_network_while_it_works() -> None:
    fallback = ConstantVocoder(2)
    chain = VocoderChain(ConstantVocoder(1, context_frames=7), fallback)
    spectra, via = spectra_of(chain)
    assert (spectra[0, 0], via, chain.context_frames) == (1, "neural", 7)
    chain.report(via, work_s=100.0, sound_s=1.0)
    assert spectra_of(chain)[1] == "neural"
    assert fallback.calls == 0


@pytest.mark.parametrize("fault", [InferenceError("no such file"), complex("nan"), complex("inf")])
def test_falls_with_one_line_and_tries_again(
    fault: complex | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    clock, neural = Clock(), ConstantVocoder(fault)
    chain = VocoderChain(neural, ConstantVocoder(2), clock=clock)
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            spectra, via = spectra_of(chain)
            assert (spectra[0, 0], via) == (2, "dsp")
    assert neural.calls == 1
    assert len(caplog.records) == 1
    neural.value = 1
    clock.now_s = RETRY_S - 1
    assert spectra_of(chain)[1] == "dsp"
    clock.now_s = RETRY_S
    assert spectra_of(chain)[1] == "neural"


def test_falls_when_two_chunks_in_a_row_are_too_slow() -> None:
    clock = Clock()
    chain = VocoderChain(
        ConstantVocoder(1), ConstantVocoder(2), slowest_real_time_factor=0.8, clock=clock
    )

    def speak(work_s: float) -> str:
        via = spectra_of(chain)[1]
        chain.report(via, work_s, sound_s=1.0)
        return via

    assert [speak(seconds) for seconds in (0.9, 0.7, 0.9, 0.9, 0.1)] == ["neural"] * 4 + ["dsp"]
    clock.now_s = RETRY_S
    assert [speak(seconds) for seconds in (0.9, 0.1)] == ["neural"] * 2


def test_a_fault_of_our_own_is_not_hidden() -> None:
    with pytest.raises(TypeError):
        spectra_of(VocoderChain(ConstantVocoder(TypeError("bug")), ConstantVocoder(2)))


def test_without_a_network_the_fallback_speaks() -> None:
    chain = VocoderChain(None, ConstantVocoder(2, context_frames=3))
    assert spectra_of(chain)[1] == "dsp"
    assert chain.context_frames == 3
