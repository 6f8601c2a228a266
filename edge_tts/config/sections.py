"""Every setting, with its unit, its default, its bounds and what it does.

The frozen dataclasses here are the only place where a setting is described:
the loader, ``edgetts config reference`` and the installed settings file all
read the metadata of their fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import Any

from edge_tts.config.environment import (
    cache_folder,
    config_folder,
    server_socket_path,
    state_folder,
)


def setting(
    default: object,
    doc: str,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    shown_default: str = "",
) -> Any:
    """A dataclass field with its documentation; a callable default is a factory."""
    metadata = {
        "doc": doc,
        "unit": unit,
        "low": low,
        "high": high,
        "choices": choices,
        "shown_default": shown_default,
    }
    factory: Callable[[], object] | Any = default if callable(default) else MISSING
    if factory is not MISSING:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class VoiceSettings:
    """Which voice speaks."""

    name: str = setting("zh-en", "Name of an installed voice, or the path of its folder.")


@dataclass(frozen=True)
class InferenceSettings:
    """Where and how the networks run."""

    provider: str = setting(
        "auto",
        "Execution provider; `auto` takes the best usable one and falls back step by step, "
        "a named one that fails is an error.",
        choices=("auto", "tensorrt", "cuda", "cpu"),
    )
    precision: str = setting(
        "auto",
        "Number format of the networks; `auto` follows the provider.",
        choices=("auto", "int8", "fp16", "fp32"),
    )
    threads: int = setting(1, "Threads inside one network.", unit="threads", low=1, high=16)
    idle_unload_s: float = setting(
        600.0, "Unload the networks after this long without speech; 0 never.", unit="s", low=0
    )
    gpu_worker: bool = setting(
        False,
        "Run GPU networks in a process of their own: it ends when they unload, which alone gives "
        "the driver's memory back, and takes a crash of the driver upon itself.",
    )
    engine_folder: Path = setting(
        lambda: state_folder() / "engines",
        "Where built TensorRT engines are kept.",
        shown_default="<state>/engines",
    )


@dataclass(frozen=True)
class TextSettings:
    """From text to phonemes."""

    lexicon_folder: Path = setting(
        lambda: config_folder() / "lexicon.d",
        "Folder of JSON files with your own pronunciations; read at start and on reload.",
        shown_default="<config>/lexicon.d",
    )
    default_language: str = setting(
        "en",
        "Language of numbers in a text that nothing else tells: `42` is forty-two or 四十二.",
        choices=("en", "zh"),
    )


@dataclass(frozen=True)
class SynthesisSettings:
    """From phonemes to samples."""

    speed: float = setting(1.0, "Pace of speech; 2 is twice as fast.", low=0.5, high=2.0)
    vocoder: str = setting(
        "neural",
        "`neural` with `dsp` behind it, or `dsp` alone (plainer sound, next to no computing).",
        choices=("neural", "dsp"),
    )
    wiener_filter: str = setting(
        "auto",
        "Post-filter against quantisation noise; `auto` follows the voice's calibration.",
        choices=("auto", "on", "off"),
    )
    deadline_ms: float = setting(
        1500.0,
        "Longest wait for the first audio of an alarm before the next fallback speaks.",
        unit="ms",
        low=50,
        high=60_000,
    )


@dataclass(frozen=True)
class AudioSettings:
    """From samples to sound."""

    sink: str = setting(
        "device",
        "`device` (the system's default), `device:NAME` (part of a device's name, or an ALSA "
        "card id), `wav:PATH` or `null`.",
    )
    sample_rate_hz: int = setting(
        0, "Rate to open the device at; 0 takes what the device likes.", unit="Hz", low=0,
        high=192_000,
    )  # fmt: skip
    block_ms: float = setting(
        10.0, "Length of each of the two device blocks.", unit="ms", low=2, high=200
    )
    keep_awake: bool = setting(
        True, "Keep the device open on silence, so that no first syllable is lost."
    )
    lead_ms: float = setting(
        0.0, "Silence before what follows a second of none, for an amplifier, a screen or a "
        "Bluetooth speaker that wakes up late; every such alarm is heard that much later.",
        unit="ms", low=0, high=3000,
    )  # fmt: skip
    loudness_dbfs: float = setting(
        -20.0, "Level that speech is brought to (RMS of its active parts).", unit="dBFS",
        low=-60, high=0,
    )  # fmt: skip
    ceiling_dbfs: float = setting(
        -1.0, "Peak that no sample exceeds.", unit="dBFS", low=-20, high=0
    )
    gain_db: float = setting(0.0, "Added to everything.", unit="dB", low=-60, high=24)
    critical_gain_db: float = setting(0.0, "Added to critical alarms.", unit="dB", low=-60, high=24)
    high_gain_db: float = setting(0.0, "Added to high alarms.", unit="dB", low=-60, high=24)
    medium_gain_db: float = setting(0.0, "Added to medium alarms.", unit="dB", low=-60, high=24)
    low_gain_db: float = setting(0.0, "Added to low alarms.", unit="dB", low=-60, high=24)
    stall_s: float = setting(
        2.0, "A device that plays nothing for this long counts as lost.", unit="s", low=0.2, high=60
    )
    reopen_max_s: float = setting(
        5.0, "Longest wait between two tries to reopen a lost device.", unit="s", low=0.1, high=300
    )


@dataclass(frozen=True)
class TonesSettings:
    """Attention tones before speech."""

    enabled: bool = setting(True, "Sound a tone, coded by priority, before each alarm.")
    gain_db: float = setting(-3.0, "Level against the speech.", unit="dB", low=-60, high=24)
    wav_folder: Path | None = setting(
        None, "Folder that a request's own `tone=NAME.wav` is taken from; without it none is."
    )


@dataclass(frozen=True)
class QueueSettings:
    """The alarm queue."""

    max_waiting: int = setting(
        64, "Alarms that may wait; more are refused.", unit="alarms", low=2, high=10_000
    )
    reserved_critical: int = setting(
        8, "Places of these kept for critical alarms.", unit="alarms", low=0, high=10_000
    )
    flood_threshold: int = setting(
        10, "Above this many waiting, those below high become one spoken count.", unit="alarms",
        low=1, high=10_000,
    )  # fmt: skip
    repeat_window_s: float = setting(
        10.0, "An identical alarm within this time is folded into a count.", unit="s", low=0
    )
    ttl_s: float = setting(
        0.0, "Time to live of an alarm that names none; 0 keeps it until spoken.", unit="s", low=0
    )
    repeat_min_s: float = setting(
        5.0, "Shortest repeat interval that a request may ask for.", unit="s", low=0.5
    )


@dataclass(frozen=True)
class SocketSettings:
    """The Unix socket, and who may do what on it."""

    path: Path = setting(
        server_socket_path,
        "Where the daemon listens (systemd's own socket wins).",
        shown_default="<runtime>/edge-tts.sock",
    )
    mode: str = setting("0660", "File mode of the socket, octal.")
    group: str = setting("edge-tts", "Group that owns the socket where that group exists.")
    max_line_bytes: int = setting(4096, "Longest request.", unit="bytes", low=256, high=1_048_576)
    line_timeout_s: float = setting(2.0, "Time a client has to finish a line.", unit="s", low=0.1)
    max_clients: int = setting(32, "Connections at once.", unit="clients", low=1, high=1024)
    idle_timeout_s: float = setting(
        60.0, "A silent client without open alarms or events is let go.", unit="s", low=1
    )
    event_backlog_bytes: int = setting(
        65_536, "A reader this far behind is dropped.", unit="bytes", low=4096
    )
    rate_per_s: float = setting(20.0, "Requests a user may send on average.", unit="1/s", low=0.1)
    rate_burst: int = setting(100, "Requests a user may send at once.", unit="requests", low=1)
    say: tuple[str, ...] = setting(
        ("*",), "Who may speak: user names, `@group` names, `*` for everybody."
    )
    critical: tuple[str, ...] = setting(("*",), "Who may speak with priority critical.")
    operator: tuple[str, ...] = setting(("*",), "Who may acknowledge, clear, silence and shelve.")
    admin: tuple[str, ...] = setting(("root", "@edge-tts"), "Who may reload and test.")


@dataclass(frozen=True)
class JournalSettings:
    """Alarms that survive a crash."""

    enabled: bool = setting(True, "Write accepted alarms to disk until they are finished.")
    path: Path = setting(
        lambda: state_folder() / "journal",
        "Folder of the journal.",
        shown_default="<state>/journal",
    )
    max_bytes: int = setting(
        1_048_576, "Size that its file is compacted at.", unit="bytes", low=16_384
    )


@dataclass(frozen=True)
class CacheSettings:
    """Phrases rendered ahead."""

    enabled: bool = setting(True, "Render the phrases below at idle and play them from disk.")
    folder: Path = setting(cache_folder, "Where they are kept.", shown_default="<cache>")
    max_bytes: int = setting(67_108_864, "Size of the folder.", unit="bytes", low=0)
    phrases: tuple[str, ...] = setting(
        ("警告", "注意", "Warning", "Attention"),
        "Phrases and prefixes to have ready.",
    )


@dataclass(frozen=True)
class RealtimeSettings:
    """Pinning and priorities; each needs a permission that the systemd drop-ins give."""

    cpu_affinity: tuple[int, ...] = setting(
        (), "Cores that the daemon may run on; empty leaves it to the system."
    )
    fifo_priority: int = setting(
        0, "SCHED_FIFO priority of the audio thread; 0 leaves it alone.", low=0, high=90
    )
    lock_memory: bool = setting(False, "Keep the daemon's memory from being paged out.")
    warm_up: bool = setting(True, "Load the networks at start instead of at the first alarm.")


@dataclass(frozen=True)
class LogSettings:
    """Log lines and metrics."""

    level: str = setting(
        "info", "Least level that is logged.", choices=("debug", "info", "warning", "error")
    )
    metrics_file: Path | None = setting(
        None, "Prometheus textfile to write (for node_exporter); none by default."
    )
    metrics_interval_s: float = setting(15.0, "Time between two writes of it.", unit="s", low=1)


@dataclass(frozen=True)
class Settings:
    """All settings; each section is a frozen dataclass of its own."""

    voice: VoiceSettings = field(default_factory=VoiceSettings)
    inference: InferenceSettings = field(default_factory=InferenceSettings)
    text: TextSettings = field(default_factory=TextSettings)
    synthesis: SynthesisSettings = field(default_factory=SynthesisSettings)
    audio: AudioSettings = field(default_factory=AudioSettings)
    tones: TonesSettings = field(default_factory=TonesSettings)
    queue: QueueSettings = field(default_factory=QueueSettings)
    socket: SocketSettings = field(default_factory=SocketSettings)
    journal: JournalSettings = field(default_factory=JournalSettings)
    cache: CacheSettings = field(default_factory=CacheSettings)
    realtime: RealtimeSettings = field(default_factory=RealtimeSettings)
    log: LogSettings = field(default_factory=LogSettings)
