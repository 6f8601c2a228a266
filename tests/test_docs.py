"""What the documents tell people to type exists: commands, options, files, settings."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from edge_tts.cli import LazyGroup, cli
from edge_tts.config.loader import section_types

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
FENCE = re.compile(r"^```[a-z]*\n(.*?)^```", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
# A command starts a line, follows another one, or stands behind a full path.
COMMAND = re.compile(
    r"(?:^|[|;&(`]\s*|\s|/)edgetts((?:\s+(?:\"[^\"]*\"|'[^']*'|[^\s|;&()<>`\"']+))+)"
)
FILE = re.compile(r"(?<![\w/.-])(?:deploy|docs|tools|systemd|models|edge_tts|tests)/[\w./-]*\w")
ASSIGNMENT = re.compile(r"^([a-z_]+) = ")


def code_of(page: Path) -> list[str]:
    text = page.read_text("utf-8")
    blocks = [line for block in FENCE.findall(text) for line in block.splitlines()]
    return blocks + SPAN.findall(FENCE.sub("", text))


def commands_of(page: Path) -> list[str]:
    return [found.strip() for code in code_of(page) for found in COMMAND.findall(code)]


ALL_COMMANDS = sorted(
    {(page.relative_to(ROOT), command) for page in PAGES for command in commands_of(page)}
)


@pytest.mark.parametrize(("page", "command"), ALL_COMMANDS, ids=lambda value: str(value)[:60])
def test_each_command_parses(page: Path, command: str) -> None:
    """Only the names and options are looked at: nothing is run."""
    words = shlex.split(command)
    if words[0] in ("--help", "--version", "--config"):
        return
    name, *rest = words
    found: click.Command | None = LazyGroup().get_command(click.Context(cli), name)
    assert found is not None, f"{page}: edgetts {command}"
    while isinstance(found, click.Group) and rest and "|" not in rest[0]:
        name, *rest = rest
        found = found.get_command(click.Context(found), name)
        assert found is not None, f"{page}: edgetts {command}"
    assert found is not None
    known = {option for param in found.params for option in param.opts} | {"--help", "-h"}
    used = [word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)]
    assert set(used) <= known, f"{page}: edgetts {command}"


def test_commands_were_found() -> None:
    assert len(ALL_COMMANDS) > 20
    assert {str(page) for page, _ in ALL_COMMANDS} >= {"README.md", "docs/alarm-scripts.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_file_that_a_page_names_is_there(page: Path) -> None:
    named = {found for code in code_of(page) for found in FILE.findall(code)}
    named |= {
        target.partition("#")[0]
        for target in re.findall(r"\]\((?!https?:)([^)#][^)]*)\)", page.read_text("utf-8"))
    }
    missing = [
        name
        for name in named
        if "*" not in name and not (ROOT / name).exists() and not (page.parent / name).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_setting_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    sections = section_types()
    known = {name for kind in sections.values() for name in kind.__dataclass_fields__}
    named = {
        found[1] for span in SPAN.findall(text) if (found := ASSIGNMENT.match(span)) is not None
    }
    assert named <= known
    assert set(re.findall(r"`\[([a-z]+)\]`", text)) <= set(sections)


def test_python_in_the_pages_compiles() -> None:
    for page in PAGES:
        for block in re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
            compile(block, str(page), "exec")
