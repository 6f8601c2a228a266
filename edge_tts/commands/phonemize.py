"""``edgetts phonemize``: print the phonemes of a text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from edge_tts.commands._text_lines import answer_lines, open_front_end, text_options

if TYPE_CHECKING:
    from edge_tts.text.words import Tones

EPILOG = """\b
Formats:
  phonemes  symbols of the voice; | stands between two words
  pinyin    dian4 ji1 for Chinese, ARPAbet (P IY1) for English, no pauses
  ids       numbers of the voice's symbols, with the marks of both ends
\b
Examples:
  edgetts phonemize --format pinyin "电机过载"
  echo "PLC 通讯故障" | edgetts phonemize
"""


@click.command(epilog=EPILOG)
@click.option("--format", "form", type=click.Choice(["phonemes", "pinyin", "ids"]),
              default="phonemes", show_default=True, help="What to print.")  # fmt: skip
@click.option("--tones", type=click.Choice(["surface", "citation"]), default="surface",
              show_default=True, help="Tones as spoken, or as in a dictionary.")  # fmt: skip
@text_options
def command(
    text: tuple[str, ...],
    voice: str | None,
    lexicon_d: Path | None,
    as_json: bool,
    form: str,
    tones: Tones,
) -> int:
    """Print how each TEXT is pronounced, one line for each.

    Without TEXT, or with -, lines of standard input are read one at a time. Exit status 65:
    a text held nothing speakable (its line is empty).
    """
    from edge_tts.text.inventory import END, START, WORD_BOUNDARY

    front_end = open_front_end(voice, lexicon_d)

    def answer(line: str) -> tuple[str, dict[str, Any]]:
        phonemes: list[str] = []
        ids: list[int] = []
        for phrase in front_end.phrases(line, tones):
            phonemes += phrase.phonemes
            ids += phrase.ids[0].tolist()
        fields: dict[str, Any] = {
            "phonemes": phonemes, "ids": ids, "warnings": list(front_end.warnings),
        }  # fmt: skip
        if form == "ids":
            return " ".join(map(str, ids)), fields
        if form == "phonemes":
            shown = ("|" if p == WORD_BOUNDARY else p for p in phonemes if p not in (START, END))
            return " ".join(shown), fields
        words = [word for word in front_end.phonemize(line, tones) if word.language != "pause"]
        fields["words"] = [word._asdict() for word in words]
        return " ".join(s for word in words for s in word.syllables), fields

    return answer_lines(text, answer, as_json=as_json)
