"""Files are replaced whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from edge_tts.daemon.durable_file import lock_file, replace_file


def test_replaced_file_can_be_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old and longer")
    file = replace_file(path, b"new\n")
    os.write(file, b"more\n")
    os.close(file)
    assert path.read_bytes() == b"new\nmore\n"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    open_files = len(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(OSError, match="No space"):
            replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]
    assert len(os.listdir("/proc/self/fd")) == open_files


def test_lock_holds_against_others_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = (
        "import sys; from pathlib import Path\n"
        "from edge_tts.daemon.durable_file import lock_file\n"
        "try: lock_file(Path(sys.argv[1]))\n"
        "except BlockingIOError: print('held')\n"
        "else: print('free')\n"
    )

    def other_process() -> str:
        command = [sys.executable, "-c", code, str(path)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
        )
        return done.stdout.strip()

    file = lock_file(path)
    assert other_process() == "held"
    os.close(file)
    assert other_process() == "free"
