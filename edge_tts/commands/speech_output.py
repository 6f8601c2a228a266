"""Where chunks of speech go: a file, a pipe, or the sound device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from edge_tts.commands.speech_stats import process_age_ms
from edge_tts.errors import DeviceError, UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from edge_tts.audio_chunk import AudioChunk
    from edge_tts.config import AudioSettings

_DEVICE_WAIT_S = 5.0


def write_file(
    chunks: Iterator[AudioChunk], path: str, voice_rate_hz: int, rate_hz: int | None
) -> float:
    """Write the chunks into a WAV file, or raw to standard output for ``-``.

    Args:
        chunks: of one text.
        path: of the file, or ``-``.
        voice_rate_hz: rate of the chunks.
        rate_hz: rate to write; ``None`` keeps the voice's.

    Returns:
        Age of the process in milliseconds when the first samples had been written.

    Raises:
        OutputError: the file can't be made or written.
        UsageError: no conversion to this rate.
    """
    from edge_tts.audio.pcm_file import PcmFile

    first_pcm_ms = 0.0
    with PcmFile(path, rate_hz or voice_rate_hz) as file:
        for samples in _as_int16(chunks, voice_rate_hz, rate_hz or voice_rate_hz):
            if len(samples):
                file.write(samples)
                first_pcm_ms = first_pcm_ms or process_age_ms()
    return first_pcm_ms


def play(
    chunks: Iterator[AudioChunk], audio: AudioSettings, voice_rate_hz: int, rate_hz: int | None
) -> float:
    """Play the chunks through the sink of the settings, and wait for the end of them.

    Args:
        chunks: of one text.
        audio: names the sink.
        voice_rate_hz: rate of the chunks.
        rate_hz: rate to open the device at; ``None`` leaves it to the settings.

    Returns:
        Age of the process in milliseconds when the first samples were ready.

    Raises:
        DeviceError: there is no device, or it was lost.
    """
    from edge_tts.audio.player import Player
    from edge_tts.audio.sink import parse_sink_spec, sink_opener

    open_sink = sink_opener(
        parse_sink_spec(audio.sink),
        voice_rate_hz,
        block_ms=audio.block_ms,
        device_rate_hz=rate_hz or audio.sample_rate_hz or None,
    )
    player = Player(open_sink, sample_rate_hz=voice_rate_hz, stall_s=audio.stall_s)
    first_pcm_ms = 0.0
    try:
        if not player.open(_DEVICE_WAIT_S):
            raise DeviceError(
                f"no sound device ({player.detail}); write a file with --output, "
                "or see: edgetts doctor"
            )
        with player.start() as utterance:
            for samples in _as_int16(chunks, voice_rate_hz, voice_rate_hz):
                first_pcm_ms = first_pcm_ms or process_age_ms()
                utterance.write(samples)
        utterance.wait()
    finally:
        player.close()
    return first_pcm_ms


def _as_int16(
    chunks: Iterator[AudioChunk], from_hz: int, to_hz: int
) -> Iterator[npt.NDArray[np.int16]]:
    from edge_tts.audio.limiter import to_int16

    if from_hz == to_hz:
        for chunk in chunks:
            yield to_int16(chunk.samples)
        return
    from edge_tts.audio.resampler import Resampler

    try:
        resampler = Resampler(from_hz, to_hz)
    except ValueError as exc:
        raise UsageError(f"--rate: {exc}") from exc
    for chunk in chunks:
        yield to_int16(resampler.process(chunk.samples))
    yield to_int16(resampler.flush())
