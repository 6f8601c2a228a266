"""The one composition: text in, filtered and limited chunks of audio out.

``build_pipeline`` reads the voice's description and nothing more; the
pronunciations, the provider and each network wait for the first text.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Any

from edge_tts.config import Settings
from edge_tts.errors import ConfigError, UsageError
from edge_tts.voice import GRAPHS, Voice, find_voice, load_voice

if TYPE_CHECKING:
    from edge_tts.audio.limiter import Limiter
    from edge_tts.audio_chunk import AudioChunk
    from edge_tts.inference.lazy_session import LazySession
    from edge_tts.inference.provider_plan import ProviderPlan
    from edge_tts.synthesis.synthesizer import Synthesizer
    from edge_tts.synthesis.utterance_stream import SpectralFilter
    from edge_tts.text.front_end import TextFrontEnd

# A chunk that takes longer than this part of its own length can't be waited for.
SLOWEST_REAL_TIME_FACTOR = 0.8
# Voices state their level as the RMS of active speech; this one is taken for those that don't.
USUAL_LEVEL_DBFS = -20.0
_WARM_UP_TEXT = "好。OK."


class Pipeline:
    """Speaks text with one voice. One text at a time: not thread-safe.

    Made by :func:`build_pipeline`. Components get plain values; this class
    alone maps settings to them.
    """

    def __init__(self, settings: Settings, voice: Voice, *, real_time: bool = False) -> None:
        if settings.synthesis.wiener_filter == "on" and voice.noise_log_spectrum is None:
            raise ConfigError(
                f"synthesis.wiener_filter is on, but the voice {voice.name} has no noise "
                "spectrum; set it to auto"
            )
        self._settings = settings
        self._voice = voice
        self._real_time = real_time
        self._lock = threading.Lock()
        self._plan: ProviderPlan | None = None
        self._sessions: dict[str, LazySession] = {}
        self._front_end: TextFrontEnd | None = None
        self._synthesizer: Synthesizer | None = None

    @property
    def voice(self) -> Voice:
        return self._voice

    @property
    def sample_rate_hz(self) -> int:
        return self._voice.sample_rate_hz

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or repaired in the text spoken last."""
        return self._synthesizer.warnings if self._synthesizer is not None else ()

    def stream(self, text: str, speed: float = 1.0, gain_db: float = 0.0) -> Iterator[AudioChunk]:
        """Chunks of ``text`` as they are made; work happens in ``next()``.

        Args:
            text: any length, any script.
            speed: tempo from 0.5 to 2.
            gain_db: added to the level that the settings ask for.

        Raises:
            NothingToSpeakError: the text holds nothing speakable.
            UsageError: the speed is out of range, or the gain no number.
            InferenceError: encoder or decoder could not load or run.
        """
        return self._limited(lambda synthesizer: synthesizer.stream(text, speed), gain_db)

    def stream_pieces(
        self, pieces: Iterable[str], speed: float = 1.0, gain_db: float = 0.0
    ) -> Iterator[AudioChunk]:
        """Chunks of a text that arrives in pieces; see ``Synthesizer.stream_pieces``.

        Raises:
            the same as :meth:`stream`.
        """
        return self._limited(lambda synthesizer: synthesizer.stream_pieces(pieces, speed), gain_db)

    def warm_up(self) -> None:
        """Load everything now and speak a syllable to nobody.

        Raises:
            EdgeTtsError: something could not be loaded.
        """
        from edge_tts.inference.memory import release_free_memory

        for _ in self.stream(_WARM_UP_TEXT):
            pass
        # Loading leaves behind what it needed to optimise the networks.
        release_free_memory()

    def unload_if_idle(self) -> bool:
        """Unload each network whose idle time is over; True when one was unloaded."""
        unloaded = [session.unload_if_idle() for session in self._sessions.values()]
        if any(unloaded):
            self._after_unloading()
        return any(unloaded)

    def unload(self) -> None:
        """Unload every network; the next text loads what it needs."""
        for session in self._sessions.values():
            session.unload()
        self._after_unloading()

    def reload_lexicon(self) -> None:
        """Read the user's pronunciations again; where one is wrong the old ones stay.

        Raises:
            LexiconError: an entry is wrong.
        """
        if self._front_end is not None:
            self._front_end.lexicon.reload()

    def describe(self) -> dict[str, Any]:
        """What speaks: voice, and what its networks run on once they are loaded."""
        steps = self._plan.in_use if self._plan is not None else {}
        return {
            "voice": self._voice.name,
            "voice_version": self._voice.version,
            "sample_rate_hz": self._voice.sample_rate_hz,
            "provider": " + ".join(sorted({str(step) for step in steps.values()})) or None,
            "networks": {graph: str(step) for graph, step in sorted(steps.items())},
            "loaded": sorted(name for name, session in self._sessions.items() if session.loaded),
            "vocoder": self._settings.synthesis.vocoder,
            "wiener_filter": self._filter_wanted and self._filter_fits,
        }

    def _limited(
        self, start: Callable[[Synthesizer], Iterator[AudioChunk]], gain_db: float
    ) -> Iterator[AudioChunk]:
        from edge_tts.audio.limiter import Limiter

        if not isfinite(gain_db):
            raise UsageError(f"gain {gain_db} is no number of decibels")
        audio = self._settings.audio
        level_dbfs = float(self._voice.figures.get("level_dbfs", USUAL_LEVEL_DBFS))
        limiter = Limiter(
            self._voice.sample_rate_hz,
            gain_db=audio.loudness_dbfs - level_dbfs + audio.gain_db + gain_db,
            ceiling_dbfs=audio.ceiling_dbfs,
        )
        return _through(limiter, start(self._ready_synthesizer()))

    def _ready_synthesizer(self) -> Synthesizer:
        with self._lock:
            if self._synthesizer is None:
                self._synthesizer = self._build_synthesizer()
            return self._synthesizer

    def _build_synthesizer(self) -> Synthesizer:
        from edge_tts.synthesis.acoustic_model import AcousticModel
        from edge_tts.synthesis.dsp_vocoder import DspVocoder
        from edge_tts.synthesis.listener import Listener
        from edge_tts.synthesis.synthesizer import Synthesizer
        from edge_tts.synthesis.vocoder import NeuralVocoder

        voice = self._voice
        self._front_end = self._build_front_end()
        self._sessions = {graph: self._lazy_session(graph) for graph in GRAPHS}
        neural = self._settings.synthesis.vocoder == "neural"
        return Synthesizer(
            self._front_end,
            AcousticModel(self._sessions["encoder"], self._sessions["decoder"], voice),
            NeuralVocoder(self._sessions["vocoder"], voice) if neural else None,
            DspVocoder(voice),
            voice,
            new_spectral_filter=self._new_filter if self._filter_wanted else None,
            fixed_shapes=self._on_gpu,
            slowest_real_time_factor=SLOWEST_REAL_TIME_FACTOR if self._real_time else None,
            new_listener=Listener if self._real_time else None,
        )

    def _build_front_end(self) -> TextFrontEnd:
        from edge_tts.text.front_end import TextFrontEnd
        from edge_tts.text.lexicon import Lexicon

        folder = self._settings.text.lexicon_folder
        lexicon = Lexicon.open(self._voice.lexicon_path(), folder if folder.is_dir() else None)
        return TextFrontEnd(
            lexicon,
            self._voice.phonemes,
            max_phonemes=self._voice.max_phonemes,
            default_language="zh" if self._settings.text.default_language == "zh" else "en",
        )

    def _lazy_session(self, graph: str) -> LazySession:
        from edge_tts.inference.lazy_session import LazySession
        from edge_tts.inference.provider import open_session

        inference = self._settings.inference
        paths = self._voice.graph_paths(graph)
        return LazySession(
            lambda: open_session(
                paths,
                self._ready_plan(),
                graph=graph,
                threads=inference.threads,
                engine_folder=inference.engine_folder,
                gpu_worker=inference.gpu_worker,
            ),
            idle_unload_s=inference.idle_unload_s or None,
        )

    def _ready_plan(self) -> ProviderPlan:
        from edge_tts.inference.provider import choose_provider, probe_board

        if self._plan is None:
            inference = self._settings.inference
            self._plan = choose_provider(probe_board(), inference.provider, inference.precision)
        return self._plan

    def _on_gpu(self) -> bool:
        """Whether a GPU may run the networks: its engines are built for fixed shapes."""
        steps = self._ready_plan().steps_for("decoder") + self._ready_plan().steps_for("vocoder")
        return any(step.on_gpu for step in steps)

    @property
    def _filter_wanted(self) -> bool:
        mode = self._settings.synthesis.wiener_filter
        has_noise = self._voice.noise_log_spectrum is not None
        return has_noise and (mode == "on" or (mode == "auto" and self._voice.wiener_enabled))

    @property
    def _filter_fits(self) -> bool:
        """The noise spectrum is that of int8, so other precisions pass unfiltered."""
        step = self._plan.in_use.get("vocoder") if self._plan is not None else None
        return step is not None and step.precision == "int8"

    def _new_filter(self) -> SpectralFilter:
        from edge_tts.audio.wiener_filter import WienerFilter

        noise = self._voice.noise_log_spectrum or ()
        wiener = WienerFilter(noise)
        # The precision is known only once the vocoder ran, which it has when this is called.
        return lambda spectra: wiener.apply(spectra) if self._filter_fits else spectra

    def _after_unloading(self) -> None:
        from edge_tts.inference.idle_pages import release_library_pages

        if self._synthesizer is not None:
            self._synthesizer.clear()
        if not any(session.loaded for session in self._sessions.values()):
            release_library_pages()


def build_pipeline(settings: Settings, *, real_time: bool = False) -> Pipeline:
    """A pipeline for the voice and the ways that ``settings`` name; loads no network.

    Args:
        settings: see :mod:`edge_tts.config`.
        real_time: somebody listens while it speaks, so a vocoder network that is
            too slow gives way to the fallback, and a GPU that is late to the CPU.
            Off, a text always has one sound.

    Raises:
        VoiceError: there is no such voice, or it is not whole.
        ConfigError: a setting does not go with the voice.
    """
    voice = load_voice(find_voice(settings.voice.name))
    return Pipeline(settings, voice, real_time=real_time)


def _through(limiter: Limiter, chunks: Iterator[AudioChunk]) -> Iterator[AudioChunk]:
    import numpy as np

    for chunk in chunks:
        began_s = perf_counter()
        samples = limiter.process(chunk.samples)
        if chunk.is_last:
            samples = np.concatenate((samples, limiter.flush()))
        limiter_ms = 1000.0 * (perf_counter() - began_s)
        yield replace(chunk, samples=samples, stage_ms={**chunk.stage_ms, "limiter": limiter_ms})
