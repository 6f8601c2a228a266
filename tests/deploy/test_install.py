"""deploy/install.sh and the units for real, on a copy-on-write view of this machine's root."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import edge_tts
from tests.tiny_voice import write_tiny_voice

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLAIN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def throwaway_root(scratch: Path, mounted: Path, *steps: str) -> subprocess.CompletedProcess[str]:
    scratch.mkdir(exist_ok=True)
    environ = {name: value for name, value in os.environ.items() if "EDGETTS" not in name}
    return subprocess.run(
        ["bash", str(HERE / "throwaway_root.sh"), str(scratch), str(mounted), *steps],
        capture_output=True,
        text=True,
        timeout=900,
        stdin=subprocess.DEVNULL,
        env={**environ, "PATH": PLAIN_PATH},
    )


@pytest.fixture
def checkout(tmp_path: Path, compiled_lexicon: Path) -> Path:
    """The files of this checkout with the tiny voice as its only one."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "nothing.sh").write_text("true\n")
    if (
        os.geteuid() != 0
        or shutil.which("apt-get") is None
        or throwaway_root(tmp_path / "root", folder, "/mnt/nothing.sh").returncode != 0
    ):
        pytest.skip("needs root, apt and an overlay file system")
    for name in ("edge_tts", "deploy", "systemd"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder)
    for script in HERE.glob("*.sh"):
        shutil.copy(script, folder)
    write_tiny_voice(folder / "models/zh-en", lexicon=compiled_lexicon)
    return folder


def parts_of(text: str) -> dict[str, list[str]]:
    """``== heading`` -> the lines under it."""
    parts = (part.partition("\n") for part in text.split("== ")[1:])
    return {heading: lines.splitlines() for heading, _, lines in parts}


def test_install_boot_upgrade_and_remove(checkout: Path, tmp_path: Path) -> None:
    steps = ["/mnt/install_in_root.sh install"]
    boots = shutil.which("systemd-nspawn") is not None
    if boots:
        steps += ["/mnt/boot_probe.sh install", "boot", "boot --volatile=state"]
        steps += ["/mnt/boot_probe.sh remove"]
    steps += ["/mnt/install_in_root.sh upgrade"]
    done = throwaway_root(tmp_path / "root", checkout, *steps)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    parts = parts_of(done.stdout)

    installed = parts["installed"]
    assert installed[0] == f"edgetts {edge_tts.__version__}"
    assert "/opt/edge-tts/current/bin/edgetts" in installed
    assert "/etc/edge-tts/edge-tts.toml: good" in installed
    assert "edge-tts:/var/lib/edge-tts:/usr/sbin/nologin" in installed
    assert "edge-tts audio" in installed
    assert "CPUAffinity=0" in installed
    assert "LimitRTPRIO=90" in installed
    assert {"edge-tts.socket", "edge-tts.service"} <= set(installed)
    (size,) = [line for line in installed if line.endswith(" bytes")]
    assert int(size.split()[0]) > 10_000

    assert parts["again"] == ["the release was kept", "# mine"]
    assert parts["again, damaged"] == [f"edgetts {edge_tts.__version__}"]

    failed = parts["an upgrade that can't speak"]
    assert failed[0] == "status 1"
    assert "the old release stayed" in failed
    assert failed[-1] == f"edgetts {edge_tts.__version__}"

    assert parts["an upgrade"] == ["edgetts 9.9.9"]
    assert parts["removed"] == [], "nothing that bears our name is left"
    if boots:
        check_boots(checkout)


def test_scripts_of_the_package(checkout: Path, tmp_path: Path) -> None:
    packages = checkout / "packages"
    for name in ("click", "tomli"):
        if (found := importlib.util.find_spec(name)) is not None and found.origin is not None:
            shutil.copytree(Path(found.origin).parent, packages / name)
    done = throwaway_root(tmp_path / "root", checkout, "/mnt/package_in_root.sh")
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    parts = parts_of(done.stdout)
    old = ["edgetts 1.0.0", "releases/1.0.0-0123", "1.0.0-0123"]
    assert parts["installed"] == [
        *old,
        "edge-tts.toml",
        "lexicon.d",
        "2 names of the same file",
    ], "a release takes no room of its own"
    # That it may lack numpy here is no matter.
    assert "No module named edge_tts" not in parts["an interpreter that it starts"][0]
    assert parts["interrupted"] == old, "dpkg can't damage the release that runs"
    assert parts["the same, installed again after its release was damaged"] == old
    assert parts["a release that can't speak"] == ["status 1", "1", *old[:2]]
    new = ["edgetts 2.0.0", "releases/2.0.0-0123", "2.0.0-0123"]
    assert parts["upgraded"] == [*new, "# mine"]
    assert parts["removed"] == ["package"], "what dpkg did not put there is gone"


def check_boots(checkout: Path) -> None:
    """What the probe saw as a service of a booted systemd, on a writable and a read-only root."""
    writable, read_only = (
        dict(line.partition("=")[::2] for line in log.read_text().splitlines() if "=" in line)
        for log in sorted(checkout.glob("probe-*.log"))
    )
    print("on a writable root:", writable, "on a read-only root:", read_only, sep="\n")
    for seen in (writable, read_only):
        assert seen["socket"] == "active"
        assert seen["service"] == "active"
        assert seen["socket_file"] == "660 edge-tts"
        assert seen["test"] == "0"
        assert seen["reload"] == "0"
        assert seen["reload_kept_process"] == "yes"
        assert seen["after_kill"] == "0"
        assert seen["after_stop_signal"] == "0"
        assert int(seen["restarts"]) == 2, "one by kill -9, one by the watchdog"
        assert seen["by_socket"] == "active"
        assert seen["stranger"] != "0"
        assert seen["state_folder"].split() == ["journal"]
    assert writable["root_writable"] == "yes"
    assert read_only["root_writable"] == "no"
