"""What the journal keeps over restarts, damage and clocks that jump."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.daemon.alarm import Alarm, Priority
from edge_tts.daemon.journal import Journal
from edge_tts.daemon.journal_record import Moment, decode_records, encode_record

NAME = "alarms.journal"
TANK = Alarm(
    id=7,
    text='7号罐 "压力"\n过高',
    priority=Priority.CRITICAL,
    key="tank7",
    ttl_s=60.5,
    repeat_s=30.0,
    prefix="警告",
    tone="off",
    gain_db=-3.0,
    speed=1.25,
    owner_uid=1000,
)


def reopen(folder: Path, **options: object) -> tuple[Journal, list[Alarm]]:
    journal = Journal(folder, **options)
    carried = journal.open()
    return journal, [carried_alarm.alarm for carried_alarm in carried]


def leave_behind(folder: Path, *alarms: Alarm) -> bytes:
    """Journal some alarms, close, and return the bytes of the file."""
    journal, _ = reopen(folder)
    for alarm in alarms:
        journal.accept(alarm)
    assert journal.sync()
    journal.close()
    return (folder / NAME).read_bytes()


def test_accepted_alarms_come_back_whole_and_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "on open"
    leave_behind(folder, TANK, Alarm(9, "plain"), Alarm(8, "text", Priority.LOW))
    journal, alarms = reopen(folder)
    assert alarms == [TANK, Alarm(9, "plain"), Alarm(8, "text", Priority.LOW)]
    assert journal.next_id == 10
    assert not journal.status().degraded
    journal.close()


def test_ended_alarms_stay_away_and_ids_go_on(tmp_path: Path) -> None:
    journal, alarms = reopen(tmp_path)
    assert alarms == []
    for number in range(1, 5):
        journal.accept(Alarm(number, f"text {number}"))
    for number in (1, 4, 4, 99):
        journal.end(number)
    assert journal.sync()
    journal.close()
    for _ in range(2):
        journal, alarms = reopen(tmp_path)
        assert [alarm.id for alarm in alarms] == [2, 3]
        assert journal.next_id == 5
        journal.close()


def test_prolonged_alarm_keeps_when_it_was_accepted(tmp_path: Path) -> None:
    moments = [Moment(2e9, 100.0, "boot"), Moment(2e9 + 50, 150.0, "boot")]
    journal, _ = reopen(tmp_path, moment=lambda: moments[0])
    journal.accept(TANK)
    moments.pop(0)
    journal.accept(replace(TANK, ttl_s=120.0))
    journal.close()
    [carried] = Journal(tmp_path, moment=lambda: moments[0]).open()
    assert (carried.alarm.ttl_s, carried.age_s) == (120.0, 50.0)


def test_a_file_cut_anywhere_gives_the_records_before_the_cut(tmp_path: Path) -> None:
    data = leave_behind(tmp_path / "whole", Alarm(1, "一"), Alarm(2, "two"))
    ends = [position + 1 for position, byte in enumerate(data) if byte == 0x0A]
    folder = tmp_path / "cut"
    folder.mkdir()
    near_ends = {end + step for end in (0, *ends) for step in (-2, -1, 0, 1, 9)}
    for size in sorted({*range(0, len(data), 23), *near_ends} & set(range(len(data) + 1))):
        (folder / NAME).write_bytes(data[:size])
        journal, alarms = reopen(folder)
        # A record that lost only its line end is whole all the same.
        whole = sum(end - 1 <= size for end in ends)
        assert [alarm.id for alarm in alarms] == [1, 2][: max(0, whole - 1)]
        torn = size not in (0, *ends, *(end - 1 for end in ends))
        assert journal.status().damaged_records == int(torn)
        journal.close()


def test_no_altered_byte_is_believed(tmp_path: Path) -> None:
    data = leave_behind(tmp_path / "whole", TANK, Alarm(8, "two"))
    folder = tmp_path / "altered"
    folder.mkdir()
    for position in range(0, len(data), 11):
        altered = bytearray(data)
        altered[position] ^= 0x10
        (folder / NAME).write_bytes(altered)
        journal, alarms = reopen(folder)
        assert all(alarm in (TANK, Alarm(8, "two")) for alarm in alarms)
        assert len(alarms) >= 1 or data[:position].count(b"\n") == 1
        journal.close()


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_bytes_can_be_read_as_a_journal(data: bytes) -> None:
    for fields in decode_records(data):
        assert fields is None or isinstance(fields, dict)


def test_well_formed_records_of_a_strange_kind_are_counted_as_damaged(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(
        encode_record({"op": "add", "id": 1})
        + encode_record({"op": "head", "next_id": "many"})
        + encode_record({"op": "end"})
        + encode_record({"op": "later", "id": 3})
        + encode_record({})
        + b"\0" * 64
    )
    journal, alarms = reopen(tmp_path)
    assert alarms == []
    assert journal.status().damaged_records == 5
    journal.close()


def test_file_stays_within_its_bound_however_many_come_and_go(tmp_path: Path) -> None:
    bound = 16 * 1024
    journal, _ = reopen(tmp_path, max_bytes=bound)
    for number in range(1, 500):
        journal.accept(Alarm(number, "7号罐压力过高" * 5))
        if number > 10:
            journal.end(number - 10)
        assert journal.sync()
        assert (tmp_path / NAME).stat().st_size <= bound
    assert journal.status().size_bytes == (tmp_path / NAME).stat().st_size
    assert journal.status().compactions > 3
    journal.close()
    _, alarms = reopen(tmp_path)
    assert [alarm.id for alarm in alarms] == list(range(490, 500))


def test_file_full_of_live_alarms_is_not_written_anew_each_time(tmp_path: Path) -> None:
    journal, _ = reopen(tmp_path, max_bytes=16_384)
    for number in range(1, 21):
        journal.accept(Alarm(number, "x" * 300))
        assert journal.sync()
    before = journal.status().compactions
    assert journal.status().size_bytes > 8192
    for number in range(21, 26):
        journal.accept(Alarm(number, "short"))
        assert journal.sync()
    assert journal.status().compactions == before
    journal.close()


def test_alarm_that_does_not_fit_is_left_out_and_costs_no_other(tmp_path: Path) -> None:
    journal, _ = reopen(tmp_path, max_bytes=4096)
    journal.accept(Alarm(1, "kept"))
    journal.accept(Alarm(2, "long" * 1000))
    journal.accept(Alarm(3, "kept too"))
    assert journal.sync()
    assert [journal.holds(number) for number in (1, 2, 3, 4)] == [True, False, True, False]
    assert journal.status().left_out == 1
    assert journal.next_id == 4
    for number in range(4, 40):
        journal.accept(Alarm(number, "x" * 400))
        assert journal.sync()
        assert (tmp_path / NAME).stat().st_size <= 4096
    held = [number for number in range(1, 40) if journal.holds(number)]
    journal.end(2)
    journal.close()
    _, alarms = reopen(tmp_path, max_bytes=4096)
    assert [alarm.id for alarm in alarms] == held
    assert {1, 3} < set(held)


def test_nothing_is_held_while_degraded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, _ = reopen(tmp_path)

    def fail(file: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fail)
    journal.accept(TANK)
    assert not journal.sync()
    assert not journal.holds(TANK.id)


def test_a_rewrite_that_was_killed_leaves_the_old_file_in_force(tmp_path: Path) -> None:
    leave_behind(tmp_path, TANK)
    (tmp_path / f"{NAME}.new").write_bytes(b"half a fi")
    _, alarms = reopen(tmp_path)
    assert alarms == [TANK]
    assert not (tmp_path / f"{NAME}.new").exists()


def test_second_process_does_not_speak_the_alarms_of_the_first(tmp_path: Path) -> None:
    first, _ = reopen(tmp_path)
    first.accept(TANK)
    assert first.sync()
    now = [0.0]
    second, alarms = reopen(tmp_path, clock=lambda: now[0])
    assert alarms == []
    assert second.status().reason == "in use by another process"
    second.accept(Alarm(1, "mine"))
    assert not second.sync()
    first.close()
    now[0] += 1000.0
    # What the first left belongs to a process that reads it, not to one that would overwrite it.
    assert not second.sync()
    second.close()
    _, alarms = reopen(tmp_path)
    assert alarms == [TANK]


BOOT = Moment(2_000_000_000.0, 500.0, "boot-1")


@pytest.mark.parametrize(
    ("later", "age_s"),
    [
        (Moment(2_000_000_030.0, 530.0, "boot-1"), 30.0),
        # Within one boot the wall clock may do what it likes.
        (Moment(2_000_900_000.0, 530.0, "boot-1"), 30.0),
        (Moment(100.0, 530.0, "boot-1"), 30.0),
        (Moment(2_000_000_040.0, 7.0, "boot-2"), 40.0),
        # After a reboot with a clock that went back or was never set.
        (Moment(1_999_999_000.0, 7.0, "boot-2"), 0.0),
        (Moment(100.0, 7.0, "boot-2"), 0.0),
        (Moment(2_000_000_040.0, 530.0, ""), 40.0),
    ],
)
def test_age_over_a_restart(tmp_path: Path, later: Moment, age_s: float) -> None:
    journal, _ = reopen(tmp_path, moment=lambda: BOOT)
    journal.accept(TANK)
    journal.close()
    [carried] = Journal(tmp_path, moment=lambda: later).open()
    assert carried.age_s == pytest.approx(age_s)


def test_age_of_an_alarm_from_before_the_clock_was_set(tmp_path: Path) -> None:
    journal, _ = reopen(tmp_path, moment=lambda: Moment(40.0, 40.0, "boot-1"))
    journal.accept(TANK)
    journal.close()
    journal = Journal(tmp_path, moment=lambda: Moment(2e9, 20.0, "boot-2"))
    [carried] = journal.open()
    assert carried.age_s == 0.0
    journal.close()
    # From the second start on its age counts.
    [carried] = Journal(tmp_path, moment=lambda: Moment(2e9 + 90, 110.0, "boot-2")).open()
    assert carried.age_s == pytest.approx(90.0)


def test_moment_of_this_machine_moves_on() -> None:
    first = Moment.now()
    second = Moment.now()
    assert first.boot_id
    assert 0.0 <= second.since(first) < 60.0


def test_failed_fsync_degrades_and_writes_everything_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    journal, _ = reopen(tmp_path, clock=lambda: now[0])

    def fail(file: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fail)
        journal.accept(TANK)
        assert not journal.sync()
    assert journal.status().reason == "Input/output error"
    journal.accept(Alarm(8, "meanwhile"))
    assert not journal.sync()
    now[0] += 2.0
    assert journal.sync()
    assert not journal.status().degraded
    journal.close()
    _, alarms = reopen(tmp_path)
    assert alarms == [TANK, Alarm(8, "meanwhile")]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("accept"), st.text(max_size=12)),
            st.tuples(st.just("end"), st.integers(0, 5)),
            st.tuples(st.just("reopen"), st.none()),
        ),
        max_size=40,
    )
)
@settings(max_examples=40, deadline=None)
def test_a_journal_is_a_dictionary_that_survives(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, object]]
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    journal, _ = reopen(folder, max_bytes=16_384)
    model: dict[int, str] = {}
    for action, value in steps:
        if action == "accept":
            alarm = Alarm(journal.next_id, str(value))
            journal.accept(alarm)
            model[alarm.id] = alarm.text
        elif action == "end" and len(model) > int(str(value)):
            ended = list(model)[int(str(value))]
            journal.end(ended)
            del model[ended]
        elif action == "reopen":
            journal.close()
            journal, alarms = reopen(folder, max_bytes=16_384)
            assert {alarm.id: alarm.text for alarm in alarms} == model
        assert journal.sync()
        assert journal.next_id > max(model, default=0)
    journal.close()
