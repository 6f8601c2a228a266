"""Copies of the tiny voice under other names and versions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path


def copy_pack(source: Path, folder: Path, *, name: str = "zh-en", version: str = "1.0.0") -> Path:
    """Copy a pack to ``folder`` and give it a name and a version."""
    shutil.copytree(source, folder)
    description = json.loads((folder / "voice.json").read_text(encoding="utf-8"))
    description.update(name=name, version=version)
    (folder / "voice.json").write_text(json.dumps(description), encoding="utf-8")
    return folder
