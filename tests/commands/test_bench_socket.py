"""``edgetts bench --socket`` against a real daemon."""

from __future__ import annotations

import json
import subprocess
import sys

from edge_tts.commands.bench_socket import table
from tests.daemon.daemon_process import daemon_process


def test_it_times_a_running_daemon(tmp_path, tiny_voice):
    with daemon_process(tmp_path, tiny_voice) as daemon:
        words = ["bench", "--socket", str(daemon.socket_path), "--rounds", "1", "--json"]
        done = subprocess.run(
            [sys.executable, "-m", "edge_tts", *words],
            env=daemon.environment, capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
    report = json.loads(done.stdout)
    assert report["cached"]["via"] == "cache"
    assert report["synthesised"]["via"] == report["cut_in"]["via"] == "neural"
    for series in ("cached", "synthesised", "cut_in"):
        assert 0 < report[series]["p50_ms"] <= report[series]["p95_ms"]
    printed = table(report)
    print(printed)
    assert "critical cut-in" in printed
