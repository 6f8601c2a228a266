"""Settings: the only reader of settings files and of the environment.

``load_settings()`` is all that most callers need.
"""

from __future__ import annotations

from edge_tts.config.environment import client_socket_path, settings_file
from edge_tts.config.loader import load_settings
from edge_tts.config.sections import (
    AudioSettings,
    CacheSettings,
    InferenceSettings,
    JournalSettings,
    LogSettings,
    QueueSettings,
    RealtimeSettings,
    Settings,
    SocketSettings,
    SynthesisSettings,
    TextSettings,
    TonesSettings,
    VoiceSettings,
)

__all__ = [
    "AudioSettings",
    "CacheSettings",
    "InferenceSettings",
    "JournalSettings",
    "LogSettings",
    "QueueSettings",
    "RealtimeSettings",
    "Settings",
    "SocketSettings",
    "SynthesisSettings",
    "TextSettings",
    "TonesSettings",
    "VoiceSettings",
    "client_socket_path",
    "load_settings",
    "settings_file",
]
