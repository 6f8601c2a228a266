"""The client against a server that answers as a test wants it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from edge_tts.client import Client, Spoken
from edge_tts.daemon.alarm import Outcome
from edge_tts.daemon.protocol import parse_piece, parse_request
from edge_tts.daemon.requests import Priority, Say, Stream
from edge_tts.errors import (
    DaemonUnavailableError,
    RequestError,
    UsageError,
    WaitTimeoutError,
)


class Script:
    """Accepts one client, keeps its lines, and sends the next part after each."""

    def __init__(self, path: Path, parts: list[bytes], *, close: bool = False) -> None:
        self.path = path
        self.lines: list[bytes] = []
        self._parts = parts
        self._close = close
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        connection, _ = self._listener.accept()
        reader = connection.makefile("rb")
        for part in self._parts:
            self.lines.append(reader.readline())
            connection.sendall(part)
        if self._close:
            reader.close()
            connection.close()
            return
        for line in reader:
            self.lines.append(line)

    def client(self, timeout_s: float = 5.0) -> Client:
        return Client(self.path, timeout_s=timeout_s)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "socket"


def test_nobody_listens(path):
    with pytest.raises(DaemonUnavailableError, match="edgetts serve") as caught:
        Client(path).request("PING")
    assert caught.value.exit_code == 69


def test_the_socket_may_not_be_opened(path):
    if os.geteuid() == 0:
        pytest.skip("root may open everything")
    Script(path, [])
    path.chmod(0)
    with pytest.raises(DaemonUnavailableError, match="group"):
        Client(path).request("PING")


def test_an_answer_in_pieces_is_put_together(path):
    script = Script(path, [b"OK po", b"ng=1\nOK ", b"pong=2\n"])
    with script.client() as client:
        client._lines.send("FIRST")
        client._lines.send("SECOND")
        assert client._lines.read_line() == "OK pong=1"
        client._lines.send("THIRD")
        assert client._lines.read_line() == "OK pong=2"
    assert script.lines == [b"FIRST\n", b"SECOND\n", b"THIRD\n"]


def test_a_silent_daemon_times_out(path):
    with Script(path, []).client(0.1) as client, pytest.raises(WaitTimeoutError) as caught:
        client.request("PING")
    assert caught.value.exit_code == 124


def test_a_daemon_that_closes_tells_that_alarms_are_kept(path):
    script = Script(path, [b"OK id=1 state=accepted\n"], close=True)
    with (
        script.client() as client,
        pytest.raises(DaemonUnavailableError, match="after its restart"),
    ):
        client.say("x", wait="finished")


def test_something_else_on_the_socket(path):
    client = Script(path, [b"220 mail ready\n"]).client()
    with client, pytest.raises(DaemonUnavailableError, match="not this daemon"):
        client.request("PING")


@pytest.mark.parametrize(
    ("line", "code", "reason"),
    [
        ("ERR 64 bad-value field=prio", 64, "bad-value"),
        ("ERR 65 encoding offset=3", 65, "encoding"),
        ("ERR 75 queue-full retry_ms=500", 75, "queue-full"),
        ("ERR 77 denied role=admin", 77, "denied"),
        ("ERR", 70, "unknown"),
    ],
)
def test_refusals(path, line, code, reason):
    client = Script(path, [line.encode() + b"\n"]).client()
    with client, pytest.raises(RequestError) as caught:
        client.request("RELOAD")
    assert (caught.value.exit_code, caught.value.reason) == (code, reason)
    for word in line.split()[3:]:
        assert word in str(caught.value)


def test_say_sends_what_the_daemon_reads(path):
    script = Script(path, [b"OK id=3 state=accepted\n"])
    with script.client() as client:
        spoken = client.say(
            "7号罐 压力=过高\n请检查", priority="critical", key="tank 7", ttl_s=60, repeat_s=30,
            prefix="警告", tone="off", gain_db=-3, speed=1.2,
        )  # fmt: skip
    assert spoken == Spoken(3, "accepted")
    assert parse_request(script.lines[0]) == Say(
        "7号罐 压力=过高 请检查", Priority.CRITICAL, "tank 7", 60, 30, "警告", "off", -3, 1.2
    )


def test_events_of_other_alarms_and_early_ones_are_sorted_out(path):
    answer = b"EV id=9 started first_ms=1\nEV id=3 started\nOK id=3 state=accepted\n"
    answer += b"EV id=9 finished outcome=failed\nEV id=3 finished outcome=done via=cache\n"
    with Script(path, [answer]).client() as client:
        spoken = client.say("x", wait="finished")
    assert (spoken.alarm_id, spoken.state, spoken.outcome) == (3, "finished", Outcome.DONE)
    assert (spoken.via, spoken.exit_code) == ("cache", 0)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("outcome=done via=neural", 0),
        ("outcome=done via=tone", 74),
        ("outcome=failed reason=x", 74),
        ("outcome=superseded by=4", 10),
        ("outcome=preempted", 10),
        ("outcome=expired", 11),
        ("outcome=shelved", 11),
        ("outcome=folded", 0),
    ],
)
def test_exit_codes(path, end, code):
    answer = f"OK id=3 state=accepted\nEV id=3 finished {end}\n".encode()
    with Script(path, [answer]).client() as client:
        spoken = client.say("x", wait="started")
    assert spoken.exit_code == code
    assert end.split()[0] in spoken.describe()


def test_an_outcome_in_the_answer_ends_the_waiting(path):
    with Script(path, [b"OK id=3 state=folded count=2 outcome=folded\n"]).client() as client:
        assert client.say("x", wait="finished").exit_code == 0


def test_started_is_enough_when_asked_for(path):
    answer = b"OK id=3 state=accepted\nEV id=3 returned reason=device-lost\nEV id=3 started\n"
    with Script(path, [answer]).client() as client:
        assert client.say("x", wait="started") == Spoken(3, "started")


def test_the_whole_wait_is_bounded(path):
    client = Script(path, [b"OK id=3 state=accepted\n"]).client()
    with client, pytest.raises(WaitTimeoutError):
        client.say("x", wait="finished", timeout_s=0.2)


def test_a_wrong_priority_is_a_usage_error(path):
    with pytest.raises(UsageError):
        Client(path).say("x", priority="loud")
    with pytest.raises(UsageError):
        Client(path).say("x", wait="for ever")


def test_a_long_text_goes_in_pieces_that_lose_nothing(path):
    text = "电机过载😀 pump " * 800
    script = Script(path, [b"OK id=3 state=receiving\n"])
    with script.client(0.5) as client, pytest.raises(WaitTimeoutError):
        client.say(text, priority="high")
    header = parse_request(script.lines[0])
    assert isinstance(header, Stream)
    assert header.header.priority is Priority.HIGH
    pieces = script.lines[1:]
    assert pieces[-1] == b"\n"
    assert all(1 < len(piece) <= 4096 for piece in pieces[:-1])
    joined = "".join(parse_piece(piece, Priority.LOW)[0] for piece in pieces)
    assert joined == " ".join(text.split())


def test_status_is_as_many_lines_as_announced(path):
    with Script(path, [b"OK lines=2\nstate: idle\nEV no event\nleft over\n"]).client() as client:
        assert client.status() == "state: idle\nEV no event\n"


def test_the_socket_of_the_settings_file_is_found(path, tmp_path, monkeypatch):
    settings = tmp_path / "edge-tts.toml"
    settings.write_text(f'[socket]\npath = "{path}"\nunknown = 1\n')
    monkeypatch.delenv("EDGETTS_SOCKET", raising=False)
    monkeypatch.setenv("EDGETTS_CONFIG", str(settings))
    Script(path, [b"OK pong=1\n"])
    with Client() as client:
        assert client.request("PING").fields["pong"] == "1"
    settings.write_text("not TOML")
    with pytest.raises(DaemonUnavailableError, match="no daemon answers"):
        Client().request("PING")
    monkeypatch.setenv("EDGETTS_SOCKET", str(tmp_path / "other"))
    with pytest.raises(DaemonUnavailableError, match="other"):
        Client().request("PING")


def test_it_needs_the_standard_library_alone():
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "import edge_tts.client\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "foreign = new - set(sys.stdlib_module_names) - {'edge_tts', 'tomli'}\n"
        "assert not foreign, foreign\n"
    )
    root = Path(__file__).resolve().parents[1]
    subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n"
                    + code], check=True)  # fmt: skip
