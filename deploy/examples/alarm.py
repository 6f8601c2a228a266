#!/usr/bin/env python3
"""Speak an alarm with nothing but the standard library.

    alarm.py critical 7号罐压力过高

Exit status 0 when it was spoken to its end.
"""

import os
import socket
import sys

SOCKET = os.environ.get("EDGETTS_SOCKET", "/run/edge-tts/edge-tts.sock")
EXIT_CODES = {"done": 0, "folded": 0, "expired": 11, "shelved": 11, "failed": 74}


def speak(priority: str, text: str) -> int:
    one_line = " ".join(text.split())
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(SOCKET)
        connection.sendall(f"SAY prio={priority} wait=finished text={one_line}\n".encode())
        for line in connection.makefile(encoding="utf-8"):
            print(line, end="", flush=True)
            words = line.split()
            fields = dict(word.split("=", 1) for word in words if "=" in word)
            if words[0] == "ERR":
                return int(words[1])
            if "outcome" in fields:
                return 74 if fields.get("via") == "tone" else EXIT_CODES.get(fields["outcome"], 10)
    return 69


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: alarm.py critical|high|medium|low TEXT...")
    try:
        sys.exit(speak(sys.argv[1], " ".join(sys.argv[2:])))
    except OSError as error:
        print(f"no daemon answers on {SOCKET}: {error}", file=sys.stderr)
        sys.exit(69)
