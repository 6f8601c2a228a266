"""TensorRtSession over real bindings, the real pycuda and the stand-ins; run by test_session."""

from __future__ import annotations

import gc
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tensorrt

from edge_tts.errors import InferenceError
from edge_tts.inference.engine_builder import build_engine
from edge_tts.inference.engine_profiles import AxisProfile
from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.inference.tensorrt_session import TensorRtSession
from tests.tensorrt.inside import helper
from tests.tiny_voice import write_tiny_voice

PROFILES = {
    "encoder": (AxisProfile(1, 30, 40), AxisProfile(41, 160, 200)),
    "decoder": (
        AxisProfile(36, 36, 36),
        AxisProfile(60, 60, 60),
        AxisProfile(1, 24, 60),
    ),
    "vocoder": (AxisProfile(32, 32, 32), AxisProfile(56, 56, 56), AxisProfile(1, 24, 56)),
}
SIZES = {"encoder": (1, 40, 41, 200), "decoder": (36, 60, 9), "vocoder": (32, 56, 55)}


_folder = tempfile.TemporaryDirectory()
VOICE = write_tiny_voice(Path(_folder.name))


def inputs_for(graph: str, size: int, seed: int = 0) -> dict[str, np.ndarray]:
    return helper.random_inputs(VOICE / f"{graph}.onnx", size, seed)


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Graph and plan of each network."""
    folder = tmp_path_factory.mktemp("plans")
    made = {}
    for graph, profiles in PROFILES.items():
        source = VOICE / f"{graph}.onnx"
        plan = folder / f"{graph}.plan"
        plan.write_bytes(build_engine(source, profiles, "fp32").plan)
        made[graph] = source, plan
    return made


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    """Nothing is left on the device after any test, and no context is pushed."""
    gc.collect()
    before = {what: helper.count(what) for what in ("device", "host", "streams")}
    yield
    tensorrt.faults.update(dict.fromkeys(tensorrt.faults, False))
    helper.driver.stub_memory(8 << 30)
    helper.fail("", 0)
    gc.collect()
    assert {what: helper.count(what) for what in before} == before
    assert helper.count("pushed") == 0
    assert helper.count("retained") <= 1


@pytest.mark.parametrize("graph", PROFILES)
def test_gives_the_cpu_s_numbers(graph: str, plans: dict[str, tuple[Path, Path]]) -> None:
    source, plan = plans[graph]
    reference = OnnxSession(source).load()
    session = TensorRtSession(plan).load()
    for seed, size in enumerate(SIZES[graph] * 2):
        inputs = inputs_for(graph, size, seed)
        expected, found = reference.run(inputs), session.run(inputs)
        assert set(found) == set(expected)
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value)
    session.close()


def test_copies_go_through_page_locked_memory(plans: dict[str, tuple[Path, Path]]) -> None:
    session = TensorRtSession(plans["vocoder"][1])
    session.run(inputs_for("vocoder", 56))
    assert helper.count("pageable copies") == 0
    assert helper.count("waiting") == 0
    session.close()


def test_results_are_the_caller_s_own(plans: dict[str, tuple[Path, Path]]) -> None:
    session = TensorRtSession(plans["decoder"][1]).load()
    first = session.run(inputs_for("decoder", 60, 1))["features"]
    kept = first.copy()
    session.run(inputs_for("decoder", 60, 2))
    np.testing.assert_array_equal(first, kept)
    session.close()
    np.testing.assert_array_equal(first, kept)


def test_a_thousand_alarms_allocate_nothing(plans: dict[str, tuple[Path, Path]]) -> None:
    """After warm-up: no allocation, and of fixed chunks no change of shape."""
    sessions = {graph: TensorRtSession(plan).load() for graph, (_, plan) in plans.items()}
    chunks = {"decoder": (36, 60, 60), "vocoder": (32, 56, 56)}
    inputs = {
        (graph, size): inputs_for(graph, size) for graph, sizes in chunks.items() for size in sizes
    }
    for key, value in inputs.items():
        sessions[key[0]].run(value)
    allocations = helper.count("allocations")
    shapes, contexts = tensorrt.counters["shape changes"], tensorrt.counters["contexts"]
    for _ in range(1000):
        for graph, sizes in chunks.items():
            for size in sizes:
                sessions[graph].run(inputs[graph, size])
    assert tensorrt.counters["shape changes"] == shapes
    for length in range(1, 200, 7):
        sessions["encoder"].run(inputs_for("encoder", length))
    assert helper.count("allocations") == allocations
    assert tensorrt.counters["contexts"] == contexts
    for session in sessions.values():
        session.close()


def test_any_thread_may_run_it(plans: dict[str, tuple[Path, Path]]) -> None:
    session = TensorRtSession(plans["decoder"][1]).load()
    expected = session.run(inputs_for("decoder", 60))["features"]
    found: list[np.ndarray] = []
    thread = threading.Thread(
        target=lambda: found.append(session.run(inputs_for("decoder", 60))["features"])
    )
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0], expected)
    session.close()


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"frames": np.zeros((1, 61, 11), np.float32)}, r"no profile for frames \(1, 61, 11\)"),
        ({"frames": np.zeros((1, 60, 12), np.float32)}, "no profile"),
        ({"frames": np.zeros((60, 11), np.float32)}, "no profile"),
        ({"features": np.zeros((1, 60, 11), np.float32)}, "takes frames, not features"),
        ({}, "takes frames, not "),
        ({"frames": np.zeros((1, 60, 11), np.complex64)}, "failed on the GPU"),
    ],
)
def test_wrong_inputs_are_refused_and_do_no_harm(
    inputs: dict[str, np.ndarray], message: str, plans: dict[str, tuple[Path, Path]]
) -> None:
    session = TensorRtSession(plans["decoder"][1]).load()
    with pytest.raises(InferenceError, match=message):
        session.run(inputs)
    assert session.run(inputs_for("decoder", 60))["features"].shape[::2] == (1, 60)
    session.close()


class TestLoading:
    def test_a_missing_plan(self, tmp_path: Path) -> None:
        with pytest.raises(InferenceError, match="can't read the engine"):
            TensorRtSession(tmp_path / "none.plan").load()

    @pytest.mark.parametrize("damage", ["junk", "torn", "other release"])
    def test_a_plan_that_tensorrt_refuses(
        self, damage: str, plans: dict[str, tuple[Path, Path]], tmp_path: Path
    ) -> None:
        data = plans["decoder"][1].read_bytes()
        if damage == "junk":
            data = b"junk"
        elif damage == "torn":
            data = data[:-1]
        else:
            version = tensorrt.__version__.encode()
            data = data.replace(version, b"7" + version[1:], 1)
        (tmp_path / "bad.plan").write_bytes(data)
        with pytest.raises(InferenceError, match=r"bad\.plan: TensorRT does not take it.*\("):
            TensorRtSession(tmp_path / "bad.plan").load()

    def test_no_room_for_a_context(self, plans: dict[str, tuple[Path, Path]]) -> None:
        tensorrt.faults["no context"] = True
        with pytest.raises(InferenceError, match=r"no execution context.*GPU memory"):
            TensorRtSession(plans["decoder"][1]).load()

    @pytest.mark.parametrize("bytes_left", [0, 4000, 200_000])
    def test_no_room_for_buffers(
        self, bytes_left: int, plans: dict[str, tuple[Path, Path]]
    ) -> None:
        """What was allocated before is freed again (see the fixture)."""
        helper.driver.stub_memory(bytes_left)
        with pytest.raises(InferenceError, match="out of memory"):
            TensorRtSession(plans["vocoder"][1]).load()

    @pytest.mark.parametrize("after", range(4))
    def test_page_locked_memory_runs_out(
        self, after: int, plans: dict[str, tuple[Path, Path]]
    ) -> None:
        helper.fail("cuMemHostAlloc", helper.OUT_OF_MEMORY, after)
        with pytest.raises(InferenceError):
            TensorRtSession(plans["vocoder"][1]).load()

    def test_a_shape_that_is_refused(self, plans: dict[str, tuple[Path, Path]]) -> None:
        tensorrt.faults["refuse shapes"] = True
        with pytest.raises(InferenceError, match=r"was refused .*Static dimension mismatch"):
            TensorRtSession(plans["decoder"][1]).load()

    def test_a_shape_that_is_not_known(self, plans: dict[str, tuple[Path, Path]]) -> None:
        tensorrt.faults["unknown shapes"] = True
        with pytest.raises(
            InferenceError, match=r"the shape \(1, -1, 4\) of features is not known"
        ):
            TensorRtSession(plans["decoder"][1]).load()

    def test_it_can_be_loaded_after_a_failure(self, plans: dict[str, tuple[Path, Path]]) -> None:
        session = TensorRtSession(plans["decoder"][1])
        tensorrt.faults["no context"] = True
        with pytest.raises(InferenceError):
            session.load()
        tensorrt.faults["no context"] = False
        assert session.run(inputs_for("decoder", 60))["features"].shape[::2] == (1, 60)
        session.close()


class TestRunning:
    def test_an_engine_that_does_not_start(self, plans: dict[str, tuple[Path, Path]]) -> None:
        session = TensorRtSession(plans["decoder"][1]).load()
        tensorrt.faults["no start"] = True
        with pytest.raises(InferenceError, match=r"did not start .*enqueueV3"):
            session.run(inputs_for("decoder", 60))
        session.close()

    @pytest.mark.parametrize(
        "function",
        ["cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuStreamSynchronize", "cuCtxPushCurrent"],
    )
    def test_a_lost_context_is_an_inference_error(
        self, function: str, plans: dict[str, tuple[Path, Path]]
    ) -> None:
        session = TensorRtSession(plans["decoder"][1]).load()
        helper.fail(function, helper.ILLEGAL_ADDRESS)
        with pytest.raises(InferenceError, match="illegal memory access"):
            session.run(inputs_for("decoder", 60))
        session.close()

    def test_closing_twice_is_harmless(self, plans: dict[str, tuple[Path, Path]]) -> None:
        session = TensorRtSession(plans["decoder"][1]).load()
        session.close()
        session.close()
        TensorRtSession(plans["decoder"][1]).close()
