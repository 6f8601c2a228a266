"""kill -9 at any moment, full disks, read-only disks: nothing acknowledged is lost."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from edge_tts.daemon.alarm import Alarm
from edge_tts.daemon.journal import Journal

REPOSITORY = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("EDGETTS_TEST_KILLS", "12"))
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """A tmpfs; skips the test where mounting is not allowed (containers)."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"mounting a tmpfs is not allowed here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_kill_9_at_random_moments_loses_nothing_acknowledged(tmp_path: Path) -> None:
    rng = random.Random(11)
    safe: set[int] = set()  # acknowledged, and not said to end
    known: set[int] = set()  # acknowledged, ended or not
    for round_number in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.daemon.journal_writer", tmp_path, str(round_number)],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        ready = process.stdout.readline().split()
        assert ready[0] == "ready"
        carried = {int(word) for word in ready[1:]}
        assert safe <= carried, "an acknowledged alarm was lost"
        # What ended may be told twice, what nobody heard of may have reached the disk.
        ended_before = known - safe
        assert len(carried & ended_before) <= 1
        safe = carried
        known |= carried
        time.sleep(rng.uniform(0.0, 0.12))
        process.send_signal(signal.SIGKILL)
        output = process.stdout.read()
        assert process.wait() == -signal.SIGKILL
        for line in output.splitlines():
            # The kill can also cut the last line that was printed.
            word, _, number = line.partition(" ")
            if word == "A" and line + "\n" in output:
                safe.add(int(number))
                known.add(int(number))
            elif word == "E" and number:
                safe.discard(int(number))
    assert len(known) > KILLS
    journal = Journal(tmp_path)
    journal.open()
    assert journal.status().damaged_records <= 1
    assert journal.next_id > max(known)


def check_goes_on_without(journal: Journal) -> None:
    assert journal.open() == []
    assert journal.status().degraded
    assert journal.status().reason
    journal.accept(Alarm(1, "not on disk"))
    assert not journal.sync()
    journal.end(1)
    assert journal.next_id == 2


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    place = tmp_path / "state"
    place.write_text("in the way")
    now = [0.0]
    journal = Journal(place, clock=lambda: now[0])
    check_goes_on_without(journal)
    journal.accept(Alarm(2, "late"))
    place.unlink()
    assert not journal.sync(), "tried again at once, not after a while"
    now[0] += 100.0
    assert journal.sync()
    assert journal.status().reason == ""
    journal.close()
    assert [c.alarm.text for c in Journal(place).open()] == ["late"]


def test_retries_come_ever_more_rarely(tmp_path: Path) -> None:
    place = tmp_path / "state"
    place.write_text("in the way")
    now = [0.0]
    journal = Journal(place, clock=lambda: now[0])
    journal.open()
    reasons = []
    for _ in range(600):
        now[0] += 1.0
        before = journal._retry_at
        journal.sync()
        if journal._retry_at != before:
            reasons.append(now[0])
    gaps = [later - earlier for earlier, later in itertools.pairwise(reasons)]
    assert gaps == sorted(gaps)
    assert 30.0 < gaps[-1] <= 61.0


@needs_root
def test_read_only_disk_is_still_read(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=1m") as disk:
        journal = Journal(disk / "state")
        journal.open()
        journal.accept(Alarm(5, "from before"))
        assert journal.sync()
        journal.close()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        now = [0.0]
        journal = Journal(disk / "state", clock=lambda: now[0])
        assert [c.alarm.text for c in journal.open()] == ["from before"]
        assert journal.status().reason == "Read-only file system"
        journal.accept(Alarm(6, "meanwhile"))
        assert not journal.sync()
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        now[0] += 5.0
        assert journal.sync()
        journal.close()
        _check_alarms(disk / "state", ["from before", "meanwhile"])


@needs_root
def test_full_disk_degrades_and_recovers_when_room_is_made(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=128k") as disk:
        now = [0.0]
        journal = Journal(disk / "state", clock=lambda: now[0])
        journal.open()
        journal.accept(Alarm(1, "safe"))
        assert journal.sync()
        ballast = disk / "ballast"
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
        number = 1
        while journal.sync() and number < 200:
            number += 1
            journal.accept(Alarm(number, "y" * 1000))
        status = journal.status()
        assert status.degraded
        assert status.reason == "No space left on device"
        # What was acknowledged before is still there for the next process.
        saved = (disk / "state" / "alarms.journal").read_bytes()
        assert b'"safe"' in saved
        ballast.unlink()
        now[0] += 100.0
        assert journal.sync()
        journal.close()
        _check_alarms(disk / "state", ["safe", *["y" * 1000] * (number - 1)])


@needs_root
def test_small_disk_is_enough_for_alarms_that_come_and_go(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=128k") as disk:
        journal = Journal(disk / "state", max_bytes=48 * 1024)
        journal.open()
        for number in range(1, 1000):
            journal.accept(Alarm(number, "z" * 500))
            journal.end(number - 3)
            assert journal.sync()
        journal.close()
        _check_alarms(disk / "state", ["z" * 500] * 3)


def _check_alarms(folder: Path, texts: list[str]) -> None:
    journal = Journal(folder)
    assert [carried.alarm.text for carried in journal.open()] == texts
    journal.close()
