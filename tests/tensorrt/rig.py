"""Builds what the tests need in place of a GPU, once, in a cache folder.

The Python bindings of each TensorRT release are the real ones; under them lie
libraries with empty entry points. pycuda is the real one, compiled here; under
it lies a CUDA driver over host memory (``driver_stub.c``).
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
# Package and version by the release that a JetPack brings, or the newest.
BINDINGS = {
    "8.6": "tensorrt-bindings==8.6.1",
    "10.3": "tensorrt-cu12-bindings==10.3.0",
    "10.13": "tensorrt-cu12-bindings==10.13.3.9.post1",
    "10.16": "tensorrt-cu12-bindings==10.16.1.11",
    "11.4": "tensorrt-cu12-bindings==11.4.0.106",
}
PYCUDA = "pycuda==2026.1"
REAL_BUILDER = "tensorrt-rtx-cu13==1.7.1.116"
POLYGRAPHY = "polygraphy==0.53.6"
_CUDA_FOLDERS = (Path("/usr/local/cuda"), Path("/usr"))


class RigError(Exception):
    """This machine can't build a part of the rig."""


def cache_folder() -> Path:
    base = os.environ.get("EDGETTS_TEST_CACHE") or Path.home() / ".cache/edge-tts-tests"
    return Path(base) / f"tensorrt-py{sys.version_info.major}{sys.version_info.minor}"


def environment(release: str) -> dict[str, str]:
    """Variables for a process that sees the stand-ins of one TensorRT release."""
    cache = cache_folder()
    folders = [HERE / "standin", bindings(release), pycuda_folder(), REPOSITORY]
    libraries = [library_stubs(release), driver_stub().parent]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries)),
        "STUB_DRIVER": str(driver_stub()),
        "PYCUDA_CACHE_DIR": str(cache),
    }


def bindings(release: str) -> Path:
    """Folder with the real ``tensorrt_bindings`` of a release."""
    return _made(f"bindings-{release}", lambda folder: _pip(BINDINGS[release], folder))


def driver_stub() -> Path:
    """The CUDA driver over host memory, ``libcuda.so.1``, with an entry for all that pycuda asks.

    What the stub does not do answers CUDA_ERROR_NOT_SUPPORTED.
    """

    def make(folder: Path) -> None:
        module = next(pycuda_folder().glob("pycuda/_driver*.so"))
        asked = _symbols(module, "--undefined-only", "cu")
        done = _symbols(_link_driver() / "libcuda.so.1", "--defined-only", "cu")
        rest = "".join(f"int {name}(void) {{ return 801; }}\n" for name in sorted(asked - done))
        source = folder / "driver.c"
        source.write_text((HERE / "driver_stub.c").read_text() + rest)
        _compile(folder / "libcuda.so.1", source, "-Wl,-soname,libcuda.so.1")

    return _made(f"driver-{_digest(HERE / 'driver_stub.c')}", make) / "libcuda.so.1"


def _link_driver() -> Path:
    """Folder with the stub as pycuda is linked against it."""
    source = HERE / "driver_stub.c"

    def make(folder: Path) -> None:
        _compile(folder / "libcuda.so.1", source, "-Wl,-soname,libcuda.so.1")
        os.symlink("libcuda.so.1", folder / "libcuda.so")

    return _made(f"link-{_digest(source)}", make)


def library_stubs(release: str) -> Path:
    """Folder with the libraries that the bindings of a release link to, all of them empty."""

    def make(folder: Path) -> None:
        module = next(bindings(release).glob("tensorrt_bindings/tensorrt*.so"))
        needed = _output("readelf", "-d", str(module))
        libraries = [
            word.strip("[]")
            for line in needed.splitlines()
            if "NEEDED" in line
            for word in line.split()
            if word.startswith("[libnv")
        ]
        names = _symbols(module, "--undefined-only", "create", "get", "init", "_ZN")
        entries = sorted(name for name in names if "nvinfer" in name or "St" not in name)
        source = folder / "stub.c"
        major, minor, patch = (
            int(part) for part in BINDINGS[release].split("==")[1].split(".")[:3]
        )
        unit = (1000, 100) if major < 10 else (10000, 100)
        number = major * unit[0] + minor * unit[1] + patch
        source.write_text(
            "".join(f"void *{name}(void) {{ return 0; }}\n" for name in entries)
            + f"int getInferLibVersion(void) {{ return {number}; }}\n"
        )
        for library in libraries:
            _compile(folder / library, source, f"-Wl,-soname,{library}", "-fno-builtin", "-w")

    return _made(f"libraries-2-{release}", make)


def pycuda_folder() -> Path:
    """Folder with pycuda, compiled against the driver stub; takes minutes the first time."""

    def make(folder: Path) -> None:
        cuda = next((f for f in _CUDA_FOLDERS if (f / "include/cuda.h").is_file()), None)
        if cuda is None:
            raise RigError("no cuda.h here; install the CUDA headers to build pycuda")
        home = folder / "home"
        home.mkdir()
        (home / ".aksetup-defaults.py").write_text(
            f"CUDA_ROOT = {str(cuda)!r}\n"
            f"CUDA_INC_DIR = [{str(cuda / 'include')!r}]\n"
            f"CUDADRV_LIB_DIR = [{str(_link_driver())!r}]\n"
            f"CUDART_LIB_DIR = [{str(cuda / 'lib')!r}]\n"
            "CUDA_ENABLE_CURAND = False\n"
        )
        # Not optimised: a third of the time to compile, and nothing is timed.
        flags = {"HOME": str(home), "CFLAGS": "-O0 -g0", "CXXFLAGS": "-O0 -g0"}
        _pip(PYCUDA, folder, "--no-cache-dir", dependencies=True, variables=flags)
        shutil.rmtree(folder / "numpy", ignore_errors=True)

    return _made("pycuda", make)


def real_builder_environment() -> dict[str, str]:
    """Variables for a process whose tensorrt is the real parser and builder of TensorRT for RTX."""
    folder = _made("rtx", lambda part: _pip(REAL_BUILDER, part, dependencies=True))
    # What came along must not stand before this environment's own packages.
    for name in ("numpy", "onnx", "protobuf"):
        for path in folder.glob(f"{name}*"):
            shutil.rmtree(path, ignore_errors=True)
    polygraphy = _made("polygraphy", lambda part: _pip(POLYGRAPHY, part))
    folders = [HERE / "real_builder", REPOSITORY, folder, polygraphy]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "POLYGRAPHY_USE_TENSORRT_RTX": "1",
        "POLYGRAPHY_AUTOINSTALL_DEPS": "0",
    }


def _made(name: str, make: object) -> Path:
    """A folder of the cache, made under a lock and renamed to its name when complete."""
    folder = cache_folder() / name
    if folder.is_dir():
        return folder
    with _locked():
        if not folder.is_dir():
            part = folder.with_name(f"{name}.part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            make(part)  # type: ignore[operator]
            part.rename(folder)
    return folder


_depth = 0


@contextmanager
def _locked() -> Iterator[None]:
    global _depth
    cache_folder().mkdir(parents=True, exist_ok=True)
    with open(cache_folder() / "lock", "w") as lock:
        if _depth == 0:
            fcntl.flock(lock, fcntl.LOCK_EX)
        _depth += 1
        try:
            yield
        finally:
            _depth -= 1


def _symbols(library: Path, which: str, *starts: str) -> set[str]:
    """Unversioned dynamic symbols of a library whose names begin so."""
    lines = _output("nm", "-D", which, str(library)).splitlines()
    names = {line.split()[-1] for line in lines}
    return {name for name in names if name.startswith(starts) and "@" not in name}


def _digest(path: Path) -> str:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _compile(library: Path, source: Path, *options: str) -> None:
    _output("gcc", "-shared", "-fPIC", "-O1", *options, "-o", str(library), str(source))


def _pip(
    package: str,
    folder: Path,
    *options: str,
    dependencies: bool = False,
    variables: dict[str, str] | None = None,
) -> None:
    chosen = [*options] if dependencies else [*options, "--no-deps"]
    _output(
        sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), *chosen, package,
        variables=variables,
    )  # fmt: skip


def _output(*command: str, variables: dict[str, str] | None = None) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **(variables or {})},
        )
    except OSError as exc:
        raise RigError(f"{command[0]}: {exc.strerror}") from exc
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise RigError(f"{command[0]}: {lines[-1] if lines else 'failed'}")
    return done.stdout


def main() -> None:
    """Build every part, so that no test waits for a compiler.

    A part that can't be built is named; the tests that need it say so too.
    """
    for make in (*(lambda r=release: environment(r) for release in BINDINGS),
                 real_builder_environment):  # fmt: skip
        try:
            make()
        except RigError as exc:
            print(exc, file=sys.stderr)


if __name__ == "__main__":
    main()
