"""``edgetts voices``: list, verify, install and switch voices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from edge_tts.voice_store import InstalledVoice, VoiceStore

TEST_SENTENCE = "测试，alarm test 1 2 3"
_TEST_TIMEOUT_S = 120.0
_ORIGINS = {
    "installed": "",
    "system": "  (came with the program)",
    "checkout": "  (of this checkout, not installed)",
}
_store_option = click.option(
    "--store",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of installed voices, instead of the system's or the user's own.",
)


@click.group()
def command() -> None:
    """List, verify, install and switch voices."""


@command.command("list", epilog="Example: edgetts voices list --json")
@_store_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_(store: Path | None, as_json: bool) -> None:
    """List the voices that are there; * is the current one, - the previous one.

    Without a voice that was switched to, the current one is that which
    speaks unless the settings name another.
    """
    voices = _voices(store)
    if as_json:
        import json
        from dataclasses import asdict

        rows = [asdict(voice) | {"folder": str(voice.folder)} for voice in voices]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for voice in voices:
        mark = "*" if voice.is_current else "-" if voice.is_previous else " "
        origin = _ORIGINS[voice.origin]
        trouble = f"  unusable: {voice.problem}" if voice.problem else ""
        click.echo(f"{mark} {voice.name} {voice.version}  {voice.folder}{origin}{trouble}")
    if not voices:
        click.echo("no voice is installed; see `edgetts voices install --help`", err=True)


def _voices(store: Path | None) -> list[InstalledVoice]:
    from dataclasses import replace

    from edge_tts.errors import VoiceError
    from edge_tts.voice import find_voice

    voices = _open_store(store).voices()
    if any(voice.is_current for voice in voices):
        return voices
    try:
        speaking = find_voice(environ={}).resolve()
    except VoiceError:
        return voices
    return [
        replace(voice, is_current=voice.folder.resolve() == speaking and not voice.problem)
        for voice in voices
    ]


@command.command(epilog="Example: edgetts voices verify zh-en")
@click.argument("voices", nargs=-1, metavar="[NAME|FOLDER]...")
@_store_option
def verify(voices: tuple[str, ...], store: Path | None) -> None:
    """Compare every file of voices with its sha256; all installed ones without a NAME."""
    from edge_tts.errors import VoiceError
    from edge_tts.voice import find_voice, load_voice

    folders = [find_voice(name) for name in voices]
    folders = folders or [voice.folder for voice in _open_store(store).voices()]
    if not folders:
        folders = [find_voice()]
    damaged = []
    for folder in folders:
        try:
            voice = load_voice(folder)
            voice.verify()
            click.echo(f"{folder}: {voice.name} {voice.version} is whole")
        except VoiceError as exc:
            click.echo(f"{folder}: {exc}")
            damaged.append(str(folder))
    if damaged:
        raise VoiceError(f"damaged: {', '.join(damaged)}; install them again")


@command.command(epilog="Example: sudo edgetts voices install zh-en-1.1.0.tar.gz")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--keep-current", is_flag=True, help="Install without switching to it.")
@_store_option
def install(source: Path, keep_current: bool, store: Path | None) -> None:
    """Install the voice in SOURCE (.tar.gz, .zip or a folder) and switch to it.

    It becomes the current voice only when each file matches its sha256 and it
    has spoken a test sentence; else the voice used so far stays.
    """
    voice = _open_store(store).install(source, make_current=not keep_current)
    click.echo(f"installed {voice.name} {voice.version} in {voice.folder}")
    if not keep_current:
        _tell_how_to_restart()


@command.command(epilog="Example: sudo edgetts voices use zh-en")
@click.argument("name")
@_store_option
def use(name: str, store: Path | None) -> None:
    """Switch to the installed voice NAME (or to one pack, by its folder's name)."""
    voice = _open_store(store).use(name)
    click.echo(f"the voice is now {voice.name} {voice.version}")
    _tell_how_to_restart()


@command.command(epilog="Example: sudo edgetts voices rollback")
@_store_option
def rollback(store: Path | None) -> None:
    """Switch back to the voice before the last switch."""
    voice = _open_store(store).rollback()
    click.echo(f"the voice is now {voice.name} {voice.version}")
    _tell_how_to_restart()


def _open_store(folder: Path | None) -> VoiceStore:
    from edge_tts.voice_store import VoiceStore, default_store

    return VoiceStore(folder or default_store(), speak_test_sentence)


def speak_test_sentence(folder: Path) -> None:
    """Speak with a pack in a process of its own, which a damaged network may take down.

    Raises:
        VoiceError: it failed, took too long, or spoke nothing that could be heard.
    """
    import os
    import subprocess
    import sys

    from edge_tts.errors import VoiceError

    try:
        done = subprocess.run(
            [sys.executable, "-m", "edge_tts", "synth", TEST_SENTENCE, "-o", "-"],
            env={**os.environ, "EDGETTS_VOICE": str(folder)},
            capture_output=True,
            timeout=_TEST_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        raise VoiceError(f"the voice in {folder} did not finish a test sentence") from exc
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = lines[-1] if lines else f"status {done.returncode}"
        raise VoiceError(f"the voice in {folder} failed its test sentence: {reason}")
    samples = memoryview(done.stdout[: len(done.stdout) // 2 * 2]).cast("h")
    # A tenth of a second above -40 dBFS is the least that a word is.
    loud = sum(1 for sample in samples[::10] if abs(sample) > 327) * 10
    if loud < 2400:
        raise VoiceError(f"the voice in {folder} spoke nothing that could be heard")


def _tell_how_to_restart() -> None:
    click.echo("a running daemon takes it up with: sudo systemctl restart edge-tts", err=True)
