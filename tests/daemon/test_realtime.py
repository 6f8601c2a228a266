"""Real-time measures say what came of them; they run in a child, to leave this process alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from edge_tts.daemon import realtime

ROOT = Path(__file__).resolve().parents[2]


def in_child(expression: str) -> str:
    code = f"import os, threading\nfrom edge_tts.daemon.realtime import *\nprint({expression})\n"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_off_is_off():
    assert realtime.pin_process(()).state == "off"
    assert realtime.schedule_fifo(0, 0).state == "off"
    assert realtime.lock_memory(False).state == "off"


def test_pinning_holds_for_every_thread_that_follows():
    core = min(os.sched_getaffinity(0))
    printed = in_child(f"pin_process([{core}]).state, os.sched_getaffinity(0)")
    assert printed == f"on: {core} {{{core}}}"


def test_a_core_that_is_not_there_is_refused_with_the_reason():
    assert in_child("pin_process([1023]).state").startswith("refused: ")


@pytest.mark.parametrize("expression", ["schedule_fifo(0, 10).state", "lock_memory(True).state"])
def test_on_or_refused_with_the_reason(expression):
    state = in_child(expression)
    assert state.startswith(("on", "refused: "))
    if state.startswith("refused"):
        assert len(state) > len("refused: ")


def test_fifo_is_really_set_where_it_says_so():
    printed = in_child("schedule_fifo(0, 7).state, os.sched_getscheduler(0) == os.SCHED_FIFO")
    assert printed == "on: 7 True" or printed.startswith("refused: ")
