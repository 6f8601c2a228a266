"""Networks on ONNX Runtime; the sole importer of onnxruntime.

The import costs tens of megabytes, so it waits for the first network.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edge_tts.errors import InferenceError, ProviderError

if TYPE_CHECKING:
    from edge_tts.inference.session import Array

_PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
# Errors are raised as exceptions; it would write each to standard error as well.
_LOG_FATAL_ONLY = 4
# Grown by what is asked for: the default doubles, which a Jetson's shared memory can't spare.
_CUDA_OPTIONS = {"arena_extend_strategy": "kSameAsRequested", "cudnn_conv_algo_search": "HEURISTIC"}


class OnnxSession:
    """One ONNX graph on one execution provider. Not thread-safe.

    Constructing it loads nothing; :meth:`load` does, or the first run.

    Args:
        path: the ``.onnx`` file.
        provider: ``cpu`` or ``cuda``.
        threads: threads of one operator, counting the caller's. Explicit,
            because the default fails or oversubscribes under a cpuset.
        keep_memory: keep working buffers between runs (arena and memory
            pattern). Off, a long text does not leave its peak behind;
            ``tools/measure_sessions.py`` prints what either choice costs.
    """

    def __init__(
        self, path: Path, *, provider: str = "cpu", threads: int = 1, keep_memory: bool = False
    ) -> None:
        self._path = path
        self._provider = provider
        self._threads = max(1, threads)
        self._keep_memory = keep_memory
        self._session: Any = None
        self._output_names: list[str] = []

    def load(self) -> OnnxSession:
        """Load the graph, and return the session itself.

        Raises:
            ProviderError: ONNX Runtime, or its build for this provider, is missing
                or can't start.
            InferenceError: the file is missing, torn, or not a graph it can run.
        """
        if self._session is not None:
            return self
        runtime = _import_onnxruntime()
        name = _PROVIDERS[self._provider]
        if name not in runtime.get_available_providers():
            raise ProviderError(
                f"ONNX Runtime {runtime.__version__} was built without {name}; "
                "install onnxruntime-gpu for it"
            )
        options = runtime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.enable_cpu_mem_arena = self._keep_memory
        options.enable_mem_pattern = self._keep_memory
        options.log_severity_level = _LOG_FATAL_ONLY
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry("session.inter_op.allow_spinning", "0")
        chain = [(name, _CUDA_OPTIONS if self._provider == "cuda" else {})]
        if self._provider != "cpu":
            chain.append((_PROVIDERS["cpu"], {}))
        try:
            session = runtime.InferenceSession(
                str(self._path), sess_options=options, providers=chain
            )
        except Exception as exc:  # its exceptions share no base but this one
            raise InferenceError(f"can't load {self._path}: {_first_line(exc)}") from exc
        # A provider that fails to start is dropped with no more than a log line.
        if session.get_providers()[0] != name:
            raise ProviderError(f"{name} could not start; see the driver and CUDA versions")
        session.disable_fallback()
        self._session = session
        self._output_names = [output.name for output in session.get_outputs()]
        return self

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        """Run the graph once; the outputs by name.

        Raises:
            InferenceError: it can't be loaded, or refused the inputs, or failed.
        """
        self.load()
        try:
            outputs = self._session.run(self._output_names, inputs)
        except Exception as exc:  # its exceptions share no base but this one
            raise InferenceError(f"{self._path.name} failed: {_first_line(exc)}") from exc
        return dict(zip(self._output_names, outputs, strict=True))

    def close(self) -> None:
        """Free the graph; the next run loads it again."""
        self._session = None


def _import_onnxruntime() -> Any:
    # Recent releases write usage records into the home folder and would send them: a device
    # that speaks for years offline neither has the disk to spare nor anybody to report to.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as exc:
        raise ProviderError(
            f"ONNX Runtime can't be imported ({_first_line(exc)}); "
            "install it with: pip install onnxruntime"
        ) from exc
    # Warnings about the machine would reach the terminal of every command.
    onnxruntime.set_default_logger_severity(_LOG_FATAL_ONLY)
    return onnxruntime


def _first_line(exc: BaseException) -> str:
    text = str(exc).strip() or type(exc).__name__
    return text.splitlines()[0][:300]
