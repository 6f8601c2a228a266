"""``edgetts selftest``: speak with one provider and compare with the CPU in fp32."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from edge_tts.pipeline import Pipeline

    Float32 = npt.NDArray[np.float32]

LINES = (
    "警告，主轴温度过高，当前 85℃",
    "Pump 3 tripped on overload, error E01.",
    "PLC 通讯故障，请检查 CPU 模块！",
)
# A GPU must give this; int8 on the CPU is another rendering of the same words.
MAX_LOG_SPECTRAL_DISTANCE_DB = 1.0
_LEAST_LEVEL_DBFS = -50.0
_FRAME = 1200


@dataclass(frozen=True)
class LineResult:
    """One line: how it was spoken, and how far from the reference.

    ``log_spectral_distance_db`` is None where the lengths differ.
    """

    text: str
    provider: str
    first_audio_ms: float
    duration_s: float
    reference_duration_s: float
    level_dbfs: float
    log_spectral_distance_db: float | None

    @property
    def is_heard(self) -> bool:
        return self.level_dbfs > _LEAST_LEVEL_DBFS

    @property
    def is_equal(self) -> bool:
        distance = self.log_spectral_distance_db
        return distance is not None and distance <= MAX_LOG_SPECTRAL_DISTANCE_DB


@click.command(epilog="Example: edgetts selftest --provider tensorrt")
@click.option("--provider", metavar="NAME", help="tensorrt, cuda or cpu; the set one without it.")
@click.option("--voice", metavar="NAME", help="Installed voice, or the path of its folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(provider: str | None, voice: str | None, as_json: bool) -> None:
    """Speak a few lines and compare them with the CPU in fp32.

    Fails when a line can't be heard, or when a GPU's durations or spectra are
    not those of the CPU. int8 on the CPU may differ; how far is printed.
    """
    from edge_tts.config import load_settings
    from edge_tts.errors import InferenceError
    from edge_tts.pipeline import build_pipeline

    chosen = {"voice.name": voice, "inference.provider": provider}
    reference = {"inference.provider": "cpu", "inference.precision": "fp32"}
    results = compare_pipelines(
        build_pipeline(load_settings(overrides=chosen)),
        build_pipeline(load_settings(overrides={**chosen, **reference})),
    )
    if as_json:
        import json

        click.echo(json.dumps([asdict(result) for result in results], ensure_ascii=False))
    else:
        for result in results:
            click.echo(_as_line(result))
    for result in results:
        if not result.is_heard:
            raise InferenceError(f"{result.provider} speaks nothing that can be heard")
        if "cpu" not in result.provider and not result.is_equal:
            raise InferenceError(
                f"{result.provider} does not give what the CPU gives for {result.text!r}; "
                "build its engines again: edgetts engine build --force"
            )


def compare_pipelines(candidate: Pipeline, reference: Pipeline) -> list[LineResult]:
    """Speak :data:`LINES` with both and measure the first against the second.

    Raises:
        EdgeTtsError: one of the two can't speak.
    """
    import numpy as np

    candidate.warm_up()
    results = []
    for text in LINES:
        samples, first_audio_ms = _speak(candidate, text)
        expected, _ = _speak(reference, text)
        rate = candidate.sample_rate_hz
        rms = float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) if len(samples) else 0.0
        results.append(
            LineResult(
                text=text,
                provider=str(candidate.describe()["provider"]),
                first_audio_ms=first_audio_ms,
                duration_s=len(samples) / rate,
                reference_duration_s=len(expected) / rate,
                level_dbfs=20 * float(np.log10(max(rms, 1e-9))),
                log_spectral_distance_db=_distance_db(samples, expected),
            )
        )
    return results


def _speak(pipeline: Pipeline, text: str) -> tuple[Float32, float]:
    """Samples of a text, and milliseconds to the first of them."""
    from time import perf_counter

    import numpy as np

    began_s = perf_counter()
    first_ms = 0.0
    parts: list[Float32] = []
    for chunk in pipeline.stream(text):
        if not parts:
            first_ms = 1000 * (perf_counter() - began_s)
        parts.append(chunk.samples)
    return np.concatenate(parts), first_ms


def _distance_db(found: Float32, expected: Float32) -> float | None:
    """Log-spectral distance over frames of 50 ms; None for another length."""
    import numpy as np

    from edge_tts.inference.engine_gate import log_spectral_distance_db

    if len(found) != len(expected) or len(found) < _FRAME:
        return None
    window = np.hanning(_FRAME).astype(np.float32)
    spectra = [
        np.abs(np.fft.rfft(samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME) * window))
        for samples in (found, expected)
    ]
    return log_spectral_distance_db(spectra[0], spectra[1])


def _as_line(result: LineResult) -> str:
    if result.log_spectral_distance_db is None:
        extra_ms = 1000 * (result.duration_s - result.reference_duration_s)
        apart = f"{extra_ms:+.0f} ms long beside fp32"
    else:
        apart = f"{result.log_spectral_distance_db:.2f} dB from fp32"
    return (
        f"{result.provider}: first audio {result.first_audio_ms:.1f} ms, "
        f"{result.duration_s:.2f} s, {apart}  {result.text}"
    )
