"""What this machine is: model, processor, memory, and the libraries that really load.

Every place read and every library loaded can be put in another's stead, so a
test describes a board by a folder of files. No inference library is imported.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CUDA_LIBRARY = "libcuda.so.1"
TENSORRT_LIBRARIES = ("libnvinfer.so.11", "libnvinfer.so.10", "libnvinfer.so.8")
_CUDA_PROVIDER_FILE = Path("capi", "libonnxruntime_providers_cuda.so")
# CUdevice_attribute, fixed by the driver's ABI.
_COMPUTE_CAPABILITY_MAJOR = 75
_COMPUTE_CAPABILITY_MINOR = 76


@dataclass(frozen=True)
class Library:
    """A shared library: whether it loaded, and its version or why it did not."""

    name: str
    loads: bool
    detail: str


@dataclass(frozen=True)
class Gpu:
    """A CUDA device: its name and compute capability, such as ``8.7``."""

    name: str
    compute_capability: str


@dataclass(frozen=True)
class Board:
    """The machine as a provider sees it; ``memory_mb`` and ``cores`` are what may be used."""

    model: str
    architecture: str
    pointer_bits: int
    cpu_features: frozenset[str]
    cores: int
    memory_mb: int
    jetson_linux: str | None
    gpu: Gpu | None
    cuda: Library
    tensorrt: Library
    python_modules: frozenset[str]
    onnxruntime_has_cuda: bool

    @property
    def is_raspberry_pi(self) -> bool:
        return self.model.startswith("Raspberry Pi")

    @property
    def is_arm(self) -> bool:
        return self.architecture.startswith(("aarch64", "arm"))


def probe_board(
    root: Path = Path("/"),
    *,
    architecture: str | None = None,
    pointer_bits: int | None = None,
    affinity: Callable[[], int] | None = None,
    load_library: Callable[[str], Any] = ctypes.CDLL,
    find_module: Callable[[str], Path | None] | None = None,
) -> Board:
    """Describe this machine, or the one whose files lie under ``root``.

    Args:
        root: folder that holds ``proc``, ``sys`` and ``etc``.
        architecture: as ``uname -m`` says it.
        pointer_bits: 32 or 64, of this Python rather than of the kernel.
        affinity: number of processors this process may run on.
        load_library: loads a shared library by name or raises ``OSError``.
        find_module: folder of an installed Python module, without importing it.
    """
    features, processors = _cpu(root)
    find = find_module or _find_module
    modules = {name: find(name) for name in ("onnxruntime", "tensorrt", "pycuda")}
    cuda, gpu = _probe_cuda(load_library)
    runtime_folder = modules["onnxruntime"]
    return Board(
        model=_model(root),
        architecture=architecture or platform.machine(),
        pointer_bits=pointer_bits or 8 * struct.calcsize("P"),
        cpu_features=features,
        cores=_usable_cores(root, affinity or _affinity, processors),
        memory_mb=_usable_memory_mb(root),
        jetson_linux=_jetson_linux(root),
        gpu=gpu,
        cuda=cuda,
        tensorrt=_probe_tensorrt(load_library),
        python_modules=frozenset(name for name, folder in modules.items() if folder),
        onnxruntime_has_cuda=bool(
            runtime_folder and (runtime_folder / _CUDA_PROVIDER_FILE).is_file()
        ),
    )


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace").strip("\0\n ")
    except OSError:
        return ""


def _model(root: Path) -> str:
    for place in (
        "proc/device-tree/model",
        "sys/firmware/devicetree/base/model",
        "sys/class/dmi/id/product_name",
    ):
        if text := _read(root / place):
            return text
    found = re.search(r"^model name\s*:\s*(.+)$", _read(root / "proc/cpuinfo"), re.MULTILINE)
    return found.group(1) if found else "unknown"


def _cpu(root: Path) -> tuple[frozenset[str], int]:
    text = _read(root / "proc/cpuinfo")
    found = re.search(r"^(?:Features|flags)\s*:\s*(.*)$", text, re.MULTILINE)
    features = frozenset(found.group(1).split()) if found else frozenset()
    return features, len(re.findall(r"^processor\s*:", text, re.MULTILINE))


def _affinity() -> int:
    return len(os.sched_getaffinity(0))


def _usable_cores(root: Path, affinity: Callable[[], int], processors: int) -> int:
    """Whole cores: the least of processors, affinity, and the control group's quota."""
    limits = [affinity()]
    if processors:
        limits.append(processors)
    for folder in _cgroup_folders(root, "cpu"):
        quota, _, period = _read(folder / "cpu.max").partition(" ")
        if not quota:
            quota = _read(folder / "cpu.cfs_quota_us")
            period = _read(folder / "cpu.cfs_period_us")
        if quota.isdigit() and period.isdigit() and int(period):
            limits.append(int(quota) // int(period))
    return max(1, min(limits))


def _usable_memory_mb(root: Path) -> int:
    found = re.search(r"^MemTotal:\s*(\d+) kB", _read(root / "proc/meminfo"), re.MULTILINE)
    limits = [int(found.group(1)) // 1024] if found else []
    for folder in _cgroup_folders(root, "memory"):
        text = _read(folder / "memory.max") or _read(folder / "memory.limit_in_bytes")
        if text.isdigit():
            limits.append(int(text) >> 20)
    return min(limits, default=0)


def _cgroup_folders(root: Path, controller: str) -> list[Path]:
    """The control group's folder and its parents, version 2 or 1, those that exist."""
    folders = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            base = root / "sys/fs/cgroup"
        elif controller in controllers.split(","):
            base = root / "sys/fs/cgroup" / controller
        else:
            continue
        folder = base / group.lstrip("/")
        folders += [place for place in (folder, *folder.parents) if place.is_relative_to(base)]
    return [folder for folder in folders if folder.is_dir()]


def _jetson_linux(root: Path) -> str | None:
    """Release of NVIDIA's Jetson Linux, such as ``36.4.0``."""
    text = _read(root / "etc/nv_tegra_release")
    found = re.search(r"R(\d+) \(release\), REVISION: ([\d.]+)", text)
    if found:
        return f"{found.group(1)}.{found.group(2)}"
    compatible = _read(root / "proc/device-tree/compatible")
    return "unknown release" if "nvidia,tegra" in compatible else None


def _find_module(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent if spec and spec.origin else None


def _probe_cuda(load_library: Callable[[str], Any]) -> tuple[Library, Gpu | None]:
    try:
        cuda = load_library(CUDA_LIBRARY)
    except OSError as exc:
        return Library(CUDA_LIBRARY, False, str(exc)), None
    try:
        status = int(cuda.cuInit(0))
        if status != 0:
            return Library(CUDA_LIBRARY, False, f"cuInit failed with error {status}"), None
        version, device = ctypes.c_int(), ctypes.c_int()
        major, minor = ctypes.c_int(), ctypes.c_int()
        name = ctypes.create_string_buffer(128)
        cuda.cuDriverGetVersion(ctypes.byref(version))
        if int(cuda.cuDeviceGet(ctypes.byref(device), 0)) != 0:
            return Library(CUDA_LIBRARY, False, "the driver finds no GPU"), None
        cuda.cuDeviceGetName(name, len(name), device)
        cuda.cuDeviceGetAttribute(ctypes.byref(major), _COMPUTE_CAPABILITY_MAJOR, device)
        cuda.cuDeviceGetAttribute(ctypes.byref(minor), _COMPUTE_CAPABILITY_MINOR, device)
    except AttributeError as exc:
        return Library(CUDA_LIBRARY, False, f"not a CUDA driver: {exc}"), None
    release = f"{version.value // 1000}.{version.value % 1000 // 10}"
    gpu = Gpu(name.value.decode("utf-8", "replace"), f"{major.value}.{minor.value}")
    return Library(CUDA_LIBRARY, True, f"CUDA {release}"), gpu


def _probe_tensorrt(load_library: Callable[[str], Any]) -> Library:
    reason = ""
    for name in TENSORRT_LIBRARIES:
        try:
            number = int(load_library(name).getInferLibVersion())
        except OSError as exc:
            # A library that is there but can't load tells more than one that is missing.
            if not reason or "No such file" not in str(exc):
                reason = str(exc)
            continue
        except AttributeError as exc:
            reason = f"{name} is not TensorRT: {exc}"
            continue
        # 8602 is 8.6.2, 100300 is 10.3.0.
        unit = 10000 if number >= 10000 else 1000
        version = f"{number // unit}.{number % unit // 100}.{number % 100}"
        return Library(name, True, f"TensorRT {version}")
    return Library(TENSORRT_LIBRARIES[1], False, reason)
