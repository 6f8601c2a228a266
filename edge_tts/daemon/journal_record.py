"""Records of the journal: one line of text each, guarded by a checksum.

A line is eight hexadecimal digits of the CRC-32 of what follows the space, a
space, a JSON object, and LF. ``op`` is ``head`` (first line of a file),
``add`` (an alarm was accepted) or ``end`` (it ended).
"""

from __future__ import annotations

import functools
import json
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edge_tts.daemon.alarm import Alarm, Priority

_FORMAT_VERSION = 1
# A wall clock before this was never set: a board without a battery clock starts in 1970.
_EARLIEST_WALL_S = 1_704_067_200.0  # 2024-01-01T00:00:00Z
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Moment:
    """A point in time that can be compared after a restart."""

    wall_s: float
    """Seconds since 1970; jumps when the clock is set."""
    boot_s: float
    """Seconds since the machine started; never jumps, means nothing after a reboot."""
    boot_id: str

    @classmethod
    def now(cls) -> Moment:
        """This moment, by the system's clocks."""
        return cls(time.time(), time.clock_gettime(time.CLOCK_BOOTTIME), _boot_id())

    def since(self, earlier: Moment) -> float:
        """Seconds from ``earlier`` to this moment; 0.0 when the clocks can't tell.

        Within one boot the boot clock tells exactly. Over a reboot the wall
        clock has to do; when it was not set at either end, or went back, an
        alarm counts as just accepted: rather told late than not at all.
        """
        if earlier.boot_id and earlier.boot_id == self.boot_id:
            return max(0.0, self.boot_s - earlier.boot_s)
        if min(earlier.wall_s, self.wall_s) < _EARLIEST_WALL_S:
            return 0.0
        return max(0.0, self.wall_s - earlier.wall_s)


@functools.cache
def _boot_id() -> str:
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def encode_record(fields: dict[str, object]) -> bytes:
    """One line, LF included."""
    body = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return b"%08x %s\n" % (zlib.crc32(body), body)


def encode_head(next_id: int) -> bytes:
    """The first record of a file; ``next_id`` is above every id that was given."""
    return encode_record({"op": "head", "version": _FORMAT_VERSION, "next_id": next_id})


def encode_end(alarm_id: int) -> bytes:
    """The record of an alarm that ended."""
    return encode_record({"op": "end", "id": alarm_id})


def encode_alarm(alarm: Alarm, accepted: Moment) -> bytes:
    """The ``add`` record of an alarm; ``accepted`` is when it came in."""
    return encode_record(
        {
            "op": "add",
            "id": alarm.id,
            "text": alarm.text,
            "prio": alarm.priority.word,
            "key": alarm.key,
            "ttl_s": alarm.ttl_s,
            "repeat_s": alarm.repeat_s,
            "prefix": alarm.prefix,
            "tone": alarm.tone,
            "gain_db": alarm.gain_db,
            "speed": alarm.speed,
            "uid": alarm.owner_uid,
            "wall_s": accepted.wall_s,
            "boot_s": accepted.boot_s,
            "boot_id": accepted.boot_id,
        }
    )


def decode_alarm(fields: dict[str, object]) -> tuple[Alarm, Moment]:
    """Read an ``add`` record back.

    Raises:
        KeyError, TypeError, ValueError: a field is missing or wrong.
    """

    def number(name: str) -> float:
        return float(str(fields[name]))

    def number_or_none(name: str) -> float | None:
        return None if fields[name] is None else number(name)

    alarm = Alarm(
        id=int(str(fields["id"])),
        text=str(fields["text"]),
        priority=Priority.from_word(str(fields["prio"])),
        key=None if fields["key"] is None else str(fields["key"]),
        ttl_s=number_or_none("ttl_s"),
        repeat_s=number_or_none("repeat_s"),
        prefix=str(fields["prefix"]),
        tone=str(fields["tone"]),
        gain_db=number("gain_db"),
        speed=number("speed"),
        owner_uid=int(str(fields["uid"])),
    )
    return alarm, Moment(number("wall_s"), number("boot_s"), str(fields["boot_id"]))


def decode_records(data: bytes) -> Iterator[dict[str, object] | None]:
    """Every record of a file in order; None for each line that is torn or altered."""
    for line in data.split(b"\n"):
        if line.strip(b"\0"):
            yield _decode_line(line)


def _decode_line(line: bytes) -> dict[str, object] | None:
    crc, _, body = line.partition(b" ")
    try:
        if len(crc) != 8 or int(crc, 16) != zlib.crc32(body):
            return None
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


@dataclass(frozen=True)
class Replay:
    """What a file holds: live alarms, oldest first, each with when it was accepted."""

    alarms: tuple[tuple[Alarm, Moment], ...]
    next_id: int
    damaged_records: int


def read_journal(data: bytes) -> Replay:
    """Go through a file; whatever is torn, altered or unknown is left out and counted."""
    live: dict[int, tuple[Alarm, Moment]] = {}
    next_id = 1
    damaged = 0
    for fields in decode_records(data):
        try:
            if fields is None:
                raise ValueError("torn or altered")
            op = fields["op"]
            if op == "head":
                next_id = max(next_id, int(str(fields["next_id"])))
            elif op == "add":
                alarm, accepted = decode_alarm(fields)
                live[alarm.id] = (alarm, accepted)
                next_id = max(next_id, alarm.id + 1)
            elif op == "end":
                live.pop(int(str(fields["id"])), None)
            else:
                raise ValueError(f"unknown record {op!r}")
        except (KeyError, TypeError, ValueError):
            damaged += 1
    return Replay(tuple(live.values()), next_id, damaged)
