"""What keeps a Jetson's GPU from being used, or from being fast."""

from __future__ import annotations

import os
import re
from dataclasses import astuple
from pathlib import Path

from edge_tts.doctor.finding import INFO, OK, WARNING, Finding, System
from edge_tts.inference.board import Board
from edge_tts.inference.engine_store import PASSED, Engine, EngineStore, graph_sha256
from edge_tts.inference.provider_plan import ProviderStep
from edge_tts.voice import GRAPHS, find_voice, load_voice

_GPU_NODES = ("dev/nvmap", "dev/nvhost-gpu", "dev/nvgpu/igpu0/power", "dev/nvhost-ctrl-gpu")
# Releases of Jetson Linux with the TensorRT and CUDA that JetPack puts on them.
_JETPACK = {
    "35": ("JetPack 5", "8.5", "11.4"),
    "36": ("JetPack 6", "8.6 or 10.3", "12.2 or 12.6"),
    "38": ("JetPack 7", "10.13", "13.0"),
}


def check_engines(folder: Path, step: ProviderStep, board: Board, voice: str) -> list[Finding]:
    """Is there an engine for each network of the voice, for what this device is now?

    Args:
        folder: of the engines.
        step: TensorRT's, and whether it can be used.
        board: gives the TensorRT release and the GPU.
        voice: name or path of the voice that speaks.

    Raises:
        VoiceError: the voice can't be read.
    """
    engines = EngineStore(folder).engines()
    if not engines and not step.usable:
        return []
    chosen = load_voice(find_voice(voice))
    if not all("fp32" in chosen.graphs[graph].files for graph in GRAPHS):
        message = f"voice {chosen.name} has int8 graphs alone, which the CPU runs; TensorRT rests"
        return [Finding(INFO, "engines", message, "sudo edgetts voices use zh-en")]
    digests = {graph: graph_sha256(chosen.graph_path(graph, "fp32")) for graph in GRAPHS}
    current = [e for e in engines if digests[e.graph] == e.key.graph_sha256 and _fits(e, board)]
    findings = [
        Finding(
            WARNING,
            "engines",
            f"the engine of the {engine.graph} is not used ({engine.verdict}: {engine.reason})",
            "sudo -u edge-tts edgetts engine build --force",
        )
        for engine in current
        if engine.verdict != PASSED
    ]
    missing = [graph for graph in GRAPHS if graph not in {engine.graph for engine in current}]
    if step.usable and missing:
        message = f"no TensorRT engine of {', '.join(missing)} was built; the next provider speaks"
        if len(engines) > len(current):
            message += (
                f". {len(engines) - len(current)} are there for another voice, TensorRT or GPU"
            )
        fix = "sudo -u edge-tts edgetts engine build"
        findings.append(Finding(WARNING, "engines", message, fix))
    return findings or [Finding(OK, "engines", f"{len(current)} engines in {folder} passed")]


def _fits(engine: Engine, board: Board) -> bool:
    """Was it built for this GPU and this TensorRT, as far as the libraries tell?"""
    release = board.tensorrt.detail.removeprefix("TensorRT ")
    built_for = ".".join(engine.key.tensorrt_version.split(".")[:3])
    gpu = board.gpu
    return (not board.tensorrt.loads or built_for == release) and (
        gpu is None or (engine.key.gpu_name, engine.key.compute_capability) == astuple(gpu)
    )


def check_jetson(system: System, board: Board) -> list[Finding]:
    """Look at device permissions, Python bindings, versions, power mode and clocks."""
    if board.jetson_linux is None:
        return []
    return [
        *_check_devices(system),
        *_check_bindings(board),
        *_check_versions(board),
        *_check_power_mode(system),
        Finding(
            INFO,
            "jetson",
            f"GPU and CPU share {board.memory_mb} MB; other GPU programs take from it",
        ),
    ]


def _check_devices(system: System) -> list[Finding]:
    nodes = [system.root / node for node in _GPU_NODES]
    present = [node for node in nodes if node.exists()]
    if not present:
        message = "the GPU's device nodes are not there"
        fix = "in a container run with --runtime nvidia; else reinstall nvidia-l4t-core"
        return [Finding(WARNING, "jetson", message, fix)]
    closed = [node for node in present if not system.access(node, os.R_OK | os.W_OK)]
    if not closed:
        return [Finding(OK, "jetson", "this user may open the GPU's devices")]
    groups = sorted({"video", "render"} - system.groups)
    return [
        Finding(
            WARNING,
            "jetson",
            f"this user may not open {closed[0].name}"
            + (f", and is not in {' and '.join(groups)}" if groups else ""),
            "sudo usermod -aG video,render $USER (for the service: "
            "sudo usermod -aG video,render edge-tts), then log in again",
        )
    ]


def _check_bindings(board: Board) -> list[Finding]:
    findings = []
    if not board.tensorrt.loads:
        message = f"TensorRT does not load: {board.tensorrt.detail}"
        fix = "sudo apt install nvidia-jetpack"
        findings.append(Finding(WARNING, "jetson", message, fix))
    elif "tensorrt" not in board.python_modules:
        findings.append(
            Finding(
                WARNING,
                "jetson",
                "TensorRT is installed but this Python has no bindings for it",
                "sudo apt install python3-libnvinfer, and make the environment with "
                "python3 -m venv --system-site-packages",
            )
        )
    if board.tensorrt.loads and "pycuda" not in board.python_modules:
        fix = "PATH=/usr/local/cuda/bin:$PATH pip install pycuda"
        findings.append(Finding(WARNING, "jetson", "pycuda is not installed", fix))
    return findings


def _check_versions(board: Board) -> list[Finding]:
    """JetPack puts driver, CUDA and TensorRT together; a mixture of two does not work."""
    release = (board.jetson_linux or "").split(".")[0]
    if release not in _JETPACK or not board.tensorrt.loads or not board.cuda.loads:
        return []
    jetpack, tensorrt, cuda = _JETPACK[release]
    found_tensorrt = re.sub(r"^TensorRT (\d+\.\d+).*", r"\1", board.tensorrt.detail)
    found_cuda = board.cuda.detail.removeprefix("CUDA ")
    wrong = [
        f"{what} {found} instead of {expected}"
        for what, found, expected in (
            ("TensorRT", found_tensorrt, tensorrt),
            ("CUDA", found_cuda, cuda),
        )
        if found not in expected.split(" or ")
    ]
    if not wrong:
        message = f"{jetpack} with TensorRT {found_tensorrt} and CUDA {found_cuda}"
        return [Finding(OK, "jetson", message)]
    return [
        Finding(
            INFO,
            "jetson",
            f"{jetpack} (Jetson Linux {board.jetson_linux}) has {' and '.join(wrong)}; "
            "a mixture of releases often fails to load",
            "sudo apt install --reinstall nvidia-jetpack",
        )
    ]


def _check_power_mode(system: System) -> list[Finding]:
    findings = []
    mode = re.search(r"NV Power Mode: (\S+)", system.run(["nvpmodel", "-q"], 5.0).output)
    if mode and not mode.group(1).startswith("MAXN"):
        message = f"the power mode is {mode.group(1)}, not the fastest"
        fix = "sudo nvpmodel -m 0 (asks for a reboot on some boards)"
        findings.append(Finding(INFO, "jetson", message, fix))
    for folder in system.glob("sys/class/devfreq/*gpu*") + system.glob("sys/class/devfreq/*gv11b*"):
        place = folder.relative_to(system.root)
        low, high = (system.read(f"{place}/{name}_freq") for name in ("min", "max"))
        if low.isdigit() and high.isdigit() and int(low) < int(high):
            message = (
                f"the GPU's clock moves between {int(low) // 10**6} and "
                f"{int(high) // 10**6} MHz: the first chunk after a pause is slower"
            )
            findings.append(Finding(INFO, "jetson", message, "sudo jetson_clocks"))
        break
    return findings
