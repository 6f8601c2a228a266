"""Installed voices, of which one is current: changed so that power loss leaves a working one.

::

    voices/
      zh-en-1.0.0-3f2a91c07b5d/   a pack, named by what its voice.json says and hashes to
      zh-en-1.1.0-90be4412d8aa/
      current  -> zh-en-1.1.0-90be4412d8aa
      previous -> zh-en-1.0.0-3f2a91c07b5d

A pack is unpacked beside the others, synced, checked and spoken with before
one rename of ``current`` makes it the voice.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from edge_tts.config.environment import state_folder
from edge_tts.errors import OutputError, VoiceError
from edge_tts.voice import (
    CHECKOUT_VOICES,
    SYSTEM_STORE,
    SYSTEM_VOICES,
    Voice,
    load_voice,
)
from edge_tts.voice_archive import sync_folder, unpack_voice

CURRENT = "current"
PREVIOUS = "previous"
_STAGING = ".staging-"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")

_SYSTEM_FOLDERS = {SYSTEM_VOICES: "system", CHECKOUT_VOICES: "checkout"}

# Speaks with the pack in a folder; raises an EdgeTtsError when it can't.
SelfTest = Callable[[Path], None]


@dataclass(frozen=True)
class InstalledVoice:
    """A voice that is there; ``problem`` says why it can't be used.

    ``origin`` is ``installed`` for a pack in the store, ``system`` for what an installer
    placed, ``checkout`` for what lies beside the program's sources.
    """

    folder: Path
    name: str
    version: str
    is_current: bool
    is_previous: bool
    origin: str
    problem: str = ""


def default_store() -> Path:
    """The system's store for root, the user's own for a user, a service's state folder."""
    if os.geteuid() == 0 and not os.environ.get("STATE_DIRECTORY"):
        return SYSTEM_STORE
    return state_folder() / "voices"


class VoiceStore:
    """The voices under one folder.

    Args:
        folder: made when the first voice is installed.
        self_test: speaks with a pack before it becomes current.
        system_folders: folders with packs that came with the program, which
            :meth:`use` can choose too, each folder with their origin.
    """

    def __init__(
        self,
        folder: Path,
        self_test: SelfTest,
        system_folders: Mapping[Path, str] = _SYSTEM_FOLDERS,
    ) -> None:
        self._folder = folder
        self._self_test = self_test
        self._system_folders = system_folders

    def voices(self) -> list[InstalledVoice]:
        """Every pack, torn ones too, sorted by folder."""
        current, previous = self._target(CURRENT), self._target(PREVIOUS)
        voices = []
        for folder in self._packs():
            rest = (
                folder.resolve() == current,
                folder.resolve() == previous,
                self._system_folders.get(folder.parent, "installed"),
            )
            try:
                voice = load_voice(folder)
                voices.append(InstalledVoice(folder, voice.name, voice.version, *rest))
            except VoiceError as exc:
                voices.append(InstalledVoice(folder, folder.name, "?", *rest, problem=str(exc)))
        return voices

    def install(self, source: Path, *, make_current: bool = True) -> Voice:
        """Install a pack, and make it the current voice when it passes its self-test.

        Args:
            source: a ``.tar.gz``, ``.tar`` or ``.zip`` file, or a folder.
            make_current: False leaves the current voice as it is.

        Raises:
            VoiceError: the pack is damaged, was changed, or can't speak; the
                current voice stays.
            OutputError: the store can't be written.
        """
        with self._locked():
            staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=self._folder))
            try:
                voice = load_voice(unpack_voice(source, staging))
                voice.verify()
                name = _pack_folder_name(voice)
                _keep_only_named_files(voice)
                folder = self._put(voice.folder, self._folder / name)
            finally:
                shutil.rmtree(staging, ignore_errors=True)
            if make_current:
                self._switch(folder)
                self._remove_old_packs(voice.name)
            return load_voice(folder)

    def use(self, name: str) -> Voice:
        """Make an installed voice current: a pack's folder name, or a voice's newest pack.

        Raises:
            VoiceError: there is none of that name, or it can't speak.
            OutputError: the store can't be written.
        """
        with self._locked():
            good = [voice for voice in self.voices() if not voice.problem]
            exact = [voice for voice in good if voice.folder.name == name]
            found = exact or [voice for voice in good if voice.name == name]
            if not found:
                known = ", ".join(sorted({voice.name for voice in good})) or "none"
                raise VoiceError(f"no voice {name!r} is installed; there are: {known}")
            newest = max(found, key=lambda voice: _version_key(voice.version))
            self._switch(newest.folder)
            return load_voice(newest.folder)

    def rollback(self) -> Voice:
        """Make the previous voice current again.

        Raises:
            VoiceError: there is no previous voice, or it can't speak.
            OutputError: the store can't be written.
        """
        with self._locked():
            previous = self._target(PREVIOUS)
            if previous is None or previous == self._target(CURRENT):
                raise VoiceError(f"no previous voice in {self._folder} to go back to")
            self._switch(self._folder / os.readlink(self._folder / PREVIOUS))
            return load_voice(previous)

    def _packs(self) -> list[Path]:
        packs: dict[Path, Path] = {}
        for place in (self._folder, *self._system_folders):
            for folder in sorted(place.iterdir()) if place.is_dir() else ():
                # A voice of the system is a link to the release that brought it.
                link = folder.name in (CURRENT, PREVIOUS) or (
                    place == self._folder and folder.is_symlink()
                )
                if folder.is_dir() and not folder.name.startswith(".") and not link:
                    packs.setdefault(folder.resolve(), folder)
        return list(packs.values())

    def _target(self, link: str) -> Path | None:
        path = self._folder / link
        return path.resolve() if path.exists() else None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the store against other installers, and sweep what a killed one left."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with open(self._folder / ".lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                for rest in self._folder.glob(f"{_STAGING}*"):
                    shutil.rmtree(rest, ignore_errors=True)
                yield
        except OSError as exc:
            raise OutputError(
                f"can't write {exc.filename or self._folder}: {exc.strerror}; "
                "run as root for the system's voices"
            ) from exc

    def _put(self, staged: Path, folder: Path) -> Path:
        """Move a checked pack to its place, or use the same pack where it is there and whole."""
        count = 1
        place = folder
        while place.exists():
            if _is_whole(place):
                return place
            # A damaged pack keeps its name: taking it away first would leave a moment without.
            count += 1
            place = folder.with_name(f"{folder.name}-{count}")
        os.chmod(staged, 0o755)
        os.rename(staged, place)
        sync_folder(self._folder)
        return place

    def _switch(self, folder: Path) -> None:
        load_voice(folder).verify()
        self._self_test(folder)
        old = self._target(CURRENT)
        if old == folder.resolve():
            return
        if old is not None and _is_whole(old):
            self._link(PREVIOUS, Path(os.readlink(self._folder / CURRENT)))
        self._link(CURRENT, folder)

    def _link(self, name: str, folder: Path) -> None:
        """Point a link at a pack by one atomic rename.

        One of the system is named as it stands there, not by what its own link leads to now.
        """
        new = self._folder / f"{_STAGING}{name}"
        new.unlink(missing_ok=True)
        place = self._folder / folder
        inside = place.resolve().parent == self._folder.resolve()
        os.symlink(place.resolve().name if inside else place.absolute(), new)
        os.replace(new, self._folder / name)
        sync_folder(self._folder)

    def _remove_old_packs(self, name: str) -> None:
        """Remove what neither link names: older packs of this voice, and damaged packs."""
        for voice in self.voices():
            unused = not voice.is_current and not voice.is_previous
            useless = voice.name == name or voice.problem
            if voice.folder.parent == self._folder and unused and useless:
                shutil.rmtree(voice.folder, ignore_errors=True)


def _is_whole(folder: Path) -> bool:
    try:
        load_voice(folder).verify()
    except VoiceError:
        return False
    return True


def _pack_folder_name(voice: Voice) -> str:
    for value in (voice.name, voice.version):
        if not _PLAIN_NAME.fullmatch(value):
            raise VoiceError(f"voice.json gives {value!r} as a name or version; use plain letters")
    digest = hashlib.sha256((voice.folder / "voice.json").read_bytes()).hexdigest()
    return f"{voice.name}-{voice.version}-{digest[:12]}"


def _keep_only_named_files(voice: Voice) -> None:
    """Drop what came along; texts about the voice stay."""
    named = {voice.folder / "voice.json", *(voice.folder / f.path for f in voice.all_files())}
    for path in voice.folder.rglob("*"):
        is_text = path.suffix in (".md", ".txt") or path.name in ("LICENSE", "NOTICE")
        if path.is_file() and path not in named and not is_text:
            path.unlink()
    for path in (*named, *voice.folder.rglob("*")):
        os.chmod(path, 0o755 if path.is_dir() else 0o644)


def _version_key(version: str) -> tuple[tuple[int, int | str], ...]:
    parts = re.findall(r"\d+|[a-z]+", version.lower())
    return tuple((1, int(part)) if part.isdigit() else (0, part) for part in parts)
