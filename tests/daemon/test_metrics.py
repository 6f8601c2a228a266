"""Counters, percentiles and the exposition format."""

from __future__ import annotations

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.daemon.metrics import WINDOW, Metrics, percentile, write_textfile
from edge_tts.errors import OutputError

SAMPLE = re.compile(
    r'^[a-z_:][a-z0-9_:]*(\{([a-z_]+="([^"\\\n]|\\["\\n])*",?)*\})? -?[0-9.e+-]+$', re.ASCII
)


def test_counting_by_label():
    metrics = Metrics()
    metrics.count("alarms_finished_total", outcome="done", via="neural")
    metrics.count("alarms_finished_total", 2, via="cache", outcome="done")
    metrics.count("alarms_finished_total", outcome="expired", via="none")
    assert metrics.value("alarms_finished_total") == 4
    assert metrics.value("alarms_finished_total", outcome="done") == 3
    assert metrics.value("alarms_finished_total", outcome="failed") == 0


def test_counting_from_many_threads_loses_nothing():
    metrics = Metrics()

    def work() -> None:
        for _ in range(2000):
            metrics.count("requests_total", verb="SAY")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert metrics.value("requests_total") == 8000


@pytest.mark.parametrize(
    ("values", "quantile", "expected"),
    [
        ([], 0.5, 0.0),
        ([7.0], 0.99, 7.0),
        ([1.0, 2.0, 3.0, 4.0], 0.5, 2.0),
        ([float(i) for i in range(1, 101)], 0.95, 95.0),
        ([float(i) for i in range(1, 101)], 0.99, 99.0),
    ],
)
def test_nearest_rank(values, quantile, expected):
    assert percentile(values, quantile) == expected


@given(st.lists(st.floats(0, 1e6), min_size=1), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_percentile_is_a_value_with_enough_below_it(values, quantile):
    ordered = sorted(values)
    result = percentile(ordered, quantile)
    assert result in ordered
    assert sum(v <= result for v in ordered) >= quantile * len(ordered) - 1e-9


def test_latencies_forget_what_is_old_and_memory_stays_bounded():
    metrics = Metrics()
    for _ in range(WINDOW):
        metrics.observe("queue", 1000.0)
    for _ in range(WINDOW):
        metrics.observe("queue", 2.0)
    latency = metrics.latencies()["queue"]
    assert latency == {"count": 2 * WINDOW, "p50_ms": 2.0, "p95_ms": 2.0, "p99_ms": 2.0}


def test_exposition_is_well_formed():
    metrics = Metrics()
    metrics.count("requests_total", verb='S"A\\Y\n')
    metrics.count("requests_total", verb="PING")
    for value in (1.0, 2.0, 30.0):
        metrics.observe("first_chunk", value)
    text = metrics.exposition({"queue_waiting": 3, "up_seconds": 1.25}, {"version": "1.0"})
    assert text.endswith("\n")
    lines = text.splitlines()
    for line in lines:
        assert line.startswith("# ") or SAMPLE.match(line), line
    assert 'edgetts_info{version="1.0"} 1' in lines
    assert "edgetts_queue_waiting 3" in lines
    assert "edgetts_up_seconds 1.25" in lines
    assert r'edgetts_requests_total{verb="S\"A\\Y\n"} 1' in lines
    assert 'edgetts_stage_seconds{stage="first_chunk",quantile="0.95"} 0.03' in lines
    assert 'edgetts_stage_seconds_count{stage="first_chunk"} 3' in lines
    assert 'edgetts_stage_seconds_sum{stage="first_chunk"} 0.033' in lines
    types = [line for line in lines if line.startswith("# TYPE")]
    assert len(types) == len(set(types)), "one TYPE line a metric"


def test_textfile_is_replaced_whole_and_readable(tmp_path):
    path = tmp_path / "edgetts.prom"
    path.write_text("old")
    write_textfile(path, "edgetts_up_seconds 1\n")
    assert path.read_text() == "edgetts_up_seconds 1\n"
    assert path.stat().st_mode & 0o777 == 0o644
    assert [p.name for p in tmp_path.iterdir()] == ["edgetts.prom"]


def test_textfile_in_a_missing_folder_says_so(tmp_path):
    with pytest.raises(OutputError, match="give a folder"):
        write_textfile(tmp_path / "missing" / "edgetts.prom", "x 1\n")
