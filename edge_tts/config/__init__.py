"""Settings: the only reader of settings files and of the environment.

``load_settings()`` is all that most callers need. Names resolve on first use:
a client that only asks for the socket's path reads no settings.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOME = {
    "client_socket_path": "environment",
    "settings_file": "environment",
    "load_settings": "loader",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'edge_tts.config' has no attribute {name!r}")
    home = _HOME.get(name, "sections")
    value = getattr(importlib.import_module(f"edge_tts.config.{home}"), name)
    globals()[name] = value
    return value
