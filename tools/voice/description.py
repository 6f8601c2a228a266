"""``voice.json`` of a pack as the factory reads and writes it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

NAME = "voice.json"


def file_entry(path: Path) -> dict[str, Any]:
    """What ``voice.json`` tells of one file: its name, sha256 (hex) and bytes."""
    data = path.read_bytes()
    return {"path": path.name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def read_description(pack: Path) -> dict[str, Any]:
    """All that the pack's ``voice.json`` says."""
    data: dict[str, Any] = json.loads((pack / NAME).read_text(encoding="utf-8"))
    return data


def write_description(pack: Path, data: dict[str, Any]) -> None:
    """Replace the pack's ``voice.json``."""
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    (pack / NAME).write_text(text, encoding="utf-8")
