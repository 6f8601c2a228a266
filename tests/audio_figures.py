"""Prints the figures of the audio part: ``python -m tests.audio_figures``, half a minute.

Those of a device need PulseAudio (see audio_rig.py) and are left out, with the
reason, where it is missing.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable

import numpy as np

from edge_tts.audio.limiter import Limiter
from edge_tts.audio.loudness import integrated_loudness_lufs
from edge_tts.audio.player import Player
from edge_tts.audio.resampler import Resampler
from edge_tts.audio.sink import parse_sink_spec, sink_opener
from edge_tts.audio.tones import TONES, attention_tone
from edge_tts.errors import DeviceError
from tests.audio.test_resampler import stop_band_db
from tests.audio_rig import PulseRig, missing, pulse_rig

RATE = 48000


def noise(seconds: float) -> np.ndarray:
    rng = np.random.default_rng(1)
    return (rng.standard_normal(round(seconds * RATE)) * 4000).astype(np.int16) | 1


def percentiles(values: list[float]) -> str:
    ordered = sorted(values)
    at_95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    return f"P50 {statistics.median(ordered) * 1e3:.1f} ms, P95 {at_95 * 1e3:.1f} ms"


def ms_a_second(work: Callable[[np.ndarray], object], rate_hz: int) -> float:
    """Milliseconds of work on a second of audio in 20 ms chunks, the best of five runs."""
    samples = np.random.default_rng(2).standard_normal(rate_hz).astype(np.float32) * 0.5
    chunks = np.split(samples, 50)
    runs = []
    for _ in range(5):
        start_s = time.perf_counter()
        for chunk in chunks:
            work(chunk)
        runs.append(time.perf_counter() - start_s)
    return min(runs) * 1e3


def signal_figures() -> None:
    for rates in ((24000, 48000), (24000, 44100), (24000, 16000), (48000, 24000)):
        cost_ms = ms_a_second(Resampler(*rates).process, rates[0])
        print(
            f"resampler {rates[0]} -> {rates[1]} Hz: loudest image or alias "
            f"{stop_band_db(rates):.1f} dB, {cost_ms:.1f} ms a second of audio"
        )
    rng = np.random.default_rng(3)
    worst = 0.0
    for gain_db in range(0, 31, 3):
        limiter = Limiter(24000, gain_db=gain_db)
        burst = np.exp(2 * np.sin(np.arange(24000) / 2000)) * rng.standard_normal(24000)
        out = np.concatenate([limiter.process(burst.astype(np.float32)), limiter.flush()])
        worst = max(worst, float(np.abs(out).max()))
    over_db = 20 * np.log10(worst) + 1.0
    print(f"limiter: peak over the ceiling of -1 dBFS with up to 30 dB of gain: {over_db:.6f} dB")
    for name, gain_db in (("idle", -20), ("busy", 20)):
        cost_ms = ms_a_second(Limiter(24000, gain_db=gain_db).process, 24000)
        print(f"limiter {name}: {cost_ms:.2f} ms a second of audio")
    for priority in TONES:
        tone = attention_tone(priority, 24000)
        print(
            f"tone {priority}: {len(tone) / 24000:.2f} s, peak "
            f"{20 * np.log10(np.abs(tone).max()):.1f} dBFS, "
            f"{integrated_loudness_lufs(tone, 24000):.1f} LUFS with its pauses"
        )


def open_player(block_ms: float) -> Player:
    player = Player(
        sink_opener(parse_sink_spec("device"), RATE, block_ms=block_ms), sample_rate_hz=RATE
    )
    if not player.open(10.0):
        raise DeviceError(player.detail)
    return player


def latency_figures(rig: PulseRig, block_ms: float) -> None:
    player = open_player(block_ms)
    starts, cut_ins, delays = [], [], []
    samples = noise(0.15)
    for number in range(20):
        time.sleep(0.05 + 0.0007 * number)
        written_s = time.monotonic()
        with player.start() as utterance:
            utterance.write(samples)
        utterance.wait(10)
        time.sleep(0.05)
        first, _ = rig.find(samples, written_s)
        delays.append(player.latency_s)
        starts.append(rig.time_of(first, written_s) - written_s)
    for number in range(20):
        long = player.start()
        long.write(noise(2.0))
        while long.started_s is None:
            time.sleep(0.001)
        time.sleep(0.0007 * number)
        asked_s = time.monotonic()
        player.fade_out()
        with player.start() as utterance:
            utterance.write(samples)
        report = utterance.wait(10)
        cut_ins.append(report.started_s - asked_s)
    player.close()
    device_ms = statistics.median(delays) * 1e3
    print(
        f"blocks of {block_ms:g} ms: write to first sample in the pipe {percentiles(starts)}; "
        f"cut-in {percentiles(cut_ins)}; of both, {device_ms:.1f} ms lie behind the callback"
    )


def idle_figures() -> None:
    player = open_player(10.0)
    before = resource.getrusage(resource.RUSAGE_SELF)
    time.sleep(3.0)
    after = resource.getrusage(resource.RUSAGE_SELF)
    player.close()
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"open and silent: {used_s / 3.0 * 100:.1f} % of a core, the pipe's reader included")


def loss_figures() -> None:
    losses: dict[str, tuple[Callable[[PulseRig], None], Callable[[PulseRig], None]]] = {
        "sink unloaded": (PulseRig.unload_sink, PulseRig.load_sink),
        "server killed": (PulseRig.kill_server, PulseRig.start),
        "sink suspended": (
            lambda rig: rig.suspend_sink(True),
            lambda rig: rig.suspend_sink(False),
        ),
    }
    for name, (lose, restore) in losses.items():
        with pulse_rig(RATE) as rig:
            player = open_player(10.0)
            utterance = player.start()
            utterance.write(noise(4.0))
            while utterance.started_s is None:
                time.sleep(0.005)
            lose(rig)
            lost_s = time.monotonic()
            try:
                utterance.wait(20)
            except DeviceError:
                noticed_s = time.monotonic() - lost_s
            time.sleep(2.0)
            restore(rig)
            back_s = time.monotonic()
            player.wait_ready(20)
            with player.start() as utterance:
                utterance.write(noise(0.1))
            report = utterance.wait(10)
            player.close()
            print(
                f"{name} in mid-word: noticed after {noticed_s:.2f} s, speaking again "
                f"{report.started_s - back_s:.2f} s after it came back"
            )


def main() -> None:
    signal_figures()
    reason = missing()
    if reason is not None:
        print(f"no figures of a device: {reason}")
        return
    with pulse_rig(RATE) as rig:
        for block_ms in (5.0, 10.0, 20.0):
            latency_figures(rig, block_ms)
        idle_figures()
    loss_figures()


if __name__ == "__main__":
    main()
