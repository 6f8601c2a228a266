"""Text to a stream of audio chunks: the one way through synthesis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from edge_tts.audio_chunk import AudioChunk
from edge_tts.errors import NothingToSpeakError, UsageError
from edge_tts.synthesis.listener import Listener
from edge_tts.synthesis.noise import NoiseTable
from edge_tts.synthesis.text_pieces import speakable_pieces
from edge_tts.synthesis.utterance_stream import (
    ChunkPlan,
    Piece,
    SpectralFilter,
    StageClock,
    UtteranceStream,
)
from edge_tts.synthesis.vocoder_chain import VocoderChain

if TYPE_CHECKING:
    import numpy.typing as npt

    from edge_tts.synthesis.acoustic_model import AcousticModel
    from edge_tts.synthesis.vocoder import NetworkVocoder, Vocoder
    from edge_tts.voice import Voice

SPEED_RANGE = (0.5, 2.0)
FADE_MS = 5.0


class Phrase(Protocol):
    """What synthesis needs of a phrase of the text front end."""

    @property
    def ids(self) -> npt.NDArray[np.int64]: ...

    @property
    def phonemes(self) -> tuple[str, ...]: ...


class FrontEnd(Protocol):
    """What synthesis needs of the text front end."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or repaired in the text given to ``phrases`` last."""
        ...

    def phrases(self, text: str) -> Iterator[Phrase]:
        """Phrases of the text, lazily.

        Raises:
            NothingToSpeakError: no phrase came of it.
        """
        ...

    def word_starts(self, text: str) -> Sequence[int]:
        """Where in ``text`` a word may begin, in rising order."""
        ...


class Synthesizer:
    """Speaks text with a voice.

    Args:
        front_end: text to phrases of phoneme ids.
        acoustic_model: encoder and decoder.
        vocoder: the network vocoder; ``None`` leaves all to the fallback.
        fallback_vocoder: takes over when ``vocoder`` fails or is too slow.
        voice: rates, transform size, chunk lengths.
        new_spectral_filter: makes, for each phrase, a filter for the network's
            spectra; ``None`` filters nothing.
        chunk_frames: chunk lengths in frames, the last one repeats; by default
            those of the voice. Samples do not depend on them.
        fixed_shapes: see :class:`ChunkPlan`; asked for each phrase, after its encoder ran.
        slowest_real_time_factor: see :class:`VocoderChain`.
        new_listener: made for each text when somebody hears it while it is made;
            a network that can be late is then waited for no longer than sound lasts.

    One text at a time: not thread-safe.
    """

    def __init__(
        self,
        front_end: FrontEnd,
        acoustic_model: AcousticModel,
        vocoder: NetworkVocoder | None,
        fallback_vocoder: Vocoder,
        voice: Voice,
        *,
        new_spectral_filter: Callable[[], SpectralFilter] | None = None,
        chunk_frames: Sequence[int] | None = None,
        fixed_shapes: Callable[[], bool] = lambda: True,
        slowest_real_time_factor: float | None = None,
        new_listener: Callable[[], Listener] | None = None,
    ) -> None:
        self._new_listener = new_listener
        self._front_end = front_end
        self._acoustic_model = acoustic_model
        self._voice = voice
        self._new_spectral_filter = new_spectral_filter
        self._vocoder = VocoderChain(
            vocoder, fallback_vocoder, slowest_real_time_factor=slowest_real_time_factor
        )
        self._noise = NoiseTable(voice.n_fft // 2 + 1)
        self._warnings: dict[str, None] = {}
        self._plan = ChunkPlan(chunk_frames or voice.graphs["vocoder"].chunk_frames, fixed_shapes)
        fade = np.cos(np.linspace(0.0, np.pi / 2, round(FADE_MS * voice.sample_rate_hz / 1000.0)))
        self._fade = np.square(fade).astype(np.float32)

    def stream(self, text: str, speed: float = 1.0) -> Iterator[AudioChunk]:
        """Chunks of ``text`` as they are made; work happens in ``next()``.

        Args:
            text: any length, any script.
            speed: tempo from 0.5 to 2.

        Raises:
            NothingToSpeakError: the text holds nothing speakable.
            UsageError: the speed is out of range.
            InferenceError: encoder or decoder failed.
        """
        _check_speed(speed)
        self._warnings.clear()
        return self._chunks(self._noted(text), speed, look_ahead=True)

    def stream_pieces(self, pieces: Iterable[str], speed: float = 1.0) -> Iterator[AudioChunk]:
        """Chunks of a text that arrives in pieces, such as from a language model.

        What is complete up to a punctuation mark is spoken at once, and at the
        latest 64 phonemes are. A piece is only taken from ``pieces`` when all
        before it has been handed over, so a slow listener holds the writer back.
        The last chunk is 5 ms of silence.

        Raises:
            NothingToSpeakError: all pieces together hold nothing speakable.
            UsageError: the speed is out of range.
            InferenceError: encoder or decoder failed.
        """
        _check_speed(speed)
        self._warnings.clear()
        return self._chunks(self._phrases_of_pieces(pieces), speed, look_ahead=False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or repaired in the text spoken last, each once."""
        return tuple(self._warnings)

    def clear(self) -> None:
        """Free what is made again when needed."""
        self._noise.clear()

    def _phrases_of_pieces(self, pieces: Iterable[str]) -> Iterator[Phrase]:
        spoken = False
        starts = self._front_end.word_starts
        for text in speakable_pieces(pieces, self._count_phonemes, word_starts=starts):
            try:
                for phrase in self._noted(text):
                    spoken = True
                    yield phrase
            except NothingToSpeakError:
                continue
        if not spoken:
            raise NothingToSpeakError("nothing to speak in the text that arrived")

    def _noted(self, text: str) -> Iterator[Phrase]:
        """The phrases of ``text``; warnings are kept."""
        phrases = self._front_end.phrases(text)
        while True:
            try:
                phrase = next(phrases, None)
            finally:
                self._warnings.update(dict.fromkeys(self._front_end.warnings))
            if phrase is None:
                return
            yield phrase

    def _count_phonemes(self, text: str) -> int:
        """Phonemes of ``text``, without the marks of its two ends."""
        try:
            return sum(len(phrase.phonemes) - 2 for phrase in self._front_end.phrases(text))
        except NothingToSpeakError:
            return 0

    def _chunks(
        self, phrases: Iterator[Phrase], speed: float, *, look_ahead: bool
    ) -> Iterator[AudioChunk]:
        clock = StageClock()
        listener = self._new_listener() if self._new_listener else None
        index = 0
        phrase = next(phrases, None)
        clock.lap("text")
        while phrase is not None:
            following: Phrase | None = None
            for piece in self._speak(phrase, speed, clock, listener):
                is_last = False
                if piece.ends_phrase and look_ahead:
                    clock.start()
                    following = next(phrases, None)
                    clock.lap("text")
                    is_last = following is None
                if listener is not None:
                    listener.hand_over(len(piece.samples) / self._voice.sample_rate_hz)
                yield self._chunk(piece, index, is_last, clock)
                index += 1
            clock.start()
            phrase = following if look_ahead else next(phrases, None)
            clock.lap("text")
        if not look_ahead:
            silence = np.zeros(len(self._fade), np.float32)
            yield self._chunk(Piece(silence, "neural", ends_phrase=False), index, True, clock)

    def _speak(
        self, phrase: Phrase, speed: float, clock: StageClock, listener: Listener | None
    ) -> Iterator[Piece]:
        due_s = listener.due_s if listener is not None else _no_deadline
        clock.start()
        utterance = self._acoustic_model.encode(phrase.ids, speed, due_s)
        clock.lap("encoder")
        stream = UtteranceStream(
            self._acoustic_model, self._vocoder, self._noise, self._voice, self._plan, clock, due_s
        )
        make_filter = self._new_spectral_filter
        return stream.pieces(utterance, make_filter() if make_filter else None)

    def _chunk(self, piece: Piece, index: int, is_last: bool, clock: StageClock) -> AudioChunk:
        samples = piece.samples
        np.clip(samples, -1.0, 1.0, out=samples)
        if piece.ends_phrase:
            count = min(len(samples), len(self._fade))
            samples[len(samples) - count :] *= self._fade[len(self._fade) - count :]
        return AudioChunk(
            samples=samples,
            sample_rate_hz=self._voice.sample_rate_hz,
            index=index,
            is_last=is_last,
            stage_ms=clock.take(),
            via=piece.via,
        )


def _no_deadline() -> None:
    """Nobody listens."""


def _check_speed(speed: float) -> None:
    low, high = SPEED_RANGE
    if not low <= speed <= high:
        raise UsageError(f"speed {speed:g} is out of range; give {low:g} to {high:g}")
