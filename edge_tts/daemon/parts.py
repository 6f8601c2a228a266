"""From settings to the daemon's parts: the one place that knows both."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import edge_tts
from edge_tts.audio.player import Player, StateCallback
from edge_tts.audio.sink import AudioSink, parse_sink_spec
from edge_tts.config import Settings
from edge_tts.daemon.alarm import Priority
from edge_tts.daemon.attention import AttentionTones
from edge_tts.daemon.connection import ServerLimits
from edge_tts.daemon.journal import Journal
from edge_tts.daemon.phrases import Phrases, identity
from edge_tts.daemon.queue_status import QueueLimits
from edge_tts.daemon.roles import RoleTable
from edge_tts.daemon.speech_cache import SpeechCache
from edge_tts.daemon.telling import SpeakerOptions
from edge_tts.daemon.token_bucket import TokenBuckets
from edge_tts.errors import EdgeTtsError
from edge_tts.voice import find_voice, load_voice

# More than the longest tone, so that speech can be written while it sounds.
_AHEAD_S = 4.0
_FIRST_BACKOFF_S = 0.1
_DEFAULT_RATE_HZ = 24_000

# What a reload can't change while the daemon runs.
_FIXED_SECTIONS = (
    "voice", "inference", "text", "audio", "queue", "socket", "journal", "realtime",
)  # fmt: skip


@dataclass(frozen=True)
class VoiceFacts:
    """What the daemon itself needs to know of its voice; ``error`` is empty when it is usable."""

    name: str
    version: str
    sample_rate_hz: int
    error: str = ""


def read_voice(settings: Settings) -> VoiceFacts:
    """Read the voice's description; a broken voice leaves tones, which are better than silence."""
    try:
        voice = load_voice(find_voice(settings.voice.name))
    except EdgeTtsError as exc:
        return VoiceFacts(settings.voice.name, "", _DEFAULT_RATE_HZ, str(exc))
    return VoiceFacts(voice.name, voice.version, voice.sample_rate_hz)


def make_journal(settings: Settings) -> Journal | None:
    options = settings.journal
    return Journal(options.path, options.max_bytes) if options.enabled else None


def phrase_identity(settings: Settings, voice: VoiceFacts) -> Callable[[str, float], str]:
    """Fingerprints that change with everything that changes the sound of a text."""
    variant = (
        edge_tts.__version__, settings.inference.precision, settings.synthesis,
        settings.audio.loudness_dbfs, settings.audio.gain_db, settings.text.default_language,
        _stamp(settings.text.lexicon_folder),
    )  # fmt: skip
    return identity(voice.name, voice.version, repr(variant))


def _stamp(folder: Path) -> str:
    """Changes whenever a file of a folder does."""
    digest = hashlib.sha256()
    try:
        for path in sorted(folder.iterdir()):
            digest.update(path.name.encode("utf-8", "surrogateescape") + path.read_bytes())
    except OSError:
        pass
    return digest.hexdigest()


def make_phrases(settings: Settings, voice: VoiceFacts) -> Phrases:
    options = settings.cache
    cache = SpeechCache(options.folder, options.max_bytes if options.enabled else 0)
    return Phrases(
        cache,
        phrase_identity(settings, voice),
        voice.sample_rate_hz,
        options.phrases if options.enabled else (),
        settings.synthesis.speed,
    )


def make_player(
    settings: Settings,
    sample_rate_hz: int,
    on_state: StateCallback,
    thread_setup: Callable[[], None],
) -> Player:
    audio = settings.audio
    backoff_s = [_FIRST_BACKOFF_S]
    while backoff_s[-1] < min(1.0, audio.reopen_max_s):
        backoff_s.append(min(2 * backoff_s[-1], audio.reopen_max_s))
    return Player(
        sink_opener(settings, sample_rate_hz),
        sample_rate_hz=sample_rate_hz,
        ahead_s=_AHEAD_S,
        lead_ms=audio.lead_ms,
        on_state=on_state,
        sleep_after_s=None if audio.keep_awake else 5.0,
        stall_s=audio.stall_s,
        backoff_s=tuple(backoff_s),
        thread_setup=thread_setup,
    )


def sink_opener(settings: Settings, sample_rate_hz: int) -> Callable[[], AudioSink]:
    """What opens the sink of the settings, anew at each call.

    Raises:
        UsageError: the sink is none that exists.
    """
    audio = settings.audio
    spec = parse_sink_spec(audio.sink)
    rate_hz = audio.sample_rate_hz or sample_rate_hz

    def open_sink() -> AudioSink:
        if spec.kind == "device":
            from edge_tts.audio.pyaudio_sink import PyAudioSink

            return PyAudioSink(
                spec.argument,
                rate_hz,
                block_ms=audio.block_ms,
                realtime_priority=settings.realtime.fifo_priority or None,
            )
        from edge_tts.audio.virtual_sinks import NullSink, WavSink

        if spec.kind == "wav":
            return WavSink(str(spec.argument), rate_hz, block_ms=audio.block_ms)
        return NullSink(rate_hz, block_ms=audio.block_ms)

    return open_sink


def make_tones(settings: Settings, voice: VoiceFacts) -> AttentionTones:
    return AttentionTones(
        voice.sample_rate_hz,
        enabled=settings.tones.enabled,
        level_lufs=settings.audio.loudness_dbfs + settings.tones.gain_db,
        wav_folder=settings.tones.wav_folder,
    )


def speaker_options(settings: Settings) -> SpeakerOptions:
    audio = settings.audio
    return SpeakerOptions(
        deadline_s=settings.synthesis.deadline_ms / 1000,
        speed=settings.synthesis.speed,
        ceiling_dbfs=audio.ceiling_dbfs,
        gain_db={
            priority: getattr(audio, f"{priority.word}_gain_db") for priority in Priority
        },
    )  # fmt: skip


def queue_limits(settings: Settings) -> QueueLimits:
    options = settings.queue
    return QueueLimits(
        max_waiting=options.max_waiting,
        reserved_critical=options.reserved_critical,
        flood_threshold=options.flood_threshold,
        repeat_window_s=options.repeat_window_s,
        min_repeat_s=options.repeat_min_s,
        default_ttl_s=options.ttl_s or None,
    )


def server_limits(settings: Settings) -> ServerLimits:
    options = settings.socket
    return ServerLimits(
        line_bytes=options.max_line_bytes,
        line_timeout_s=options.line_timeout_s,
        clients=options.max_clients,
        idle_s=options.idle_timeout_s,
        output_bytes=options.event_backlog_bytes,
    )


def make_roles(settings: Settings) -> RoleTable:
    options = settings.socket
    return RoleTable(
        {name: getattr(options, name) for name in ("say", "critical", "operator", "admin")}
    )


def make_buckets(settings: Settings) -> TokenBuckets:
    return TokenBuckets(settings.socket.rate_per_s, settings.socket.rate_burst, time.monotonic)


def needs_restart(old: Settings, new: Settings) -> list[str]:
    """Sections that differ and that a running daemon can't change."""
    changed = [f.name for f in fields(Settings) if getattr(old, f.name) != getattr(new, f.name)]
    return [name for name in changed if name in _FIXED_SECTIONS]
