"""Keeps the libraries below PortAudio from writing to stderr whenever devices are listed.

ALSA complains there about every PCM that is configured but has no card, JACK
about a server that nobody wants.
"""

from __future__ import annotations

import ctypes
import logging
import os

_log = logging.getLogger(__name__)

_AlsaHandler = ctypes.CFUNCTYPE(
    None, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p
)
_TextHandler = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
# Kept for the life of the process: the libraries call them whenever they like.
_ignore_alsa = _AlsaHandler(lambda file, line, function, error, format_: None)
_ignore_text = _TextHandler(lambda message: None)

_SETTERS = (
    ("libasound.so.2", "snd_lib_error_set_handler", _ignore_alsa),
    ("libjack.so.0", "jack_set_error_function", _ignore_text),
    ("libjack.so.0", "jack_set_info_function", _ignore_text),
)


def silence_libraries() -> None:
    """Call once PortAudio is loaded and before it starts; harmless where a library is missing."""
    # PortAudio built with JACK would start a JACK server just to list devices.
    os.environ.setdefault("JACK_NO_START_SERVER", "1")
    for library, setter, handler in _SETTERS:
        try:
            # Only what PortAudio brought along; nothing is loaded for this.
            loaded = ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            getattr(loaded, setter)(handler)
        except (OSError, AttributeError):
            _log.debug("%s has no %s here", library, setter)
