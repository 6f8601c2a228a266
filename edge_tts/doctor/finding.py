"""What an examination finds, and what it looks through."""

from __future__ import annotations

import grp
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

OK = "ok"
INFO = "info"
WARNING = "warning"
# Would keep the device from speaking.
ERROR = "error"
SEVERITIES = (OK, INFO, WARNING, ERROR)


@dataclass(frozen=True)
class Finding:
    """One thing found: how bad, about what, in one sentence, and the command that fixes it."""

    severity: str
    subject: str
    message: str
    fix: str = ""


@dataclass(frozen=True)
class CommandResult:
    """Exit status and output of a command; ``status`` is None when it did not run or end."""

    status: int | None
    output: str

    @property
    def succeeded(self) -> bool:
        return self.status == 0


def run_command(command: Sequence[str], timeout_s: float) -> CommandResult:
    """Run a command to its end or its time limit; never raises.

    What it writes to standard error follows what it writes to standard output.
    """
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return CommandResult(None, f"no answer within {timeout_s:g} s")
    except OSError as exc:
        return CommandResult(None, f"{command[0]}: {exc.strerror}")
    output = (done.stdout + done.stderr).decode("utf-8", "replace")
    return CommandResult(done.returncode, output)


def _group_names() -> frozenset[str]:
    names = set()
    for group_id in {*os.getgroups(), os.getegid()}:
        try:
            names.add(grp.getgrgid(group_id).gr_name)
        except KeyError:
            continue
    return frozenset(names)


@dataclass(frozen=True)
class System:
    """The machine as the checks reach it; a test describes one by a folder and functions."""

    root: Path = Path("/")
    run: Callable[[Sequence[str], float], CommandResult] = run_command
    access: Callable[[Path, int], bool] = os.access
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    groups: frozenset[str] = field(default_factory=_group_names)
    is_root: bool = field(default_factory=lambda: os.geteuid() == 0)

    def read(self, path: str) -> str:
        """Text of a file under the root without its white space; empty when unreadable."""
        try:
            return (self.root / path).read_bytes().decode("utf-8", "replace").strip("\0 \n")
        except OSError:
            return ""

    def glob(self, pattern: str) -> list[Path]:
        """Paths under the root that match, sorted."""
        return sorted(self.root.glob(pattern))
