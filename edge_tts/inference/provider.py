"""Which execution provider runs the networks on a board.

The chain is TensorRT fp16, CUDA fp32, CPU int8, CPU fp32; on an x86 processor without
VNNI fp32 comes before int8. What the board can't use is left out with its reason; what
fails at loading or in the middle of a sentence is left one step at a time, with one log
line a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from edge_tts.config.environment import state_folder
from edge_tts.errors import ProviderError, UsageError
from edge_tts.inference.board import Board, probe_board
from edge_tts.inference.fallback_session import FallbackSession, Opener
from edge_tts.inference.provider_plan import ProviderPlan, ProviderStep

if TYPE_CHECKING:
    from edge_tts.inference.session import InferenceSession

__all__ = [
    "PROVIDERS",
    "Board",
    "FallbackSession",
    "ProviderPlan",
    "ProviderStep",
    "choose_provider",
    "open_session",
    "probe_board",
    "provider_table",
]

PROVIDERS = ("tensorrt", "cuda", "cpu")


def provider_table(board: Board) -> tuple[ProviderStep, ...]:
    """Every step of the chain with whether this board can use it, and why (not)."""
    precisions = ("int8", "fp32") if _adds_int8_exactly(board) else ("fp32", "int8")
    return (
        _tensorrt_step(board),
        _cuda_step(board),
        *(_cpu_step(board, precision) for precision in precisions),
    )


def choose_provider(
    board: Board, forced: str | None = None, precision: str | None = None
) -> ProviderPlan:
    """Choose the chain for this board.

    Args:
        board: what :func:`probe_board` found.
        forced: one of :data:`PROVIDERS`: that one alone, without a way down.
            ``cpu`` takes int8, or fp32 where the voice has no int8 or the
            processor adds it wrongly. ``None``
            and ``auto`` leave the choice to the board.
        precision: ``int8``, ``fp16`` or ``fp32`` keeps only the steps that
            compute in it; ``None`` and ``auto`` keep all.

    Raises:
        UsageError: no provider has that name, or none computes so.
        ProviderError: the forced one can't be used here, or none can.
    """
    table = provider_table(board)
    if precision not in (None, "", "auto"):
        table = tuple(step for step in table if step.precision == precision)
    is_forced = forced not in (None, "", "auto")
    if is_forced:
        if forced not in PROVIDERS:
            raise UsageError(f"no provider {forced!r}; choose auto, {', '.join(PROVIDERS)}")
        table = tuple(step for step in table if step.name == forced)
    if not table:
        who = f"provider {forced}" if is_forced else "any provider"
        raise UsageError(f"no step of {who} computes in {precision}; leave the precision at auto")
    usable = tuple(step for step in table if step.usable)
    if not usable:
        what = f"provider {forced} can't" if is_forced else "no provider can"
        raise ProviderError(f"{what} be used here: {table[-1].reason}")
    skipped = tuple(step for step in table if not step.usable)
    return ProviderPlan(usable, skipped, forced=is_forced)


def open_session(
    paths: Mapping[str, Path],
    plan: ProviderPlan,
    *,
    graph: str = "network",
    threads: int = 1,
    keep_memory: bool = False,
    engine_folder: Path | None = None,
    gpu_worker: bool = False,
    openers: Mapping[str, Opener] | None = None,
) -> FallbackSession:
    """Load a network on the first step of the plan that takes it.

    Args:
        paths: the network's files by precision, ``fp32`` and ``int8``.
        plan: the chain from :func:`choose_provider`, shared by all networks.
        graph: the network's name, for log lines.
        threads: threads of one operator on a CPU.
        keep_memory: keep working buffers between runs, see ``OnnxSession``.
        engine_folder: where TensorRT engines lie; the state folder's unless given.
        gpu_worker: run GPU networks in a process of their own, see ``Worker``.
        openers: how a provider loads a file, by its name.

    Raises:
        ProviderError: the provider that was forced can't be used.
        InferenceError: no step could load it.
    """
    if openers is None:
        folder = engine_folder or state_folder() / "engines"
        openers = _openers(graph, threads, keep_memory, folder, gpu_worker)
    session = FallbackSession(paths, plan, graph, openers)
    session.load()
    return session


def _openers(
    graph: str, threads: int, keep_memory: bool, engine_folder: Path, gpu_worker: bool
) -> dict[str, Opener]:
    def onnx(path: Path, step: ProviderStep) -> InferenceSession:
        from edge_tts.inference.onnx_session import OnnxSession

        return OnnxSession(
            path, provider=step.name, threads=threads, keep_memory=keep_memory
        ).load()

    def tensorrt(path: Path, step: ProviderStep) -> InferenceSession:
        from edge_tts.inference.engines import open_engine

        return open_engine(path, graph, engine_folder)

    def onnx_in_worker(path: Path, step: ProviderStep) -> InferenceSession:
        from edge_tts.inference.worker_session import shared_worker

        return shared_worker().open(graph, "onnx", str(path), step.name, threads, keep_memory)

    def tensorrt_in_worker(path: Path, step: ProviderStep) -> InferenceSession:
        from edge_tts.inference.worker_session import shared_worker

        return shared_worker().open(graph, "tensorrt", str(path), graph, str(engine_folder))

    def on_gpu(opener: Opener) -> Opener:
        def prompt(path: Path, step: ProviderStep) -> InferenceSession:
            from edge_tts.inference.gpu_thread import open_prompt

            return open_prompt(lambda: opener(path, step), f"the {graph}")

        return prompt

    if gpu_worker:
        onnx_on_gpu, tensorrt = onnx_in_worker, tensorrt_in_worker
    else:
        onnx_on_gpu = onnx
    return {"cpu": onnx, "cuda": on_gpu(onnx_on_gpu), "tensorrt": on_gpu(tensorrt)}


def _tensorrt_step(board: Board) -> ProviderStep:
    if not board.cuda.loads:
        return _unusable("tensorrt", "fp16", f"no NVIDIA driver: {board.cuda.detail}")
    if not board.tensorrt.loads:
        return _unusable("tensorrt", "fp16", f"TensorRT does not load: {board.tensorrt.detail}")
    for module, fix in (
        ("tensorrt", "sudo apt install python3-libnvinfer"),
        ("pycuda", "pip install pycuda"),
    ):
        if module not in board.python_modules:
            return _unusable("tensorrt", "fp16", f"the Python module {module} is missing: {fix}")
    return ProviderStep("tensorrt", "fp16", f"{board.tensorrt.detail} on {_gpu_words(board)}")


def _cuda_step(board: Board) -> ProviderStep:
    if not board.cuda.loads:
        return _unusable("cuda", "fp32", f"no NVIDIA driver: {board.cuda.detail}")
    if "onnxruntime" not in board.python_modules:
        return _unusable("cuda", "fp32", "ONNX Runtime is not installed")
    if not board.onnxruntime_has_cuda:
        return _unusable("cuda", "fp32", "the installed ONNX Runtime was built without CUDA")
    return ProviderStep("cuda", "fp32", _gpu_words(board))


def _cpu_step(board: Board, precision: str) -> ProviderStep:
    if board.pointer_bits < 64:
        return _unusable(
            "cpu", precision, "ONNX Runtime needs a 64-bit system; install a 64-bit image"
        )
    if "onnxruntime" not in board.python_modules:
        return _unusable("cpu", precision, "ONNX Runtime is not installed: pip install onnxruntime")
    if precision == "fp32":
        if not _adds_int8_exactly(board):
            return ProviderStep("cpu", "fp32", "without VNNI instructions int8 overflows")
        return ProviderStep("cpu", "fp32", "the reference, where int8 can't run")
    return ProviderStep("cpu", "int8", _int8_words(board))


def _adds_int8_exactly(board: Board) -> bool:
    """Whether int8 products add up without overflow.

    x86 before VNNI adds pairs of them in 16 bits, which saturates (OpenVINO's notes on the
    saturation issue): the same text sounds 5 to 7 dB of spectrum apart.
    """
    return board.is_arm or not board.cpu_features.isdisjoint(("avx512_vnni", "avx_vnni"))


def _int8_words(board: Board) -> str:
    features = board.cpu_features
    if board.is_arm:
        for feature, words in (("i8mm", "matrix product"), ("asimddp", "dot product")):
            if feature in features:
                return f"int8 {words} instructions ({feature})"
        return "int8 without dot product instructions: less memory, little faster than fp32"
    for feature in ("avx512_vnni", "avx_vnni"):
        if feature in features:
            return f"int8 by {feature}"
    return "int8 that overflows: this processor has no VNNI instructions"


def _gpu_words(board: Board) -> str:
    if board.gpu is None:
        return board.cuda.detail
    return f"{board.gpu.name}, compute capability {board.gpu.compute_capability}"


def _unusable(name: str, precision: str, reason: str) -> ProviderStep:
    return ProviderStep(name, precision, reason, usable=False)
