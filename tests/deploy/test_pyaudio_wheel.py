"""deploy/pyaudio_wheel.py with sources of the same form as PyAudio's."""

from __future__ import annotations

import ctypes.util
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "deploy/pyaudio_wheel.py"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
MODULE = """
#include <Python.h>
#include <portaudio.h>

static PyObject *version(PyObject *self, PyObject *arguments) {
    return PyLong_FromLong(Pa_GetVersion());
}
static PyMethodDef methods[] = {{"version", version, METH_NOARGS, ""}, {NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_portaudio", "", -1, methods};
PyMODINIT_FUNC PyInit__portaudio(void) { return PyModule_Create(&module); }
"""


@pytest.fixture
def sdist(tmp_path: Path) -> Path:
    source = tmp_path / "PyAudio-9.9"
    (source / "src/pyaudio").mkdir(parents=True)
    (source / "src/pyaudio/main.c").write_text(MODULE)
    (source / "src/pyaudio/__init__.py").write_text("from pyaudio import _portaudio\n")
    (source / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: PyAudio\nVersion: 9.9\n")
    (source / "LICENSE.txt").write_text("MIT\n")
    path = tmp_path / "PyAudio-9.9.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(source, source.name)
    return path


def build(sdist: Path, include: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *(sys.executable, SCRIPT, sdist, "--python", VERSION, "--machine", platform.machine()),
            *("--include", include, sdist.parent, "--output", sdist.parent),
        ],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "CC": "cc", **environ},
    )


def test_the_wheel_can_be_installed_and_calls_portaudio(sdist: Path) -> None:
    include = Path(sysconfig.get_path("include"))
    header = Path("/usr/include/portaudio.h")
    if shutil.which("cc") is None or not (include / "Python.h").exists() or not header.exists():
        pytest.skip("needs a C compiler and the headers of Python and PortAudio")
    if ctypes.util.find_library("portaudio") is None:
        pytest.skip("needs PortAudio")
    shutil.copy(header, sdist.parent)
    done = build(sdist, include)
    assert done.returncode == 0, done.stderr
    wheel = Path(done.stdout.strip())
    tag = f"cp{VERSION.replace('.', '')}"
    assert wheel.name == f"PyAudio-9.9-{tag}-{tag}-linux_{platform.machine()}.whl"
    target = sdist.parent / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", target, wheel], check=True)
    code = "import pyaudio; print(pyaudio._portaudio.version())"
    asked = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(target)},
    )
    assert int(asked.stdout) >= 19 << 16, asked.stderr
    assert list(target.glob("*.dist-info/LICENSE.txt"))


def test_what_can_not_be_compiled_is_one_line(sdist: Path) -> None:
    done = build(sdist, sdist.parent, CC="false")
    assert done.returncode == 1
    assert "pyaudio_wheel.py: PyAudio could not be compiled" in done.stderr
    assert "Traceback" not in done.stderr
