from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from edge_tts.errors import InferenceError
from edge_tts.inference.lazy_session import LazySession
from edge_tts.inference.onnx_session import OnnxSession
from tests.inference.graphs import save_matrix_graph


class FakeClock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    return save_matrix_graph(tmp_path / "matrix.onnx")


INPUTS = {"x": np.ones((1, 8), np.float32)}


def test_built_once_by_many_threads_at_once(matrix: Path) -> None:
    built = []
    barrier = threading.Barrier(8)
    results: list[np.ndarray] = []

    def build() -> OnnxSession:
        built.append(threading.get_ident())
        threading.Event().wait(0.05)
        return OnnxSession(matrix).load()

    session = LazySession(build)
    assert not session.loaded

    def use() -> None:
        barrier.wait()
        results.append(session.run(INPUTS)["y"])

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    assert len(results) == 8
    assert all(np.array_equal(result, results[0]) for result in results)
    assert session.loaded


def test_unloads_after_the_idle_time_and_comes_back(matrix: Path) -> None:
    clock = FakeClock()
    session = LazySession(OnnxSession(matrix).load, idle_unload_s=60, clock=clock)
    assert not session.unload_if_idle()
    before = session.run(INPUTS)["y"]
    clock.now_s = 59
    assert not session.unload_if_idle()
    session.run(INPUTS)
    clock.now_s = 118
    assert not session.unload_if_idle()
    clock.now_s = 119
    assert session.unload_if_idle()
    assert not session.loaded
    assert not session.unload_if_idle()
    np.testing.assert_array_equal(session.run(INPUTS)["y"], before)


def test_warm_up_counts_as_use(matrix: Path) -> None:
    clock = FakeClock()
    clock.now_s = 1000
    session = LazySession(OnnxSession(matrix).load, idle_unload_s=60, clock=clock)
    session.warm_up()
    assert session.loaded
    assert not session.unload_if_idle()
    clock.now_s = 1059
    session.warm_up(INPUTS)
    clock.now_s = 1100
    assert not session.unload_if_idle()


def test_without_idle_time_it_stays(matrix: Path) -> None:
    clock = FakeClock()
    session = LazySession(OnnxSession(matrix).load, clock=clock)
    session.warm_up()
    clock.now_s = 1e9
    assert not session.unload_if_idle()
    session.unload()
    assert not session.loaded


def test_a_run_under_way_is_not_unloaded() -> None:
    started, finish = threading.Event(), threading.Event()

    class SlowSession:
        closed = False

        def run(self, inputs: dict) -> dict:
            started.set()
            finish.wait(10)
            assert not self.closed
            return {}

        def close(self) -> None:
            self.closed = True

    slow = SlowSession()
    session = LazySession(lambda: slow, idle_unload_s=0)
    thread = threading.Thread(target=session.run, args=({},))
    thread.start()
    started.wait(10)
    assert not session.unload_if_idle()
    finish.set()
    thread.join()
    assert session.unload_if_idle()
    assert slow.closed


def test_a_build_that_failed_is_tried_again(matrix: Path) -> None:
    attempts = []

    def build() -> OnnxSession:
        attempts.append(1)
        if len(attempts) == 1:
            raise InferenceError("no memory")
        return OnnxSession(matrix).load()

    session = LazySession(build)
    with pytest.raises(InferenceError, match="no memory"):
        session.run(INPUTS)
    assert not session.loaded
    assert session.run(INPUTS)["y"].shape == (1, 8)


def test_memory_falls_when_unloaded(tmp_path: Path) -> None:
    """Eight layers of a megabyte each, resident memory read from the kernel."""
    graph = save_matrix_graph(tmp_path / "large.onnx", width=512, layers=8)
    script = """
import sys
from pathlib import Path
import numpy as np
from edge_tts.inference.lazy_session import LazySession
from edge_tts.inference.onnx_session import OnnxSession

def resident_kb():
    return int(open("/proc/self/statm").read().split()[1]) * 4

path, small = Path(sys.argv[1]), Path(sys.argv[2])
OnnxSession(small).load()  # the library itself stays, and is no part of this
session = LazySession(OnnxSession(path).load, idle_unload_s=0)
inputs = {"x": np.ones((4, 512), np.float32)}
before = resident_kb()
for _ in range(3):
    session.run(inputs)
    loaded = resident_kb()
    assert session.unload_if_idle()
print(before, loaded, resident_kb())
"""
    small = save_matrix_graph(tmp_path / "small.onnx")
    done = subprocess.run(
        [sys.executable, "-c", script, str(graph), str(small)],
        capture_output=True,
        text=True,
        check=True,
    )
    before, loaded, after = map(int, done.stdout.split())
    weights_kb = 8 * 1024
    assert loaded - before >= 0.9 * weights_kb
    assert loaded - after >= 0.9 * weights_kb
    assert after - before <= 0.25 * weights_kb, (before, loaded, after)


def test_a_run_that_was_begun_may_be_waited_for_later(matrix: Path) -> None:
    session = LazySession(OnnxSession(matrix).load)
    run = session.start(INPUTS)
    assert session.loaded
    np.testing.assert_array_equal(run.result()["y"], session.run(INPUTS)["y"])


def test_a_run_that_was_begun_outlives_unloading(matrix: Path) -> None:
    session = LazySession(lambda: OnnxSession(matrix).load())
    expected = session.run(INPUTS)["y"]
    run = session.start(INPUTS)
    session.unload()
    np.testing.assert_array_equal(run.result()["y"], expected)
    assert not session.loaded


def test_waiting_for_a_run_counts_as_use(matrix: Path) -> None:
    clock = FakeClock()
    session = LazySession(OnnxSession(matrix).load, idle_unload_s=60, clock=clock)
    run = session.start(INPUTS)
    clock.now_s = 50
    run.result()
    clock.now_s = 100
    assert not session.unload_if_idle()
