"""Engines of a voice on this device: build them, compare them with the CPU, open them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from edge_tts.errors import InferenceError, ProviderError
from edge_tts.inference.engine_builder import Progress, build_engine, engine_precision
from edge_tts.inference.engine_gate import compare_sessions
from edge_tts.inference.engine_profiles import axis_profiles
from edge_tts.inference.engine_store import (
    FAILED,
    PASSED,
    Engine,
    EngineKey,
    EngineStore,
    graph_sha256,
)
from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.inference.tensorrt_session import (
    TensorRtSession,
    load_cuda,
    load_tensorrt,
    present_gpu,
)
from edge_tts.voice import GRAPHS, Voice

if TYPE_CHECKING:
    from edge_tts.inference.session import Array

_TIMING_CACHE = "timing.cache"


def engine_key(graph_path: Path, graph: str) -> EngineKey:
    """What an engine of this graph must be built for to run here.

    Raises:
        ProviderError: TensorRT, pycuda or the GPU can't be used.
    """
    tensorrt, cuda = load_tensorrt(), load_cuda()
    gpu = present_gpu(cuda)
    return EngineKey(
        graph_sha256=graph_sha256(graph_path),
        tensorrt_version=tensorrt.__version__,
        gpu_name=gpu.name,
        compute_capability=gpu.compute_capability,
        precision=engine_precision(graph),
    )


def open_engine(graph_path: Path, graph: str, folder: Path) -> TensorRtSession:
    """Open the trusted engine of a graph; never builds one.

    Raises:
        ProviderError: TensorRT, pycuda or the GPU can't be used, or no engine is there.
        InferenceError: the graph has no engine that is trusted here, or it can't load.
    """
    store = EngineStore(folder)
    if not store.engines():
        # Said before the libraries load, which takes seconds on a small board.
        raise ProviderError(f"no engine was built yet in {folder}; run: edgetts engine build")
    return TensorRtSession(store.trusted_plan(engine_key(graph_path, graph))).load()


def build_engines(
    voice: Voice,
    folder: Path,
    record_examples: Callable[[], Mapping[str, Sequence[dict[str, Array]]]],
    *,
    lookahead_frames: int,
    force: bool = False,
    progress: Progress | None = None,
    tell: Callable[[str], None] = lambda message: None,
) -> list[Engine]:
    """Build what is missing for a voice and compare each engine with the CPU.

    Args:
        voice: the voice whose fp32 graphs are built.
        folder: where engines are kept.
        record_examples: gives, for each graph, inputs from real texts to compare on.
        lookahead_frames: see :func:`~edge_tts.inference.engine_profiles.axis_profiles`.
        force: build again what is there.
        progress: told of TensorRT's phases.
        tell: told of each step in one line.

    Returns:
        The engine of each graph, with the verdict; one that failed is kept but
        never used.

    Raises:
        ProviderError: TensorRT, pycuda or the GPU can't be used.
        InferenceError: a graph can't be built.
        OutputError: the folder can't be written.
    """
    store = EngineStore(folder)
    engines: list[Engine] = []
    examples: Mapping[str, Sequence[dict[str, Array]]] = {}
    for graph in GRAPHS:
        path = voice.graph_path(graph, "fp32")
        key = engine_key(path, graph)
        engine = store.find(key)
        if engine is None or engine.verdict != PASSED or force:
            profiles = axis_profiles(voice, graph, lookahead_frames)
            tell(f"building the {graph} in {key.precision}, {len(profiles)} profiles")
            examples = examples or record_examples()
            built = build_engine(
                path,
                profiles,
                key.precision,
                timing_cache=folder / _TIMING_CACHE,
                progress=progress,
            )
            store.put(key, graph, built.plan, built.build_s)
            engine = judge_engine(store, key, graph, path, examples[graph])
        tell(f"{graph}: {engine.verdict}, {engine.reason} (built in {engine.build_s:.1f} s)")
        engines.append(engine)
    return engines


def judge_engine(
    store: EngineStore,
    key: EngineKey,
    graph: str,
    graph_path: Path,
    examples: Sequence[dict[str, Array]],
) -> Engine:
    """Run an engine beside the CPU, and record whether it may be trusted.

    Raises:
        InferenceError: the store has no such engine, or the CPU failed.
        OutputError: the verdict can't be written.
    """
    session = TensorRtSession(store.plan_path(key))
    reference = OnnxSession(graph_path).load()
    try:
        session.load()
        comparison = compare_sessions(graph, session, reference, examples)
        verdict = PASSED if comparison.passed else FAILED
        return store.judge(key, verdict, comparison.reason)
    except InferenceError as exc:
        return store.judge(key, FAILED, str(exc))
    finally:
        session.close()
        reference.close()
