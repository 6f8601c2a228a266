"""The sound card goes away and comes back: nothing is lost, and all is told."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.audio_rig import PulseRig, needs_rig, pulse_rig
from tests.daemon.daemon_process import (
    DaemonProcess,
    await_outcomes,
    daemon_process,
    say_line,
)

LONG = "一号电机温度过高，请立即检查"


@needs_rig
class TestDevice:
    @pytest.fixture
    def rig(self) -> Iterator[PulseRig]:
        with pulse_rig(24_000) as rig:
            yield rig

    @pytest.fixture
    def daemon(self, rig, tmp_path, tiny_voice) -> Iterator[DaemonProcess]:
        settings = {"audio": {"stall_s": 1.0}}
        with daemon_process(
            tmp_path, tiny_voice, settings, sink="device", environment=rig.environment
        ) as daemon:
            yield daemon

    def test_pulled_out_in_mid_word(self, rig, daemon):
        self.lose(daemon, rig.unload_sink, rig.load_sink)

    def test_the_sound_server_is_killed(self, rig, daemon):
        self.lose(daemon, rig.kill_server, rig.start)

    def test_suspended(self, rig, daemon):
        self.lose(daemon, lambda: rig.suspend_sink(True), lambda: rig.suspend_sink(False))

    def lose(self, daemon: DaemonProcess, pull, plug_in) -> None:
        sock = say_line(daemon, f"prio=high tone=off wait=finished text={LONG}")
        reader = sock.makefile(encoding="utf-8")
        assert "accepted" in reader.readline()
        assert "started" in reader.readline()
        time.sleep(0.3)
        pulled_s = time.monotonic()
        pull()
        daemon.wait(lambda: daemon.status()["device"]["state"] == "lost")
        print(f"loss noticed after {time.monotonic() - pulled_s:.2f} s")
        with daemon.client() as client:
            waiting = client.say("着火", priority="critical", tone="off").alarm_id
        plugged_s = time.monotonic()
        plug_in()
        daemon.wait(lambda: f"alarm-started id={waiting} " in daemon.log())
        print(f"speaks again {time.monotonic() - plugged_s:.2f} s after the device is back")
        lines = [reader.readline() for _ in range(3)]
        assert "returned reason=device-lost" in lines[0]
        assert "started" in lines[1]
        assert "outcome=done" in lines[2]
        await_outcomes(daemon, {waiting: "done"})
        assert daemon.status()["device"]["losses"] == 1

    def test_missing_at_the_start(self, rig, tmp_path, tiny_voice):
        rig.unload_sink()
        with daemon_process(
            tmp_path, tiny_voice, sink="device", environment=rig.environment, start=False
        ) as daemon:
            daemon.start(wait=False)
            daemon.wait(daemon.socket_path.exists)
            time.sleep(0.2)
            with daemon.client() as client:
                alarm_id = client.say("水泵故障", tone="off").alarm_id
            assert daemon.status()["state"] == "no-device"
            rig.load_sink()
            await_outcomes(daemon, {alarm_id: "done"})


def test_a_device_that_only_a_new_process_can_reach_ends_the_process(tmp_path, tiny_voice):
    """The service manager starts another one, and the journal carries the alarms over."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "hang-device").touch()
    with daemon_process(
        tmp_path, tiny_voice, environment={"EDGETTS_TEST_HOOKS": str(hooks)},
        module="tests.daemon.hooked_daemon", start=False,
    ) as daemon:  # fmt: skip
        daemon.start(wait=False)
        daemon.wait(daemon.socket_path.exists)
        time.sleep(0.2)
        with daemon.client() as client:
            alarm_id = client.say("水泵故障", tone="off").alarm_id
        assert daemon.exit_code() == 74
        assert "device-fatal" in daemon.log()
        (hooks / "hang-device").unlink()
        daemon.start(wait=False)
        await_outcomes(daemon, {alarm_id: "done"})
