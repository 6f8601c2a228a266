from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import numpy, onnxruntime

from edge_tts.inference.idle_pages import release_library_pages

def rss_kb():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))

before = rss_kb()
release_library_pages()
after = rss_kb()
# All of it still works: the pages come back as they are used.
assert numpy.fft.rfft(numpy.ones(64, numpy.float32))[0].real == 64
assert onnxruntime.get_available_providers()
import decimal, sqlite3, email.message
print(before, after)
"""


def test_memory_falls_and_everything_still_works() -> None:
    # In a process of its own, whose memory nothing else changes.
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.split())
    assert after < before - 8_000
