from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from edge_tts.errors import InferenceError, OutputError
from edge_tts.inference.engine_store import (
    FAILED,
    PASSED,
    UNTESTED,
    EngineKey,
    EngineStore,
    graph_sha256,
    write_atomically,
)

KEY = EngineKey("ab" * 32, "10.3.0", "Orin (nvgpu)", "8.7", "fp16")


@pytest.fixture
def store(tmp_path: Path) -> EngineStore:
    return EngineStore(tmp_path / "engines")


def test_a_fresh_engine_is_not_trusted(store: EngineStore) -> None:
    engine = store.put(KEY, "decoder", b"plan", 12.5)
    assert engine.verdict == UNTESTED
    assert store.find(KEY) == engine
    with pytest.raises(InferenceError, match=r"not trusted \(untested"):
        store.trusted_plan(KEY)


def test_one_that_passed_is(store: EngineStore) -> None:
    store.put(KEY, "decoder", b"plan", 12.5)
    store.judge(KEY, PASSED, "largest error 0.10%")
    assert store.trusted_plan(KEY).read_bytes() == b"plan"
    assert store.engines()[0].reason == "largest error 0.10%"


def test_one_that_failed_says_why(store: EngineStore) -> None:
    store.put(KEY, "decoder", b"plan", 12.5)
    store.judge(KEY, FAILED, "3 of 40 durations differ")
    with pytest.raises(InferenceError, match=r"failed: 3 of 40 durations differ.*engine build"):
        store.trusted_plan(KEY)


def test_building_again_takes_the_verdict_back(store: EngineStore) -> None:
    store.put(KEY, "decoder", b"plan", 1.0)
    store.judge(KEY, PASSED, "")
    store.put(KEY, "decoder", b"other plan", 1.0)
    with pytest.raises(InferenceError, match="untested"):
        store.trusted_plan(KEY)


@pytest.mark.parametrize(
    "change",
    [
        {"graph_sha256": "cd" * 32},
        {"tensorrt_version": "10.4.0"},
        {"gpu_name": "Orin"},
        {"compute_capability": "8.6"},
        {"precision": "fp32"},
    ],
)
def test_any_difference_makes_it_a_stranger(store: EngineStore, change: dict[str, str]) -> None:
    store.put(KEY, "decoder", b"plan", 1.0)
    store.judge(KEY, PASSED, "")
    other = replace(KEY, **change)
    assert other.stem != KEY.stem
    with pytest.raises(InferenceError, match="no engine was built for TensorRT"):
        store.trusted_plan(other)


def test_a_plan_that_was_changed_is_refused(store: EngineStore) -> None:
    store.put(KEY, "decoder", b"plan", 1.0)
    store.judge(KEY, PASSED, "")
    store.plan_path(KEY).write_bytes(b"plam")
    with pytest.raises(InferenceError, match="was changed since"):
        store.trusted_plan(KEY)


def test_a_plan_that_is_gone_is_told(store: EngineStore) -> None:
    store.put(KEY, "decoder", b"plan", 1.0)
    store.judge(KEY, PASSED, "")
    store.plan_path(KEY).unlink()
    with pytest.raises(InferenceError, match="can't read"):
        store.trusted_plan(KEY)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": {}}', '{"key": 1}'])
def test_a_broken_description_is_no_engine(store: EngineStore, text: str) -> None:
    store.put(KEY, "decoder", b"plan", 1.0)
    store.plan_path(KEY).with_suffix(".json").write_text(text)
    assert store.find(KEY) is None
    assert store.engines() == []


def test_clean_keeps_what_it_is_told_to(store: EngineStore) -> None:
    other = replace(KEY, tensorrt_version="8.6.1")
    for key in (KEY, other):
        store.put(key, "decoder", b"plan", 1.0)
    (store.folder / f"{KEY.stem}xyz.part").write_bytes(b"half a plan")
    (store.folder / "timing.cache").write_bytes(b"timings")
    removed = store.clean(frozenset([KEY]))
    assert {path.name for path in removed} == {
        f"{other.stem}.plan",
        f"{other.stem}.json",
        f"{KEY.stem}xyz.part",
    }
    assert store.find(KEY) is not None
    assert (store.folder / "timing.cache").exists()


def test_a_folder_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="can't write"):
        EngineStore(tmp_path / "file").put(KEY, "decoder", b"plan", 1.0)


def test_an_empty_store_has_no_engines(store: EngineStore) -> None:
    assert store.engines() == []
    assert store.clean() == []
    with pytest.raises(InferenceError, match="no engine"):
        store.judge(KEY, PASSED, "")


def test_a_killed_write_leaves_the_old_file_or_the_new(tmp_path: Path) -> None:
    """Killed at each system call of its own that changes the disk."""
    path = tmp_path / "plan"
    for point, name in enumerate(("fsync", "chmod", "replace")):
        path.write_bytes(b"old")
        child = os.fork()
        if child == 0:
            setattr(os, name, lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL))
            write_atomically(path, b"new and longer")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), point
        assert path.read_bytes() == b"old"
    write_atomically(path, b"new and longer")
    assert path.read_bytes() == b"new and longer"


def test_the_key_survives_json(store: EngineStore) -> None:
    store.put(KEY, "decoder", b"plan", 1.0)
    data = json.loads(store.plan_path(KEY).with_suffix(".json").read_text())
    assert EngineKey(**data["key"]) == KEY
    assert "Orin-nvgpu" in KEY.stem
    assert "/" not in replace(KEY, gpu_name="../../evil").stem


def test_the_graph_s_digest_is_its_file_s(tmp_path: Path) -> None:
    (tmp_path / "g.onnx").write_bytes(b"abc")
    assert graph_sha256(tmp_path / "g.onnx").startswith("ba7816bf8f01cfea")
