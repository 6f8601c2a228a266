"""What ``normalize`` and ``phonemize`` share: texts in, one line out for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from edge_tts.text.front_end import TextFrontEnd

Answer = Callable[[str], "tuple[str, dict[str, Any]]"]

_OPTIONS = (
    click.option("--json", "as_json", is_flag=True, help="One JSON object a line."),
    click.option(
        "--lexicon-d",
        metavar="FOLDER",
        type=click.Path(path_type=Path),
        help="Folder of your own pronunciations (JSON).",
    ),
    click.option("--voice", metavar="NAME", help="Installed voice, or the path of its folder."),
    click.argument("text", nargs=-1),
)


def text_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The argument and options of both commands."""
    for option in _OPTIONS:
        function = option(function)
    return function


def open_front_end(voice: str | None, lexicon_folder: Path | None) -> TextFrontEnd:
    """The front end of the voice that the settings or ``voice`` name.

    Raises:
        VoiceError: no such voice, or its table can't be used.
        UsageError: ``lexicon_folder`` is not a folder.
        LexiconError: an entry of it is wrong.
    """
    from edge_tts.config import load_settings
    from edge_tts.errors import UsageError
    from edge_tts.text.front_end import TextFrontEnd
    from edge_tts.text.lexicon import Lexicon
    from edge_tts.voice import find_voice, load_voice

    if lexicon_folder is not None and not lexicon_folder.is_dir():
        raise UsageError(f"--lexicon-d {lexicon_folder}: there is no such folder")
    settings = load_settings(overrides={"voice.name": voice, "text.lexicon_folder": lexicon_folder})
    pack = load_voice(find_voice(settings.voice.name))
    lexicon = Lexicon.open(pack.lexicon_path(), settings.text.lexicon_folder)
    return TextFrontEnd(
        lexicon,
        pack.phonemes,
        max_phonemes=pack.max_phonemes,
        default_language="zh" if settings.text.default_language == "zh" else "en",
    )


def answer_lines(texts: tuple[str, ...], answer: Answer, *, as_json: bool) -> int:
    """Print one line for each text; without texts, or with ``-``, for each line of standard input.

    ``answer`` gives the line to print and the fields of the JSON object. A text
    that fails gets an empty line, and a message on standard error; the exit status
    is then that of the last failure.
    """
    import json

    from edge_tts.errors import InputError

    status = 0
    for where, data in _sources(texts):
        fields: dict[str, Any] = {"text": data.decode("utf-8", "replace")}
        line = ""
        try:
            text, warnings = _decode(data)
            fields["text"] = text
            line, more = answer(text)
            fields |= more
            fields["warnings"] = [*warnings, *more.get("warnings", ())]
        except InputError as exc:
            status = exc.exit_code
            fields |= {"error": str(exc)}
            click.echo(f"edgetts: {where}{exc}", err=True)
        for warning in fields.get("warnings", ()):
            click.echo(f"edgetts: warning: {where}{warning}", err=True)
        # One write a line, out at once: the reader may be a program in a dialogue with us.
        click.echo(json.dumps(fields, ensure_ascii=False) if as_json else line)
    return status


def _decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    from edge_tts.text.decoding import decode_text

    return decode_text(data)


def _sources(texts: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Where a text comes from, for messages, and its bytes."""
    import os
    import sys

    from edge_tts.errors import NothingToSpeakError

    if texts and texts != ("-",):
        for number, text in enumerate(texts, 1):
            yield ("" if len(texts) == 1 else f"text {number}: "), os.fsencode(text)
        return
    number = 0
    for number, line in enumerate(sys.stdin.buffer, 1):
        yield f"line {number}: ", line.rstrip(b"\r\n")
    if not number:
        raise NothingToSpeakError("nothing to speak: standard input is empty")
