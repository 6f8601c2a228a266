"""Phoneme ids to vocoder features: encoder once, decoder chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from edge_tts.errors import InferenceError
from edge_tts.inference.session import start as start_run
from edge_tts.synthesis.windows import context_window

if TYPE_CHECKING:
    from edge_tts.inference.session import InferenceSession, Run
    from edge_tts.voice import Voice

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

# Longer than any sound of speech; keeps a network gone wrong from filling the memory.
MAX_PHONEME_S = 3.0
# Fewer would not fill one window of the transforms.
MIN_FRAMES = 8
# Scale of the two absolute position features, in frames.
_POSITION_SCALE = 20.0


@dataclass(frozen=True, eq=False)
class Utterance:
    """One phrase after the encoder.

    Attributes:
        hidden: ``(T, D)``, one row a phoneme.
        durations: ``(T,)`` frames, each at least 1.
        owner: ``(F,)``, the phoneme that each frame belongs to.
    """

    hidden: Float32
    durations: Int64
    owner: Int64

    @property
    def frames(self) -> int:
        return len(self.owner)


@dataclass(frozen=True, eq=False)
class Decoding:
    """Frames on their way through the decoder; of what comes out, ``keep`` is wanted."""

    run: Run
    keep: slice

    def features(self, due_s: float | None = None) -> Float32:
        """The features ``(C, K)``, waited for.

        Args:
            due_s: see :meth:`edge_tts.inference.session.Run.result`.

        Raises:
            InferenceError: the network failed.
        """
        features: Float32 = np.asarray(self.run.result(due_s)["features"], np.float32)
        return features[0, :, self.keep]


class AcousticModel:
    """Encoder and decoder of a voice.

    Args:
        encoder: session of the encoder graph.
        decoder: session of the decoder graph.
        voice: gives rates and the decoder's context.
        lead_ms: longest silence before the first sound of a phrase.
    """

    def __init__(
        self,
        encoder: InferenceSession,
        decoder: InferenceSession,
        voice: Voice,
        *,
        lead_ms: float = 50.0,
    ) -> None:
        self._encoder = encoder
        self._decoder = decoder
        self._frames_per_s = voice.sample_rate_hz / voice.hop_length
        self._context = voice.graphs["decoder"].context
        self._lead_frames = max(1, round(lead_ms * self._frames_per_s / 1000.0))

    @property
    def context_frames(self) -> int:
        """Frames beyond a chunk that the decoder must see."""
        return self._context

    def encode(
        self, ids: Int64, speed: float = 1.0, due_s: Callable[[], float | None] = lambda: None
    ) -> Utterance:
        """Run the encoder and lay out the frames.

        Args:
            ids: ``(1, T)``, the first the start symbol, the last the end symbol.
            speed: tempo, 2.0 is twice as fast.
            due_s: asked once the network is loaded; see
                :meth:`edge_tts.inference.session.Run.result`.

        Raises:
            InferenceError: the network failed, or its durations are no numbers.
        """
        run = start_run(self._encoder, {"ids": ids})
        outputs = run.result(due_s())
        hidden = np.asarray(outputs["hidden"], np.float32)[0]
        log_durations = np.asarray(outputs["log_durations"], np.float64)[0]
        if not np.isfinite(log_durations).all():
            raise InferenceError(
                "the encoder gave durations that are no numbers; reinstall the voice"
            )
        durations = whole_durations(
            log_durations, speed, longest=round(MAX_PHONEME_S * self._frames_per_s)
        )
        durations[0] = min(durations[0], self._lead_frames)
        durations[-1] += max(0, MIN_FRAMES - int(durations.sum()))
        owner = np.repeat(np.arange(len(durations)), durations)
        return Utterance(hidden, durations, owner)

    def start_decoding(
        self, utterance: Utterance, start: int, stop: int, chunk: int | None
    ) -> Decoding:
        """Begin to decode the frames ``[start, stop)``.

        Args:
            utterance: from :meth:`encode`.
            start: first frame.
            stop: frame after the last, at most ``start + chunk``.
            chunk: the nominal chunk length, which sets the width of the window;
                ``None`` for no wider a window than must be seen.

        Raises:
            InferenceError: the network could not be loaded.
        """
        window = context_window(start, stop, utterance.frames, self._context, chunk)
        frames = expand(utterance, window.begin, window.end)
        return Decoding(start_run(self._decoder, {"frames": frames}), window.keep)


def whole_durations(log_durations: npt.NDArray[np.float64], speed: float, longest: int) -> Int64:
    """Frames of each phoneme ``(T,)``: at least 1, at most ``longest``.

    Rounding errors carry over to the next phoneme, so the whole keeps its tempo.
    """
    # Bounded before exp, which may overflow.
    exact = np.exp(np.clip(log_durations, -20.0, 20.0)) / speed
    ends = np.floor(np.cumsum(np.clip(exact, 1.0, longest)) + 0.5).astype(np.int64)
    return np.diff(ends, prepend=0)


def expand(utterance: Utterance, begin: int, end: int) -> Float32:
    """Decoder input ``(1, end - begin, D + 3)``.

    Each frame has its phoneme's hidden row and where it lies in the phoneme: the
    relative position, and the frames to its end and from its start over 20.
    """
    owner = utterance.owner[begin:end]
    length = utterance.durations[owner].astype(np.float32)
    starts = np.cumsum(utterance.durations) - utterance.durations
    passed = (np.arange(begin, end) - starts[owner]).astype(np.float32)
    passed += np.float32(0.5)
    size = utterance.hidden.shape[1]
    frames = np.empty((1, end - begin, size + 3), np.float32)
    frames[0, :, :size] = utterance.hidden[owner]
    frames[0, :, size] = passed / length
    frames[0, :, size + 1] = (length - passed) / np.float32(_POSITION_SCALE)
    frames[0, :, size + 2] = passed / np.float32(_POSITION_SCALE)
    return frames
