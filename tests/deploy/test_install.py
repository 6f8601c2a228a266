"""deploy/install.sh for real: on a copy-on-write view of this machine's root, thrown away after."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import edge_tts
from tests.tiny_voice import write_tiny_voice

ROOT = Path(__file__).resolve().parents[2]
# $0: an empty folder; $1: what is seen at /mnt; the rest: the command.
ENTER = """
set -e
scratch=$0 mounted=$1
shift
mount -t tmpfs -o size=3g tmpfs "$scratch"
mkdir "$scratch/upper" "$scratch/work" "$scratch/root"
options=lowerdir=/,upperdir=$scratch/upper,workdir=$scratch/work
mount -t overlay overlay -o "$options" "$scratch/root"
for folder in dev proc sys; do mount --rbind "/$folder" "$scratch/root/$folder"; done
for folder in /opt/*; do
    if mountpoint -q "$folder"; then mount --bind "$folder" "$scratch/root$folder"; fi
done
mount --bind "$mounted" "$scratch/root/mnt"
exec chroot "$scratch/root" "$@"
"""


def enter(scratch: Path, mounted: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a throw-away copy of the root; ``mounted`` is at /mnt."""
    scratch.mkdir(exist_ok=True)
    environ = {name: value for name, value in os.environ.items() if "EDGETTS" not in name}
    return subprocess.run(
        [
            *("unshare", "--mount", "--propagation", "private"),
            *("bash", "-c", ENTER, str(scratch), str(mounted), *command),
        ],
        capture_output=True,
        text=True,
        timeout=900,
        stdin=subprocess.DEVNULL,
        env={**environ, "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, compiled_lexicon: Path | None) -> Path:
    """The files of this checkout with the tiny voice as its only one."""
    folder = tmp_path_factory.mktemp("install") / "checkout"
    folder.mkdir()
    if (
        os.geteuid() != 0
        or shutil.which("apt-get") is None
        or enter(folder.parent / "root", folder, "true").returncode != 0
    ):
        pytest.skip("needs root, apt and an overlay file system")
    for name in ("edge_tts", "deploy", "systemd"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder)
    shutil.copy(ROOT / "tests/deploy/install_in_root.sh", folder)
    write_tiny_voice(folder / "models/zh-en", lexicon=compiled_lexicon)
    return folder


def test_install_twice_upgrade_and_remove(checkout: Path) -> None:
    done = enter(checkout.parent / "root", checkout, "bash", "/mnt/install_in_root.sh")
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    parts = {
        heading: lines.splitlines()
        for heading, _, lines in (part.partition("\n") for part in done.stdout.split("== ")[1:])
    }

    installed = parts["installed"]
    assert installed[0] == f"edgetts {edge_tts.__version__}"
    assert "/opt/edge-tts/current/bin/edgetts" in installed
    assert "/etc/edge-tts/edge-tts.toml: good" in installed
    assert "edge-tts:/var/lib/edge-tts:/usr/sbin/nologin" in installed
    assert "edge-tts audio" in installed
    assert "CPUAffinity=1" in installed
    assert "LimitRTPRIO=90" in installed
    assert {"edge-tts.socket", "edge-tts.service"} <= set(installed)
    (size,) = [line for line in installed if line.endswith(" bytes")]
    assert int(size.split()[0]) > 10_000

    assert parts["again"] == ["the release was kept", "# mine"]

    failed = parts["an upgrade that can't speak"]
    assert failed[0] == "status 1"
    assert "the old release stayed" in failed
    assert failed[-1] == f"edgetts {edge_tts.__version__}"

    assert parts["an upgrade"] == ["edgetts 9.9.9"]
    assert parts["removed"] == ["no trace", "no user"]
