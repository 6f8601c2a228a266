"""Measures a built table in fresh processes: size, memory, speed, accuracy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ALARMS = Path("tests/cases/alarms.tsv")
ROUNDS = 40

# Runs alone, so that nothing else is counted. numpy comes first: the runtime has it anyway.
_PROBE = """
import json, statistics, sys, time
import numpy, re, mmap, bisect, functools, dataclasses, enum
def resident_kb():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1])
lines = sys.stdin.read().splitlines()
before = resident_kb()
from pathlib import Path
from edge_tts.text.lexicon import Lexicon
from edge_tts.text.front_end import TextFrontEnd
from edge_tts.text.phonemizer import phonemize
start = time.perf_counter()
front_end = TextFrontEnd(Lexicon.open(Path(sys.argv[1])))
for phrase in front_end.phrases(lines[0]):
    pass
first_ms = 1000 * (time.perf_counter() - start)
def spent(function, rounds):
    times = []
    for _ in range(rounds):
        for line in lines:
            start = time.perf_counter()
            function(line)
            times.append(1e6 * (time.perf_counter() - start))
    return times
whole = spent(lambda line: [phrase.ids for phrase in front_end.phrases(line)], int(sys.argv[2]))
resident = resident_kb() - before
normal = {line: front_end.normalize(line).text for line in lines}
normalise = spent(front_end.normalize, int(sys.argv[2]))
pronounce = spent(lambda line: phonemize(normal[line], front_end.lexicon), int(sys.argv[2]))
whole.sort()
print(json.dumps({
    "resident_added_mb": resident / 1024,
    "first_line_ms": first_ms,
    "median_us": statistics.median(whole),
    "p99_us": whole[len(whole) * 99 // 100],
    "normalise_median_us": statistics.median(normalise),
    "phonemize_median_us": statistics.median(pronounce),
    "characters_a_line": statistics.mean(map(len, lines)),
}))
"""


def alarm_lines() -> list[str]:
    """Alarm texts, as they are found in the field."""
    rows = ALARMS.read_text("utf-8").splitlines()[1:]
    return [row.split("\t")[2] for row in rows]


def probe(table: Path, lines: list[str]) -> dict[str, float]:
    """What a fresh process measures on ``lines``."""
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, str(table), str(ROUNDS)],
        input="\n".join(lines), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(json.loads(done.stdout))


def measure(table: Path) -> None:
    """Print every figure of ``table``."""
    print(f"table size: {table.stat().st_size / 1e6:.2f} MB")
    lines = alarm_lines()
    thirty = [line for line in lines if 24 <= len(line) <= 36]
    for name, chosen in (("all alarm lines", lines), ("lines of 24 to 36 characters", thirty)):
        figures = probe(table, chosen)
        print(f"{name} ({len(chosen)}):")
        for key, value in figures.items():
            print(f"  {key}: {value:.3g}")
    from edge_tts.text.lexicon_table import LexiconTable
    from tools.lexicon.english import load_dictionary
    from tools.lexicon.letter_trees import accuracy

    dictionary = {w: s for w, s in load_dictionary().items() if w.isalpha()}
    section = bytes(LexiconTable(table).section("L2S_"))
    for key, value in accuracy(section, dictionary).items():
        print(f"letter to sound, {key}: {value:.4g}")
