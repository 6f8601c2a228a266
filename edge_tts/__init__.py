"""Edge TTS Runtime: a speech-alert runtime for small devices.

Importing this package loads nothing heavy: public names resolve on first use.
"""

__version__ = "0.1.0"
