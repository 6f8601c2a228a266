"""The whole daemon as a process: protocol, service manager, reload, drain, restart."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import wave
from pathlib import Path

import numpy as np
import pytest

from edge_tts.audio.limiter import Limiter, to_int16
from edge_tts.audio.tones import attention_tone
from edge_tts.client import Client
from edge_tts.errors import DaemonUnavailableError, RequestError, WaitTimeoutError
from edge_tts.pipeline import build_pipeline
from tests.daemon.daemon_process import REPOSITORY, DaemonProcess, daemon_process, outcomes_in

EXAMPLES = REPOSITORY / "deploy" / "examples"
LONG = "一号电机温度过高，请立即检查冷却水泵和通风机，并通知值班工程师到场处理。"


@pytest.fixture(scope="module")
def shared(tmp_path_factory, tiny_voice):
    """One daemon for every test that leaves it as it was."""
    with daemon_process(tmp_path_factory.mktemp("daemon"), tiny_voice) as daemon:
        yield daemon


def raw(daemon: DaemonProcess, data: bytes, lines: int) -> list[str]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(20)
        sock.connect(str(daemon.socket_path))
        sock.sendall(data)
        received = b""
        while received.count(b"\n") < lines:
            part = sock.recv(65536)
            assert part, received
            received += part
        return received.decode().splitlines()


def test_say_is_accepted_started_and_finished(shared):
    lines = raw(shared, "SAY prio=high tone=off wait=finished text=压力过高\n".encode(), 3)
    assert lines[0].startswith("OK id=")
    assert lines[0].endswith("state=accepted")
    assert " started first_ms=" in lines[1]
    assert re.search(r" finished outcome=done via=neural underruns=\d+ first_ms=[\d.]+$", lines[2])


def test_a_bare_line_and_a_json_line_are_spoken(shared):
    assert raw(shared, "警告\n".encode(), 1)[0].startswith("OK id=")
    request = {"verb": "SAY", "text": "警告", "prio": "low", "wait": "finished", "tone": "off"}
    assert "outcome=done" in raw(shared, json.dumps(request).encode() + b"\n", 3)[2]


def test_pipelined_requests_are_answered_in_order(shared):
    lines = raw(shared, b"PING\nSAY nonsense=1 text=x\nHELLO\nPING\n", 4)
    assert [line.split()[0] for line in lines] == ["OK", "ERR", "OK", "OK"]
    assert lines[0] == "OK pong=1"
    assert lines[2].startswith("OK proto=1 server=edge-tts-runtime/")


def test_a_line_too_long_is_answered_in_its_place(shared):
    lines = raw(shared, b"PING\nSAY text=" + b"x" * 5000 + b"\nPING\n", 3)
    assert lines == ["OK pong=1", "ERR 65 line-too-long max_bytes=4096", "OK pong=1"]


def test_text_in_pieces(shared):
    data = "STREAM tone=off wait=finished prio=critical\n水泵\n故障。\n请检查\n\n".encode()
    lines = raw(shared, data, 4)
    assert lines[0].endswith("state=receiving")
    assert any(line.endswith("state=accepted") for line in lines[1:])
    assert "outcome=done via=neural" in lines[3]


def test_a_stream_that_breaks_off_is_spoken_as_far_as_it_came(shared):
    with shared.client() as client:
        events = client.event_lines()
        first = threading.Thread(target=lambda: next(events))
        first.start()
        raw(shared, "STREAM tone=off key=broken\n水泵故障\n".encode(), 1)
        first.join(20)
        assert any("finished" in line for line in take_until(events, "finished outcome=done"))


def take_until(lines, text: str) -> list[str]:
    taken = []
    for line in lines:
        taken.append(line)
        if text in line:
            return taken
    raise AssertionError(taken)


def test_events_reach_subscribers_with_key_and_priority(shared):
    with shared.client() as client:
        client.request("EVENTS", prio="high")
        shared.say("低", priority="low", tone="off")
        shared.say("高", priority="high", key="k1", tone="off")
        lines = [client._lines.read_line() for _ in range(3)]
    assert [line.split()[2] for line in lines] == ["accepted", "started", "finished"]
    assert all("prio=high key=k1" in line for line in lines)


def test_client_errors_carry_the_code(shared):
    with shared.client() as client:
        with pytest.raises(RequestError) as caught:
            client.request("SAY", text="  ")
        assert caught.value.exit_code in (64, 65)
        with pytest.raises(RequestError) as caught:
            client.say("🔥🚨⚠️")
        assert (caught.value.exit_code, caught.value.reason) == (65, "nothing-to-speak")
        with pytest.raises(RequestError) as caught:
            client.say("x", speed=9.0)
        assert caught.value.exit_code == 64


def test_a_long_text_is_sent_in_pieces_by_the_client(shared):
    text = "电机过载，" * 600
    with shared.client() as client:
        client.say(text, tone="off", wait="started", key="long")
        assert client.request("CLEAR", key="long").fields["count"] == "1"


def test_waiting_has_a_limit(shared):
    with shared.client() as client:
        with pytest.raises(WaitTimeoutError):
            client.say(LONG, wait="finished", timeout_s=0.2, key="limit")
        client.close()
        client.request("CLEAR", key="limit")


def test_status_in_three_formats(shared):
    shared.say("好", tone="off")
    picture = shared.status()
    assert picture["state"] in ("idle", "speaking")
    assert picture["device"]["state"] == "ready"
    assert picture["synthesis"]["provider"]
    assert picture["counters"]['alarms_finished_total{outcome="done",via="neural"}'] >= 1
    assert picture["latency"]["first_sound"]["p95_ms"] > 0
    with shared.client() as client:
        text = client.status()
        assert text.startswith("state: ")
        assert "device: state=ready" in text
        exposition = client.status("prometheus")
    assert "# TYPE edgetts_alarms_accepted_total counter" in exposition
    assert "edgetts_device_up 1" in exposition


def test_folding_and_superseding_are_told(shared):
    with shared.client() as client:
        client.say(LONG, key="other", wait="started")
        first = client.say("甲", key="fold")
        again = client.say("甲", key="fold")
        assert (again.alarm_id, again.state) == (first.alarm_id, "folded")
        waiting = client.request("SAY", key="sup", wait="finished", text="旧")
        client.say("新", key="sup")
        spoken = client.follow(waiting, "finished")
        assert spoken.exit_code == 10
        client.request("CLEAR", all="yes")


COMMANDS = [
    (["ping"], 0, "answered in"),
    (["say", "--tone", "off", "--wait", "finished", "好"], 0, "outcome=done via=neural"),
    (["say", "-p", "high", "--tone", "off", "好"], 0, "accepted"),
    (["test", "--wait", "started"], 0, "started"),
    (["status"], 0, "state: "),
    (["status", "--json"], 0, '"device"'),
    (["status", "--prometheus"], 0, "edgetts_up_seconds"),
    (["ack", "--all"], 0, "alarms"),
    (["clear", "--key", "nothing"], 0, "0 alarms"),
    (["clear"], 64, "exactly one of"),
    (["shelve", "pump", "--for", "30"], 0, "0 alarms ended"),
    (["say", "--key", "pump", "--wait", "finished", "x"], 11, "outcome=shelved"),
    (["shelve", "pump", "--for", "0"], 0, "alarms"),
    (["say", "！！"], 65, "nothing-to-speak"),
    (["say", "--speed", "7", "x"], 64, "bad-value"),
    (["say", "--wait", "finished", "--timeout", "0.05", LONG], 124, "in time"),
    (["silence", "--for", "0"], 0, "alarms stopped"),
    (["events", "--count", "1", "--socket", "/nowhere"], 69, "edgetts serve"),
]


@pytest.mark.parametrize(("words", "code", "output"), COMMANDS, ids=lambda v: str(v)[:40])
def test_command(shared, words, code, output):
    done = subprocess.run(
        [sys.executable, "-m", "edge_tts", *words],
        env={**shared.environment, "EDGETTS_SOCKET": str(shared.socket_path)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("Traceback")) == (code, 0), done
    assert output in done.stdout + done.stderr


def test_clients_import_nothing_heavy():
    code = (
        "import sys\n"
        "import edge_tts.cli, edge_tts.client\n"
        "from edge_tts.commands import say, ping, status, ack, clear, silence, shelve, events\n"
        "heavy = {'numpy', 'scipy', 'onnxruntime', 'pyaudio', 'asyncio'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=REPOSITORY)


def example_commands(tmp_path: Path) -> dict[str, list[str] | None]:
    compiler = shutil.which("cc")
    binary = tmp_path / "alarm"
    if compiler:
        command = [compiler, "-D_DEFAULT_SOURCE", "-std=c11", "-Wall", "-Wextra", "-Werror"]
        subprocess.run([*command, "-o", str(binary), str(EXAMPLES / "alarm.c")], check=True)
    tools = shutil.which("socat") or shutil.which("nc")
    return {
        "sh": ["sh", str(EXAMPLES / "alarm.sh")] if tools else None,
        "python": [sys.executable, str(EXAMPLES / "alarm.py")],
        "c": [str(binary)] if compiler else None,
    }


@pytest.mark.parametrize("language", ["sh", "python", "c"])
def test_example(shared, tmp_path, language):
    command = example_commands(tmp_path)[language]
    if command is None:
        pytest.skip(f"no tool for {language} here")
    environment = {
        **shared.environment, "EDGETTS_SOCKET": str(shared.socket_path), "WAIT": "finished",
        "FIELDS": "tone=off",
    }  # fmt: skip

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *words], env=environment, capture_output=True, text=True, timeout=60,
            check=False,
        )  # fmt: skip

    good = run("high", "7号罐压力过高")
    assert (good.returncode, good.stderr) == (0, ""), good
    assert "outcome=done via=neural" in good.stdout
    assert run("loud", "x").returncode == 64
    assert run("high", "！").returncode == 65
    environment["EDGETTS_SOCKET"] = "/nowhere"
    assert run("high", "x").returncode == 69


def test_shell_example_is_clean():
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    subprocess.run(["shellcheck", str(EXAMPLES / "alarm.sh")], check=True)


# Daemons of their own


def test_wav_sink_holds_the_tone_and_the_speech(tmp_path, tiny_voice):
    with daemon_process(tmp_path, tiny_voice, sink=f"wav:{tmp_path}/out.wav") as daemon:
        assert daemon.say("水泵故障", priority="medium").exit_code == 0
        assert daemon.stop() == 0
        with wave.open(str(tmp_path / "out.wav")) as file:
            recorded = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        assert np.array_equal(recorded, expected_sound(daemon, "水泵故障", "medium"))


def expected_sound(daemon: DaemonProcess, text: str, tone: str | None) -> np.ndarray:
    settings = daemon.settings()
    limiter = Limiter(24_000, ceiling_dbfs=settings.audio.ceiling_dbfs)
    level = settings.audio.loudness_dbfs + settings.tones.gain_db
    parts = [attention_tone(tone, 24_000, level)] if tone else []
    parts += [chunk.samples for chunk in build_pipeline(settings).stream(text)]
    return to_int16(np.concatenate([*(limiter.process(part) for part in parts), limiter.flush()]))


@pytest.fixture
def manager(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        sock.settimeout(20)
        yield sock


def await_field(manager: socket.socket, name: str, value: str | None = None) -> dict[str, str]:
    while True:
        lines = manager.recv(4096).decode().splitlines()
        fields = dict(line.split("=", 1) for line in lines)
        if name in fields and value in (None, fields[name]):
            return fields


def test_service_manager_hears_ready_watchdog_reloading_and_stopping(tmp_path, tiny_voice, manager):
    environment = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "3000000"}
    with daemon_process(tmp_path, tiny_voice, environment=environment) as daemon:
        assert "STATUS" in await_field(manager, "READY", "1")
        await_field(manager, "WATCHDOG", "1")
        await_field(manager, "WATCHDOG", "1")
        daemon.signal(signal.SIGHUP)
        assert int(await_field(manager, "RELOADING", "1")["MONOTONIC_USEC"]) > 0
        await_field(manager, "READY", "1")
        daemon.signal(signal.SIGTERM)
        await_field(manager, "STOPPING", "1")
        assert daemon.exit_code() == 0


def test_socket_activation(tmp_path, tiny_voice):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(tmp_path / "activated.sock"))
    listener.listen()
    daemon = DaemonProcess(tmp_path, tiny_voice, environment={"LISTEN_FDS": "1"})
    starter = tmp_path / "start.py"
    starter.write_text(
        "import os, sys\n"
        f"os.dup2({listener.fileno()}, 3)\n"
        "os.environ['LISTEN_PID'] = str(os.getpid())\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'edge_tts', 'serve', '--sink', 'null'])\n"
    )
    with daemon.log_path.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, str(starter)], env=daemon.environment, stderr=log,
            pass_fds=[listener.fileno()],
        )  # fmt: skip
    listener.close()
    try:
        with Client(tmp_path / "activated.sock", timeout_s=20) as client:
            assert client.say("好", tone="off", wait="finished").exit_code == 0
        assert not daemon.socket_path.exists()
    finally:
        process.terminate()
        assert process.wait(20) == 0
    assert (tmp_path / "activated.sock").exists(), "the socket belongs to the service manager"


def test_reload_takes_new_settings_and_keeps_the_old_ones_when_they_are_wrong(tmp_path, tiny_voice):
    with daemon_process(tmp_path, tiny_voice) as daemon, daemon.client() as client:
        daemon.write_config({**daemon.config, "cache": {
            **daemon.config["cache"], "phrases": ["水位高"]}})  # fmt: skip
        client.request("RELOAD")
        daemon.wait(lambda: daemon.status()["phrases"] == {"wanted": 1, "missing": 0})
        assert daemon.say("水位高", tone="off").via == "cache"
        daemon.config_path.write_text("[cache]\nphrase = 1\n")
        with pytest.raises(RequestError) as caught:
            client.request("RELOAD")
        assert caught.value.reason == "reload-failed"
        daemon.signal(signal.SIGHUP)
        daemon.wait(lambda: daemon.log().count("reload-failed") == 2)
        assert daemon.status()["phrases"]["wanted"] == 1


def test_sigterm_lets_the_alarm_end_and_carries_the_others_over(tmp_path, tiny_voice):
    with daemon_process(tmp_path, tiny_voice) as daemon:
        with daemon.client() as client:
            first = client.say("水泵故障", tone="off", wait="started").alarm_id
            second = client.say("温度过高", tone="off").alarm_id
        assert daemon.stop() == 0
        assert outcomes_in(daemon.log()) == {first: "done"}
        assert not daemon.socket_path.exists() or not answers(daemon)
        daemon.start()
        daemon.wait(lambda: outcomes_in(daemon.log()) == {first: "done", second: "done"})


def answers(daemon: DaemonProcess) -> bool:
    try:
        with daemon.client(1.0) as client:
            client.request("PING")
    except DaemonUnavailableError:
        return False
    return True


def test_a_second_daemon_on_the_same_socket_is_refused(shared, tmp_path, tiny_voice):
    with daemon_process(tmp_path, tiny_voice, start=False) as second:
        second.socket_path = shared.socket_path
        second.start(wait=False)
        assert second.exit_code() == 69
        assert "already answers" in second.log()
    assert answers(shared)


@pytest.mark.parametrize(
    ("settings", "sink", "told"),
    [
        ({"queue": {"max_waitin": 3}}, "null", "max_waiting"),
        ({}, "loudspeaker", "unknown sink"),
    ],
)
def test_a_wrong_setting_and_a_wrong_sink_end_with_64(tmp_path, tiny_voice, settings, sink, told):
    with daemon_process(tmp_path, tiny_voice, settings, sink=sink, start=False) as daemon:
        daemon.start(wait=False)
        assert daemon.exit_code() == 64
        assert told in daemon.log()


def test_without_a_voice_tones_still_sound(tmp_path):
    with daemon_process(tmp_path, tmp_path / "no-voice") as daemon:
        spoken = daemon.say("水泵故障", priority="high")
        assert (spoken.via, spoken.exit_code) == ("tone", 74)
        assert "no-voice" in json.dumps(daemon.status()["voice"])
        assert daemon.status()["state"] == "no-voice"
        assert "error no-voice error=" in daemon.log()


def test_a_journal_that_was_damaged_is_told(tmp_path, tiny_voice):
    """Bits of the disk turned while the power was off."""
    with daemon_process(tmp_path, tiny_voice, start=False) as daemon:
        folder = tmp_path / "journal"
        folder.mkdir()
        (folder / "alarms.journal").write_bytes(b"no record\n" * 3)
        daemon.start()
        assert daemon.say("水泵故障").exit_code == 0
        assert daemon.status()["journal"]["damaged_records"] > 0
        assert "warning journal-damaged records=" in daemon.log()


def test_metrics_file(tmp_path, tiny_voice):
    path = tmp_path / "edgetts.prom"
    settings = {"log": {"metrics_file": str(path), "metrics_interval_s": 1.0}}
    with daemon_process(tmp_path, tiny_voice, settings) as daemon:
        daemon.wait(path.exists)
        assert "edgetts_device_up 1" in path.read_text()


def test_roles(tmp_path, tiny_voice):
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    settings = {"socket": {"mode": "0666", "critical": ["root"], "operator": ["root"]}}
    os.chmod(tmp_path, 0o755)
    for parent in tmp_path.parents:
        if parent.stat().st_uid == 0 and parent.stat().st_mode & 0o005 != 0o005:
            parent.chmod(parent.stat().st_mode | 0o005)
    with daemon_process(tmp_path, tiny_voice, settings) as daemon:
        code = (
            "import socket, sys\n"
            "sock = socket.socket(socket.AF_UNIX)\n"
            "sock.connect(sys.argv[1])\n"
            "sock.sendall(b'HELLO\\nSAY prio=critical text=x\\nSAY prio=low tone=off text=x\\n'\n"
            "             b'SILENCE\\nRELOAD\\nCLEAR all=yes\\n')\n"
            "lines = sock.makefile()\n"
            "print(*(next(lines) for _ in range(6)), sep='', end='')\n"
        )
        done = subprocess.run(
            ["/usr/bin/python3", "-c", code, str(daemon.socket_path)],
            user=65534, group=65534, extra_groups=[], capture_output=True, text=True, check=True,
        )  # fmt: skip
        hello, critical, low, silence, reload, clear = done.stdout.splitlines()
        assert hello.endswith("roles=say")
        assert critical == "ERR 77 denied role=critical"
        assert low.startswith("OK id=")
        assert silence == "ERR 77 denied role=operator"
        assert reload == "ERR 77 denied role=admin"
        assert clear == "OK count=1", "one's own alarms"
        assert "uid=65534" in daemon.log()


def test_rate_limit(tmp_path, tiny_voice):
    settings = {"socket": {"rate_per_s": 1.0, "rate_burst": 5}}
    with daemon_process(tmp_path, tiny_voice, settings, start=False) as daemon:
        daemon.start(wait=False)
        daemon.wait(daemon.socket_path.exists)
        time.sleep(0.2)
        lines = raw(daemon, b"PING\n" * 8 + "SAY prio=critical text=火\n".encode(), 9)
        assert lines[:5] == ["OK pong=1"] * 5
        assert all(line.startswith("ERR 75 rate-limited retry_ms=") for line in lines[5:8])
        assert lines[8].startswith("OK id="), "a flood does not use up critical requests"
