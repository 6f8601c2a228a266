"""Runs in the guest: plays on the USB card while the host pulls it out and puts it back.

Prints one line an event; ``PULL`` and ``REPLUG`` ask the host to act.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from edge_tts.audio.devices import alsa_card_ids
from edge_tts.audio.player import Player, Utterance
from edge_tts.audio.sink import SinkSpec, sink_opener
from edge_tts.errors import DeviceError

RATE = 24000
PATIENCE_S = 60.0


def say(what: str) -> None:
    print(what, flush=True)


def cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def wait_until(condition: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline_s:
            raise TimeoutError("waited in vain")
        time.sleep(0.005)


def play_tone(player: Player, hz: float, seconds: float) -> Utterance:
    phase = 2 * np.pi * hz * np.arange(round(seconds * RATE)) / RATE
    utterance = player.start()
    utterance.write((8000 * np.sin(phase)).astype(np.int16))
    utterance.end()
    return utterance


def main() -> None:
    wait_until(alsa_card_ids)
    card_id = next(iter(alsa_card_ids().values()))
    say(f"card {card_id}")
    opener = sink_opener(SinkSpec("device", card_id), RATE, block_ms=20.0)
    for name in (card_id, "default"):
        sink = sink_opener(SinkSpec("device", name), RATE, block_ms=20.0)()
        say(f"{name} plays {RATE} Hz at {sink.sample_rate_hz} Hz, {sink.latency_s * 1e3:.0f} ms")
        sink.close()
    player = Player(
        opener, sample_rate_hz=RATE, ahead_s=60.0, on_state=lambda *change: say(f"state {change}")
    )
    if not player.open(PATIENCE_S):
        raise SystemExit(f"not opened: {player.detail}")
    say(f"played {play_tone(player, 440, 1.0).wait(PATIENCE_S)}")
    utterance = play_tone(player, 440, 30.0)
    wait_until(lambda: utterance.started_s)
    say("PULL")
    wait_until(lambda: not Path("/proc/asound/card0").exists())
    pulled_s, cpu_before_s = time.monotonic(), cpu_s()
    try:
        utterance.wait(PATIENCE_S)
        raise SystemExit("the loss went unnoticed")
    except DeviceError as exc:
        noticed_s = time.monotonic() - pulled_s
        say(f"noticed after {noticed_s:.2f} s, {cpu_s() - cpu_before_s:.2f} s of CPU: {exc}")
    time.sleep(2.0)
    say("REPLUG")
    wait_until(lambda: Path("/proc/asound/card0").exists())
    back_s = time.monotonic()
    player.wait_ready(PATIENCE_S)
    report = play_tone(player, 880, 1.0).wait(PATIENCE_S)
    say(f"again {report.started_s - back_s:.2f} s after the card was back: {report}")
    player.close()
    say(f"SPOKEN AGAIN losses={player.losses}")


main()
