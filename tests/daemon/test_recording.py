"""What a sound card gets: real PortAudio onto a PulseAudio sink whose samples are recorded."""

from __future__ import annotations

import time

import numpy as np
import pytest

from edge_tts.audio.limiter import Limiter, to_int16
from edge_tts.audio.tones import attention_tone
from edge_tts.pipeline import build_pipeline
from tests.audio_rig import PulseRig, needs_rig, pulse_rig
from tests.daemon.daemon_process import DaemonProcess, daemon_process

pytestmark = needs_rig

RATE_HZ = 24_000
BLOCK_MS = 40.0
LONG = "一号电机温度过高，请立即检查冷却水泵和通风机，并通知值班工程师到场处理。"


@pytest.fixture(scope="module")
def rig():
    # At the rate of the voice nothing is converted on the way: every sample can be compared.
    with pulse_rig(RATE_HZ) as rig:
        yield rig


@pytest.fixture(scope="module")
def daemon(rig: PulseRig, tmp_path_factory, tiny_voice):
    with daemon_process(
        tmp_path_factory.mktemp("daemon"),
        tiny_voice,
        # Long blocks: a busy machine must not cause underruns that the test didn't.
        {"audio": {"block_ms": BLOCK_MS}},
        sink="device",
        environment=rig.environment,
    ) as daemon:
        yield daemon


def sound(daemon: DaemonProcess, text: str, tone: str | None) -> np.ndarray:
    """What an alarm must sound like, sample for sample."""
    settings = daemon.settings()
    level_lufs = settings.audio.loudness_dbfs + settings.tones.gain_db
    limiter = Limiter(RATE_HZ, ceiling_dbfs=settings.audio.ceiling_dbfs)
    parts = [attention_tone(tone, RATE_HZ, level_lufs)] if tone else []
    parts += [chunk.samples for chunk in build_pipeline(settings).stream(text)]
    return to_int16(np.concatenate([*(limiter.process(part) for part in parts), limiter.flush()]))


def settle() -> None:
    """The sink's own buffer plays out."""
    time.sleep(0.5)


def find(recorded: np.ndarray, part: np.ndarray) -> int:
    """Index of ``part`` in the recording, sample for sample; fails when it isn't there whole."""
    at = recorded.tobytes().find(part.tobytes())
    while at >= 0 and at % 2:
        at = recorded.tobytes().find(part.tobytes(), at + 1)
    assert at >= 0, f"{len(part)} samples are not in the recording of {len(recorded)} whole"
    return at // 2


def test_the_recording_holds_the_tone_and_the_speech_whole(rig, daemon):
    began_s = time.monotonic()
    assert daemon.say("水泵故障", priority="medium").via == "neural"
    settle()
    recorded, expected = rig.recording(began_s), sound(daemon, "水泵故障", "medium")
    at = find(recorded, expected)
    assert not recorded[:at].any(), "nothing sounds before"
    assert not recorded[at + len(expected) :].any(), "nothing sounds after"


def test_the_critical_alarm_cuts_in_and_the_cut_one_is_told_again(rig, daemon):
    # The fade takes the start of a block, and where the player is quicker than the critical sound
    # the rest of that block is silent. A machine busy enough for a gap in the sound hides where
    # the cut came; no fault does thrice.
    tries = [_from_cut_to_critical(rig, daemon) for _ in range(3)]
    fade, block = RATE_HZ // 100 + 1, BLOCK_MS * RATE_HZ / 1000
    assert any(len(between) <= block and not between[fade:].any() for between in tries), (
        "10 ms of fade, then silence to the end of the block at most, then the critical one"
    )


def _from_cut_to_critical(rig, daemon) -> np.ndarray:
    began_s = time.monotonic()
    with daemon.client() as client, daemon.client() as other:
        low = client.request("SAY", prio="high", tone="off", wait="finished", text=LONG)
        started = client.next_event()
        assert "started" in started.words
        time.sleep(0.4)
        urgent = other.say("着火", priority="critical", wait="finished")
        assert client.follow(low, "finished").exit_code == 0
        assert urgent.exit_code == 0
    settle()
    recorded = rig.recording(began_s)
    low_sound, urgent_sound = sound(daemon, LONG, None), sound(daemon, "着火", "critical")
    cut_at, again_at = find(recorded, urgent_sound), find(recorded, low_sound)
    assert cut_at < again_at, "the critical one comes first, then the other from its beginning"
    first = int(np.flatnonzero(recorded)[0])
    begun = low_sound[int(np.flatnonzero(low_sound)[0]) :]
    same = recorded[first:cut_at] == begun[: cut_at - first]
    heard = int(np.argmin(same))
    assert heard > 0, "the cut one had begun"
    return recorded[first + heard : cut_at]


def test_prefix_and_speech_follow_each_other_without_a_gap(rig, daemon):
    began_s = time.monotonic()
    assert daemon.say("水泵故障", prefix="警告", tone="off").via == "neural"
    settle()
    recorded, speech = rig.recording(began_s), sound(daemon, "水泵故障", None)
    at = find(recorded, speech)
    assert np.abs(recorded[at - RATE_HZ // 25 : at].astype(int)).max() > 30, "no gap before it"
    prefix = recorded[int(np.flatnonzero(recorded)[0]) : at]
    spoken = sound(daemon, "警告", None)
    spoken = spoken[int(np.flatnonzero(spoken)[0]) :]
    whole = len(prefix) - RATE_HZ // 40
    assert whole > RATE_HZ // 5
    assert np.abs(prefix[:whole].astype(int) - spoken[:whole]).max() <= 2


def test_alarms_one_after_the_other_are_all_whole_and_in_order(rig, daemon):
    began_s = time.monotonic()
    texts = [f"{number}号阀门关闭" for number in range(1, 6)]
    with daemon.client() as client:
        replies = [
            client.request("SAY", prio="high", tone="off", wait="finished", text=text)
            for text in texts
        ]
        assert [client.follow(reply, "finished").exit_code for reply in replies] == [0] * 5
    settle()
    recorded = rig.recording(began_s)
    places = [find(recorded, sound(daemon, text, None)) for text in texts]
    assert places == sorted(places)


def test_started_and_finished_are_told_by_the_clock_of_the_device(rig, daemon):
    began_s = time.monotonic()
    started: list[float] = []
    with daemon.client() as client:
        reply = client.request("SAY", prio="low", tone="off", wait="finished", text="水泵故障")
        client.follow(
            reply, "finished", on_event=lambda e: started.append(float(e.fields.get("at_s", 0)))
        )
    finished_s = time.monotonic()
    settle()
    recorded, expected = rig.recording(began_s), sound(daemon, "水泵故障", None)
    first = int(np.flatnonzero(np.abs(recorded.astype(int)) > 32)[0])
    left_s = rig.time_of(find(recorded, expected) + len(expected) - 1, began_s)
    assert finished_s > began_s + len(expected) / RATE_HZ
    assert began_s < started[0] < finished_s
    print(
        f"started by {(started[0] - rig.time_of(first, began_s)) * 1000:+.0f} ms, "
        f"finished by {(finished_s - left_s) * 1000:+.0f} ms off the pipe of the sound server"
    )
