"""Compare WAV files of two processors: ``compare.py FOLDER NAME OTHER [NAME OTHER ...]``.

Prints how far the samples of each pair are apart, and ends with status 1 when
that is beyond the tolerance of its precision.
"""

from __future__ import annotations

import json
import sys
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float64]

SAMPLE_RATE_HZ = 24_000
WINDOW = 1024
HOP = 256
N_MELS = 80
# Of the strongest band: below that lies what 16 bits and the noise of a loudspeaker cover.
FLOOR_DB = -60.0


@dataclass(frozen=True)
class Tolerance:
    """How far samples of one precision may be apart.

    ``least_snr_db`` the difference lies under the speech, ``largest_mel_db`` the spectra are
    apart; ``most_of_length`` is by how much the lengths may differ, as a share.
    """

    least_snr_db: float
    largest_mel_db: float
    most_of_length: float


TOLERANCES = {
    # Sums in another order differ by rounding; steps of 16 bits are what is left of that.
    "fp32": Tolerance(50.0, 0.1, 0.0),
    # A rounding that flips moves an activation by a whole step, and others with it: on one and the
    # same processor, inputs that differ by 1e-6 give spectra 0.5 dB apart, by 1e-3 1.0 dB. A pitch
    # off by a cent is carried on in the phase of all later pulses, so samples can't be compared.
    # A duration near the half of a frame of 12.5 ms may round the other way, one in a phrase.
    "int8": Tolerance(-np.inf, 1.5, 0.005),
}


def samples(path: Path) -> Samples:
    """Mono 16-bit samples as a fraction of full scale."""
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768.0


def snr_db(expected: Samples, got: Samples) -> float:
    """Power of the speech over that of the difference."""
    power = float(((expected - got) ** 2).mean())
    return 10 * float(np.log10((expected**2).mean() / power)) if power else float("inf")


def mel_distance_db(expected: Samples, got: Samples) -> float:
    """Log-spectral distance over mel bands: rms over bands of the difference in dB, mean of frames.

    The measure is Gray and Markel's, Distance measures for speech processing (1976); bands in place
    of bins leave out where a harmonic lies within its band, which is a matter of phase. Where the
    lengths differ, frames are matched by dynamic time warping (Sakoe and Chiba 1978).
    """
    one, other = (_mel_db(each) for each in (expected, got))
    floor = float(one.max()) + FLOOR_DB
    one, other = np.maximum(one, floor), np.maximum(other, floor)
    if len(one) != len(other):
        return _warped_distance(one, other)
    return float(np.sqrt(((one - other) ** 2).mean(axis=1)).mean())


def _warped_distance(one: Samples, other: Samples) -> float:
    """Mean distance along the best path that stays near the diagonal."""
    band = abs(len(one) - len(other)) + 8
    # By cell: the sum along the best path that ends there, and its number of cells.
    sums = np.full((len(one) + 1, len(other) + 1), np.inf)
    cells = np.zeros(sums.shape, int)
    sums[0, 0] = 0.0
    for i in range(len(one)):
        first, last = max(0, i - band), min(len(other), i + band + 1)
        distances = np.sqrt(((one[i] - other[first:last]) ** 2).mean(axis=1))
        for j, distance in enumerate(distances, first):
            before = min((sums[i, j], i, j), (sums[i, j + 1], i, j + 1), (sums[i + 1, j], i + 1, j))
            sums[i + 1, j + 1] = before[0] + distance
            cells[i + 1, j + 1] = cells[before[1:]] + 1
    return float(sums[-1, -1] / cells[-1, -1])


def _mel_db(signal: Samples) -> Samples:
    """``(frames, N_MELS)``."""
    frames = np.lib.stride_tricks.sliding_window_view(signal, WINDOW)[::HOP] * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(frames)) ** 2
    return 10 * np.log10(power @ _mel_filters().T + 1e-20)


def _mel_filters() -> Samples:
    """Triangles, evenly spaced in mel (O'Shaughnessy), ``(N_MELS, WINDOW / 2 + 1)``."""
    top_mel = 2595 * np.log10(1 + SAMPLE_RATE_HZ / 2 / 700)
    edges_hz = 700 * (10 ** (np.linspace(0, top_mel, N_MELS + 2) / 2595) - 1)
    below, centre, above = edges_hz[:-2, None], edges_hz[1:-1, None], edges_hz[2:, None]
    bins_hz = np.arange(WINDOW // 2 + 1) * SAMPLE_RATE_HZ / WINDOW
    rising, falling = (bins_hz - below) / (centre - below), (above - bins_hz) / (above - centre)
    return np.maximum(0.0, np.minimum(rising, falling))


def compare(folder: Path, name: str, other: str) -> bool:
    (precision,) = TOLERANCES.keys() & name.split("-")
    for each in (name, other):
        stats = json.loads((folder / f"{each}.json").read_text("utf-8"))
        if set(stats["networks"].values()) != {f"cpu {precision}"} or stats["via"] != ["neural"]:
            print(f"{each} was computed by {stats['networks']}, spoken by {stats['via']}")
            return False
    expected, got = (samples(folder / f"{each}.wav") for each in (name, other))
    tolerance = TOLERANCES[precision]
    longer = abs(len(got) - len(expected))
    if longer > tolerance.most_of_length * len(expected) or not np.abs(expected).max() > 0.05:
        print(f"{name} has {len(expected)} samples, {other} {len(got)}")
        return False
    distance = mel_distance_db(expected, got)
    if longer:
        good = distance <= tolerance.largest_mel_db
        print(
            f"{other} against {name}: {len(got)} and {len(expected)} samples; mel spectra "
            f"{distance:.3f} dB apart after time warping (at most {tolerance.largest_mel_db:g})"
            f"{'' if good else '  BEYOND THE TOLERANCE'}"
        )
        return good
    snr = snr_db(expected, got)
    good = snr >= tolerance.least_snr_db and distance <= tolerance.largest_mel_db
    print(
        f"{other} against {name}: {len(got)} samples, {int((expected != got).sum())} differ, "
        f"by {float(np.abs(expected - got).max()):.1e} of full scale at most, "
        f"{snr:.1f} dB under the speech (at least {tolerance.least_snr_db:g}); "
        f"mel spectra {distance:.3f} dB apart (at most {tolerance.largest_mel_db:g})"
        f"{'' if good else '  BEYOND THE TOLERANCE'}"
    )
    return good


def main(folder: str, *names: str) -> int:
    pairs = list(zip(names[::2], names[1::2], strict=True))
    results = [compare(Path(folder), *pair) for pair in pairs]
    return 0 if pairs and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
