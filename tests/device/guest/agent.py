#!/usr/bin/python3
"""Runs in the device: takes requests from the rig through a virtio port and answers them.

One JSON object a line each way. The clock is CLOCK_MONOTONIC in seconds, which
here starts with the kernel. Nothing of the product is imported: alarms go
through the socket as any client's do.
"""

from __future__ import annotations

import base64
import glob
import io
import json
import os
import signal
import socket
import subprocess
import time

SOCKET = "/run/edge-tts/edge-tts.sock"
SERVICE = "edge-tts.service"


def now_s() -> float:
    return time.monotonic()


def ask_systemd(name: str, unit: str = SERVICE) -> str:
    done = subprocess.run(
        ["systemctl", "show", "--value", "--property", name, unit], capture_output=True, text=True
    )
    return done.stdout.strip()


class Alarms:
    """Connections that wait for their alarms, by the key of the alarm."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[socket.socket, object]] = {}

    def say(self, text: str, key: str, prio: str = "medium") -> dict[str, object]:
        """Send one alarm; returns when it is accepted."""
        sent_s = now_s()
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(180)
        connection.connect(SOCKET)
        connection.sendall(f"SAY prio={prio} key={key} wait=finished text={text}\n".encode())
        lines = connection.makefile("r", encoding="utf-8")
        self._open[key] = connection, lines
        return {"reply": lines.readline().strip(), "sent_s": sent_s, "replied_s": now_s()}

    def wait(self, key: str, event: str, seconds: float = 0.0) -> dict[str, object]:
        """Read events of an alarm up to the one named, then wait so many seconds."""
        _, lines = self._open[key]
        for line in lines:
            words = line.split()
            if words[:1] == ["ERR"]:
                raise RuntimeError(line)
            if words[0] == "EV" and words[2] in (event, "finished"):
                at_s = now_s()
                time.sleep(seconds)
                return {"line": line.strip(), "at_s": at_s, "now_s": now_s()}
        raise RuntimeError(f"the daemon closed the connection of {key} before {event}")


ALARMS = Alarms()


def state() -> dict[str, object]:
    names = ("ActiveState", "NRestarts", "MainPID", "Result")
    return {name: ask_systemd(name) for name in names}


def await_new_process(pid: int, seconds: float = 120.0) -> dict[str, object]:
    """Wait until the service runs, ready, as another process than ``pid``."""
    until_s = now_s() + seconds
    while now_s() < until_s:
        if ask_systemd("ActiveState") == "active" and int(ask_systemd("MainPID")) not in (0, pid):
            return {**state(), "at_s": now_s()}
        time.sleep(0.1)
    raise RuntimeError(f"no new process: {state()}")


def send_signal(name: str) -> dict[str, object]:
    pid = int(ask_systemd("MainPID"))
    sent_s = now_s()
    os.kill(pid, getattr(signal, name))
    return {"pid": pid, "sent_s": sent_s}


def start_and_time(command: list[str]) -> dict[str, float]:
    """Seconds that a command takes, to its end."""
    began_s = now_s()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {"seconds": now_s() - began_s}


def log_lines() -> list[str]:
    """The service's log with the monotonic clock in front."""
    done = subprocess.run(
        ["journalctl", "--no-pager", "-b", "-o", "short-monotonic", "-u", SERVICE],
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()


def await_log(words: list[str], count: int = 1, skip: int = 0, seconds: float = 300.0) -> str:
    """Wait until so many lines of this boot's log hold all the words; returns the last.

    The first ``skip`` lines of the log don't count.
    """
    until_s = now_s() + seconds
    while now_s() < until_s:
        found = [line for line in log_lines()[skip:] if all(word in line for word in words)]
        if len(found) >= count:
            return found[count - 1]
        time.sleep(0.5)
    raise RuntimeError("not in the log: " + " ".join(words) + "\n" + "\n".join(log_lines()))


def shell(command: str) -> dict[str, object]:
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    return {"rc": done.returncode, "output": (done.stdout + done.stderr)[-8000:]}


def fetch(path: str) -> str:
    with open(path, "rb") as file:
        return base64.b64encode(file.read()).decode()


def status() -> dict[str, object]:
    """What the daemon tells of itself."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(SOCKET)
        connection.sendall(b"STATUS format=json\n")
        lines = connection.makefile("r", encoding="utf-8")
        lines.readline()
        picture: dict[str, object] = json.loads(lines.readline())
        return picture


REQUESTS = {
    "say": ALARMS.say,
    "wait": ALARMS.wait,
    "state": state,
    "signal": send_signal,
    "await_new_process": await_new_process,
    "time": start_and_time,
    "await_log": await_log,
    "log": log_lines,
    "shell": shell,
    "fetch": fetch,
    "status": status,
    "now": now_s,
    "sleep": lambda seconds: time.sleep(seconds),  # takes no keywords itself
}


def write_all(port: io.RawIOBase, data: bytes) -> None:
    while data:
        data = data[port.write(data) or 0 :]


def main() -> None:
    while not (ports := glob.glob("/dev/vport*")):
        time.sleep(0.2)
    with open(ports[0], "r+b", buffering=0) as port:
        port.write(b'{"ready": true}\n')
        waiting = b""
        while True:
            piece = port.read(4096)
            if not piece:  # nobody outside
                time.sleep(0.2)
                continue
            waiting += piece
            while b"\n" in waiting:
                line, _, waiting = waiting.partition(b"\n")
                request = json.loads(line)
                try:
                    answer = {"ok": REQUESTS[request["do"]](**request.get("with", {}))}
                except Exception as exc:  # the rig outside must hear of everything
                    answer = {"error": f"{type(exc).__name__}: {exc}"}
                write_all(port, json.dumps(answer).encode() + b"\n")
                # Idle time would be skipped, and the speech be over before the rig acts.
                spin_until_s = now_s() + request.get("spin_s", 0.0)
                while now_s() < spin_until_s:
                    pass


if __name__ == "__main__":
    main()
