"""A process that journals alarms as fast as it can and says what is safe, to be killed.

``python -m tests.daemon.journal_writer FOLDER SEED`` prints ``A id`` once an
alarm is on disk, and ``E id`` before it journals that it ended.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from edge_tts.daemon.alarm import Alarm, Priority
from edge_tts.daemon.journal import Journal


def main() -> None:
    folder, seed = Path(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    # A small bound, so that rewrites are among the moments that a kill can meet.
    journal = Journal(folder, max_bytes=16_384)
    live = [carried.alarm.id for carried in journal.open()]
    print("ready", *live, flush=True)
    while True:
        batch = [
            Alarm(journal.next_id + offset, "7号罐压力过高" * rng.randrange(1, 6), Priority.HIGH)
            for offset in range(rng.randrange(1, 4))
        ]
        for alarm in batch:
            journal.accept(alarm)
        if not journal.sync():
            sys.exit(3)
        for alarm in batch:
            live.append(alarm.id)
            print("A", alarm.id, flush=True)
        while len(live) > 12:
            ended = live.pop(rng.randrange(len(live)))
            print("E", ended, flush=True)
            journal.end(ended)


if __name__ == "__main__":
    main()
