"""``edgetts normalize``: print a text as it will be spoken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from edge_tts.commands._text_lines import answer_lines, open_front_end, text_options

EPILOG = """\b
Examples:
  edgetts normalize "主轴温度 85℃" "Error E-015"
  tail -f alarms.log | edgetts normalize
"""


@click.command(epilog=EPILOG)
@text_options
def command(text: tuple[str, ...], voice: str | None, lexicon_d: Path | None, as_json: bool) -> int:
    """Print each TEXT with its numbers, units and codes spelled out, one line for each.

    Without TEXT, or with -, lines of standard input are read one at a time. Exit status 65:
    a text held nothing speakable (its line is empty).
    """
    front_end = open_front_end(voice, lexicon_d)

    def answer(line: str) -> tuple[str, dict[str, Any]]:
        from edge_tts.errors import NothingToSpeakError

        result = front_end.normalize(line)
        if not any(character.isalnum() for character in result.text):
            what = "the text is empty" if not line.strip() else "the text holds no word or number"
            raise NothingToSpeakError(f"nothing to speak: {what}")
        said = " ".join(result.text.split())
        return said, {"normalized": said, "warnings": list(result.warnings)}

    return answer_lines(text, answer, as_json=as_json)
