"""Every error this package raises, in one tree.

::

    EdgeTtsError                 exit 70  our own fault, the root of the tree
    ├── UsageError               exit 64  a wrong option, argument or request
    │   └── ConfigError          exit 64  a settings file or variable is wrong
    ├── InputError               exit 65  the data given can't be used
    │   ├── NothingToSpeakError  exit 65  no speakable text is left
    │   ├── EncodingError        exit 65  bytes are not valid UTF-8
    │   └── LexiconError         exit 65  a pronunciation entry is wrong
    ├── VoiceError               exit 70  a voice pack is missing, torn or unfit
    ├── InferenceError           exit 70  a network could not load or run
    │   └── ProviderError        exit 70  a forced execution provider can't be used
    ├── AudioError               exit 74  sound could not be put out
    │   └── DeviceError          exit 74  an audio device is missing, lost or stuck
    ├── OutputError              exit 74  a file or pipe could not be written
    ├── RequestError             exit 64/65/75/77  a line on the socket can't be carried out
    ├── DaemonUnavailableError   exit 69  nobody answers on the socket
    ├── WaitTimeoutError         exit 124 the daemon did not answer in time
    ├── QueueFullError           exit 75  no room now, try again
    └── DeniedError              exit 77  the caller's role does not allow it

A message says what happened, to what, and what to do next. Errors of other
libraries are translated where they enter, with ``raise ... from exc``.
Exit codes follow sysexits(3).
"""

from __future__ import annotations

from collections.abc import Mapping


class EdgeTtsError(Exception):
    """Root of the tree; raised itself only for a fault of our own."""

    exit_code = 70


class UsageError(EdgeTtsError):
    """A wrong option, argument or request."""

    exit_code = 64


class ConfigError(UsageError):
    """A settings file or an environment variable holds something wrong."""


class InputError(EdgeTtsError):
    """The data given can't be used."""

    exit_code = 65


class NothingToSpeakError(InputError):
    """After normalisation no speakable text is left."""


class EncodingError(InputError):
    """Bytes that are not valid UTF-8.

    ``offset`` is the index of the first bad byte.
    """

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


class LexiconError(InputError):
    """A pronunciation entry names an unknown symbol or has a wrong form."""


class VoiceError(EdgeTtsError):
    """A voice pack is missing, torn, tampered with or of another version."""


class InferenceError(EdgeTtsError):
    """A network could not be loaded or run."""


class ProviderError(InferenceError):
    """The execution provider that was asked for can't be used here."""


class AudioError(EdgeTtsError):
    """Sound could not be put out."""

    exit_code = 74


class DeviceError(AudioError):
    """An audio device is missing, was lost, or hangs."""


class OutputError(EdgeTtsError):
    """A file or a pipe could not be written."""

    exit_code = 74


class RequestError(EdgeTtsError):
    """A request line that can't be carried out: answered ``ERR <code> <reason> ...``.

    ``reason`` is a fixed word for programs, ``details`` the fields after it.
    """

    def __init__(
        self, code: int, reason: str, message: str, details: Mapping[str, str | int] | None = None
    ) -> None:
        super().__init__(message)
        self.exit_code = code
        self.reason = reason
        self.details: Mapping[str, str | int] = dict(details or {})


class DaemonUnavailableError(EdgeTtsError):
    """No daemon answers on the socket."""

    exit_code = 69


class WaitTimeoutError(EdgeTtsError):
    """An answer, or the state that was waited for, did not come in time."""

    exit_code = 124


class QueueFullError(EdgeTtsError):
    """No room now; ``retry_ms`` says when to try again."""

    exit_code = 75

    def __init__(self, message: str, retry_ms: int = 500) -> None:
        super().__init__(message)
        self.retry_ms = retry_ms


class DeniedError(EdgeTtsError):
    """The caller's role does not allow the request."""

    exit_code = 77
