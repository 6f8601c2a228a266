"""Throw lines at the request parser: ``python -m tests.daemon.fuzz_protocol --lines 1000000``.

Whatever the bytes, the answer is a request that can be written down and read
back, or one ERR line. A seed makes a run repeatable; the first line that
breaks a rule is printed and ends the run with status 1.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable

from edge_tts.daemon.alarm import Event, EventKind, Priority
from edge_tts.daemon.protocol import (
    VERBS,
    format_error,
    format_event,
    format_say,
    parse_piece,
    parse_reply,
    parse_request,
)
from edge_tts.daemon.protocol_fields import FIELDS
from edge_tts.daemon.requests import Say, Stream
from edge_tts.errors import RequestError

NAMES = [*sorted({name for names in FIELDS.values() for name in names}), "", "x", "TEXT", "Key"]
VALUES = [
    "critical", "high", "medium", "low", "", "0", "1", "60", "-1", "1e999", "nan", "inf", "9" * 40,
    "yes", "no", "started", "finished", "json", "off", "auto", "tank7", '"', '"a b"', '"\\u0000"',
    '"\\ud800"', "=", "a=b", "水", "\u202e", "\x00", "\x1b[31m", "٣", "%s%n", "{0}", "../x", "\\",
]  # fmt: skip
TEXTS = ["7号罐压力过高", "PLC 通讯故障", "Pump 3 stopped", "", " ", "🔥", "\ufeff", "x" * 4090]
SPACES = [" ", " ", " ", "  ", "\t", "\u3000", "\x1c", "\r", "\n"]
SEEDS = [
    b"SAY prio=critical key=tank7 ttl=60 repeat=30 wait=started text=7\xe5\x8f\xb7",
    b'{"verb":"SAY","prio":"high","text":"\xe8\xad\xa6\xe5\x91\x8a \\ud83d\\ude00","ttl":5}',
    b'ACK key="tank 7"',
    b"SHELVE key=a for=1.5 critical=yes",
    "电机过载".encode(),
]
REASON = re.compile(r"[a-z]+(-[a-z]+)*")


def random_bytes(rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice((0, 1, 2, 5, 20, 80, 300)))


def random_fields(rng: random.Random) -> bytes:
    words = [rng.choice((*VERBS, "say", "Clear", "SYA", "TEST3"))]
    allowed = FIELDS.get(words[0].upper()) or NAMES
    for _ in range(rng.randrange(5)):
        names = allowed if rng.random() < 0.85 else NAMES
        words.append(f"{rng.choice(names)}={rng.choice(VALUES)}")
    if rng.random() < 0.6:
        words.append(f"text={rng.choice(TEXTS)}")
    if rng.random() < 0.1:
        rng.shuffle(words)
    line = "".join(word + rng.choice(SPACES) for word in words).encode("utf-8", "surrogatepass")
    return mutate(rng, line) if rng.random() < 0.2 else line


def random_json(rng: random.Random) -> bytes:
    def value(depth: int) -> object:
        choices = (
            rng.choice(VALUES), rng.choice(TEXTS), rng.randrange(-5, 70), rng.random(), True, None,
        )  # fmt: skip
        if depth and rng.random() < 0.1:
            return (
                [value(depth - 1)] if rng.random() < 0.5 else {rng.choice(NAMES): value(depth - 1)}
            )
        return rng.choice(choices)

    data = {rng.choice((*NAMES, "text", "prio")): value(2) for _ in range(rng.randrange(5))}
    if rng.random() < 0.7:
        data["verb"] = rng.choice((*VERBS, "say", "", 7))
    if rng.random() < 0.01:
        return b"{" * rng.randrange(4000)
    line = json.dumps(data, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    return mutate(rng, line) if rng.random() < 0.4 else line


def mutate(rng: random.Random, line: bytes) -> bytes:
    data = bytearray(line)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data) + 1)
        action = rng.randrange(4)
        if action == 0:
            data[at:at] = rng.randbytes(rng.randrange(1, 4))
        elif action == 1:
            del data[at : at + rng.randrange(1, 6)]
        elif action == 2 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        else:
            data[at:at] = data[: rng.randrange(8)]
    return bytes(data)


def mutated_seed(rng: random.Random) -> bytes:
    return mutate(rng, rng.choice(SEEDS))


MAKERS: tuple[Callable[[random.Random], bytes], ...] = (
    random_bytes,
    random_fields,
    random_fields,
    random_json,
    mutated_seed,
)


def check_line(line: bytes) -> str:
    """Parse one line and check the answer; says what the answer was.

    Raises:
        AssertionError: a rule is broken. Anything else that is raised is a fault too.
    """
    try:
        request = parse_request(line)
    except RequestError as exc:
        return check_refusal(exc)
    header = request.header if isinstance(request, Stream) else request
    if isinstance(header, Say):
        check_say(header, streaming=isinstance(request, Stream))
    return type(request).__name__


def check_refusal(refusal: RequestError) -> str:
    answer = format_error(refusal)
    reply = parse_reply(answer)
    assert reply.kind == "ERR"
    assert reply.words == (str(refusal.exit_code), refusal.reason)
    assert refusal.exit_code in (64, 65)
    assert REASON.fullmatch(refusal.reason)
    assert answer.isprintable()
    assert len(answer) < 400
    return f"{refusal.exit_code} {refusal.reason}"


def check_say(say: Say, *, streaming: bool) -> None:
    say.text.encode("utf-8")
    assert streaming == (not say.text.strip())
    if say.warnings:
        assert say.priority >= Priority.HIGH
    event = format_event(Event(7, EventKind.STARTED, say.key, say.priority), full=True)
    assert event.isprintable()
    assert parse_reply(event).fields.get("key") == say.key
    written = format_say(say).encode("utf-8")
    assert b"\n" not in written
    if not streaming and len(written) <= 4096 and len(say.text.splitlines()) == 1:
        again = parse_request(written)
        assert isinstance(again, Say)
        assert again.text == say.text
        assert (again.key, again.priority, again.wait) == (say.key, say.priority, say.wait)


def check_piece(line: bytes, priority: Priority) -> None:
    try:
        text, warnings = parse_piece(line, priority)
    except RequestError as exc:
        refusal = check_refusal(exc)
        assert refusal == "65 encoding"
        assert priority < Priority.HIGH
        return
    text.encode("utf-8")
    assert bool(text) == bool(line.rstrip(b"\r\n"))
    assert not warnings or priority >= Priority.HIGH


def fuzz(lines: int, seed: int) -> Counter[str]:
    """Check that many lines; counts of what they were answered.

    Raises:
        RuntimeError: a line broke a rule; it is in the message.
    """
    rng = random.Random(seed)
    answers: Counter[str] = Counter()
    for _ in range(lines):
        line = rng.choice(MAKERS)(rng)
        try:
            answers[check_line(line)] += 1
            check_piece(line, rng.choice(tuple(Priority)))
        except Exception as exc:
            raise RuntimeError(f"seed {seed}: line {line!r} broke a rule") from exc
    return answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.perf_counter()
    answers = fuzz(options.lines, options.seed)
    seconds = time.perf_counter() - started
    for answer, count in answers.most_common():
        print(f"{count:9d}  {answer}")
    print(f"{options.lines} lines, seed {options.seed}, {seconds:.1f} s, no rule broken")
    return 0


if __name__ == "__main__":
    sys.exit(main())
