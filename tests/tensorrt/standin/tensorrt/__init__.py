"""TensorRT with a stand-in for what needs a GPU.

Enumerations, Dims, Logger and nptype are those of the real bindings. Builder,
parser, runtime, engine and context do as the real ones do towards their caller:
they fail by None, False and -1 with a log line, and an engine runs in its
stream's turn. It computes by ONNX Runtime on the raw addresses.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
from typing import Any

import numpy as np
import onnx
import onnxruntime
import tensorrt_bindings as _real
from tensorrt_bindings import (  # noqa: F401
    BuilderFlag,
    DataType,
    Dims,
    ILogger,
    Logger,
    MemoryPoolType,
    NetworkDefinitionCreationFlag,
    TensorIOMode,
    nptype,
)

__version__ = _real.__version__
_MAGIC = b"STANDIN1"
_HAS_INT64 = int(__version__.split(".")[0]) >= 9
_UNKNOWN_OPERATORS = {"Unknown"} | (set() if _HAS_INT64 else {"Gelu"})
_driver = ctypes.CDLL(os.environ["STUB_DRIVER"])
_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_driver.stub_enqueue.argtypes = [ctypes.c_void_p, _Callback, ctypes.c_void_p]

# For the tests: what engines did, and what they are to do wrong.
counters = {"contexts": 0, "shape changes": 0, "runs": 0}
faults = {
    "no context": False,
    "no start": False,
    "wrong by": 0.0,
    "refuse shapes": False,
    "unknown shapes": False,
    "no network": False,
    "no configuration": False,
}


def _error(logger: Any, message: str) -> None:
    logger.log(ILogger.Severity.ERROR, message)


class Runtime:
    def __init__(self, logger: ILogger) -> None:
        assert isinstance(logger, ILogger)
        self._logger = logger

    def deserialize_cuda_engine(self, data: bytes) -> ICudaEngine | None:
        if data[:8] != _MAGIC:
            return _error(self._logger, "Magic tag does not match")
        (size,) = struct.unpack("<I", data[8:12])
        head = json.loads(data[12 : 12 + size])
        if head["version"] != __version__:
            return _error(self._logger, f"Version tag does not match ({head['version']})")
        if head["length"] != len(data):
            return _error(self._logger, "Serialized engine is truncated")
        return ICudaEngine(self._logger, data[12 + size :], head["profiles"])


class ICudaEngine:
    def __init__(self, logger: Any, graph: bytes, profiles: list) -> None:
        self._logger = logger
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            graph, options, providers=["CPUExecutionProvider"]
        )
        self.profiles = profiles
        self.inputs = {node.name: node for node in self.session.get_inputs()}
        self.outputs = {node.name: node for node in self.session.get_outputs()}
        self._names = [*self.inputs, *self.outputs]
        self.num_io_tensors = len(self._names)
        self.num_optimization_profiles = len(profiles)

    def get_tensor_name(self, index: int) -> str:
        return self._names[index]

    def get_tensor_mode(self, name: str) -> TensorIOMode:
        return TensorIOMode.INPUT if name in self.inputs else TensorIOMode.OUTPUT

    def get_tensor_dtype(self, name: str) -> DataType:
        node = self.inputs.get(name) or self.outputs[name]
        if node.type == "tensor(int64)":
            return DataType.INT64 if _HAS_INT64 else DataType.INT32
        return DataType.FLOAT

    def get_tensor_profile_shape(self, name: str, profile: int) -> list[Dims]:
        return [Dims(shape) for shape in self.profiles[profile][name]]

    def create_execution_context(self) -> IExecutionContext | None:
        if faults["no context"]:
            return _error(self._logger, "Requested amount of GPU memory could not be allocated")
        counters["contexts"] += 1
        return IExecutionContext(self._logger, self)


class IExecutionContext:
    def __init__(self, logger: Any, engine: ICudaEngine) -> None:
        self._logger, self._engine = logger, engine
        self._profile: dict | None = None
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._addresses: dict[str, int] = {}
        self._queued: list[Any] = []

    def set_optimization_profile_async(self, index: int, stream: int) -> bool:
        assert stream
        self._profile = self._engine.profiles[index]
        self._shapes.clear()
        return True

    def set_input_shape(self, name: str, shape: tuple[int, ...]) -> bool:
        assert self._profile is not None
        low, _, high = self._profile[name]
        fits = len(low) == len(shape) and all(
            a <= size <= b for a, size, b in zip(low, shape, high, strict=True)
        )
        if not fits or faults["refuse shapes"]:
            _error(self._logger, f"Static dimension mismatch of {name} while setting input shape")
            return False
        counters["shape changes"] += 1
        self._shapes[name] = tuple(shape)
        return True

    def infer_shapes(self) -> list[str]:
        return [name for name in self._engine.inputs if name not in self._shapes]

    def get_tensor_shape(self, name: str) -> Dims:
        if name in self._shapes:
            return Dims(self._shapes[name])
        if faults["unknown shapes"]:
            return Dims([1, -1, 4])
        free = next(
            size
            for input_name, node in self._engine.inputs.items()
            for dimension, size in zip(node.shape, self._shapes[input_name], strict=True)
            if isinstance(dimension, str)
        )
        shape = self._engine.outputs[name].shape
        return Dims([free if isinstance(size, str) else size for size in shape])

    def set_tensor_address(self, name: str, address: int) -> bool:
        known = name in self._engine.inputs or name in self._engine.outputs
        self._addresses[name] = address
        return known and address != 0

    def execute_async_v3(self, stream_handle: int) -> bool:
        names = {*self._engine.inputs, *self._engine.outputs}
        if faults["no start"] or self.infer_shapes() or set(self._addresses) != names:
            _error(self._logger, "IExecutionContext::enqueueV3: a shape or an address is missing")
            return False
        counters["runs"] += 1
        shapes, addresses = dict(self._shapes), dict(self._addresses)

        def run(_: object) -> None:
            self._compute(shapes, addresses)
            self._queued.remove(callback)

        callback = _Callback(run)
        self._queued.append(callback)
        return _driver.stub_enqueue(stream_handle, callback, None) == 0

    def _compute(self, shapes: dict, addresses: dict) -> None:
        feed = {}
        for name, node in self._engine.inputs.items():
            dtype = np.dtype(nptype(self._engine.get_tensor_dtype(name)))
            count = int(np.prod(shapes[name]))
            raw = ctypes.string_at(addresses[name], count * dtype.itemsize)
            array = np.frombuffer(raw, dtype).reshape(shapes[name])
            feed[name] = array.astype(np.int64) if node.type == "tensor(int64)" else array
        outputs = self._engine.session.run(list(self._engine.outputs), feed)
        for name, value in zip(self._engine.outputs, outputs, strict=True):
            value = np.ascontiguousarray(value * np.float32(1 + faults["wrong by"]))
            ctypes.memmove(addresses[name], value.ctypes.data, value.nbytes)


class Builder:
    def __init__(self, logger: ILogger) -> None:
        self._logger = logger

    def create_network(self, flags: int) -> _Network:
        explicit = getattr(NetworkDefinitionCreationFlag, "EXPLICIT_BATCH", None)
        if explicit is not None and int(__version__.split(".")[0]) < 10:
            assert flags & 1 << int(explicit), "an implicit batch can't be parsed into"
        return None if faults["no network"] else _Network()

    def create_builder_config(self) -> _Config:
        return None if faults["no configuration"] else _Config()

    def create_optimization_profile(self) -> _Profile:
        return _Profile()

    def build_serialized_network(self, network: _Network, config: _Config) -> bytes | None:
        for tensor in network.inputs:
            if -1 in tensor.shape and not config.profiles:
                return _error(self._logger, f"{tensor.name}: dynamic input without a profile")
            if any(tensor.name not in profile.shapes for profile in config.profiles):
                return _error(self._logger, f"{tensor.name} is missing in a profile")
        graph = network.model.SerializeToString()
        head = {"version": __version__, "profiles": [p.shapes for p in config.profiles]}
        length = 0
        for _ in range(3):  # the length counts its own digits
            text = json.dumps({**head, "length": length}).encode()
            length = 12 + len(text) + len(graph)
        return _MAGIC + struct.pack("<I", len(text)) + text + graph


class _Tensor:
    def __init__(self, value: Any) -> None:
        self.name = value.name
        dimensions = value.type.tensor_type.shape.dim
        self.shape = Dims([d.dim_value if d.HasField("dim_value") else -1 for d in dimensions])


class _Network:
    def __init__(self) -> None:
        self.model: Any = None
        self.inputs: list[_Tensor] = []

    @property
    def num_inputs(self) -> int:
        return len(self.inputs)

    def get_input(self, index: int) -> _Tensor:
        return self.inputs[index]


class OnnxParser:
    def __init__(self, network: _Network, logger: ILogger) -> None:
        self._network, self._errors = network, []

    def parse(self, data: bytes) -> bool:
        try:
            model = onnx.load_from_string(data)
        except Exception as exc:
            self._errors = [f"could not parse the model: {exc}"]
            return False
        self._errors = [
            f"In node {index} (importNode): UNSUPPORTED_NODE: {node.op_type}"
            for index, node in enumerate(model.graph.node)
            if node.op_type in _UNKNOWN_OPERATORS
        ]
        self._network.model = model
        self._network.inputs = [_Tensor(value) for value in model.graph.input]
        return not self._errors

    @property
    def num_errors(self) -> int:
        return len(self._errors)

    def get_error(self, index: int) -> str:
        return self._errors[index]


class _Profile:
    def __init__(self) -> None:
        self.shapes: dict[str, list] = {}

    def set_shape(self, name: str, low: tuple, usual: tuple, high: tuple) -> None:
        self.shapes[name] = [list(low), list(usual), list(high)]


class _Config:
    def __init__(self) -> None:
        self.profiles: list[_Profile] = []
        self.flags: set[Any] = set()
        self._cache: Any = None

    def set_memory_pool_limit(self, pool: MemoryPoolType, size: int) -> None:
        assert isinstance(pool, MemoryPoolType)
        assert size > 0

    def set_flag(self, flag: BuilderFlag) -> None:
        assert isinstance(flag, BuilderFlag)
        self.flags.add(flag)

    def clear_flag(self, flag: BuilderFlag) -> None:
        assert isinstance(flag, BuilderFlag)
        self.flags.discard(flag)

    def add_optimization_profile(self, profile: _Profile) -> int:
        for low, usual, high in profile.shapes.values():
            if not all(a <= b <= c for a, b, c in zip(low, usual, high, strict=True)):
                return -1
        self.profiles.append(profile)
        return len(self.profiles) - 1

    def create_timing_cache(self, data: bytes) -> _TimingCache | None:
        if data and not data.startswith(b"timings of " + __version__.encode()):
            return None
        return _TimingCache(data)

    def set_timing_cache(self, cache: _TimingCache, ignore_mismatch: bool) -> bool:
        self._cache = cache
        return True

    def get_timing_cache(self) -> _TimingCache:
        return self._cache


class _TimingCache:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def serialize(self) -> bytes:
        return self._data or b"timings of " + __version__.encode()
