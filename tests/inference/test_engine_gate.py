from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.inference.engine_gate import (
    compare_sessions,
    log_spectral_distance_db,
    relative_error,
)
from edge_tts.inference.engine_profiles import AxisProfile


class Gives:
    """A session with a fixed answer."""

    def __init__(self, **outputs: np.ndarray) -> None:
        self._outputs = outputs

    def run(self, inputs: dict) -> dict:
        return self._outputs

    def close(self) -> None:
        pass


def encoder(log_durations: list[float]) -> Gives:
    return Gives(hidden=np.ones((1, 3, 4)), log_durations=np.array([log_durations]))


def vocoder(scale: float) -> Gives:
    rng = np.random.default_rng(0)
    spectra = rng.random((3, 1, 20, 601)).astype(np.float32) + 0.5
    real, imag, noise = spectra * np.float32(scale)
    return Gives(harmonic_real=real, harmonic_imag=imag, noise_magnitude=noise)


def test_equal_durations_pass() -> None:
    same = encoder(list(np.log([5.2, 3.1, 8.4])))
    result = compare_sessions("encoder", same, same, [{}])
    assert result.passed
    assert result.reason == "largest error 0.00% over 1 inputs"


def test_one_frame_more_fails() -> None:
    reference, other = encoder(list(np.log([5.2, 3.1]))), encoder(list(np.log([5.2, 3.9])))
    result = compare_sessions("encoder", other, reference, [{}])
    assert not result.passed
    assert result.reason == "1 of 2 durations differ"


@pytest.mark.parametrize(("scale", "passed"), [(1.0005, True), (1.015, True), (1.5, False)])
def test_spectra_may_differ_by_what_nobody_hears(scale: float, passed: bool) -> None:
    result = compare_sessions("vocoder", vocoder(scale), vocoder(1.0), [{}, {}])
    assert result.passed is passed
    assert "log-spectral distance" in result.reason
    assert "over 2 inputs" in result.reason


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_fail(bad: float) -> None:
    reference = Gives(features=np.zeros((1, 82, 4)))
    other = Gives(features=np.full((1, 82, 4), bad))
    assert not compare_sessions("decoder", other, reference, [{}]).passed


def test_another_shape_fails() -> None:
    reference, other = Gives(features=np.zeros((1, 82, 4))), Gives(features=np.zeros((1, 82, 3)))
    assert not compare_sessions("decoder", other, reference, [{}]).passed


def test_nothing_to_compare_fails() -> None:
    assert not compare_sessions("decoder", Gives(), Gives(), []).passed


def test_the_worst_input_decides() -> None:
    good, bad = np.ones((1, 82, 4)), np.ones((1, 82, 4))
    bad[0, 5, 2] = 1.5

    class Second(Gives):
        runs = 0

        def run(self, inputs: dict) -> dict:
            self.runs += 1
            return {"features": bad if self.runs == 2 else good}

    result = compare_sessions("decoder", Second(), Gives(features=good), [{}, {}, {}])
    assert not result.passed
    assert "50.00%" in result.reason


@given(st.floats(-30, 30))
def test_a_change_of_level_is_its_distance(level_db: float) -> None:
    spectrum = np.full((4, 601), 1.0)
    changed = spectrum * 10 ** (level_db / 20)
    distance = log_spectral_distance_db(changed, spectrum)
    assert distance == pytest.approx(abs(level_db), abs=1e-6)


def test_what_lies_far_under_the_loudest_bin_does_not_count() -> None:
    expected = np.full((1, 601), 1e-9)
    expected[0, 0] = 1.0
    found = expected.copy()
    found[0, 1:] = 1e-12
    assert log_spectral_distance_db(found, expected) == 0.0


def test_relative_error_of_silence() -> None:
    assert relative_error(np.zeros(4), np.zeros(4)) == 0.0


@pytest.mark.parametrize("sizes", [(0, 1, 2), (3, 2, 4), (1, 5, 4)])
def test_a_profile_ascends(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="ascending"):
        AxisProfile(*sizes)
