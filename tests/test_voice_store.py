from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from edge_tts.errors import EdgeTtsError, InferenceError, OutputError, VoiceError
from edge_tts.voice import find_voice, load_voice
from edge_tts.voice_store import VoiceStore
from tests.packs import copy_pack


def speaks(folder: Path) -> None:
    """A self-test that every whole pack passes."""
    load_voice(folder).verify()


def is_mute(folder: Path) -> None:
    raise VoiceError(f"the voice in {folder} spoke nothing that could be heard")


@pytest.fixture
def packs(tmp_path: Path, tiny_voice: Path) -> dict[str, Path]:
    return {
        version: copy_pack(tiny_voice, tmp_path / "packs" / version, version=version)
        for version in ("1.0.0", "1.1.0", "1.10.0")
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


def open_store(folder: Path, self_test: Callable[[Path], None] = speaks) -> VoiceStore:
    return VoiceStore(folder, self_test, system_folders={folder.parent / "system": "system"})


def current_version(folder: Path) -> str:
    voice = load_voice(find_voice(search=(folder,), environ={}))
    voice.verify()
    return voice.version


class TestInstall:
    def test_the_first_voice_becomes_current(self, folder: Path, packs: dict[str, Path]) -> None:
        voice = open_store(folder).install(packs["1.0.0"])
        assert voice.version == "1.0.0"
        assert current_version(folder) == "1.0.0"
        assert os.readlink(folder / "current") == voice.folder.name
        assert not (folder / "previous").exists()

    def test_the_next_one_keeps_the_old(self, folder: Path, packs: dict[str, Path]) -> None:
        store = open_store(folder)
        store.install(packs["1.0.0"])
        store.install(packs["1.1.0"])
        marks = [(v.version, v.is_current, v.is_previous) for v in store.voices()]
        assert marks == [("1.0.0", False, True), ("1.1.0", True, False)]

    def test_older_packs_of_the_voice_go(
        self, folder: Path, packs: dict[str, Path], tmp_path: Path, tiny_voice: Path
    ) -> None:
        store = open_store(folder)
        other = copy_pack(tiny_voice, tmp_path / "other", name="zh-lite")
        store.install(other, make_current=False)
        for version in ("1.0.0", "1.1.0", "1.10.0"):
            store.install(packs[version])
        assert [(v.name, v.version) for v in store.voices()] == [
            ("zh-en", "1.1.0"),
            ("zh-en", "1.10.0"),
            ("zh-lite", "1.0.0"),
        ]

    def test_twice_is_once(self, folder: Path, packs: dict[str, Path]) -> None:
        store = open_store(folder)
        assert store.install(packs["1.0.0"]).folder == store.install(packs["1.0.0"]).folder
        assert len(store.voices()) == 1
        assert not (folder / "previous").exists()

    def test_only_the_voice_s_own_files_stay(self, folder: Path, packs: dict[str, Path]) -> None:
        for name in ("CARD.md", "LICENSE", "._voice.json", "setup.sh"):
            (packs["1.0.0"] / name).write_text("x")
        installed = open_store(folder).install(packs["1.0.0"]).folder
        names = {path.name for path in installed.iterdir()}
        assert {"voice.json", "encoder.onnx", "lexicon.bin", "CARD.md", "LICENSE"} <= names
        assert not {"._voice.json", "setup.sh"} & names
        assert oct(installed.stat().st_mode & 0o777) == "0o755"
        assert oct((installed / "encoder.onnx").stat().st_mode & 0o777) == "0o644"

    def test_one_that_can_not_speak_does_not_become_current(
        self, folder: Path, packs: dict[str, Path]
    ) -> None:
        open_store(folder).install(packs["1.0.0"])
        with pytest.raises(VoiceError, match="nothing that could be heard"):
            open_store(folder, is_mute).install(packs["1.1.0"])
        assert current_version(folder) == "1.0.0"
        assert not (folder / "previous").exists()

    def test_a_self_test_of_any_error_holds_it_back(
        self, folder: Path, packs: dict[str, Path]
    ) -> None:
        def fails(folder: Path) -> None:
            raise InferenceError("no memory")

        with pytest.raises(EdgeTtsError):
            open_store(folder, fails).install(packs["1.0.0"])
        assert not (folder / "current").exists()

    @pytest.mark.parametrize("name", ["encoder.onnx", "vocoder.int8.onnx", "lexicon.bin"])
    @pytest.mark.parametrize("damage", ["change", "tear", "remove"])
    def test_a_damaged_pack_never_becomes_current(
        self, folder: Path, packs: dict[str, Path], name: str, damage: str
    ) -> None:
        store = open_store(folder)
        store.install(packs["1.0.0"])
        path = packs["1.1.0"] / name
        data = bytearray(path.read_bytes() or b"\0")
        if damage == "change":
            data[len(data) // 2] ^= 0x40
            path.write_bytes(data)
        elif damage == "tear":
            path.write_bytes(data[: len(data) // 2] if len(data) > 1 else b"torn")
        else:
            path.unlink()
        with pytest.raises(VoiceError, match=name):
            store.install(packs["1.1.0"])
        assert current_version(folder) == "1.0.0"
        assert [path.name for path in folder.glob(".staging*")] == []

    def test_a_pack_that_was_damaged_on_disk_is_replaced(
        self, folder: Path, packs: dict[str, Path]
    ) -> None:
        store = open_store(folder)
        installed = store.install(packs["1.0.0"]).folder
        (installed / "decoder.onnx").write_bytes(b"torn")
        assert store.voices()[0].problem
        store.install(packs["1.0.0"])
        assert current_version(folder) == "1.0.0"
        assert [voice.problem for voice in store.voices()] == [""]

    @pytest.mark.parametrize("name", ["../evil", "a/b", "", ".hidden", "x" * 80])
    def test_a_name_that_is_no_folder_name(
        self, folder: Path, tmp_path: Path, tiny_voice: Path, name: str
    ) -> None:
        pack = copy_pack(tiny_voice, tmp_path / "evil", name=name)
        with pytest.raises(VoiceError, match="use plain letters"):
            open_store(folder).install(pack)

    def test_a_store_that_can_not_be_written(self, packs: dict[str, Path], tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(OutputError, match="can't write"):
            open_store(tmp_path / "file" / "store").install(packs["1.0.0"])

    def test_two_at_a_time_take_turns(self, folder: Path, packs: dict[str, Path]) -> None:
        errors: list[BaseException] = []

        def install(version: str) -> None:
            try:
                open_store(folder).install(packs[version])
            except BaseException as exc:
                errors.append(exc)

        threads = [threading.Thread(target=install, args=(version,)) for version in packs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert current_version(folder) in packs
        assert sum(voice.is_current for voice in open_store(folder).voices()) == 1


class TestUse:
    def test_the_newest_of_a_name(self, folder: Path, packs: dict[str, Path]) -> None:
        store = open_store(folder)
        for version in ("1.10.0", "1.1.0"):
            store.install(packs[version])
        assert store.use("zh-en").version == "1.10.0"
        assert current_version(folder) == "1.10.0"

    def test_one_pack_by_its_folder(self, folder: Path, packs: dict[str, Path]) -> None:
        store = open_store(folder)
        old = store.install(packs["1.0.0"]).folder
        store.install(packs["1.1.0"])
        assert store.use(old.name).version == "1.0.0"

    def test_a_voice_of_the_system(
        self, folder: Path, packs: dict[str, Path], tmp_path: Path, tiny_voice: Path
    ) -> None:
        store = open_store(folder)
        store.install(packs["1.0.0"])
        lite = copy_pack(tiny_voice, tmp_path / "system" / "zh-lite", name="zh-lite")
        store.use("zh-lite")
        assert find_voice(search=(folder,), environ={}) == lite
        assert store.rollback().version == "1.0.0"
        assert lite.exists()

    def test_a_voice_that_two_folders_show_is_listed_once(
        self, folder: Path, tmp_path: Path, tiny_voice: Path
    ) -> None:
        """In a Debian package the system's voice is a link into the release."""
        release = copy_pack(tiny_voice, tmp_path / "release" / "zh-en")
        (tmp_path / "system").mkdir()
        (tmp_path / "system" / "zh-en").symlink_to(release)
        folders = {tmp_path / "system": "system", tmp_path / "release": "checkout"}
        (voice,) = VoiceStore(folder, speaks, folders).voices()
        assert (voice.folder, voice.origin) == (tmp_path / "system" / "zh-en", "system")

    def test_a_voice_of_the_system_that_an_upgrade_replaces(
        self, folder: Path, packs: dict[str, Path], tmp_path: Path, tiny_voice: Path
    ) -> None:
        system = tmp_path / "system"
        system.mkdir()
        for version in ("2.0.0", "2.1.0"):
            copy_pack(tiny_voice, tmp_path / version, name="zh-lite", version=version)
        (system / "zh-lite").symlink_to(tmp_path / "2.0.0")
        store = open_store(folder)
        assert [voice.name for voice in store.voices()] == ["zh-lite"]
        store.use("zh-lite")
        assert [voice.is_current for voice in store.voices()] == [True]
        (system / "zh-lite").unlink()
        (system / "zh-lite").symlink_to(tmp_path / "2.1.0")
        assert current_version(folder) == "2.1.0"
        store.install(packs["1.0.0"])
        assert store.rollback().version == "2.1.0"
        (system / "zh-lite").unlink()
        (system / "zh-lite").symlink_to(tmp_path / "2.0.0")
        assert current_version(folder) == "2.0.0"

    def test_an_unknown_one_names_those_there_are(
        self, folder: Path, packs: dict[str, Path]
    ) -> None:
        store = open_store(folder)
        with pytest.raises(VoiceError, match="there are: none"):
            store.use("zh-en")
        store.install(packs["1.0.0"])
        with pytest.raises(VoiceError, match="there are: zh-en"):
            store.use("fr")


class TestRollback:
    def test_there_and_back(self, folder: Path, packs: dict[str, Path]) -> None:
        store = open_store(folder)
        store.install(packs["1.0.0"])
        store.install(packs["1.1.0"])
        assert store.rollback().version == "1.0.0"
        assert current_version(folder) == "1.0.0"
        assert store.rollback().version == "1.1.0"

    def test_without_a_previous_one(self, folder: Path, packs: dict[str, Path]) -> None:
        store = open_store(folder)
        with pytest.raises(VoiceError, match="no previous voice"):
            store.rollback()
        store.install(packs["1.0.0"])
        with pytest.raises(VoiceError, match="no previous voice"):
            store.rollback()

    def test_a_damaged_previous_one_stays_where_it_is(
        self, folder: Path, packs: dict[str, Path]
    ) -> None:
        store = open_store(folder)
        old = store.install(packs["1.0.0"]).folder
        store.install(packs["1.1.0"])
        (old / "encoder.onnx").write_bytes(b"torn")
        with pytest.raises(VoiceError, match=r"encoder\.onnx"):
            store.rollback()
        assert current_version(folder) == "1.1.0"


# What changes the disk, as the interpreter reports it before it does it.
_CHANGES = {"open", "os.rename", "os.symlink", "os.mkdir", "os.remove", "os.rmdir", "os.chmod"}


def killed_at(point: int, store: Path, action: Callable[[], object], synced: Path) -> bool:
    """Run an action in a child that dies before its change number ``point``.

    The inode of each file that the child synced is noted in ``synced``.

    Returns:
        False when the action ended before it came to that change.
    """
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _die_before_change(point, store, synced)
            action()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def _die_before_change(point: int, store: Path, synced: Path) -> None:
    changes = 0
    log = os.open(synced, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    prefix = os.fspath(store)

    def hook(event: str, arguments: tuple) -> None:
        nonlocal changes
        if event not in _CHANGES or not str(arguments[0]).startswith(prefix):
            return
        if event == "open" and arguments[1] in ("r", "rb"):
            return
        changes += 1
        if changes == point:
            os.kill(os.getpid(), signal.SIGKILL)

    real_fsync = os.fsync

    def fsync(handle: int) -> None:
        real_fsync(handle)
        os.write(log, f"{os.fstat(handle).st_ino}\n".encode())

    os.fsync = fsync  # in the child alone
    sys.addaudithook(hook)


def lose_what_was_not_synced(store: Path, before: set[int], synced: Path) -> None:
    """Do what a power loss does: halve every new file that was never synced."""
    kept = {int(line) for line in synced.read_text().split()} if synced.exists() else set()
    for path in store.rglob("*"):
        if path.is_symlink() or not path.is_file() or path.name == ".lock":
            continue
        inode = path.stat().st_ino
        if inode not in before and inode not in kept:
            os.truncate(path, path.stat().st_size // 2)


def inodes(folder: Path) -> set[int]:
    return {path.stat().st_ino for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("what", ["install", "use", "rollback"])
def test_power_loss_before_any_change_leaves_a_working_voice(
    what: str, tmp_path: Path, packs: dict[str, Path]
) -> None:
    """Every point at which the disk changes is tried, from a fresh store each time."""
    points = 0
    versions = []
    while True:
        points += 1
        folder = tmp_path / f"store{points}"
        store = open_store(folder)
        store.install(packs["1.0.0"])
        if what != "install":
            store.install(packs["1.1.0"])
        actions = {
            "install": lambda store=store: store.install(packs["1.1.0"]),
            "use": lambda store=store: store.use(
                next(v.folder.name for v in store.voices() if v.version == "1.0.0")
            ),
            "rollback": store.rollback,
        }
        before, synced = inodes(folder), tmp_path / f"synced{points}"
        was_killed = killed_at(points, folder, actions[what], synced)
        lose_what_was_not_synced(folder, before, synced)
        versions.append(current_version(folder))
        # Whatever was left, the next installation works and sweeps it.
        assert store.install(packs["1.10.0"]).version == "1.10.0"
        assert current_version(folder) == "1.10.0"
        assert list(folder.glob(".staging*")) == []
        assert all(not voice.problem for voice in store.voices())
        if not was_killed:
            break
    old, new = ("1.0.0", "1.1.0") if what == "install" else ("1.1.0", "1.0.0")
    assert versions[0] == old
    assert versions[-1] == new
    # One change of voice, and never back: the switch is one rename.
    assert versions == sorted(versions, key=[old, new].index)
    assert points > (15 if what == "install" else 4), "the hook saw too few changes"


def test_power_loss_in_the_first_installation_leaves_the_system_s_voice(
    tmp_path: Path, packs: dict[str, Path], tiny_voice: Path
) -> None:
    system = tmp_path / "system"
    copy_pack(tiny_voice, system / "zh-en", version="0.9.0")
    point, was_killed, versions = 0, True, []
    while was_killed:
        point += 1
        folder, synced = tmp_path / f"store{point}", tmp_path / f"synced{point}"
        store = open_store(folder)
        was_killed = killed_at(point, folder, lambda s=store: s.install(packs["1.0.0"]), synced)
        if folder.exists():
            lose_what_was_not_synced(folder, set(), synced)
        voice = load_voice(find_voice(search=(folder, system), environ={}))
        voice.verify()
        versions.append(voice.version)
    assert (versions[0], versions[-1]) == ("0.9.0", "1.0.0")
    assert versions == sorted(versions)
    assert point > 10
