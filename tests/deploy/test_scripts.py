"""The deployment scripts: what they refuse, what they would do, what they share."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
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


@pytest.fixture(scope="module")
def pruned(tmp_path_factory: pytest.TempPathFactory, tiny_voice: Path) -> Path:
    """This environment's packages without what an installation leaves out."""
    folder = tmp_path_factory.mktemp("pruned") / "packages"
    folder.mkdir()
    names = ["edge_tts", "click", "numpy", "onnxruntime", "tomli"]
    for name in names:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            continue
        place = Path(found.origin).parent
        for part in (place, *place.parent.glob(f"{name}.libs"), *place.parent.glob(f"{name}-*")):
            if part.is_dir():
                link_tree(part, folder / part.name)
    done = lib(f"prune_packages {folder}")
    assert done.returncode == 0, done.stderr
    return folder


def link_tree(source: Path, target: Path) -> None:
    """Hard links where the file system has them: these packages are large."""
    try:
        subprocess.run(["cp", "-rlL", source, target], check=True, capture_output=True)
    except subprocess.CalledProcessError:
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)


def edgetts(packages: Path, voice: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command with these packages and Python's own, and no others."""
    environ = {name: value for name, value in os.environ.items() if "EDGETTS" not in name}
    return subprocess.run(
        [sys.executable, "-S", "-m", "edge_tts", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=packages,
        env={
            **environ,
            "PYTHONPATH": str(packages),
            "EDGETTS_VOICE": str(voice),
            "EDGETTS_CONFIG": os.devnull,
        },
    )


def test_what_an_installation_leaves_out_is_gone(pruned: Path) -> None:
    left = {path.relative_to(pruned).as_posix() for path in pruned.rglob("*")}
    gone = {"numpy/random", "numpy/distutils", "numpy/ma", "numpy/f2py", "numpy/_core/tests"}
    gone |= {"onnxruntime/transformers", "onnxruntime/quantization", "onnxruntime/tools"}
    assert not left & gone
    assert not any(path.endswith((".pyi", ".a", ".pxd")) for path in left)
    assert {"numpy/fft", "numpy/linalg", "onnxruntime/LICENSE"} <= left


@pytest.mark.parametrize(
    "arguments",
    [
        ["synth", "电机过载, pump 2 high", "-o", os.devnull],
        ["bench", "--lines", "LINES", "--rounds", "1"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_the_rest_speaks(
    pruned: Path, tiny_voice: Path, tmp_path: Path, arguments: list[str]
) -> None:
    lines = tmp_path / "lines"
    lines.write_text("电机过载\n")
    arguments = [str(lines) if each == "LINES" else each for each in arguments]
    done = edgetts(pruned, tiny_voice, *arguments)
    assert done.returncode == 0, done.stderr


def test_the_rest_passes_the_doctor(pruned: Path, tiny_voice: Path) -> None:
    done = edgetts(pruned, tiny_voice, "doctor", "--json")
    findings = json.loads(done.stdout)["findings"]
    assert [each for each in findings if "broke down" in each["message"]] == []
    by_subject = {each["subject"]: each["severity"] for each in findings}
    assert by_subject["onnxruntime"] == by_subject["voice"] == by_subject["packages"] == "ok"


def test_sizes_are_printed_by_package(tmp_path: Path) -> None:
    for name, size in (("large", 3 << 20), ("small", 1000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data").write_bytes(os.urandom(size))
    lines = lib(f"print_sizes {tmp_path}").stdout.splitlines()
    assert [line.split(" MB  ")[1] for line in lines] == ["large", "the rest", "in all"]
    assert lines[0].strip().startswith("3.0")
    assert lines[-1].split()[0] == "4"


def test_a_lite_voice_is_left_to_those_who_ask_for_it(tmp_path: Path) -> None:
    for name in ("zh-en", "zh-en-lite", "de"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "voice.json").write_text("{}")
    (tmp_path / "notes").mkdir()
    assert lib(f"voices_in {tmp_path}").stdout.split() == [f"{tmp_path}/de", f"{tmp_path}/zh-en"]
    assert lib(f"voices_in {tmp_path}/notes").stdout == ""


def test_a_voice_is_copied_without_what_no_device_needs(tmp_path: Path, tiny_voice: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(tiny_voice, source)
    (source / "samples").mkdir()
    (source / "discriminators.pt").write_text("weights")
    (source / "samples/1.wav").write_text("sound")
    (source / "figures.png").write_text("picture")
    (source / "CARD.md").write_text("card")
    done = lib(f"copy_voice {source} {tmp_path}/voices/zh-en")
    assert done.returncode == 0, done.stderr
    copied = {path.name for path in (tmp_path / "voices/zh-en").iterdir()}
    assert copied == {path.name for path in source.iterdir()} - {
        "samples",
        "figures.png",
        "discriminators.pt",
    }
