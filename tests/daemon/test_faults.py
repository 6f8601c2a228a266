"""What happens to a daemon in years, in seconds: crashes, hanging parts, bad disks.

After every fault: no accepted alarm is lost, and the daemon speaks again.
"""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.daemon_process import (
    DaemonProcess,
    answer,
    await_outcomes,
    daemon_process,
    id_of,
    outcomes_in,
    say_line,
)

LONG = "一号电机温度过高，请立即检查"


# Crashes


def crash_waiting(daemon: DaemonProcess) -> list[int]:
    """While one is spoken and others wait."""
    lines = [f"tone=off prio=high text={text}" for text in (LONG, "第二条", "第三条")]
    ids = [id_of(answer(say_line(daemon, line))) for line in lines]
    daemon.wait(lambda: f"alarm-started id={ids[0]} " in daemon.log())
    return ids


def crash_in_the_tone(daemon: DaemonProcess) -> list[int]:
    ids = [id_of(answer(say_line(daemon, "prio=high wait=started text=水泵故障")))]
    daemon.wait(lambda: f"alarm-started id={ids[0]} " in daemon.log())
    return ids


def crash_right_after_the_answer(daemon: DaemonProcess) -> list[int]:
    return [id_of(answer(say_line(daemon, "prio=critical tone=off text=着火")))]


def crash_after_a_cut_in(daemon: DaemonProcess) -> list[int]:
    low = id_of(answer(say_line(daemon, f"prio=low tone=off text={LONG}")))
    daemon.wait(lambda: f"alarm-started id={low} " in daemon.log())
    critical = id_of(answer(say_line(daemon, "prio=critical text=着火")))
    daemon.wait(lambda: f"alarm-started id={critical} " in daemon.log())
    return [low, critical]


def crash_in_a_stream(daemon: DaemonProcess) -> list[int]:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(30)
    sock.connect(str(daemon.socket_path))
    sock.sendall(f"STREAM tone=off\n{LONG}\n第二句话。\n\n".encode())
    reader = sock.makefile(encoding="utf-8")
    assert "receiving" in reader.readline()
    accepted = reader.readline()
    assert "state=accepted" in accepted
    return [id_of(accepted)]


def crash_while_starting(daemon: DaemonProcess) -> list[int]:
    ids = crash_right_after_the_answer(daemon)
    daemon.kill()
    daemon.start(wait=False)
    time.sleep(0.15)
    return ids


@pytest.mark.parametrize(
    "state",
    [
        crash_waiting, crash_in_the_tone, crash_right_after_the_answer, crash_after_a_cut_in,
        crash_in_a_stream, crash_while_starting,
    ],
    ids=lambda state: state.__name__.removeprefix("crash_"),
)  # fmt: skip
def test_kill_9_loses_no_accepted_alarm(tmp_path, tiny_voice, state):
    with daemon_process(tmp_path, tiny_voice) as daemon:
        ids = state(daemon)
        already = outcomes_in(daemon.log())
        daemon.kill()
        begins = len(daemon.log())
        killed_s = time.monotonic()
        daemon.start(wait=False)
        if any(number not in already for number in ids):
            daemon.wait(lambda: "alarm-started" in daemon.log()[begins:])
            print(f"speaks again {time.monotonic() - killed_s:.2f} s after kill -9")
        await_outcomes(daemon, dict.fromkeys(ids, "done"))


def test_crash_after_crash(tmp_path, tiny_voice):
    with daemon_process(tmp_path, tiny_voice) as daemon:
        ids = [
            id_of(answer(say_line(daemon, f"tone=off prio=high text=第{n}条"))) for n in range(6)
        ]
        for _ in range(3):
            time.sleep(0.4)
            daemon.kill()
            daemon.start(wait=False)
        await_outcomes(daemon, dict.fromkeys(ids, "done"))


def test_an_alarm_past_its_time_to_live_is_not_spoken_after_the_restart(tmp_path, tiny_voice):
    with daemon_process(tmp_path, tiny_voice) as daemon:
        first = id_of(answer(say_line(daemon, f"tone=off prio=high text={LONG}")))
        late = id_of(answer(say_line(daemon, "tone=off ttl=0.5 text=过期")))
        daemon.kill()
        time.sleep(0.6)
        daemon.start(wait=False)
        await_outcomes(daemon, {first: "done", late: "expired"})


# Stopped and hanging parts


def test_a_stopped_process_goes_on_where_it_was(tmp_path, tiny_voice):
    with daemon_process(tmp_path, tiny_voice) as daemon:
        sock = say_line(daemon, f"tone=off prio=high wait=finished text={LONG}")
        reader = sock.makefile(encoding="utf-8")
        assert "accepted" in reader.readline()
        assert "started" in reader.readline()
        daemon.signal(signal.SIGSTOP)
        time.sleep(2.0)
        daemon.signal(signal.SIGCONT)
        assert "outcome=done" in reader.readline()
        assert daemon.say("水泵故障", tone="off").exit_code == 0


@pytest.fixture
def hooks(tmp_path) -> Path:
    folder = tmp_path / "hooks"
    folder.mkdir()
    return folder


@contextlib.contextmanager
def hooked(tmp_path: Path, voice: Path, hooks: Path) -> Iterator[DaemonProcess]:
    environment = {"EDGETTS_TEST_HOOKS": str(hooks)}
    settings = {"synthesis": {"deadline_ms": 300.0}}
    module = "tests.daemon.hooked_daemon"
    with daemon_process(
        tmp_path, voice, settings, environment=environment, module=module
    ) as daemon:
        yield daemon


def test_synthesis_that_hangs_costs_the_deadline_and_then_nothing(tmp_path, tiny_voice, hooks):
    with hooked(tmp_path, tiny_voice, hooks) as daemon:
        assert daemon.say("水泵故障", tone="off").via == "neural"
        (hooks / "hang-neural").touch()
        assert daemon.say("温度过高", tone="off").via == "dsp"
        assert daemon.say("压力过高", tone="off").via == "dsp"
        assert daemon.say("警告", tone="off").via == "cache"
        (hooks / "hang-dsp").touch()
        assert daemon.say("液位过高", tone="off").via == "tone"
        assert "busy" in daemon.status()["synthesis"]["state"]
        (hooks / "hang-neural").unlink()
        (hooks / "hang-dsp").unlink()
        daemon.wait(lambda: "busy" not in daemon.status()["synthesis"]["state"])
        assert daemon.say("流量过低", tone="off").via == "neural"


def test_synthesis_that_breaks_in_mid_speech_is_replaced(tmp_path, tiny_voice, hooks):
    with hooked(tmp_path, tiny_voice, hooks) as daemon:
        sock = say_line(daemon, f"tone=off wait=finished text={LONG}")
        reader = sock.makefile(encoding="utf-8")
        assert "accepted" in reader.readline()
        assert "started" in reader.readline()
        (hooks / "break-neural").touch()
        assert re.search(r"outcome=done via=(dsp|neural)", reader.readline())
        assert daemon.say("压力过高", tone="off").via == "dsp"


def test_a_wall_clock_that_jumps_changes_nothing(tmp_path, tiny_voice, hooks):
    with hooked(tmp_path, tiny_voice, hooks) as daemon:
        ids = []
        for offset in (86_400 * 400, -86_400 * 400, 3600, -7200):
            (hooks / "wall-offset").write_text(str(offset))
            line = "tone=off prio=high ttl=600 text=时钟"
            ids.append(id_of(answer(say_line(daemon, f"{line}{len(ids)}"))))
        daemon.kill()
        (hooks / "wall-offset").write_text(str(-86_400 * 30))
        daemon.start(wait=False)
        await_outcomes(daemon, dict.fromkeys(ids, "done"))


# Disks


@contextlib.contextmanager
def mounted(path: Path, options: str) -> Iterator[None]:
    path.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "edgetts-test", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"needs the right to mount: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_full_disk_is_told_and_speech_goes_on(tmp_path, tiny_voice):
    disk = tmp_path / "disk"
    with (
        mounted(disk, "size=256k,nr_inodes=100"),
        daemon_process(
            tmp_path, tiny_voice, {"journal": {"path": str(disk / "journal")}}
        ) as daemon,
    ):
        with contextlib.suppress(OSError), (disk / "ballast").open("wb") as ballast:
            while True:
                ballast.write(b"x" * 4096)
                ballast.flush()
        for number in range(200):
            with daemon.client() as client:
                client.say(f"{LONG}{number}", tone="off", key=f"k{number % 4}")
            if daemon.status()["journal"]["degraded"]:
                break
        picture = daemon.status()
        assert picture["journal"]["degraded"]
        assert "No space" in picture["journal"]["reason"]
        assert "journal=off" in answer(say_line(daemon, "prio=critical tone=off text=着火"))
        assert daemon.say("着火了", priority="critical", tone="off").exit_code == 0
        (disk / "ballast").unlink()
        daemon.wait(lambda: "journal=off" not in answer(say_line(daemon, "tone=off key=a text=好")))
        assert not daemon.status()["journal"]["degraded"]


def test_a_read_only_disk_is_told_and_speech_goes_on(tmp_path, tiny_voice):
    disk = tmp_path / "disk"
    settings = {"journal": {"path": str(disk / "j")}, "cache": {"folder": str(disk / "cache")}}
    with mounted(disk, "ro,size=64k"), daemon_process(tmp_path, tiny_voice, settings) as daemon:
        assert daemon.say("水泵故障", tone="off").via == "neural"
        assert daemon.say("警告", tone="off").via == "cache", "phrases are kept in memory instead"
        journal = daemon.status()["journal"]
        assert journal["degraded"]
        assert "Read-only" in journal["reason"]
