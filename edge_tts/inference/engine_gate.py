"""Is an engine's output near enough to the CPU's to be heard by people who rely on it?

Half precision changes the last digits; an overflow or a wrong kernel changes
everything. The bounds sit far above the first and far below the second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from edge_tts.inference.session import Array, InferenceSession

# Root mean square over bins and frames of the difference of log power spectra.
MAX_LOG_SPECTRAL_DISTANCE_DB = 1.0
# Of the largest value of the output; half precision has 11 bits.
MAX_RELATIVE_ERROR = 0.02
# Bins this far under the loudest one are not heard.
_FLOOR_DB = -80.0

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Comparison:
    """What the comparison found: ``passed``, and figures or the reason in words."""

    passed: bool
    reason: str


def compare_sessions(
    graph: str,
    candidate: InferenceSession,
    reference: InferenceSession,
    inputs: Iterable[dict[str, Array]],
) -> Comparison:
    """Run both on the same inputs and compare what matters of a network's outputs.

    The encoder's durations must round to the same frames, the vocoder's spectra
    stay within :data:`MAX_LOG_SPECTRAL_DISTANCE_DB`, everything else within
    :data:`MAX_RELATIVE_ERROR`.

    Args:
        graph: ``encoder``, ``decoder`` or ``vocoder``.
        candidate: the engine.
        reference: the same network in fp32 on the CPU.
        inputs: at least one set of inputs, from real texts.

    Raises:
        InferenceError: one of the two failed to run.
    """
    distances, errors = [0.0], [0.0]
    count = 0
    for example in inputs:
        count += 1
        expected, found = reference.run(example), candidate.run(example)
        for name, wanted in expected.items():
            got = found[name]
            if got.shape != wanted.shape or not np.isfinite(got).all():
                return Comparison(False, f"{name} holds numbers that are none, or too few")
            errors.append(relative_error(got, wanted))
        if graph == "encoder":
            frames = [np.round(np.exp(out["log_durations"])) for out in (expected, found)]
            wrong = int(np.sum(frames[0] != frames[1]))
            if wrong:
                return Comparison(False, f"{wrong} of {frames[0].size} durations differ")
        if graph == "vocoder":
            distances.append(log_spectral_distance_db(_spectrum(found), _spectrum(expected)))
    if not count:
        return Comparison(False, "there was nothing to compare")
    error, distance = max(errors), max(distances)
    figures = f"largest error {error:.2%}"
    if graph == "vocoder":
        figures += f", log-spectral distance {distance:.2f} dB"
    passed = error <= MAX_RELATIVE_ERROR and distance <= MAX_LOG_SPECTRAL_DISTANCE_DB
    return Comparison(passed, f"{figures} over {count} inputs")


def relative_error(found: Array, expected: Array) -> float:
    """Largest absolute difference, over the largest absolute value expected."""
    scale = float(np.max(np.abs(expected))) or 1.0
    difference = found.astype(np.float64) - expected.astype(np.float64)
    return float(np.max(np.abs(difference))) / scale


def log_spectral_distance_db(found: Floats, expected: Floats) -> float:
    """Root mean square difference of two magnitude spectra ``(F, bins)`` in dB.

    Bins under -80 dB of the loudest expected one count as that.
    """
    loudest = float(np.max(expected)) or 1.0
    floor = loudest * 10 ** (_FLOOR_DB / 20)
    levels = [20 * np.log10(np.maximum(spectrum, floor)) for spectrum in (found, expected)]
    return float(np.sqrt(np.mean((levels[0] - levels[1]) ** 2)))


def _spectrum(outputs: dict[str, Array]) -> Floats:
    """Magnitudes of the harmonic and noise parts side by side."""
    harmonic = np.hypot(outputs["harmonic_real"], outputs["harmonic_imag"])
    noise: Floats = np.concatenate((harmonic, np.abs(outputs["noise_magnitude"])), axis=-1)[0]
    return noise
