"""From an ONNX graph to a TensorRT engine, on the device that will run it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edge_tts.errors import InferenceError, OutputError
from edge_tts.inference.engine_profiles import AxisProfile
from edge_tts.inference.engine_store import write_atomically
from edge_tts.inference.half_precision import with_half_products
from edge_tts.inference.tensorrt_logger import make_logger
from edge_tts.inference.tensorrt_session import load_tensorrt

WORKSPACE_BYTES = 256 << 20
# Called with a phase's name and how far it is, from 0 to 1.
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class BuiltEngine:
    """A serialised engine, and how long it took to build."""

    plan: bytes
    build_s: float


def engine_precision(graph: str) -> str:
    """``fp16`` where that is heard by nobody, else ``fp32``.

    The encoder stays in fp32: it runs once a phrase, and the last digits of its
    durations decide how long a sound is.
    """
    return "fp32" if graph == "encoder" else "fp16"


def build_engine(
    graph: Path,
    profiles: Sequence[AxisProfile],
    precision: str,
    *,
    timing_cache: Path | None = None,
    workspace_bytes: int = WORKSPACE_BYTES,
    progress: Progress | None = None,
) -> BuiltEngine:
    """Build an engine; takes from seconds to minutes.

    Args:
        graph: an fp32 ``.onnx`` file whose inputs have at most one free axis each.
        profiles: the sizes of that axis, one optimisation profile for each.
        precision: ``fp16`` or ``fp32``, from :func:`engine_precision`.
        timing_cache: file with the kernel timings of earlier builds, which is
            kept up to date: a second build takes a fraction of the first.
        workspace_bytes: GPU memory that one kernel may use while it runs.
        progress: told of the phases where TensorRT can tell (10 and later).

    Raises:
        ProviderError: TensorRT can't be imported, nor onnx where half precision needs it.
        InferenceError: the graph can't be read, holds an operator that this
            TensorRT does not know, or can't be built for these profiles.
        OutputError: the timing cache can't be written.
    """
    tensorrt = load_tensorrt()
    logger = make_logger(tensorrt)
    began_s = time.monotonic()

    def failed(what: str) -> InferenceError:
        return InferenceError(f"{graph.name}: {what} ({logger.last_error()})")

    try:
        data = graph.read_bytes()
    except OSError as exc:
        raise InferenceError(f"can't read {graph}: {exc.strerror}") from exc
    if precision == "fp16" and not _lowers(tensorrt):
        data = with_half_products(data)
    try:
        builder = tensorrt.Builder(logger)
        network = builder.create_network(_network_flags(tensorrt))
        if network is None:
            raise failed("TensorRT made no network")
        parser = tensorrt.OnnxParser(network, logger)
        if not parser.parse(data):
            errors = [str(parser.get_error(index)) for index in range(parser.num_errors)]
            raise failed(f"TensorRT {tensorrt.__version__} can't parse it: {'; '.join(errors)}")
        config = builder.create_builder_config()
        if config is None:
            raise failed("TensorRT made no configuration")
        config.set_memory_pool_limit(tensorrt.MemoryPoolType.WORKSPACE, workspace_bytes)
        _set_precision(tensorrt, config, precision)
        for axis in profiles:
            profile = builder.create_optimization_profile()
            for index in range(network.num_inputs):
                tensor = network.get_input(index)
                profile.set_shape(tensor.name, *_shapes(tuple(tensor.shape), axis))
            if config.add_optimization_profile(profile) < 0:
                raise failed(f"TensorRT refuses the profile {axis}")
        cache = _open_timing_cache(config, timing_cache)
        _watch(tensorrt, config, progress)
        plan = builder.build_serialized_network(network, config)
        if plan is None:
            raise failed("TensorRT could not build it")
        if timing_cache is not None and cache is not None:
            _keep_timings(timing_cache, bytes(config.get_timing_cache().serialize()))
        return BuiltEngine(bytes(plan), time.monotonic() - began_s)
    except (TypeError, RuntimeError) as exc:  # pybind's, such as a builder without a GPU
        raise failed(f"TensorRT can't build here: {exc}") from exc


def _lowers(tensorrt: Any) -> bool:
    """Does this release lower the precision of an fp32 graph by itself?"""
    return hasattr(tensorrt.BuilderFlag, "FP16")


def _set_precision(tensorrt: Any, config: Any, precision: str) -> None:
    if precision == "fp32":
        config.clear_flag(tensorrt.BuilderFlag.TF32)
    elif _lowers(tensorrt):
        config.set_flag(tensorrt.BuilderFlag.FP16)


def _network_flags(tensorrt: Any) -> int:
    """Explicit batch has a flag up to TensorRT 10 and is all there is in 11."""
    flag = getattr(tensorrt.NetworkDefinitionCreationFlag, "EXPLICIT_BATCH", None)
    return 0 if flag is None else 1 << int(flag)


def _shapes(shape: tuple[int, ...], axis: AxisProfile) -> list[tuple[int, ...]]:
    return [
        tuple(size if dimension < 0 else dimension for dimension in shape)
        for size in (axis.lowest, axis.usual, axis.highest)
    ]


def _open_timing_cache(config: Any, path: Path | None) -> Any:
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        data = b""
    # A cache of another release or GPU is refused, and an empty one taken instead.
    for content in (data, b""):
        cache = config.create_timing_cache(content)
        if cache is not None and config.set_timing_cache(cache, False):
            return cache
    return None


def _keep_timings(path: Path, data: bytes) -> None:
    try:
        write_atomically(path, data)
    except OSError as exc:
        raise OutputError(f"can't write {path}: {exc.strerror}; run as the service's user") from exc


def _watch(tensorrt: Any, config: Any, progress: Progress | None) -> None:
    if progress is None or not hasattr(tensorrt, "IProgressMonitor"):
        return
    tell: Progress = progress

    class Monitor(tensorrt.IProgressMonitor):  # type: ignore[misc]
        def __init__(self) -> None:
            tensorrt.IProgressMonitor.__init__(self)
            self._steps: dict[str, int] = {}

        def phase_start(self, phase: str, parent: str | None, steps: int) -> None:
            self._steps[phase] = max(1, steps)
            tell(phase, 0.0)

        def step_complete(self, phase: str, step: int) -> bool:
            tell(phase, (step + 1) / self._steps.get(phase, step + 1))
            return True

        def phase_finish(self, phase: str) -> None:
            tell(phase, 1.0)

    config.progress_monitor = Monitor()
