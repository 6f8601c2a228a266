"""The deployment scripts: what they refuse, what they would do, what they share."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(ROOT.glob("deploy/*.sh")) + sorted(ROOT.glob("tools/*.sh"))


def bash(*command: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", *command],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environ},
    )


def lib(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return bash("-c", f". {ROOT}/deploy/lib.sh; set -uo pipefail; {code}", **environ)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_bash_reads_it(script: Path) -> None:
    assert bash("-n", str(script)).returncode == 0


@pytest.mark.parametrize("name", ["install.sh", "make_bundle.sh", "build_deb.sh", "quickstart.sh"])
def test_help_shows_the_command(name: str) -> None:
    done = bash(f"{ROOT}/deploy/{name}", "--help")
    assert done.returncode == 0
    assert f"deploy/{name}" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--frobnicate"], "unknown option --frobnicate"),
        (["--bundle"], "--bundle needs a value"),
        (["--cpu", "two"], "--cpu takes the number of a core, not two"),
    ],
)
def test_install_refuses_what_it_does_not_know(arguments: list[str], message: str) -> None:
    done = bash(f"{ROOT}/deploy/install.sh", *arguments)
    assert done.returncode == 64
    assert message in done.stderr


def test_a_bundle_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(b"not a tar file")
    done = bash(f"{ROOT}/deploy/install.sh", "--dry-run", "--bundle", str(tmp_path / "x.tar"))
    assert done.returncode == 1
    assert "is not a bundle, or is damaged" in done.stderr


def test_a_damaged_bundle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels/x.whl").write_text("torn")
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  wheels/x.whl\n")
    done = bash(f"{ROOT}/deploy/install.sh", "--dry-run", "--bundle", str(tmp_path))
    assert done.returncode == 1
    assert "is damaged; copy it again" in done.stderr


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("make_bundle.sh", ["--arch", "riscv64"], "--arch takes arm64 or amd64, not riscv64"),
        ("make_bundle.sh", ["--suite", "sid"], "--suite takes bookworm, trixie, jammy or noble"),
        ("build_deb.sh", ["--suite", "sid"], "--suite takes bookworm, trixie, jammy or noble"),
        ("build_deb.sh", ["--suite"], "--suite needs a value"),
    ],
)
def test_a_target_that_nobody_has_is_refused(
    script: str, arguments: list[str], message: str
) -> None:
    done = bash(f"{ROOT}/deploy/{script}", *arguments)
    assert done.returncode == 1
    assert message in done.stderr


def test_where_apt_may_not_install_the_one_command_is_named(tmp_path: Path) -> None:
    """Neither root nor a password-less sudo: nothing is tried, the command is ready to copy."""
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "sudo").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "apt-get").write_text("#!/bin/sh\necho called >&2\n")
    for tool in tmp_path.iterdir():
        tool.chmod(0o755)
    done = lib(
        'apt_install no-such-package-here || echo "run: $APT_COMMAND"',
        PATH=f"{tmp_path}:{os.environ['PATH']}",
    )
    assert done.stdout == (
        "run: sudo apt-get update && sudo apt-get install -y no-such-package-here\n"
    )
    assert "called" not in done.stderr


def test_what_is_installed_already_is_not_asked_for() -> None:
    assert lib("missing_packages dpkg no-such-package-here").stdout == "no-such-package-here\n"
    assert lib("apt_install dpkg && echo nothing to do").stdout == "nothing to do\n"


def test_a_python_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    old = tmp_path / "python-old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    found = lib("find_python", PYTHON=str(old)).stdout.strip()
    assert found
    assert found != str(old)


@pytest.mark.skipif(os.geteuid() != 0, reason="the installer asks for root first")
def test_a_jetson_gets_its_groups_settings_drop_in_and_engines() -> None:
    done = bash(f"{ROOT}/deploy/install.sh", "--dry-run", DEVICE_MODEL="NVIDIA Jetson Orin Nano")
    assert done.returncode == 0, done.stderr
    told = done.stdout + done.stderr
    # Of the two groups, those that this machine has.
    assert "usermod --append --groups video edge-tts" in told
    assert "deploy/jetson.toml" in told
    assert "systemd/drop-ins/jetson.conf" in told
    assert "edgetts engine build" in told
    assert told.index("engine build") < told.index("start the service")


@pytest.mark.skipif(os.geteuid() != 0, reason="the installer asks for root first")
def test_another_board_gets_none_of_that() -> None:
    done = bash(f"{ROOT}/deploy/install.sh", "--dry-run", DEVICE_MODEL="Raspberry Pi 5")
    assert done.returncode == 0, done.stderr
    told = done.stdout + done.stderr
    assert "jetson" not in told
    assert "engine" not in told
