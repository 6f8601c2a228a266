"""Writes what :mod:`edge_tts.config.sections` says: as Markdown, as a settings file, as TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field
from pathlib import Path
from typing import Any

from edge_tts.config.environment import OVERRIDES
from edge_tts.config.loader import all_settings, section_types
from edge_tts.config.sections import Settings

_KIND_NAMES: dict[Any, str] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "string",
    Path: "path",
    Path | None: "path",
    tuple[str, ...]: "list of strings",
    tuple[int, ...]: "list of whole numbers",
}

_MARKDOWN_HEAD = """\
# Settings

Written by `edgetts config reference`; edit the code, not this page.

Settings are read from the first of these that exists: the file named by `--config` or
`EDGETTS_CONFIG`, `~/.config/edge-tts/edge-tts.toml`, `/etc/edge-tts/edge-tts.toml`. The variables
{variables} override single settings, and options of a command override both. An unknown key or
section is an error that names the nearest one. `edgetts config check FILE` tries a file,
`edgetts config show` prints what is in force.

`<state>`, `<cache>`, `<config>` and `<runtime>` are `/var/lib/edge-tts`, `/var/cache/edge-tts`,
`/etc/edge-tts` and `/run/edge-tts` for the service, and the XDG folders (`~/.local/state/edge-tts`
and so on) for a user.
"""

_TOML_HEAD = """\
# Settings of Edge TTS Runtime. Every line that is commented out shows the default.
# Take away the # to change one, then: edgetts config check, systemctl reload edge-tts
"""


def markdown() -> str:
    """The configuration reference, docs/configuration.md."""
    variables = ", ".join(f"`{name}` (`{key}`)" for name, key in OVERRIDES.items())
    lines = [_MARKDOWN_HEAD.format(variables=variables)]
    for section, section_type in section_types().items():
        lines += [f"## [{section}]", "", (section_type.__doc__ or "").strip(), ""]
        lines += [
            "| key | kind | default | unit | range | what it does |",
            "|---|---|---|---|---|---|",
        ]
        for name, item, kind in all_settings():
            if name == section:
                meta = item.metadata
                cells = (
                    f"`{item.name}`", _KIND_NAMES[kind], f"`{_shown_default(item)}`",
                    meta["unit"], _range(item), meta["doc"],
                )  # fmt: skip
                lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def commented_toml(chosen: Mapping[str, object] | None = None) -> str:
    """A settings file in which every setting is commented out at its default.

    ``chosen`` (``"section.name" -> value``) are set instead.
    """
    chosen = chosen or {}
    lines = [_TOML_HEAD]
    for section, section_type in section_types().items():
        lines += [f"# {(section_type.__doc__ or '').strip()}", f"[{section}]"]
        for name, item, _kind in all_settings():
            if name != section:
                continue
            facts = ", ".join(filter(None, (item.metadata["unit"], _range(item))))
            lines.append(f"# {item.metadata['doc']}" + (f" [{facts}]" if facts else ""))
            lines.append(f"# {item.name} = {_shown_default(item)}")
            key = f"{section}.{item.name}"
            if key in chosen:
                lines.append(f"{item.name} = {toml_value(chosen[key])}")
        lines.append("")
    return "\n".join(lines)


def effective_toml(settings: Settings) -> str:
    """The settings in force, as a file that would give them again."""
    lines: list[str] = []
    current = ""
    for section, item, _kind in all_settings():
        if section != current:
            lines += ["", f"[{section}]"] if lines else [f"[{section}]"]
            current = section
        value = getattr(getattr(settings, section), item.name)
        lines.append(
            f"# {item.name} is not set" if value is None else f"{item.name} = {toml_value(value)}"
        )
    return "\n".join(lines) + "\n"


def toml_value(value: object) -> str:
    """One value in TOML's spelling (a JSON string is a TOML basic string)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(toml_value(each) for each in value) + "]"
    return json.dumps(str(value), ensure_ascii=False)


def _shown_default(item: Field[Any]) -> str:
    shown = item.metadata["shown_default"]
    if shown:
        return f'"{shown}"'
    default = item.default
    if default is None or default is MISSING:
        return '""'
    return toml_value(default)


def _range(item: Field[Any]) -> str:
    meta = item.metadata
    if meta["choices"]:
        return ", ".join(meta["choices"])
    low, high = meta["low"], meta["high"]
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    if low is not None:
        return f"from {low:g}"
    return f"up to {high:g}" if high is not None else ""
