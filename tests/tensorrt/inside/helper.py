"""What the tests that run over the driver stub share."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import numpy as np
import onnx

driver = ctypes.CDLL(os.environ["STUB_DRIVER"])
driver.stub_count.restype = ctypes.c_long
driver.stub_memory.argtypes = [ctypes.c_size_t]

OUT_OF_MEMORY = 2
ILLEGAL_ADDRESS = 700


def count(what: str) -> int:
    """A counter of the driver stub; see ``stub_count``."""
    value = driver.stub_count(what.encode())
    assert value >= 0, f"the stub counts no {what}"
    return int(value)


def fail(function: str, code: int, after_calls: int = 0) -> None:
    """Let a call of the driver fail once."""
    driver.stub_fail(function.encode(), after_calls, code)


def hang(function: str) -> None:
    """Let the next call of the driver hang, until ``let_go``."""
    driver.stub_hang(function.encode())


def let_go() -> None:
    driver.stub_let_go()


def random_inputs(graph: Path, size: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Inputs of a graph whose free axis has this size."""
    rng = np.random.default_rng(seed)
    inputs = {}
    for value in onnx.load(graph).graph.input:
        kind = value.type.tensor_type
        dimensions = [d.dim_value if d.HasField("dim_value") else size for d in kind.shape.dim]
        if kind.elem_type == onnx.TensorProto.INT64:
            inputs[value.name] = rng.integers(0, 250, dimensions)
        else:
            inputs[value.name] = rng.standard_normal(dimensions).astype(np.float32)
    return inputs
