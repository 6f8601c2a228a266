"""Reads a settings file and the environment into :class:`Settings`, strictly."""

from __future__ import annotations

import difflib
import math
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, get_type_hints

from edge_tts.config import environment
from edge_tts.config.sections import Settings
from edge_tts.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_KINDS: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    Path: "a path (a string)",
    Path | None: "a path (a string)",
    tuple[str, ...]: "a list of strings",
    tuple[int, ...]: "a list of whole numbers",
}


def section_types() -> dict[str, Any]:
    """Section name -> its dataclass, in the order of the reference."""
    hints = get_type_hints(Settings)
    return {section.name: hints[section.name] for section in fields(Settings)}


def all_settings() -> Iterator[tuple[str, Field[Any], Any]]:
    """Every setting as (section name, dataclass field, resolved type)."""
    for section, section_type in section_types().items():
        hints = get_type_hints(section_type)
        for item in fields(section_type):
            yield section, item, hints[item.name]


def load_settings(
    path: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Settings:
    """Settings from defaults, then the file, then the environment, then ``overrides``.

    Args:
        path: The settings file; None takes ``EDGETTS_CONFIG``, the user's or
            the system's file, or none (see :mod:`edge_tts.config.environment`).
        environ: Variables to read instead of the process's own.
        overrides: ``"section.name" -> value``, as command line options give
            them; entries that are None are left out.

    Raises:
        ConfigError: a file can't be read, or a key or value is wrong; the
            message names the file, the key and what would be right.
    """
    variables = os.environ if environ is None else environ
    asked_for = path is not None
    if path is None:
        path, asked_for = environment.settings_file(variables)
    values = read_settings_file(path, must_exist=asked_for) if path is not None else {}
    for variable, key in environment.OVERRIDES.items():
        if variables.get(variable):
            values[key] = (f"the variable {variable}", variables[variable])
    for key, value in (overrides or {}).items():
        if value is not None:
            values[key] = ("the command line", value)
    return _build(values)


def read_settings_file(path: Path, *, must_exist: bool = True) -> dict[str, tuple[str, object]]:
    """``"section.name" -> (path, value)`` of one TOML file; keys are not checked yet.

    Raises:
        ConfigError: the file can't be read or is not TOML.
    """
    try:
        text = path.read_bytes().decode("utf-8")
        document = tomllib.loads(text)
    except FileNotFoundError as exc:
        if not must_exist:
            return {}
        raise ConfigError(f"{path}: there is no such settings file") from exc
    except OSError as exc:
        raise ConfigError(f"{path}: can't be read: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{path}: is not UTF-8 at byte {exc.start}; save it as UTF-8") from exc
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"{path}: is not TOML: {exc}") from exc
    values: dict[str, tuple[str, object]] = {}
    sections = section_types()
    for section, content in document.items():
        if section not in sections:
            where = f"{path}: [{section}] is not a section" if isinstance(content, dict) else (
                f"{path}: {section} stands outside of every section"
            )  # fmt: skip
            raise ConfigError(f"{where}{_nearest(section, sections)}")
        if not isinstance(content, dict):
            raise ConfigError(f"{path}: {section} is a section, write [{section}]")
        for name, value in content.items():
            values[f"{section}.{name}"] = (str(path), value)
    return values


def _build(values: Mapping[str, tuple[str, object]]) -> Settings:
    known = {f"{section}.{item.name}": (item, kind) for section, item, kind in all_settings()}
    chosen: dict[str, dict[str, Any]] = {section: {} for section in section_types()}
    for key, (source, value) in values.items():
        if key not in known:
            raise ConfigError(f"{source}: {key} is not a setting{_nearest(key, known)}")
        section, _, name = key.partition(".")
        chosen[section][name] = _convert(source, key, value, *known[key])
    settings = Settings(**{name: kind(**chosen[name]) for name, kind in section_types().items()})
    _check_together(settings)
    return settings


def _convert(source: str, key: str, value: object, item: Field[Any], kind: Any) -> Any:
    meta = item.metadata
    try:
        converted = _as_kind(value, kind)
    except (TypeError, ValueError) as exc:
        raise ConfigError(f"{source}: {key} must be {_KINDS[kind]}, not {value!r}") from exc
    low, high, choices = meta["low"], meta["high"], meta["choices"]
    unit = f" {meta['unit']}" if meta["unit"] else ""
    if choices and converted not in choices:
        allowed = ", ".join(choices)
        raise ConfigError(
            f"{source}: {key} is {converted!r}, but must be one of {allowed}"
            f"{_nearest(str(converted), choices)}"
        )
    if low is not None and converted < low:
        raise ConfigError(f"{source}: {key} is {converted:g}, the least is {low:g}{unit}")
    if high is not None and converted > high:
        raise ConfigError(f"{source}: {key} is {converted:g}, the most is {high:g}{unit}")
    if key == "socket.mode":
        _check_mode(source, key, converted)
    return converted


def _as_kind(value: object, kind: Any) -> Any:
    """TOML's types are taken as they are; a whole number will do for a float."""
    if kind in (Path, Path | None):
        if not isinstance(value, (str, Path)) or not str(value):
            raise TypeError
        return Path(value).expanduser()
    if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise ValueError
        return float(value)
    if kind in (tuple[str, ...], tuple[int, ...]):
        element = str if kind == tuple[str, ...] else int
        if not isinstance(value, (list, tuple)) or any(type(each) is not element for each in value):
            raise TypeError
        return tuple(value)
    if type(value) is not kind:
        raise TypeError
    return value


def _check_mode(source: str, key: str, mode: str) -> None:
    if not (3 <= len(mode) <= 4 and all(digit in "01234567" for digit in mode)):
        raise ConfigError(f'{source}: {key} must be an octal file mode such as "0660"')


def _check_together(settings: Settings) -> None:
    queue = settings.queue
    if queue.reserved_critical >= queue.max_waiting:
        raise ConfigError(
            f"queue.reserved_critical ({queue.reserved_critical}) must be less than "
            f"queue.max_waiting ({queue.max_waiting}), or nothing else could ever wait"
        )


def _nearest(name: str, known: Any) -> str:
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {found[0]}?" if found else ""
