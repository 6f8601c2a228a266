from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from edge_tts.errors import InferenceError, ProviderError
from edge_tts.inference.onnx_session import OnnxSession
from tests.inference.graphs import save_matrix_graph

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_matrix_graph(tmp_path_factory.mktemp("graphs") / "matrix.onnx")


def ones(rows: int = 2) -> dict[str, np.ndarray]:
    return {"x": np.ones((rows, 8), np.float32)}


def test_outputs_come_by_name(tiny_voice: Path) -> None:
    session = OnnxSession(tiny_voice / "encoder.int8.onnx").load()
    outputs = session.run({"ids": np.arange(7)[None]})
    assert outputs["hidden"].shape == (1, 7, 8)
    assert outputs["log_durations"].shape == (1, 7)


@pytest.mark.parametrize("keep_memory", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_memory_and_threads_do_not_change_the_result(
    matrix: Path, keep_memory: bool, threads: int
) -> None:
    reference = OnnxSession(matrix).run(ones())["y"]
    other = OnnxSession(matrix, threads=threads, keep_memory=keep_memory).run(ones())["y"]
    np.testing.assert_array_equal(other, reference)


def test_constructing_loads_nothing(tmp_path: Path) -> None:
    session = OnnxSession(tmp_path / "missing.onnx")
    with pytest.raises(InferenceError, match=r"can't load .*missing\.onnx"):
        session.load()


@pytest.mark.parametrize("content", [b"", b"not a graph", b"\x08\x08" * 50])
def test_a_torn_file_is_an_inference_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "torn.onnx"
    path.write_bytes(content)
    with pytest.raises(InferenceError, match=r"torn\.onnx"):
        OnnxSession(path).load()


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"z": np.ones((1, 8), np.float32)},
        {"x": np.ones((1, 9), np.float32)},
        {"x": np.ones((1, 8), np.float64)},
        {"x": np.ones(8, np.float32)},
    ],
)
def test_wrong_inputs_are_an_inference_error_in_one_line(
    matrix: Path, inputs: dict[str, np.ndarray]
) -> None:
    session = OnnxSession(matrix).load()
    with pytest.raises(InferenceError, match=r"matrix\.onnx failed") as caught:
        session.run(inputs)
    assert "\n" not in str(caught.value)
    assert session.run(ones())["y"].shape == (2, 8)


def test_a_provider_that_is_not_built_in_is_a_provider_error(matrix: Path) -> None:
    import onnxruntime

    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("this ONNX Runtime has CUDA")
    with pytest.raises(ProviderError, match="onnxruntime-gpu"):
        OnnxSession(matrix, provider="cuda").load()


def test_closed_session_loads_again(matrix: Path) -> None:
    session = OnnxSession(matrix).load()
    session.close()
    session.close()
    assert session.run(ones())["y"].shape == (2, 8)


def test_nothing_reaches_the_terminal(matrix: Path) -> None:
    script = """
import sys
from pathlib import Path
from edge_tts.errors import InferenceError
from edge_tts.inference.onnx_session import OnnxSession
assert "onnxruntime" not in sys.modules
session = OnnxSession(Path(sys.argv[1]))
assert "onnxruntime" not in sys.modules
session.load()
try:
    session.run({})
except InferenceError:
    pass
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(matrix)], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    assert done.stderr == ""


def test_missing_onnxruntime_says_how_to_get_it(
    matrix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ProviderError, match="pip install onnxruntime"):
        OnnxSession(matrix).load()


def test_nothing_is_written_into_the_home_folder(matrix: Path, tmp_path: Path) -> None:
    """ONNX Runtime 1.32 keeps usage records there, and sends them, unless told not to."""
    code = (
        "from pathlib import Path; from edge_tts.inference.onnx_session import OnnxSession; "
        f"OnnxSession(Path({str(matrix)!r})).load()"
    )
    environ = {**os.environ, "HOME": str(tmp_path)}
    environ.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=environ)
    assert list(tmp_path.iterdir()) == []
