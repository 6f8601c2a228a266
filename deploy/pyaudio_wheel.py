"""Compiles PyAudio for another machine's Python, where its distribution has none that works:

python3 deploy/pyaudio_wheel.py PyAudio-0.2.14.tar.gz --python 3.10 --machine aarch64 \
    --include FOLDER... --output FOLDER

FOLDERs hold Python.h and portaudio.h. The compiler is CC, else MACHINE-linux-gnu-gcc. PortAudio
itself is the target's: nothing of it is needed here. Prints the wheel's path.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path


def compile_extension(
    sources: Path, library: Path, machine: str, include: list[Path], scratch: Path
) -> None:
    """Link against a stand-in that has nothing of PortAudio but its name."""
    compiler = os.environ.get("CC", f"{machine}-linux-gnu-gcc")
    portaudio = scratch / "libportaudio.so"
    empty = scratch / "empty.c"
    empty.write_text("")
    soname = "-Wl,-soname,libportaudio.so.2"
    subprocess.run([compiler, "-shared", "-nostdlib", soname, empty, "-o", portaudio], check=True)
    subprocess.run(
        [
            *(compiler, "-shared", "-fPIC", "-O2", "-s", "-w"),
            *(f"-I{folder}" for folder in include),
            *sorted(sources.glob("*.c")),
            *(f"-L{scratch}", "-Wl,--no-as-needed", "-lportaudio", "-o", library),
        ],
        check=True,
    )


def write_wheel(path: Path, files: dict[str, bytes], info: str) -> None:
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
            # The same input gives the same wheel.
            archive.writestr(zipfile.ZipInfo(name), data)
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD"), f"{record}{info}/RECORD,,\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sdist", type=Path)
    parser.add_argument("--python", required=True, metavar="VERSION")
    parser.add_argument("--machine", required=True, choices=("aarch64", "x86_64"))
    parser.add_argument("--include", required=True, type=Path, nargs="+")
    parser.add_argument("--output", required=True, type=Path)
    wanted = parser.parse_args()
    tag = "cp" + wanted.python.replace(".", "")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        with tarfile.open(wanted.sdist) as archive:
            archive.extractall(scratch)
        (source,) = scratch.glob("PyAudio-*")
        version = source.name.partition("-")[2]
        library = scratch / f"_portaudio.cpython-{tag[2:]}-{wanted.machine}-linux-gnu.so"
        try:
            compile_extension(
                source / "src/pyaudio", library, wanted.machine, wanted.include, scratch
            )
        except (OSError, subprocess.CalledProcessError) as exc:
            sys.exit(f"pyaudio_wheel.py: PyAudio could not be compiled: {exc}")
        tags = f"{tag}-{tag}-linux_{wanted.machine}"
        info = f"PyAudio-{version}.dist-info"
        wheel = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tags}\n"
        files = {
            "pyaudio/__init__.py": (source / "src/pyaudio/__init__.py").read_bytes(),
            f"pyaudio/{library.name}": library.read_bytes(),
            f"{info}/METADATA": (source / "PKG-INFO").read_bytes(),
            f"{info}/WHEEL": wheel.encode(),
        }
        for name in ("LICENSE", "LICENSE.txt"):
            if (source / name).is_file():
                files[f"{info}/{name}"] = (source / name).read_bytes()
        path = wanted.output / f"PyAudio-{version}-{tags}.whl"
        write_wheel(path, files, info)
    print(path)


if __name__ == "__main__":
    main()
