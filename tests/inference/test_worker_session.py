from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from edge_tts.errors import InferenceError, ProviderError
from edge_tts.inference.fallback_session import FallbackSession
from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.inference.provider_plan import ProviderPlan, ProviderStep
from edge_tts.inference.worker_session import Worker, WorkerSession

IDS = {"ids": np.arange(7)[None]}


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker(run_timeout_s=10.0)
    yield worker
    for name in ("encoder", "decoder"):
        worker.close(name)
    assert worker.process_id is None


def open_encoder(worker: Worker, voice: Path, name: str = "encoder") -> WorkerSession:
    return worker.open(name, "onnx", str(voice / "encoder.onnx"), "cpu", 1, False)


def ended(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    return False


def wait_until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_gives_the_same_numbers(worker: Worker, tiny_voice: Path) -> None:
    expected = OnnxSession(tiny_voice / "encoder.onnx").run(IDS)
    found = open_encoder(worker, tiny_voice).run(IDS)
    assert set(found) == set(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)


def test_one_process_for_all_that_ends_with_the_last(worker: Worker, tiny_voice: Path) -> None:
    assert worker.process_id is None
    first = open_encoder(worker, tiny_voice)
    process_id = worker.process_id
    assert process_id is not None
    second = open_encoder(worker, tiny_voice, "decoder")
    assert worker.process_id == process_id
    first.close()
    assert second.run(IDS)
    with pytest.raises(InferenceError, match="gone with its worker"):
        first.run(IDS)
    second.close()
    second.close()
    assert worker.process_id is None
    assert ended(process_id)


def test_it_starts_again_after_the_last_was_closed(worker: Worker, tiny_voice: Path) -> None:
    open_encoder(worker, tiny_voice).close()
    assert open_encoder(worker, tiny_voice).run(IDS)


def test_errors_keep_their_kind(worker: Worker, tiny_voice: Path, tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="onnxruntime-gpu"):
        worker.open("encoder", "onnx", str(tiny_voice / "encoder.onnx"), "cuda", 1, False)
    with pytest.raises(ProviderError, match="no engine was built yet"):
        worker.open(
            "encoder", "tensorrt", str(tiny_voice / "encoder.onnx"), "encoder", str(tmp_path)
        )
    with pytest.raises(InferenceError, match="can't load"):
        worker.open("encoder", "onnx", str(tmp_path / "none.onnx"), "cpu", 1, False)
    assert worker.process_id is None
    session = open_encoder(worker, tiny_voice)
    with pytest.raises(InferenceError, match=r"encoder\.onnx failed"):
        session.run({"ids": np.zeros((1, 3))})
    assert session.run(IDS)


def test_a_worker_that_dies_is_an_error_and_starts_again(worker: Worker, tiny_voice: Path) -> None:
    session = open_encoder(worker, tiny_voice)
    assert worker.process_id is not None
    os.kill(worker.process_id, signal.SIGKILL)
    with pytest.raises(InferenceError, match=r"the GPU worker died \(status -9\)"):
        session.run(IDS)
    with pytest.raises(InferenceError, match="gone with its worker"):
        session.run(IDS)
    assert open_encoder(worker, tiny_voice).run(IDS)


def test_a_worker_that_hangs_is_ended(tiny_voice: Path) -> None:
    worker = Worker(run_timeout_s=0.3)
    session = open_encoder(worker, tiny_voice)
    process_id = worker.process_id
    assert process_id is not None
    os.kill(process_id, signal.SIGSTOP)
    with pytest.raises(InferenceError, match=r"did not answer within 0\.3 s"):
        session.run(IDS)
    assert worker.process_id is None
    assert ended(process_id)


def test_a_dead_worker_in_mid_sentence_is_not_heard(
    worker: Worker, tiny_voice: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plan = ProviderPlan((ProviderStep("cuda", "fp32", "x"), ProviderStep("cpu", "fp32", "x")))
    session = FallbackSession(
        {"fp32": tiny_voice / "encoder.onnx"},
        plan,
        "encoder",
        {
            "cuda": lambda path, step: open_encoder(worker, tiny_voice),
            "cpu": lambda path, step: OnnxSession(path),
        },
    )
    before = session.run(IDS)
    assert worker.process_id is not None
    os.kill(worker.process_id, signal.SIGKILL)
    np.testing.assert_array_equal(session.run(IDS)["hidden"], before["hidden"])
    assert [record.getMessage() for record in caplog.records] == [
        "the encoder falls from cuda fp32 to cpu fp32: the GPU worker died (status -9)"
    ]


def test_many_threads_share_it(worker: Worker, tiny_voice: Path) -> None:
    session = open_encoder(worker, tiny_voice)
    expected = session.run(IDS)["hidden"]
    wrong: list[int] = []

    def use() -> None:
        for _ in range(20):
            if not np.array_equal(session.run(IDS)["hidden"], expected):
                wrong.append(1)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_it_ends_when_its_parent_is_killed(tiny_voice: Path) -> None:
    script = """
import sys, time
from edge_tts.inference.worker_session import shared_worker
worker = shared_worker()
worker.open("encoder", "onnx", sys.argv[1], "cpu", 1, False)
print(worker.process_id, flush=True)
time.sleep(60)
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(tiny_voice / "encoder.onnx")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    process_id = int(parent.stdout.readline())
    assert not ended(process_id)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: ended(process_id))


def test_the_parent_never_loads_the_library(tiny_voice: Path) -> None:
    script = """
import sys
from edge_tts.inference.worker_session import shared_worker
worker = shared_worker()
worker.open("encoder", "onnx", sys.argv[1], "cpu", 1, False)
print("onnxruntime" in sys.modules)
worker.close("encoder")
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tiny_voice / "encoder.onnx")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
