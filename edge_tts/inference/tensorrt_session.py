"""Networks on TensorRT; the sole importer of tensorrt and pycuda.

TensorRT tells a failure by ``None``, ``False`` or -1 and a line in its log, so
every return value is looked at and the log's last error goes into the message.
Names are used that TensorRT 8.5 (JetPack 5.1) to 11 share; an enumeration's
integers move between releases, so none is written down here.

Sources: TensorRT Python API reference; CUDA driver API by pycuda.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edge_tts.errors import InferenceError, ProviderError
from edge_tts.inference.board import Gpu
from edge_tts.inference.tensorrt_logger import make_logger
from edge_tts.inference.tensorrt_profile import EngineProfile, Shapes, TensorBuffer, best_profile

if TYPE_CHECKING:
    from edge_tts.inference.session import Array


def load_tensorrt() -> Any:
    """The tensorrt module.

    Raises:
        ProviderError: it is not installed or can't load its libraries.
    """
    try:
        import tensorrt
    except (ImportError, OSError) as exc:
        raise ProviderError(
            f"TensorRT's Python bindings can't be imported ({exc}); "
            "on a Jetson: sudo apt install python3-libnvinfer"
        ) from exc
    return tensorrt


def load_cuda() -> Any:
    """pycuda's driver module, with the driver started.

    Raises:
        ProviderError: it is not installed, or the driver has no GPU.
    """
    try:
        import pycuda.driver as cuda

        cuda.init()
        cuda.Device(0)
    except (ImportError, OSError) as exc:
        raise ProviderError(f"pycuda can't be imported ({exc}): pip install pycuda") from exc
    except Exception as exc:  # pycuda's own errors need the module that may be missing
        raise ProviderError(f"the CUDA driver can't start: {exc}") from exc
    return cuda


@cache
def _primary_context(cuda: Any) -> Any:
    """The GPU's one context of this process, kept to its end.

    It is ONNX Runtime's as well, and giving it up leaves it on the calling
    thread's stack, so sessions push and pop it and never give it up.
    """
    context = cuda.Device(0).retain_primary_context()

    def give_up() -> None:
        with suppress(Exception):
            context.detach()

    atexit.register(give_up)
    return context


def present_gpu(cuda: Any) -> Gpu:
    """Name and compute capability of the GPU that is used."""
    device = cuda.Device(0)
    major, minor = device.compute_capability()
    return Gpu(device.name(), f"{major}.{minor}")


class TensorRtSession:
    """One engine with its contexts, buffers and stream. One thread at a time, any thread.

    Constructing it loads nothing; :meth:`load` does, or the first run. All
    memory is allocated then, for the largest shape of every profile; a run
    allocates none. A chunk of a profile's fixed shape changes no shape either.

    Args:
        plan: the engine's file, built on this device.
    """

    def __init__(self, plan: Path) -> None:
        self._plan = plan
        self._cuda: Any = None
        self._context: Any = None
        self._stream: Any = None
        self._runtime: Any = None
        self._engine: Any = None
        self._logger: Any = None
        self._inputs: list[str] = []
        self._outputs: list[str] = []
        self._profiles: list[EngineProfile] = []
        self._buffers: dict[str, TensorBuffer] = {}

    def load(self) -> TensorRtSession:
        """Load the engine and allocate everything, and return the session itself.

        Raises:
            ProviderError: TensorRT, pycuda or the driver can't be used.
            InferenceError: the plan is missing, torn or of another release, or
                the GPU's memory is too small.
        """
        if self._engine is not None:
            return self
        tensorrt, cuda = load_tensorrt(), load_cuda()
        self._cuda = cuda
        try:
            data = self._plan.read_bytes()
            self._context = _primary_context(cuda)
            with self._current():
                self._load_engine(tensorrt, data)
        except OSError as exc:
            raise InferenceError(f"can't read the engine {self._plan}: {exc.strerror}") from exc
        except InferenceError:
            self.close()
            raise
        except Exception as exc:  # pycuda's and pybind's errors share no base but this one
            self.close()
            raise InferenceError(f"can't load the engine {self._plan.name}: {exc}") from exc
        return self

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        """Copy in, run and copy out on the session's stream, and wait for it.

        Raises:
            InferenceError: the engine has no profile for these shapes, or the
                GPU failed; the session is then of no more use.
        """
        self.load()
        if set(inputs) != set(self._inputs):
            raise InferenceError(
                f"{self._plan.name} takes {', '.join(self._inputs)}, not {', '.join(inputs)}"
            )
        shapes = {name: tuple(array.shape) for name, array in inputs.items()}
        profile = best_profile(self._profiles, shapes)
        if profile is None:
            asked = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise InferenceError(f"the engine {self._plan.name} has no profile for {asked}")
        try:
            with self._current():
                return self._run(profile, inputs, shapes)
        except (self._cuda.Error, TypeError) as exc:  # TypeError: an input of another kind
            raise InferenceError(f"{self._plan.name} failed on the GPU: {exc}") from exc

    def close(self) -> None:
        """Free contexts, engine, buffers and stream; never raises, twice is harmless."""
        if self._context is None:
            return
        # After a lost context every call fails; what is left goes with the process.
        with suppress(Exception), self._current():
            # A run that failed half-way leaves work that still uses the buffers.
            with suppress(Exception):
                self._stream.synchronize()
            self._profiles.clear()
            self._engine = None
            for buffer in self._buffers.values():
                with suppress(Exception):
                    buffer.device.free()
                with suppress(Exception):
                    buffer.host.base.free()  # type: ignore[union-attr]
            self._stream = None
        self._profiles.clear()
        self._buffers.clear()
        self._engine = self._runtime = self._stream = self._context = None

    @contextmanager
    def _current(self) -> Iterator[None]:
        """Make the GPU's context the calling thread's own for a while."""
        self._context.push()
        try:
            yield
        finally:
            self._context.pop()

    def _load_engine(self, tensorrt: Any, data: bytes) -> None:
        self._logger = logger = make_logger(tensorrt)
        # Kept, for an engine may not outlive its runtime.
        self._runtime = tensorrt.Runtime(logger)
        engine = self._runtime.deserialize_cuda_engine(data)
        if engine is None:
            raise self._failed("TensorRT does not take it, build it again")
        self._stream = self._cuda.Stream()
        names = [engine.get_tensor_name(index) for index in range(engine.num_io_tensors)]
        is_input = tensorrt.TensorIOMode.INPUT
        self._inputs = [name for name in names if engine.get_tensor_mode(name) == is_input]
        self._outputs = [name for name in names if name not in self._inputs]
        self._engine = engine
        types = {name: np.dtype(tensorrt.nptype(engine.get_tensor_dtype(name))) for name in names}
        for index in range(engine.num_optimization_profiles):
            self._profiles.append(self._open_profile(engine, index))
        for name in names:
            self._buffers[name] = self._allocate(self._largest(name), types[name])
        for profile in self._profiles:
            for name in names:
                address = int(self._buffers[name].device)
                self._check(profile.context.set_tensor_address(name, address), f"address {name}")

    def _open_profile(self, engine: Any, index: int) -> EngineProfile:
        context = engine.create_execution_context()
        if context is None:
            raise self._failed("no execution context, the GPU's memory may be too small")
        handle = self._stream.handle
        self._check(context.set_optimization_profile_async(index, handle), f"profile {index}")
        self._stream.synchronize()
        lowest: dict[str, tuple[int, ...]] = {}
        highest: dict[str, tuple[int, ...]] = {}
        for name in self._inputs:
            low, _, high = engine.get_tensor_profile_shape(name, index)
            lowest[name], highest[name] = tuple(low), tuple(high)
        profile = EngineProfile(context, lowest, highest)
        self._set_shapes(profile, highest)
        return profile

    def _set_shapes(self, profile: EngineProfile, shapes: Shapes) -> None:
        for name, shape in shapes.items():
            if profile.shapes.get(name) != shape:
                self._check(
                    profile.context.set_input_shape(name, shape), f"shape {shape} of {name}"
                )
                profile.shapes[name] = shape
        missing = profile.context.infer_shapes()
        if missing:
            raise self._failed(f"shapes of {', '.join(missing)} are not known")
        for name in self._outputs:
            shape = tuple(profile.context.get_tensor_shape(name))
            if any(size < 0 for size in shape):  # -1 is how it says that it does not know.
                raise self._failed(f"the shape {shape} of {name} is not known")
            profile.shapes[name] = shape

    def _largest(self, name: str) -> int:
        return max(int(np.prod(profile.shapes[name])) for profile in self._profiles)

    def _allocate(self, size: int, dtype: np.dtype[Any]) -> TensorBuffer:
        host = self._cuda.pagelocked_empty(size, dtype)
        return TensorBuffer(host, self._cuda.mem_alloc(host.nbytes))

    def _run(
        self, profile: EngineProfile, inputs: Mapping[str, Array], shapes: Shapes
    ) -> dict[str, Array]:
        if any(profile.shapes[name] != shape for name, shape in shapes.items()):
            self._set_shapes(profile, shapes)
        for name, array in inputs.items():
            buffer = self._buffers[name]
            # TensorRT before 9 turns int64 inputs into int32.
            staged = buffer.host[: array.size]
            np.copyto(staged.reshape(array.shape), array, casting="same_kind")
            self._cuda.memcpy_htod_async(buffer.device, staged, self._stream)
        if not profile.context.execute_async_v3(self._stream.handle):
            raise self._failed("the engine did not start")
        staged_outputs = {}
        for name in self._outputs:
            shape, buffer = profile.shapes[name], self._buffers[name]
            staged = buffer.host[: int(np.prod(shape))]
            self._cuda.memcpy_dtoh_async(staged, buffer.device, self._stream)
            staged_outputs[name] = staged.reshape(shape)
        self._stream.synchronize()
        return {name: staged.copy() for name, staged in staged_outputs.items()}

    def _check(self, succeeded: object, what: str) -> None:
        if succeeded is False or succeeded is None:
            raise self._failed(f"{what} was refused")

    def _failed(self, what: str) -> InferenceError:
        return InferenceError(f"{self._plan.name}: {what} ({self._logger.last_error()})")
