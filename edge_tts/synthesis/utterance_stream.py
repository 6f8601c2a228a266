"""One phrase from ids to samples, chunk by chunk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from edge_tts.synthesis.inverse_stft import InverseStft
from edge_tts.synthesis.source import PulseSource, lookahead_frames
from edge_tts.synthesis.vocoder import fundamental_hz, vocoder_features
from edge_tts.synthesis.windows import context_window

if TYPE_CHECKING:
    from edge_tts.audio_chunk import Via
    from edge_tts.synthesis.acoustic_model import AcousticModel, Decoding, Float32, Utterance
    from edge_tts.synthesis.noise import NoiseTable
    from edge_tts.synthesis.vocoder import Complex64
    from edge_tts.synthesis.vocoder_chain import VocoderChain
    from edge_tts.voice import Voice

SpectralFilter = Callable[["Complex64"], "Complex64"]


class StageClock:
    """Adds up milliseconds by stage: each :meth:`lap` ends a stage."""

    def __init__(self) -> None:
        self.stage_ms: dict[str, float] = {}
        self._last_s = time.perf_counter()

    def start(self) -> None:
        """Begin a stage now; what came before is nobody's."""
        self._last_s = time.perf_counter()

    def lap(self, stage: str) -> None:
        """End a stage and begin the next."""
        now_s = time.perf_counter()
        elapsed_ms = 1000.0 * (now_s - self._last_s)
        self.stage_ms[stage] = self.stage_ms.get(stage, 0.0) + elapsed_ms
        self._last_s = now_s

    def take(self) -> dict[str, float]:
        """What added up since the last call."""
        taken, self.stage_ms = self.stage_ms, {}
        return taken


@dataclass(frozen=True, eq=False)
class Piece:
    """Samples ``(N,)`` of one chunk of a phrase, not clipped."""

    samples: Float32
    via: Via
    ends_phrase: bool


@dataclass(frozen=True)
class Span:
    """One chunk: frames ``[start, stop)``, for which ``[decoded, ahead)`` must be decoded first.

    ``chunk`` is its nominal length, and ``decode_chunk`` that of its decoding; ``None``
    where windows have no width to keep.
    """

    start: int
    stop: int
    chunk: int | None
    decoded: int
    ahead: int
    decode_chunk: int | None


@dataclass(frozen=True)
class ChunkPlan:
    """Chunk lengths in frames: the first, the second, ... the last one repeats.

    ``fixed_shapes`` tells whether networks must be given windows of few fixed widths,
    as engines built for them do. A processor takes any, and is spared the rest: its
    last chunk takes in a remainder shorter than half a chunk.
    """

    frames: Sequence[int]
    fixed_shapes: Callable[[], bool] = lambda: True

    def length(self, index: int) -> int:
        return self.frames[min(index, len(self.frames) - 1)]

    def spans(self, total: int, lookahead: int) -> Iterator[Span]:
        """The chunks of ``total`` frames whose decoding is ``lookahead`` frames ahead."""
        start = decoded = index = 0
        fixed = self.fixed_shapes()
        while start < total:
            chunk = self.length(index)
            stop = min(total, start + chunk)
            if not fixed and index and 2 * (total - stop) < chunk:
                stop = total
            ahead = min(total, stop + lookahead)
            decode_chunk = chunk if decoded else ahead
            yield Span(
                start,
                stop,
                chunk if fixed else None,
                decoded,
                ahead,
                decode_chunk if fixed else None,
            )
            start, decoded, index = stop, ahead, index + 1


@dataclass(eq=False)
class UtteranceStream:
    """Streams one utterance; the parts are shared, the state is this phrase's alone.

    Features are decoded as far ahead as the vocoder's context asks and no
    further, so the first sound needs one chunk of work whatever the length.

    A network that runs beside its caller has work while the host has: the
    vocoder while pulses are made, the next chunk's decoder while this chunk is
    transformed and its taker limits and plays it.
    """

    acoustic_model: AcousticModel
    vocoder: VocoderChain
    noise: NoiseTable
    voice: Voice
    plan: ChunkPlan
    clock: StageClock = field(default_factory=StageClock)
    due_s: Callable[[], float | None] = lambda: None

    def pieces(
        self, utterance: Utterance, spectral_filter: SpectralFilter | None
    ) -> Iterator[Piece]:
        """The samples of ``utterance``, ``F * hop_length`` in all.

        Args:
            utterance: from the encoder.
            spectral_filter: is given the network's spectra ``(K, bins)`` in order;
                it may keep a state of its own for this phrase.

        Raises:
            InferenceError: the decoder failed.
        """
        voice, total = self.voice, utterance.frames
        source = PulseSource(voice.sample_rate_hz, voice.n_fft, voice.hop_length)
        inverse = InverseStft(voice.n_fft, voice.hop_length)
        context = self.vocoder.context_frames
        features = np.zeros((voice.n_features, total), np.float32)
        f0_hz = np.empty(total, np.float32)
        lookahead = lookahead_frames(voice.n_fft, voice.hop_length)
        spans = self.plan.spans(total, max(context, lookahead))
        span: Span | None = next(spans)
        decoding = self._start_decoding(utterance, span)
        while span is not None:
            began_s = time.perf_counter()
            self.clock.start()
            if decoding is not None:
                fresh = vocoder_features(decoding.features(self.due_s()))
                features[:, span.decoded : span.ahead] = fresh
                f0_hz[span.decoded : span.ahead] = fundamental_hz(fresh)
            self.clock.lap("decoder")
            start, stop = span.start, span.stop
            window = context_window(start, stop, total, context, span.chunk)
            vocoding = self.vocoder.start(features[:, window.begin : window.end], window.keep)
            self.clock.lap("vocoder")
            pulses = source.spectra(f0_hz[start : stop + lookahead], stop - start)
            self.clock.lap("transform")
            spectra, via = vocoding.spectra(pulses, self.noise.rows(start, stop), self.due_s())
            self.clock.lap("vocoder")
            span = next(spans, None)
            decoding = self._start_decoding(utterance, span)
            self.clock.lap("decoder")
            if spectral_filter is not None and via == "neural":
                spectra = spectral_filter(spectra)
                self.clock.lap("filter")
            samples = inverse.push(spectra)
            if span is None:
                samples = np.concatenate((samples, inverse.finish()))
            self.clock.lap("transform")
            work_s = time.perf_counter() - began_s
            self.vocoder.report(
                via, work_s, (stop - start) * voice.hop_length / voice.sample_rate_hz
            )
            yield Piece(samples, via, ends_phrase=span is None)

    def _start_decoding(self, utterance: Utterance, span: Span | None) -> Decoding | None:
        """Begin what a chunk still needs of the decoder, if anything."""
        if span is None or span.decoded == span.ahead:
            return None
        return self.acoustic_model.start_decoding(
            utterance, span.decoded, span.ahead, span.decode_chunk
        )
