"""TensorRT's log, where its errors are told."""

from __future__ import annotations

from collections import deque
from typing import Any


def make_logger(tensorrt: Any) -> Any:
    """A TensorRT logger that keeps its last errors and prints nothing; see ``last_error``."""

    class Logger(tensorrt.ILogger):  # type: ignore[misc]
        def __init__(self) -> None:
            tensorrt.ILogger.__init__(self)
            self.errors: deque[str] = deque(maxlen=8)

        def log(self, severity: Any, message: str) -> None:
            severities = tensorrt.ILogger.Severity
            if severity in (severities.ERROR, severities.INTERNAL_ERROR):
                self.errors.append(" ".join(message.split()))

        def last_error(self) -> str:
            return self.errors[-1] if self.errors else "TensorRT gave no reason"

    return Logger()
