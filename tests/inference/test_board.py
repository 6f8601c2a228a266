from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from edge_tts.inference.board import probe_board
from tests.inference import boards
from tests.inference.boards import FakeDriver, libraries, make_board, write


def test_pi_5(tmp_path: Path) -> None:
    board = boards.pi_5(tmp_path)
    assert board.model == "Raspberry Pi 5 Model B Rev 1.0"
    assert board.is_raspberry_pi
    assert board.is_arm
    assert "asimddp" in board.cpu_features
    assert (board.cores, board.memory_mb) == (4, 8061)
    assert board.gpu is None
    assert "No such file" in board.cuda.detail
    assert board.jetson_linux is None


def test_orin(tmp_path: Path) -> None:
    board = boards.orin(tmp_path)
    assert board.jetson_linux == "36.4.0"
    assert board.gpu is not None
    assert (board.gpu.name, board.gpu.compute_capability) == ("Orin", "8.7")
    assert (board.cuda.loads, board.cuda.detail) == (True, "CUDA 12.6")
    assert (board.tensorrt.name, board.tensorrt.detail) == ("libnvinfer.so.10", "TensorRT 10.3.0")
    assert board.python_modules == {"onnxruntime", "tensorrt", "pycuda"}
    assert board.onnxruntime_has_cuda


@pytest.mark.parametrize(
    ("number", "text"),
    [(8502, "8.5.2"), (8602, "8.6.2"), (100300, "10.3.0"), (101602, "10.16.2"), (110400, "11.4.0")],
)
def test_tensorrt_version_numbers(tmp_path: Path, number: int, text: str) -> None:
    name = f"libnvinfer.so.{number // 1000 if number < 10000 else number // 10000}"
    library = libraries(name=name, tensorrt=boards.FakeTensorRt(number))
    board = make_board(tmp_path, load_library=library)
    assert board.tensorrt.detail == f"TensorRT {text}"


def test_a_library_that_can_not_load_tells_more_than_a_missing_one(tmp_path: Path) -> None:
    def load(name: str) -> None:
        if name == "libnvinfer.so.10":
            raise OSError("libcudart.so.12: version `X' not found")
        raise OSError(f"{name}: cannot open shared object file: No such file or directory")

    board = make_board(tmp_path, load_library=load)
    assert not board.tensorrt.loads
    assert "libcudart.so.12" in board.tensorrt.detail


def test_a_file_that_is_no_library_does_not_count(tmp_path: Path) -> None:
    """The real loader on a real file: being there is not enough."""
    import ctypes

    (tmp_path / "libcuda.so.1").write_bytes(b"\x7fELF and then nothing")

    def load(name: str) -> ctypes.CDLL:
        return ctypes.CDLL(str(tmp_path / name))

    board = make_board(tmp_path, load_library=load)
    assert not board.cuda.loads


@pytest.mark.parametrize(
    ("driver", "detail"),
    [
        (FakeDriver(status=999), "cuInit failed with error 999"),
        (FakeDriver(gpu=""), "the driver finds no GPU"),
        (object(), "not a CUDA driver"),
    ],
)
def test_a_driver_without_gpu(tmp_path: Path, driver: object, detail: str) -> None:
    board = make_board(tmp_path, load_library=libraries(cuda=driver))
    assert not board.cuda.loads
    assert detail in board.cuda.detail
    assert board.gpu is None


class TestCores:
    def test_affinity_counts(self, tmp_path: Path) -> None:
        assert make_board(tmp_path, processors=4, affinity=2).cores == 2

    def test_quota_of_a_parent_group_counts(self, tmp_path: Path) -> None:
        write(tmp_path / "proc/self/cgroup", "0::/system.slice/edge-tts.service\n")
        group = tmp_path / "sys/fs/cgroup/system.slice"
        write(group / "edge-tts.service/cpu.max", "max 100000\n")
        write(group / "cpu.max", "150000 100000\n")
        assert make_board(tmp_path).cores == 1
        write(group / "cpu.max", "300000 100000\n")
        assert make_board(tmp_path).cores == 3

    def test_quota_of_version_1_counts(self, tmp_path: Path) -> None:
        write(tmp_path / "proc/self/cgroup", "3:cpu,cpuacct:/docker/x\n1:name=systemd:/\n")
        write(tmp_path / "sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "200000\n")
        write(tmp_path / "sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n")
        assert make_board(tmp_path).cores == 2

    def test_never_none(self, tmp_path: Path) -> None:
        write(tmp_path / "proc/self/cgroup", "0::/\n")
        write(tmp_path / "sys/fs/cgroup/cpu.max", "20000 100000\n")
        assert make_board(tmp_path).cores == 1


class TestMemory:
    def test_limit_of_the_group_counts(self, tmp_path: Path) -> None:
        write(tmp_path / "proc/self/cgroup", "0::/edge-tts\n")
        write(tmp_path / "sys/fs/cgroup/edge-tts/memory.max", f"{256 << 20}\n")
        assert make_board(tmp_path).memory_mb == 256

    def test_no_limit_is_the_machine(self, tmp_path: Path) -> None:
        write(tmp_path / "proc/self/cgroup", "0::/edge-tts\n")
        write(tmp_path / "sys/fs/cgroup/edge-tts/memory.max", "max\n")
        assert make_board(tmp_path, memory_kb=2048).memory_mb == 2


def test_an_empty_root_is_survived(tmp_path: Path) -> None:
    board = probe_board(tmp_path, load_library=libraries(), find_module=lambda name: None)
    assert board.model == "unknown"
    assert board.cores == len(os.sched_getaffinity(0))
    assert board.python_modules == frozenset()


def test_this_machine() -> None:
    board = probe_board()
    assert board.cores >= 1
    assert board.memory_mb > 100
    assert board.cpu_features
    assert board.pointer_bits == (64 if sys.maxsize > 2**32 else 32)
    assert "onnxruntime" in board.python_modules
