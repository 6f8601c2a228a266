from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from edge_tts.errors import InferenceError, ProviderError, UsageError
from edge_tts.inference.board import Board
from edge_tts.inference.provider import (
    ProviderPlan,
    choose_provider,
    open_session,
    provider_table,
)
from tests.inference import boards

Steps = list[tuple[str, str]]


def steps_of(plan: ProviderPlan) -> Steps:
    return [(step.name, step.precision) for step in plan.steps]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (boards.pi_5, "dot product instructions (asimddp)"),
        (boards.pi_4, "without dot product"),
        (boards.pi_zero_2, "without dot product"),
        (boards.desktop, "avx512_vnni"),
    ],
)
def test_boards_without_gpu_compute_in_int8(
    tmp_path: Path, make: Callable[[Path], Board], reason: str
) -> None:
    plan = choose_provider(make(tmp_path))
    assert steps_of(plan) == [("cpu", "int8"), ("cpu", "fp32")]
    assert reason in plan.steps[0].reason
    assert [step.name for step in plan.skipped] == ["tensorrt", "cuda"]
    assert all("libcuda.so.1" in step.reason for step in plan.skipped)


@pytest.mark.parametrize(
    ("features", "first"),
    [
        ("sse2 ssse3 avx avx2", "fp32"), ("sse2 ssse3", "fp32"), ("avx2 avx512f avx512bw", "fp32"),
        ("avx2 avx_vnni", "int8"), ("avx2 avx512f avx512_vnni", "int8"),
    ],
)  # fmt: skip
def test_x86_computes_in_int8_only_where_it_adds_up(
    tmp_path: Path, features: str, first: str
) -> None:
    board = boards.make_board(tmp_path, architecture="x86_64", features=features)
    plan = choose_provider(board)
    assert {step.precision for step in plan.steps} == {"int8", "fp32"}
    assert plan.steps[0].precision == first
    assert choose_provider(board, "cpu").steps[0].precision == first
    assert choose_provider(board, precision="int8").steps[0].precision == "int8"


def test_orin_takes_tensorrt_first(tmp_path: Path) -> None:
    plan = choose_provider(boards.orin(tmp_path))
    assert steps_of(plan) == [
        ("tensorrt", "fp16"),
        ("cuda", "fp32"),
        ("cpu", "int8"),
        ("cpu", "fp32"),
    ]
    assert plan.steps[0].reason == "TensorRT 10.3.0 on Orin, compute capability 8.7"


@pytest.mark.parametrize(
    ("modules", "fix"),
    [
        (("onnxruntime", "pycuda"), "python3-libnvinfer"),
        (("onnxruntime", "tensorrt"), "pip install pycuda"),
    ],
)
def test_orin_without_the_python_modules_says_which(
    tmp_path: Path, modules: tuple[str, ...], fix: str
) -> None:
    plan = choose_provider(boards.orin(tmp_path, modules=modules))
    assert plan.steps[0].name == "cuda"
    assert fix in plan.skipped[0].reason


def test_orin_without_tensorrt_takes_cuda(tmp_path: Path) -> None:
    plan = choose_provider(boards.orin(tmp_path, tensorrt=0))
    assert steps_of(plan) == [("cuda", "fp32"), ("cpu", "int8"), ("cpu", "fp32")]
    assert plan.steps[0].reason == "Orin, compute capability 8.7"
    assert "TensorRT does not load" in plan.skipped[0].reason


def test_orin_with_a_plain_onnxruntime_says_so(tmp_path: Path) -> None:
    plan = choose_provider(boards.orin(tmp_path, tensorrt=0, onnxruntime_cuda=False))
    assert steps_of(plan) == [("cpu", "int8"), ("cpu", "fp32")]
    assert "built without CUDA" in plan.skipped[1].reason


def test_a_32_bit_system_is_told_what_to_do(tmp_path: Path) -> None:
    board = boards.make_board(tmp_path, pointer_bits=32, modules=())
    with pytest.raises(ProviderError, match="install a 64-bit image"):
        choose_provider(board)


def test_missing_onnxruntime_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="pip install onnxruntime"):
        choose_provider(boards.make_board(tmp_path, modules=()))


def test_every_step_has_a_reason(tmp_path: Path) -> None:
    for step in provider_table(boards.orin(tmp_path)):
        assert step.reason


class TestForced:
    def test_the_named_one_alone(self, tmp_path: Path) -> None:
        plan = choose_provider(boards.orin(tmp_path), "cuda")
        assert steps_of(plan) == [("cuda", "fp32")]

    @pytest.mark.parametrize("name", ["tensorrt", "cuda"])
    def test_one_that_is_not_there_is_an_error(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(ProviderError, match=f"provider {name} can't be used here: "):
            choose_provider(boards.pi_5(tmp_path), name)

    @pytest.mark.parametrize("name", ["auto", "", None])
    def test_auto_forces_nothing(self, tmp_path: Path, name: str | None) -> None:
        assert not choose_provider(boards.pi_5(tmp_path), name).forced

    def test_an_unknown_one_is_a_usage_error(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no provider 'npu'; choose auto, tensorrt"):
            choose_provider(boards.pi_5(tmp_path), "npu")

    def test_precision_alone(self, tmp_path: Path) -> None:
        plan = choose_provider(boards.pi_5(tmp_path), precision="fp32")
        assert steps_of(plan) == [("cpu", "fp32")]

    def test_precision_that_it_does_not_have(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no step of provider cpu computes in fp16"):
            choose_provider(boards.pi_5(tmp_path), "cpu", "fp16")

    def test_takes_fp32_where_the_voice_has_no_int8(self, tmp_path: Path, tiny_voice: Path) -> None:
        plan = choose_provider(boards.pi_5(tmp_path), "cpu")
        session = open_session({"fp32": tiny_voice / "encoder.onnx"}, plan)
        assert session.step is not None
        assert session.step.precision == "fp32"

    def test_one_that_fails_to_load_does_not_fall_back(
        self, tmp_path: Path, tiny_voice: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        torn = tmp_path / "torn.onnx"
        torn.write_bytes(b"torn")
        plan = choose_provider(boards.pi_5(tmp_path), "cpu")
        with pytest.raises(ProviderError, match=r"cpu int8 was asked for and failed: .*torn\.onnx"):
            open_session({"int8": torn, "fp32": tiny_voice / "encoder.onnx"}, plan)
        assert caplog.records == []


class TestFallingBack:
    """Real networks on the steps that this machine has, made-up failures above them."""

    @pytest.fixture
    def plan(self, tmp_path: Path) -> ProviderPlan:
        return choose_provider(boards.orin(tmp_path))

    @pytest.fixture
    def paths(self, tiny_voice: Path) -> dict[str, Path]:
        return {
            "fp32": tiny_voice / "encoder.onnx",
            "int8": tiny_voice / "encoder.int8.onnx",
        }

    def test_gpu_steps_that_fail_go_down_to_the_cpu_with_one_line_each(
        self,
        plan: ProviderPlan,
        paths: dict[str, Path],
        caplog: pytest.LogCaptureFixture,
        tmp_path: Path,
    ) -> None:
        """The board says TensorRT and CUDA; there is no engine, and no CUDA in ONNX Runtime."""
        import onnxruntime

        if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
            pytest.skip("this ONNX Runtime has CUDA")
        session = open_session(paths, plan, graph="encoder", engine_folder=tmp_path)
        assert str(session.step) == "cpu int8"
        assert session.run({"ids": np.arange(5)[None]})["hidden"].shape == (1, 5, 8)
        lines = [record.getMessage() for record in caplog.records]
        assert [line.split(": ")[0] for line in lines] == [
            "the networks fall from tensorrt fp16 to cuda fp32",
            "the networks fall from cuda fp32 to cpu int8",
        ]
        assert "no engine was built yet" in lines[0]
        assert "onnxruntime-gpu" in lines[1]
        # The other networks know of it, and so does the next loading.
        open_session(paths, plan, graph="decoder")
        open_session(paths, plan, graph="encoder")
        assert len(caplog.records) == 2
        assert {name: str(step) for name, step in plan.in_use.items()} == {
            "encoder": "cpu int8",
            "decoder": "cpu int8",
        }

    def test_a_worker_tells_its_failures_apart(
        self, paths: dict[str, Path], caplog: pytest.LogCaptureFixture, tmp_path: Path
    ) -> None:
        from edge_tts.inference.worker_session import shared_worker

        plan = choose_provider(boards.orin(tmp_path))
        session = open_session(
            paths, plan, graph="encoder", engine_folder=tmp_path, gpu_worker=True
        )
        assert str(session.step) == "cpu int8"
        assert [record.getMessage().split(": ")[0] for record in caplog.records] == [
            "the networks fall from tensorrt fp16 to cuda fp32",
            "the networks fall from cuda fp32 to cpu int8",
        ]
        assert shared_worker().process_id is None

    def test_each_step_down_is_one_line(
        self, tmp_path: Path, tiny_voice: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        plan = choose_provider(boards.orin(tmp_path))
        torn = tmp_path / "torn.int8.onnx"
        torn.write_bytes(b"torn")
        session = open_session(
            {"int8": torn, "fp32": tiny_voice / "encoder.onnx"},
            plan,
            graph="encoder",
            engine_folder=tmp_path,
        )
        assert str(session.step) == "cpu fp32"
        lines = [record.getMessage() for record in caplog.records]
        assert [line.split(": ")[0] for line in lines] == [
            "the networks fall from tensorrt fp16 to cuda fp32",
            "the networks fall from cuda fp32 to cpu int8",
            "the encoder falls from cpu int8 to cpu fp32",
        ]
        assert "torn.int8.onnx" in lines[2]
        assert all(record.levelno == logging.WARNING for record in caplog.records)

    def test_when_all_fail_the_last_reason_is_told(self, tmp_path: Path) -> None:
        plan = choose_provider(boards.pi_5(tmp_path))
        missing = {"int8": tmp_path / "a.onnx", "fp32": tmp_path / "b.onnx"}
        with pytest.raises(InferenceError, match=r"can't load .*b\.onnx"):
            open_session(missing, plan)

    def test_a_voice_without_a_fitting_file_is_told(self, tmp_path: Path) -> None:
        plan = choose_provider(boards.pi_5(tmp_path))
        with pytest.raises(InferenceError, match="no decoder for cpu int8, cpu fp32"):
            open_session({}, plan, graph="decoder")

    def test_failing_between_two_runs_continues_below(
        self, tmp_path: Path, paths: dict[str, Path], caplog: pytest.LogCaptureFixture
    ) -> None:
        from edge_tts.inference.onnx_session import OnnxSession

        reference = OnnxSession(paths["int8"]).run({"ids": np.arange(5)[None]})

        class LosesItsContext:
            runs = 0
            closed = False

            def run(self, inputs: dict) -> dict:
                self.runs += 1
                if self.runs == 3:
                    raise InferenceError("an illegal memory access was encountered")
                return {"hidden": np.zeros(1), "log_durations": np.zeros(1)}

            def close(self) -> None:
                self.closed = True

        gpu = LosesItsContext()
        openers = {"cuda": lambda path, step: gpu, "cpu": lambda path, step: OnnxSession(path)}
        plan = choose_provider(boards.orin(tmp_path, tensorrt=0))
        session = open_session(paths, plan, graph="encoder", openers=openers)
        inputs = {"ids": np.arange(5)[None]}
        for _ in range(2):
            assert session.run(inputs)["hidden"].shape == (1,)
        np.testing.assert_array_equal(session.run(inputs)["hidden"], reference["hidden"])
        assert gpu.closed
        assert gpu.runs == 3
        assert str(session.step) == "cpu int8"
        lines = [record.getMessage() for record in caplog.records]
        assert lines == [
            "the encoder falls from cuda fp32 to cpu int8: an illegal memory access was encountered"
        ]

    def test_inputs_at_fault_leave_the_step_alone(
        self, tmp_path: Path, paths: dict[str, Path], caplog: pytest.LogCaptureFixture
    ) -> None:
        plan = choose_provider(boards.pi_5(tmp_path))
        session = open_session(paths, plan, graph="encoder")
        with pytest.raises(InferenceError, match=r"encoder\.int8\.onnx failed"):
            session.run({"ids": np.zeros((1, 5))})
        assert str(session.step) == "cpu int8"
        assert caplog.records == []
        assert session.run({"ids": np.arange(5)[None]})["hidden"].shape == (1, 5, 8)


def test_choosing_imports_nothing_heavy() -> None:
    script = (
        "import sys; from edge_tts.inference.provider import choose_provider, probe_board; "
        "choose_provider(probe_board()); "
        "print(sorted(set(sys.modules) & {'numpy', 'onnxruntime', 'tensorrt', 'pycuda'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
