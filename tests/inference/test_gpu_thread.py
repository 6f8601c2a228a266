from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from edge_tts.errors import InferenceError, ProviderError
from edge_tts.inference import gpu_thread
from edge_tts.inference.fallback_session import FallbackSession
from edge_tts.inference.gpu_thread import GpuThread, PromptSession, open_prompt
from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.inference.provider_plan import ProviderPlan, ProviderStep
from edge_tts.inference.session import Array
from tests.inference.graphs import save_matrix_graph

INPUTS: dict[str, Array] = {"x": np.ones((1, 8), np.float32)}
PLAN = (
    ProviderStep("tensorrt", "fp16", "x"),
    ProviderStep("cuda", "fp32", "x"),
    ProviderStep("cpu", "int8", "x"),
    ProviderStep("cpu", "fp32", "x"),
)


class Gpu:
    """A network whose runs wait until they are let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.go.set()
        self.fault: Exception | None = None
        self.threads: list[str] = []
        self.closed = threading.Event()

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        self.threads.append(threading.current_thread().name)
        assert self.go.wait(30)
        if self.fault is not None:
            raise self.fault
        return {"y": inputs["x"] * np.float32(2)}

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
def gpu() -> Iterator[Gpu]:
    gpu = Gpu()
    yield gpu
    gpu.go.set()


@pytest.fixture
def thread() -> GpuThread:
    return GpuThread()


@pytest.fixture
def session(gpu: Gpu, thread: GpuThread) -> PromptSession:
    return open_prompt(lambda: gpu, "the vocoder", thread)


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    return save_matrix_graph(tmp_path / "matrix.onnx")


def past() -> float:
    return time.monotonic() - 1.0


def wait_until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


def test_the_caller_goes_on_while_it_runs(session: PromptSession, gpu: Gpu) -> None:
    gpu.go.clear()
    run = session.start(INPUTS)
    # Only what the caller does after the start lets the run end.
    gpu.go.set()
    np.testing.assert_array_equal(run.result()["y"], 2 * np.ones((1, 8)))
    assert gpu.threads == ["gpu"]


def test_one_thread_runs_all_networks_in_order(thread: GpuThread) -> None:
    order: list[int] = []

    class Numbered(Gpu):
        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

        def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
            order.append(self.number)
            return super().run(inputs)

    networks = [Numbered(number) for number in range(3)]
    sessions = [open_prompt(lambda n=n: n, "a network", thread) for n in networks]
    networks[0].go.clear()
    runs = [session.start(INPUTS) for session in sessions * 2]
    networks[0].go.set()
    for run in runs:
        run.result()
    assert order == [0, 1, 2, 0, 1, 2]


def test_what_is_late_is_given_up(session: PromptSession, gpu: Gpu, thread: GpuThread) -> None:
    session.run(INPUTS)
    gpu.threads.clear()
    gpu.go.clear()
    run = session.start(INPUTS)
    wait_until(lambda: bool(gpu.threads))
    with pytest.raises(InferenceError, match="the vocoder did not come back from the GPU within 0"):
        run.result(past())
    assert thread.is_stuck
    with pytest.raises(InferenceError, match="has not come back yet"):
        session.run(INPUTS)
    with pytest.raises(InferenceError, match="can't be loaded, the GPU has not come back"):
        open_prompt(lambda: gpu, "the decoder", thread)
    assert len(gpu.threads) == 1
    session.close()  # Does not wait, or this test would.
    assert not gpu.closed.is_set()
    gpu.go.set()
    assert gpu.closed.wait(20)
    assert not thread.is_stuck
    assert session.run(INPUTS)


def test_a_call_behind_one_that_hangs_is_late_too(thread: GpuThread, gpu: Gpu) -> None:
    """Nobody waits for the first: its speech was cut."""
    hanging = open_prompt(lambda: gpu, "the decoder", thread)
    other = Gpu()
    behind = open_prompt(lambda: other, "the vocoder", thread)
    for session in (hanging, behind):
        session.run(INPUTS)
    gpu.threads.clear()
    other.threads.clear()
    gpu.go.clear()
    hanging.start(INPUTS)
    run = behind.start(INPUTS)
    wait_until(lambda: bool(gpu.threads))
    with pytest.raises(InferenceError, match="the vocoder did not come back"):
        run.result(past())
    assert thread.is_stuck
    gpu.go.set()
    wait_until(lambda: not thread.is_stuck)
    behind.run(INPUTS)
    assert len(other.threads) == 1, "a run that was given up before it began must not run"


def test_without_a_due_time_it_has_a_limit_of_its_own(
    session: PromptSession, gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_thread, "RUN_TIMEOUT_S", 0.0)
    gpu.go.clear()
    with pytest.raises(InferenceError, match="did not come back"):
        session.run(INPUTS)


def test_the_first_run_may_load_kernels(session: PromptSession, gpu: Gpu) -> None:
    gpu.go.clear()
    run = session.start(INPUTS)
    threading.Timer(0.05, gpu.go.set).start()
    assert run.result(past())


@pytest.mark.parametrize("kind", [InferenceError, ProviderError])
def test_errors_are_the_caller_s(
    kind: type[Exception], session: PromptSession, gpu: Gpu, thread: GpuThread
) -> None:
    gpu.fault = kind("out of memory")
    with pytest.raises(kind, match="out of memory"):
        session.run(INPUTS)
    assert not thread.is_stuck

    def refuse() -> Gpu:
        raise kind("no engine")

    with pytest.raises(kind, match="no engine"):
        open_prompt(refuse, "the decoder", thread)


def test_loading_that_hangs_is_given_up(thread: GpuThread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_thread, "OPEN_TIMEOUT_S", 0.0)
    go = threading.Event()

    def hang() -> Gpu:
        go.wait(30)
        return Gpu()

    with pytest.raises(InferenceError, match="the decoder did not come back"):
        open_prompt(hang, "the decoder", thread)
    go.set()


class TestStandby:
    @pytest.fixture
    def opened(self) -> list[str]:
        return []

    @pytest.fixture
    def chain(
        self, matrix: Path, gpu: Gpu, thread: GpuThread, opened: list[str]
    ) -> FallbackSession:
        def on_gpu(path: Path, step: ProviderStep) -> PromptSession:
            opened.append(str(step))
            return open_prompt(lambda: gpu, "the vocoder", thread)

        def on_cpu(path: Path, step: ProviderStep) -> OnnxSession:
            opened.append(str(step))
            return OnnxSession(path).load()

        openers = {"tensorrt": on_gpu, "cuda": on_gpu, "cpu": on_cpu}
        return FallbackSession(
            {"fp32": matrix, "int8": matrix}, ProviderPlan(PLAN), "vocoder", openers
        )

    def test_it_loads_beside_the_gpu_and_takes_over(
        self, chain: FallbackSession, gpu: Gpu, opened: list[str], matrix: Path,
        caplog: pytest.LogCaptureFixture,
    ) -> None:  # fmt: skip
        chain.run(INPUTS)
        wait_until(lambda: opened == ["tensorrt fp16", "cpu int8"])
        gpu.go.clear()
        outputs = chain.start(INPUTS).result(past())
        np.testing.assert_array_equal(outputs["y"], OnnxSession(matrix).run(INPUTS)["y"])
        assert opened == ["tensorrt fp16", "cpu int8"], "nothing is loaded while somebody listens"
        assert str(chain.step) == "cpu int8"
        (line,) = [record.getMessage() for record in caplog.records]
        assert line.startswith("the vocoder falls from tensorrt fp16 to cpu int8: the vocoder did")
        assert chain.run(INPUTS)["y"].shape == outputs["y"].shape

    def test_the_same_gpu_is_no_way_down(
        self, chain: FallbackSession, gpu: Gpu, opened: list[str]
    ) -> None:
        """Neither in that sentence, nor when the networks load again."""
        gpu.fault = InferenceError("an illegal memory access was encountered")
        chain.run(INPUTS)
        chain.close()
        chain.run(INPUTS)
        assert "cuda fp32" not in opened
        assert opened.count("tensorrt fp16") == 1

    def test_a_run_under_way_when_the_gpu_was_left_is_not_lost(
        self, chain: FallbackSession, gpu: Gpu, opened: list[str]
    ) -> None:
        chain.run(INPUTS)
        gpu.go.clear()
        first, second = chain.start(INPUTS), chain.start(INPUTS)
        expected = first.result(past())["y"]
        np.testing.assert_array_equal(second.result(past())["y"], expected)
        assert opened.count("cpu int8") == 1

    def test_it_goes_when_the_network_is_unloaded(
        self, chain: FallbackSession, opened: list[str]
    ) -> None:
        chain.run(INPUTS)
        chain.close()
        chain.run(INPUTS)
        wait_until(lambda: opened.count("cpu int8") == 2)

    def test_a_forced_provider_has_none(self, matrix: Path, gpu: Gpu, thread: GpuThread) -> None:
        opened: list[str] = []

        def on_gpu(path: Path, step: ProviderStep) -> PromptSession:
            return open_prompt(lambda: gpu, "the vocoder", thread)

        def on_cpu(path: Path, step: ProviderStep) -> OnnxSession:
            opened.append(str(step))
            return OnnxSession(path)

        chain = FallbackSession(
            {"fp32": matrix},
            ProviderPlan(PLAN, forced=True),
            "vocoder",
            {"tensorrt": on_gpu, "cpu": on_cpu},
        )
        chain.run(INPUTS)
        gpu.fault = InferenceError("lost")
        with pytest.raises(InferenceError, match="lost"):
            chain.run(INPUTS)
        assert opened == []
