"""The packs of the checkout, and copies of the tiny voice under other names and versions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from edge_tts.voice import CHECKOUT_VOICES, GRAPHS, load_voice


def checkout_packs() -> list[Path]:
    """The folders of the voices in ``models``."""
    return sorted(path.parent for path in CHECKOUT_VOICES.glob("*/voice.json"))


def packs_with_fp32() -> list[Path]:
    """Those of them whose graphs are there in fp32 too; a lite voice has none."""
    return [
        folder
        for folder in checkout_packs()
        if all("fp32" in load_voice(folder).graphs[graph].files for graph in GRAPHS)
    ]


def copy_pack(source: Path, folder: Path, *, name: str = "zh-en", version: str = "1.0.0") -> Path:
    """Copy a pack to ``folder`` and give it a name and a version."""
    shutil.copytree(source, folder)
    description = json.loads((folder / "voice.json").read_text(encoding="utf-8"))
    description.update(name=name, version=version)
    (folder / "voice.json").write_text(json.dumps(description), encoding="utf-8")
    return folder
