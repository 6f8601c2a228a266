from __future__ import annotations

import contextlib
import gzip
import io
import os
import random
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts import voice_archive
from edge_tts.errors import VoiceError
from edge_tts.voice import load_voice
from edge_tts.voice_archive import unpack_voice


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


def pack_tar(source: Path, archive: Path, prefix: str = "", mode: str = "w:gz") -> Path:
    with tarfile.open(archive, mode) as tar:  # type: ignore[call-overload]
        tar.add(source, arcname=prefix or ".")
    return archive


def pack_zip(source: Path, archive: Path, prefix: str = "") -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for path in sorted(source.iterdir()):
            out.write(path, f"{prefix}{path.name}")
    return archive


@pytest.mark.parametrize("prefix", ["", "zh-en-1.0.0"])
@pytest.mark.parametrize("kind", ["tar.gz", "tar", "zip", "folder"])
def test_each_kind_unpacks(
    kind: str, prefix: str, tiny_voice: Path, tmp_path: Path, target: Path
) -> None:
    archive = tmp_path / f"pack.{kind}"
    if kind == "tar.gz":
        pack_tar(tiny_voice, archive, prefix)
    elif kind == "tar":
        pack_tar(tiny_voice, archive, prefix, "w")
    elif kind == "zip":
        pack_zip(tiny_voice, archive, f"{prefix}/" if prefix else "")
    else:
        archive = tiny_voice
    folder = unpack_voice(archive, target)
    load_voice(folder).verify()
    assert folder == (target / prefix if prefix and kind != "folder" else target)


def tar_with(path: Path, *members: tarfile.TarInfo, data: bytes = b"") -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for member in members:
            member.size = len(data) if member.isreg() else 0
            tar.addfile(member, io.BytesIO(data))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "..", "a\\..\\..\\evil"])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_paths_outside_are_refused(kind: str, name: str, tmp_path: Path, target: Path) -> None:
    archive = tmp_path / "evil"
    if kind == "tar":
        tar_with(archive, member(name), data=b"x")
    else:
        with zipfile.ZipFile(archive, "w") as out:
            out.writestr(name, b"x")
    with pytest.raises(VoiceError, match="outside of itself"):
        unpack_voice(archive, target)
    assert not (tmp_path / "evil.txt").exists()
    assert list(target.rglob("*")) == []


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE],
)
def test_other_than_files_are_refused(kind: bytes, tmp_path: Path, target: Path) -> None:
    archive = tar_with(tmp_path / "evil", member("voice.json", kind, "/etc/passwd"))
    with pytest.raises(VoiceError, match="not a regular file"):
        unpack_voice(archive, target)
    assert list(target.iterdir()) == []


def test_a_symbolic_link_in_a_zip_is_refused(tmp_path: Path, target: Path) -> None:
    entry = zipfile.ZipInfo("voice.json")
    entry.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "evil", "w") as out:
        out.writestr(entry, "/etc/passwd")
    with pytest.raises(VoiceError, match="not a regular file"):
        unpack_voice(tmp_path / "evil", target)


def test_a_link_in_a_folder_is_refused(tmp_path: Path, target: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "voice.json").symlink_to("/etc/passwd")
    with pytest.raises(VoiceError, match="neither a file nor a folder"):
        unpack_voice(source, target)


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voice_archive, "MAX_UNPACKED_BYTES", 1 << 20)
    monkeypatch.setattr(voice_archive, "MAX_FILES", 8)


@pytest.mark.usefixtures("small_bounds")
class TestBombs:
    def unpack(self, archive: Path, target: Path) -> None:
        with pytest.raises(VoiceError, match="more than 1 MB or 8 files"):
            unpack_voice(archive, target)
        size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
        assert size <= 1 << 20

    def test_one_large_file_in_a_tar(self, tmp_path: Path, target: Path) -> None:
        self.unpack(tar_with(tmp_path / "bomb", member("a"), data=bytes(4 << 20)), target)

    def test_many_middling_files(self, tmp_path: Path, target: Path) -> None:
        members = [member(str(index)) for index in range(4)]
        self.unpack(tar_with(tmp_path / "bomb", *members, data=bytes(300_000)), target)

    def test_many_small_files(self, tmp_path: Path, target: Path) -> None:
        members = [member(str(index)) for index in range(20)]
        self.unpack(tar_with(tmp_path / "bomb", *members), target)

    def test_one_large_file_in_a_zip(self, tmp_path: Path, target: Path) -> None:
        with zipfile.ZipFile(tmp_path / "bomb", "w", zipfile.ZIP_DEFLATED) as out:
            out.writestr("a", bytes(4 << 20))
        self.unpack(tmp_path / "bomb", target)

    def test_a_header_of_four_megabytes(self, tmp_path: Path, target: Path) -> None:
        """A name that long is read whole before any file is seen."""
        with tarfile.open(tmp_path / "bomb", "w:gz", format=tarfile.GNU_FORMAT) as tar:
            tar.addfile(tarfile.TarInfo("a" * (4 << 20)))
        with pytest.raises(VoiceError):
            unpack_voice(tmp_path / "bomb", target)


def test_a_file_named_twice_is_refused(tmp_path: Path, target: Path) -> None:
    archive = tar_with(tmp_path / "twice", member("voice.json"), member("voice.json"), data=b"{}")
    with pytest.raises(VoiceError, match="can't unpack"):
        unpack_voice(archive, target)


def test_an_archive_of_something_else(tmp_path: Path, target: Path) -> None:
    archive = tar_with(tmp_path / "other", member("readme"), data=b"x")
    with pytest.raises(VoiceError, match=r"no voice\.json"):
        unpack_voice(archive, target)


def test_a_missing_archive(tmp_path: Path, target: Path) -> None:
    with pytest.raises(VoiceError, match="is not there"):
        unpack_voice(tmp_path / "none", target)


@pytest.mark.parametrize("content", [b"", b"x", b"PK\x03\x04", b"\x1f\x8b", gzip.compress(b"x")])
def test_what_is_no_archive(content: bytes, tmp_path: Path, target: Path) -> None:
    (tmp_path / "junk").write_bytes(content)
    with pytest.raises(VoiceError):
        unpack_voice(tmp_path / "junk", target)


@pytest.fixture(scope="module")
def archives(tiny_voice: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("archives")
    return {
        "tar": pack_tar(tiny_voice, folder / "pack.tar.gz").read_bytes(),
        "zip": pack_zip(tiny_voice, folder / "pack.zip").read_bytes(),
    }


@pytest.mark.parametrize("kind", ["tar", "zip"])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), cut=st.booleans())
def test_any_damage_is_a_voice_error_or_leaves_the_pack_whole(
    kind: str, seed: int, cut: bool, archives: dict[str, bytes]
) -> None:
    data = bytearray(archives[kind])
    rng = random.Random(seed)
    if cut:
        del data[rng.randrange(len(data)) :]
    else:
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pack").write_bytes(data)
        (folder / "target").mkdir()
        with contextlib.suppress(VoiceError):
            load_voice(unpack_voice(folder / "pack", folder / "target")).verify()
        assert set(os.listdir(folder)) == {"pack", "target"}
