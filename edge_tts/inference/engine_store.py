"""Built TensorRT engines on disk, each with what it was built for and whether it is trusted.

An engine works on the TensorRT release and the GPU that built it alone. Beside
each ``.plan`` lies a ``.json`` that names both, the graph's sha256, and what
the comparison with the CPU said; it is written last, so a plan without it is
the rest of an interrupted build.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from edge_tts.errors import InferenceError, OutputError

UNTESTED = "untested"
PASSED = "passed"
FAILED = "failed"


@dataclass(frozen=True)
class EngineKey:
    """What an engine is good for; any other is a stranger's."""

    graph_sha256: str
    tensorrt_version: str
    gpu_name: str
    compute_capability: str
    precision: str

    @property
    def stem(self) -> str:
        """File name without suffix: readable, and unique by its digest."""
        digest = hashlib.sha256("\n".join(asdict(self).values()).encode()).hexdigest()
        gpu = re.sub(r"[^A-Za-z0-9]+", "-", self.gpu_name).strip("-")[:24]
        capability = self.compute_capability.replace(".", "")
        return (
            f"{self.graph_sha256[:12]}-trt{self.tensorrt_version}-{gpu}-sm{capability}-"
            f"{self.precision}-{digest[:8]}"
        )


@dataclass(frozen=True)
class Engine:
    """One engine: its key, the network it runs, and the verdict of the comparison."""

    key: EngineKey
    graph: str
    plan_sha256: str
    build_s: float
    verdict: str = UNTESTED
    reason: str = ""


def graph_sha256(path: Path) -> str:
    """sha256 of a graph's file, hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


class EngineStore:
    """The engines under one folder, which is made by the first build."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def plan_path(self, key: EngineKey) -> Path:
        """Where the plan of a key lies, whether it is there or not."""
        return self.folder / f"{key.stem}.plan"

    def trusted_plan(self, key: EngineKey) -> Path:
        """The plan of an engine that was built here, is whole, and passed its comparison.

        Raises:
            InferenceError: there is none; the message says why and what to do.
        """
        engine = self.find(key)
        if engine is None:
            raise InferenceError(
                f"no engine was built for TensorRT {key.tensorrt_version} on {key.gpu_name}; "
                "run: edgetts engine build"
            )
        if engine.verdict != PASSED:
            raise InferenceError(
                f"the engine of the {engine.graph} is not trusted ({engine.verdict}: "
                f"{engine.reason or 'it was not compared with the CPU'}); "
                "run: edgetts engine build"
            )
        path = self.plan_path(key)
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as exc:
            raise InferenceError(f"can't read {path}: {exc.strerror}") from exc
        if digest != engine.plan_sha256:
            raise InferenceError(f"{path} was changed since; run: edgetts engine build --force")
        return path

    def find(self, key: EngineKey) -> Engine | None:
        """The engine of a key, trusted or not."""
        engine = _read(self.plan_path(key).with_suffix(".json"))
        return engine if engine is not None and engine.key == key else None

    def put(self, key: EngineKey, graph: str, plan: bytes, build_s: float) -> Engine:
        """Keep a fresh engine, untested as yet; atomic.

        Raises:
            OutputError: the folder can't be written.
        """
        engine = Engine(key, graph, hashlib.sha256(plan).hexdigest(), build_s)
        path = self.plan_path(key)
        try:
            path.with_suffix(".json").unlink(missing_ok=True)
            write_atomically(path, plan)
        except OSError as exc:
            raise _not_written(path, exc) from exc
        return self._record(engine)

    def judge(self, key: EngineKey, verdict: str, reason: str) -> Engine:
        """Record what the comparison with the CPU said.

        Raises:
            InferenceError: there is no such engine.
            OutputError: the folder can't be written.
        """
        engine = self.find(key)
        if engine is None:
            raise InferenceError(f"no engine {key.stem} in {self.folder}")
        return self._record(replace(engine, verdict=verdict, reason=reason))

    def engines(self) -> list[Engine]:
        """Every engine whose description can be read."""
        found = [_read(path) for path in sorted(self.folder.glob("*.json"))]
        return [engine for engine in found if engine is not None]

    def clean(self, keep: frozenset[EngineKey] = frozenset()) -> list[Path]:
        """Remove every engine but those to keep, and what interrupted builds left.

        Returns:
            The files removed.

        Raises:
            OutputError: one can't be removed.
        """
        stems = {key.stem for key in keep}
        removed = []
        for path in sorted(self.folder.glob("*")):
            is_ours = path.suffix in (".plan", ".json", ".part")
            if is_ours and (path.stem not in stems or path.suffix == ".part"):
                try:
                    path.unlink()
                except OSError as exc:
                    raise _not_written(path, exc) from exc
                removed.append(path)
        return removed

    def _record(self, engine: Engine) -> Engine:
        path = self.plan_path(engine.key).with_suffix(".json")
        try:
            write_atomically(path, json.dumps(asdict(engine), indent=1).encode())
        except OSError as exc:
            raise _not_written(path, exc) from exc
        return engine


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or a machine after power loss, sees all of it or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    with open(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(name, 0o644)
    os.replace(name, path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read(path: Path) -> Engine | None:
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Engine(key=EngineKey(**data.pop("key")), **data)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _not_written(path: Path, exc: OSError) -> OutputError:
    return OutputError(f"can't write {path}: {exc.strerror}; run as the service's user or root")
