"""Compare WAV files of two architectures: ``compare.py FOLDER NAME OTHER [NAME OTHER ...]``.

Prints the largest difference of each pair and ends with status 1 when one is
beyond its precision's tolerance.
"""

from __future__ import annotations

import json
import sys
import wave
from pathlib import Path

import numpy as np
import numpy.typing as npt

# Of full scale. Sums in another order differ by rounding alone; one step of 16 bits is 3e-5.
FP32_TOLERANCE = 1e-4
# A rounding that flips changes an int8 activation by a whole step, so a sample may differ by more
# where the speech as a whole must not: 30 dB under it nobody hears a difference.
INT8_TOLERANCE = 0.05
INT8_SNR_DB = 30.0


def samples(path: Path) -> npt.NDArray[np.float64]:
    """Mono 16-bit samples as a fraction of full scale."""
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768.0


def compare(folder: Path, name: str, other: str) -> bool:
    expected, got = (samples(folder / f"{each}.wav") for each in (name, other))
    for each in (name, other):
        stats = json.loads((folder / f"{each}.json").read_text("utf-8"))
        networks = set(stats["networks"].values())
        if not all(f"-{network.split()[-1]}-" in each for network in networks):
            print(f"{each} was computed by {networks}")
            return False
    if len(expected) != len(got) or not len(got) or not np.abs(expected).max() > 0.05:
        print(f"{name} has {len(expected)} samples, {other} {len(got)}")
        return False
    difference = expected - got
    largest = float(np.abs(difference).max())
    power = float((difference**2).mean())
    snr_db = 10 * np.log10((expected**2).mean() / power) if power else float("inf")
    good = largest <= FP32_TOLERANCE
    if "-int8-" in name:
        good = largest <= INT8_TOLERANCE and snr_db >= INT8_SNR_DB
    print(
        f"{other} against {name}: {len(got)} samples, {int((difference != 0).sum())} differ, "
        f"largest difference {largest:.2e} of full scale, {snr_db:.1f} dB under the speech"
        f"{'' if good else '  BEYOND THE TOLERANCE'}"
    )
    return good


def main(folder: str, *names: str) -> int:
    pairs = list(zip(names[::2], names[1::2], strict=True))
    results = [compare(Path(folder), *pair) for pair in pairs]
    return 0 if pairs and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
