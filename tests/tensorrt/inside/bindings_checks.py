"""Every name, enumeration and signature that is used, in the real bindings of one release."""

from __future__ import annotations

import inspect
import re

import pytest
import tensorrt_bindings as tensorrt

MAJOR = int(tensorrt.__version__.split(".")[0])
METHODS = {
    "Runtime": ["deserialize_cuda_engine"],
    "ICudaEngine": [
        "num_io_tensors",
        "num_optimization_profiles",
        "get_tensor_name",
        "get_tensor_mode",
        "get_tensor_dtype",
        "get_tensor_profile_shape",
        "create_execution_context",
    ],
    "IExecutionContext": [
        "set_optimization_profile_async",
        "set_input_shape",
        "infer_shapes",
        "get_tensor_shape",
        "set_tensor_address",
        "execute_async_v3",
    ],
    "Builder": [
        "create_network",
        "create_builder_config",
        "create_optimization_profile",
        "build_serialized_network",
    ],
    "INetworkDefinition": ["num_inputs", "get_input"],
    "ITensor": ["name", "shape"],
    "OnnxParser": ["parse", "num_errors", "get_error"],
    "IOptimizationProfile": ["set_shape"],
    "IBuilderConfig": [
        "set_memory_pool_limit",
        "set_flag",
        "clear_flag",
        "add_optimization_profile",
        "create_timing_cache",
        "set_timing_cache",
        "get_timing_cache",
    ],
    "ITimingCache": ["serialize"],
}
# Parameters, as pybind writes them, of the calls that are made by position.
PARAMETERS = {
    "IExecutionContext.set_optimization_profile_async": 2,
    "IExecutionContext.set_input_shape": 2,
    "IExecutionContext.set_tensor_address": 2,
    "IExecutionContext.execute_async_v3": 1,
    "ICudaEngine.get_tensor_profile_shape": 2,
    "IBuilderConfig.set_memory_pool_limit": 2,
    "IBuilderConfig.set_timing_cache": 2,
    "IOptimizationProfile.set_shape": 4,
    "Builder.build_serialized_network": 2,
}


@pytest.mark.parametrize(
    "name", [f"{owner}.{method}" for owner, methods in METHODS.items() for method in methods]
)
def test_is_there(name: str) -> None:
    owner, method = name.split(".")
    assert hasattr(getattr(tensorrt, owner), method)


@pytest.mark.parametrize("name", PARAMETERS)
def test_takes_its_parameters(name: str) -> None:
    owner, method = name.split(".")
    text = getattr(getattr(tensorrt, owner), method).__doc__
    signature = next(line for line in text.splitlines() if f"{method}(self" in line)
    inside = signature[signature.index("(") + 1 : signature.rindex(") ->")]
    # Commas inside brackets belong to a type.
    flat = re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", inside))
    assert len(flat.split(",")) - 1 == PARAMETERS[name], signature


def test_enumerations() -> None:
    assert tensorrt.TensorIOMode.INPUT != tensorrt.TensorIOMode.OUTPUT
    assert tensorrt.MemoryPoolType.WORKSPACE is not None
    assert tensorrt.BuilderFlag.TF32 is not None
    assert tensorrt.ILogger.Severity.ERROR != tensorrt.ILogger.Severity.INTERNAL_ERROR


def test_what_is_missing_is_missing_where_we_think_so() -> None:
    """FP16 and explicit batch went with TensorRT 11; progress came with 10."""
    assert hasattr(tensorrt.BuilderFlag, "FP16") == (MAJOR < 11)
    assert hasattr(tensorrt.NetworkDefinitionCreationFlag, "EXPLICIT_BATCH") == (MAJOR < 11)
    assert hasattr(tensorrt, "IProgressMonitor") == (MAJOR >= 10)
    assert hasattr(tensorrt.DataType, "INT64") == (MAJOR >= 9)


def test_a_logger_of_ours_keeps_errors_alone() -> None:
    from edge_tts.inference.tensorrt_logger import make_logger

    logger = make_logger(tensorrt)
    assert logger.last_error() == "TensorRT gave no reason"
    logger.log(tensorrt.ILogger.Severity.WARNING, "a warning")
    logger.log(tensorrt.ILogger.Severity.ERROR, "an error\nin two lines")
    logger.log(tensorrt.ILogger.Severity.INFO, "information")
    assert logger.last_error() == "an error in two lines"


def test_types_have_numpy_kin() -> None:
    import numpy as np

    assert np.dtype(tensorrt.nptype(tensorrt.DataType.FLOAT)) == np.float32
    assert np.dtype(tensorrt.nptype(tensorrt.DataType.INT32)) == np.int32
    if MAJOR >= 9:
        assert np.dtype(tensorrt.nptype(tensorrt.DataType.INT64)) == np.int64


def test_dims_become_tuples() -> None:
    assert tuple(tensorrt.Dims([1, -1, 80])) == (1, -1, 80)


def test_a_builder_without_a_gpu_raises_what_we_translate() -> None:
    """The real Builder over empty libraries: pybind's TypeError."""
    from edge_tts.inference.tensorrt_logger import make_logger

    with pytest.raises((TypeError, RuntimeError)):
        tensorrt.Builder(make_logger(tensorrt))


def test_a_progress_monitor_of_ours_is_one() -> None:
    if MAJOR < 10:
        pytest.skip("this release tells no progress")
    from edge_tts.inference import engine_builder

    class Config:
        progress_monitor: object = None

    config, told = Config(), []
    engine_builder._watch(tensorrt, config, lambda phase, share: told.append((phase, share)))
    monitor = config.progress_monitor
    assert isinstance(monitor, tensorrt.IProgressMonitor)
    monitor.phase_start("Tactics", None, 4)
    assert monitor.step_complete("Tactics", 1) is True
    monitor.phase_finish("Tactics")
    assert told == [("Tactics", 0.0), ("Tactics", 0.5), ("Tactics", 1.0)]
    assert inspect.signature(type(monitor).phase_start).parameters.keys() >= {"phase", "steps"}
