"""Boards described by a folder of made-up kernel files and pretended libraries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from edge_tts.inference.board import Board, probe_board

A72 = "fp asimd evtstrm crc32 cpuid"
A76 = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimddp"
A78AE = A76 + " uscat ilrcpc flagm paca pacg"
X86 = "fpu sse sse2 ssse3 avx f16c avx2 avx512f avx512_vnni"


class FakeDriver:
    """The few calls of libcuda that the probe makes; one GPU or none."""

    def __init__(self, gpu: str = "Orin", major: int = 8, minor: int = 7, status: int = 0) -> None:
        self._gpu, self._capability, self._status = gpu, {75: major, 76: minor}, status

    def cuInit(self, flags: int) -> int:
        return self._status

    def cuDriverGetVersion(self, version: Any) -> int:
        version._obj.value = 12060
        return 0

    def cuDeviceGet(self, device: Any, ordinal: int) -> int:
        return 0 if self._gpu else 100

    def cuDeviceGetName(self, name: Any, size: int, device: Any) -> int:
        name.value = self._gpu.encode()
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: Any) -> int:
        value._obj.value = self._capability[attribute]
        return 0


class FakeTensorRt:
    def __init__(self, version: int) -> None:
        self._version = version

    def getInferLibVersion(self) -> int:
        return self._version


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def libraries(**known: Any) -> Callable[[str], Any]:
    """A loader that knows some libraries and fails as dlopen does for the others."""
    table = {"libcuda.so.1": known.get("cuda"), known.get("name", ""): known.get("tensorrt")}

    def load(name: str) -> Any:
        library = table.get(name)
        if library is None:
            raise OSError(f"{name}: cannot open shared object file: No such file or directory")
        return library

    return load


def make_board(
    root: Path,
    *,
    model: str = "",
    features: str = "",
    processors: int = 4,
    memory_kb: int = 4_000_000,
    architecture: str = "aarch64",
    pointer_bits: int = 64,
    affinity: int | None = None,
    load_library: Callable[[str], Any] | None = None,
    modules: tuple[str, ...] = ("onnxruntime",),
    onnxruntime_cuda: bool = False,
    jetson_linux: str = "",
) -> Board:
    """Write the files of a board under ``root`` and probe them."""
    if model:
        write(root / "proc/device-tree/model", model + "\0")
    word = "Features" if architecture != "x86_64" else "flags"
    blocks = [f"processor\t: {index}\n{word}\t: {features}\n" for index in range(processors)]
    write(root / "proc/cpuinfo", "\n".join(blocks))
    write(root / "proc/meminfo", f"MemTotal:       {memory_kb} kB\nMemFree: 1 kB\n")
    if jetson_linux:
        write(root / "etc/nv_tegra_release", jetson_linux)
    site = root / "site"
    for module in modules:
        write(site / module / "__init__.py", "")
    if onnxruntime_cuda:
        write(site / "onnxruntime/capi/libonnxruntime_providers_cuda.so", "")
    return probe_board(
        root,
        architecture=architecture,
        pointer_bits=pointer_bits,
        affinity=lambda: affinity or processors,
        load_library=load_library or libraries(),
        find_module=lambda name: site / name if name in modules else None,
    )


def pi_4(root: Path) -> Board:
    return make_board(
        root, model="Raspberry Pi 4 Model B Rev 1.4", features=A72, memory_kb=3_884_360
    )


def pi_5(root: Path) -> Board:
    return make_board(
        root, model="Raspberry Pi 5 Model B Rev 1.0", features=A76, memory_kb=8_255_056
    )


def pi_zero_2(root: Path) -> Board:
    return make_board(root, model="Raspberry Pi Zero 2 W Rev 1.0", features=A72, memory_kb=437_760)


def orin(
    root: Path,
    *,
    modules: tuple[str, ...] = ("onnxruntime", "tensorrt", "pycuda"),
    tensorrt: int = 100300,
    driver: FakeDriver | None = None,
    onnxruntime_cuda: bool = True,
) -> Board:
    name = "libnvinfer.so.10" if tensorrt >= 10000 else "libnvinfer.so.8"
    return make_board(
        root,
        model="NVIDIA Jetson Orin Nano Developer Kit",
        features=A78AE,
        processors=6,
        memory_kb=7_812_500,
        jetson_linux="# R36 (release), REVISION: 4.0, GCID: 1, BOARD: generic, EABI: aarch64",
        modules=modules,
        onnxruntime_cuda=onnxruntime_cuda,
        load_library=libraries(
            cuda=driver or FakeDriver(),
            name=name,
            tensorrt=FakeTensorRt(tensorrt) if tensorrt else None,
        ),
    )


def desktop(root: Path) -> Board:
    return make_board(root, features=X86, processors=8, architecture="x86_64")
