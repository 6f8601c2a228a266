"""The way of sound through the daemon: real threads, a real player, a WAV file as the device."""

from __future__ import annotations

import threading
import time
import wave
from pathlib import Path

import numpy as np
import pytest

from edge_tts.audio.limiter import Limiter, to_int16
from edge_tts.audio.player import Player
from edge_tts.audio.tones import attention_tone
from edge_tts.audio.virtual_sinks import WavSink
from edge_tts.daemon import speaker
from edge_tts.daemon.alarm import Event, EventKind, Outcome, Priority
from edge_tts.daemon.alarm_queue import AlarmQueue, QueueLimits
from edge_tts.daemon.attention import AttentionTones
from edge_tts.daemon.metrics import Metrics
from edge_tts.daemon.phrases import Phrases, identity
from edge_tts.daemon.requests import Say, Target
from edge_tts.daemon.shared_queue import SharedQueue
from edge_tts.daemon.speaker import Speaker
from edge_tts.daemon.speech_cache import SpeechCache
from edge_tts.daemon.synthesis_worker import SynthesisWorker
from edge_tts.daemon.telling import SpeakerOptions
from edge_tts.daemon.text_stream import TextStream
from edge_tts.errors import DeviceError, InferenceError, NothingToSpeakError
from tests.daemon.fakes import CHUNK_SAMPLES, RATE_HZ, FakePipeline, voice_of

FADE_SAMPLES = RATE_HZ // 100
LONG = "一二三四五六七八九十一二三四五"
IDENTIFY = identity("fake", "1", "")


class FlakySink(WavSink):
    """A WAV file that is pulled out once ``pull_at`` samples have been written."""

    pull_at: int | None = None

    def write(self, samples, timeout_s=None):
        if self.pull_at is not None and self.written_samples >= self.pull_at:
            FlakySink.pull_at = None
            raise DeviceError("the device was pulled out")
        return super().write(samples, timeout_s)


class Stage:
    """A speaker with everything around it."""

    def __init__(self, folder: Path, limits: QueueLimits | None = None) -> None:
        self.folder = folder
        self.events: list[Event] = []
        self.neural, self.dsp = FakePipeline(), FakePipeline("dsp")
        self.built: list[str] = []
        self.opened = 0
        self.no_device = threading.Event()
        self.queue = SharedQueue(AlarmQueue(time.monotonic, limits), self.events.extend)
        self.player = Player(self.open_sink, sample_rate_hz=RATE_HZ, backoff_s=(0.05,))
        self.workers = (
            SynthesisWorker("neural", lambda: self.build("neural", self.neural)),
            SynthesisWorker("dsp", lambda: self.build("dsp", self.dsp)),
        )
        self.cache = SpeechCache(folder / "cache")
        self.phrases = Phrases(self.cache, IDENTIFY, RATE_HZ)
        self.metrics = Metrics()
        self.streams: dict[int, TextStream] = {}
        self.tones = AttentionTones(RATE_HZ, wav_folder=folder)
        options = SpeakerOptions(deadline_s=0.4, loading_s=0.0, gain_db={Priority.LOW: -20.0})
        self.speaker = Speaker(
            self.queue, self.player, self.workers, self.phrases, self.metrics,
            tones=self.tones, streams=self.streams, options=options,
        )  # fmt: skip

    def build(self, name: str, pipeline: FakePipeline) -> FakePipeline:
        self.built.append(name)
        return pipeline

    def open_sink(self) -> FlakySink:
        if self.no_device.is_set():
            raise DeviceError("no such device")
        self.opened += 1
        return FlakySink(self.folder / f"out{self.opened}.wav", RATE_HZ, block_ms=5.0)

    def start(self) -> None:
        self.phrases.open()
        for worker in self.workers:
            worker.start()
        self.player.open()
        self.speaker.start()

    def stop(self) -> None:
        for pipeline in (self.neural, self.dsp):
            pipeline.released.set()
        self.speaker.stop()
        for worker in self.workers:
            worker.stop()
        self.player.close()

    def say(self, text: str, priority: str = "medium", **fields) -> int:
        fields.setdefault("tone", "off")
        request = Say(text=text, priority=Priority.from_word(priority), **fields)
        with self.queue.use() as queue:
            return queue.submit(request).alarm.id

    def wait(self, condition) -> None:
        deadline_s = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < deadline_s, self.events
            time.sleep(0.005)

    def ended(self, alarm_id: int) -> Event:
        def find() -> list[Event]:
            return [e for e in self.events if e.alarm_id == alarm_id and e.outcome is not None]

        self.wait(find)
        return find()[0]

    def started(self, alarm_id: int) -> None:
        self.wait(lambda: EventKind.STARTED in self.kinds(alarm_id))

    def kinds(self, alarm_id: int) -> list[EventKind]:
        return [e.kind for e in self.events if e.alarm_id == alarm_id]

    def recording(self, number: int = 1) -> np.ndarray:
        """What has left the sink; the file gets its last block a moment after it has played."""
        path = self.folder / f"out{number}.wav"
        size = -1
        while size != (size := path.stat().st_size):
            time.sleep(0.4)
        with wave.open(str(path)) as file:
            return np.frombuffer(file.readframes(file.getnframes()), "<i2")

    def cache_phrase(self, text: str, samples: np.ndarray) -> None:
        self.cache.open()
        self.cache.put(IDENTIFY(text, 1.0), to_int16(samples).tobytes(), RATE_HZ)


@pytest.fixture
def stage(tmp_path):
    FlakySink.pull_at = None
    stage = Stage(tmp_path)
    yield stage
    stage.stop()


def pcm(*parts: np.ndarray, gain_db: float = 0.0) -> np.ndarray:
    limiter = Limiter(RATE_HZ, gain_db=gain_db)
    return to_int16(np.concatenate([*(limiter.process(part) for part in parts), limiter.flush()]))


def find(recording: np.ndarray, part: np.ndarray) -> int:
    """Where ``part`` lies, sample for sample; -1 where it does not."""
    return recording.tobytes().find(part.tobytes()) // 2 if part.tobytes() in (
        recording.tobytes()
    ) else -1  # fmt: skip


def test_tone_then_speech_whole_and_in_order(stage):
    stage.start()
    event = stage.ended(stage.say("压力过高", "medium", tone="auto"))
    assert event.outcome is Outcome.DONE
    assert event.details["via"] == "neural"
    tone = attention_tone("medium", RATE_HZ)
    expected = pcm(tone, voice_of("压力过高"))
    assert np.array_equal(stage.recording(), expected)


def test_started_comes_before_finished_and_carries_latencies(stage):
    stage.start()
    alarm_id = stage.say("好")
    stage.ended(alarm_id)
    assert stage.kinds(alarm_id) == [EventKind.ACCEPTED, EventKind.STARTED, EventKind.FINISHED]
    started = next(e for e in stage.events if e.kind is EventKind.STARTED)
    assert 0 < started.details["first_ms"] < 10_000
    assert set(stage.metrics.latencies()) >= {"queue", "first_sound", "first_chunk", "encoder"}


def test_nothing_sounds_while_the_networks_are_being_loaded(stage):
    loaded = threading.Event()
    stage.workers[0].call(lambda pipeline: loaded.wait(20))
    stage.start()
    alarm_id = stage.say("好", tone="auto")
    time.sleep(0.3)
    kinds = stage.kinds(alarm_id)
    loaded.set()
    assert kinds == [EventKind.ACCEPTED]
    assert stage.ended(alarm_id).details["via"] == "neural"


def test_networks_that_hang_while_they_load_delay_an_alarm_and_no_more(stage, monkeypatch):
    monkeypatch.setattr(speaker, "_WARM_UP_S", 0.1)
    released = threading.Event()
    stage.workers[0].call(lambda pipeline: released.wait(20))
    stage.start()
    event = stage.ended(stage.say("好"))
    released.set()
    assert event.details["via"] == "dsp"


def test_first_chunk_sounds_before_the_second_is_made(stage):
    stage.neural.hang_at = 1
    stage.speaker.options = SpeakerOptions(deadline_s=20.0)
    stage.start()
    alarm_id = stage.say("两段")
    stage.started(alarm_id)
    stage.neural.released.set()
    assert stage.ended(alarm_id).details["via"] == "neural"


def test_critical_cuts_in_and_the_cut_alarm_starts_again_from_its_beginning(stage):
    stage.start()
    low = stage.say(LONG, "high")
    stage.started(low)
    time.sleep(0.2)
    critical = stage.say("着火", "critical", tone="critical")
    assert stage.ended(critical).outcome is Outcome.DONE
    assert stage.ended(low).outcome is Outcome.DONE
    assert EventKind.CUT in stage.kinds(low)
    recording, speech = stage.recording(), pcm(voice_of(LONG))
    urgent = pcm(attention_tone("critical", RATE_HZ), voice_of("着火"))
    at = find(recording, urgent)
    assert at > 0
    heard = next(n for n in range(at) if recording[n] != speech[n])
    assert at - heard <= FADE_SAMPLES, "what was cut fades out within 10 ms"
    assert np.array_equal(recording[at + len(urgent) :], speech)
    faded = np.abs(recording[heard:at].astype(int))
    assert faded[-10:].max() < 2000


def test_critical_is_not_cut_by_critical(stage):
    stage.start()
    first = stage.say("着火了快走", "critical")
    stage.started(first)
    second = stage.say("漏气", "critical")
    stage.ended(second)
    assert np.array_equal(
        stage.recording(), np.concatenate([pcm(voice_of("着火了快走")), pcm(voice_of("漏气"))])
    )


def test_a_critical_alarm_cuts_in_while_synthesis_is_busy_with_another(stage):
    stage.neural.hang_at = 0
    stage.speaker.options = SpeakerOptions(deadline_s=20.0)
    stage.start()
    stage.say(LONG, "low")
    time.sleep(0.1)
    stage.cache_phrase("着火", voice_of("着火"))
    critical = stage.say("着火", "critical")
    assert stage.ended(critical).details["via"] == "cache"


def test_silence_stops_the_sound_now(stage):
    stage.start()
    alarm_id = stage.say(LONG, "critical")
    stage.started(alarm_id)
    with stage.queue.use() as queue:
        queue.silence(30.0)
    assert stage.ended(alarm_id).outcome is Outcome.SILENCED
    time.sleep(0.1)
    assert len(stage.recording()) < len(voice_of(LONG)) // 2


def test_clear_cuts_what_is_being_spoken(stage):
    stage.start()
    alarm_id = stage.say(LONG, key="pump")
    stage.started(alarm_id)
    with stage.queue.use() as queue:
        queue.clear(Target(key="pump"))
    assert stage.ended(alarm_id).outcome is Outcome.CLEARED


def test_a_hanging_network_falls_to_the_dsp_vocoder_by_the_deadline(stage):
    stage.neural.hang_at = 0
    stage.start()
    event = stage.ended(stage.say("压力"))
    assert (event.outcome, event.details["via"]) == (Outcome.DONE, "dsp")
    assert np.array_equal(stage.recording(), pcm(voice_of("压力", "dsp")))
    assert stage.metrics.value("fallbacks_total", step="neural") == 1


def test_networks_that_are_being_loaded_are_given_more_time(stage):
    stage.neural.chunk_s = 0.8
    stage.speaker.options = SpeakerOptions(deadline_s=0.4, loading_s=5.0)
    stage.start()
    assert stage.ended(stage.say("好")).details["via"] == "neural"
    assert stage.ended(stage.say("坏")).details["via"] == "dsp", "they are loaded now"


def test_a_network_that_still_hangs_is_not_waited_for_again(stage):
    stage.neural.hang_at = 0
    stage.start()
    stage.ended(stage.say("压力"))
    event = stage.ended(stage.say("温度"))
    assert event.details["via"] == "dsp"
    assert event.details["first_ms"] < 300
    assert stage.neural.spoken == ["压力"]
    stage.neural.hang_at = None
    stage.neural.released.set()
    stage.wait(lambda: stage.workers[0].stuck_s == 0.0)
    assert stage.ended(stage.say("液位")).details["via"] == "neural"


def test_a_network_that_breaks_in_mid_speech_is_spoken_again_from_the_start(stage):
    stage.neural.fail_at = 2
    stage.neural.error = InferenceError("out of memory")
    stage.start()
    event = stage.ended(stage.say("一二三四"))
    assert event.details["via"] == "dsp"
    pause = np.zeros(RATE_HZ // 4, np.float32)
    parts = voice_of("一二三四")[: 2 * CHUNK_SAMPLES], pause, voice_of("一二三四", "dsp")
    assert np.array_equal(stage.recording(), pcm(*parts))


def test_when_no_speech_can_be_made_a_tone_sounds(stage):
    stage.neural.fail_at = stage.dsp.fail_at = 0
    stage.start()
    event = stage.ended(stage.say("压力", "high"))
    assert (event.outcome, event.details["via"]) == (Outcome.DONE, "tone")
    assert np.array_equal(stage.recording(), pcm(attention_tone("high", RATE_HZ)))


def test_a_text_with_nothing_to_speak_is_told_as_failed(stage):
    stage.neural.fail_at = 0
    stage.neural.error = NothingToSpeakError("nothing")
    stage.start()
    event = stage.ended(stage.say("……"))
    assert (event.outcome, event.details["reason"]) == (Outcome.FAILED, "nothing-to-speak")
    assert stage.built == ["neural"]


def test_a_cached_phrase_needs_no_model(stage):
    stage.cache_phrase("警告", voice_of("警告"))
    stage.start()
    event = stage.ended(stage.say("警告"))
    assert event.details["via"] == "cache"
    assert stage.built == []
    assert np.abs(stage.recording().astype(int) - to_int16(voice_of("警告"))).max() <= 1


def test_a_prefix_sounds_at_once_and_speech_follows_without_a_gap(stage):
    prefix = np.concatenate([voice_of("警告"), np.zeros(RATE_HZ, np.float32)])
    stage.cache_phrase("警告", prefix)
    stage.neural.chunk_s = 0.1
    stage.start()
    event = stage.ended(stage.say("压力过高", prefix="警告"))
    assert event.details["via"] == "neural"
    assert event.details["first_ms"] < 90, "the prefix did not wait for synthesis"
    recording = stage.recording()
    at = find(recording, pcm(voice_of("压力过高")))
    tail = RATE_HZ * 20 // 1000
    assert len(voice_of("警告")) <= at <= len(voice_of("警告")) + tail
    spoken = recording[: len(voice_of("警告")) - tail]
    assert np.abs(spoken.astype(int) - to_int16(voice_of("警告"))[: len(spoken)]).max() <= 1


def test_a_prefix_that_is_not_cached_is_spoken_with_the_text(stage):
    stage.start()
    stage.ended(stage.say("压力过高", prefix="警告"))
    assert stage.neural.spoken == ["警告，压力过高"]


def test_gain_by_priority_and_by_request(stage):
    stage.start()
    stage.ended(stage.say("好", "low", gain_db=-6.0))
    assert np.array_equal(stage.recording(), pcm(voice_of("好"), gain_db=-26.0))


def test_own_tone_and_a_tone_that_is_missing(stage):
    own = to_int16(voice_of("钟"))
    with wave.open(str(stage.folder / "bell.wav"), "wb") as file:
        file.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        file.writeframes(own.tobytes())
    stage.start()
    stage.ended(stage.say("好", tone="bell"))
    ours = stage.recording()
    assert len(ours) == len(own) + CHUNK_SAMPLES
    stage.ended(stage.say("好", tone="nowhere"))
    expected = pcm(attention_tone("medium", RATE_HZ), voice_of("好"))
    assert np.array_equal(stage.recording()[len(ours) :], expected)


def test_an_alarm_cut_by_a_lost_device_is_spoken_again_from_its_start(stage):
    FlakySink.pull_at = RATE_HZ // 4
    stage.start()
    alarm_id = stage.say("一二三四五六")
    assert stage.ended(alarm_id).outcome is Outcome.DONE
    assert EventKind.RETURNED in stage.kinds(alarm_id)
    assert stage.opened == 2
    assert len(stage.recording(1)) < len(voice_of("一二三四五六"))
    assert np.array_equal(stage.recording(2), pcm(voice_of("一二三四五六")))


def test_alarms_wait_for_a_missing_device_and_expire_in_time(stage):
    stage.no_device.set()
    stage.start()
    waiting = stage.say("等待")
    expiring = stage.say("过期", ttl_s=0.2)
    assert stage.ended(expiring).outcome is Outcome.EXPIRED
    stage.no_device.clear()
    assert stage.ended(waiting).outcome is Outcome.DONE


def test_text_that_comes_in_pieces_is_spoken_as_it_comes(stage):
    stage.start()
    text = TextStream()
    with stage.queue.use() as queue:
        alarm_id = queue.submit(Say(text="", tone="off"), streaming=True).alarm.id
        stage.streams[alarm_id] = text
    text.add("第一句")
    stage.started(alarm_id)
    time.sleep(0.6)
    text.add("第二句")
    text.end()
    assert stage.ended(alarm_id).details["via"] == "neural"
    expected = pcm(voice_of("第一句"), voice_of("第二句"))
    assert np.array_equal(stage.recording(), expected)


def test_repeats_are_told_again_until_acknowledged(tmp_path):
    stage = Stage(tmp_path, QueueLimits(min_repeat_s=0.1))
    stage.start()
    try:
        alarm_id = stage.say("开门", key="door", repeat_s=0.1)
        stage.wait(lambda: stage.kinds(alarm_id).count(EventKind.SPOKEN) >= 2)
        with stage.queue.use() as queue:
            queue.acknowledge(Target(key="door"))
        assert stage.ended(alarm_id).outcome is Outcome.ACKNOWLEDGED
        assert stage.kinds(alarm_id).count(EventKind.STARTED) >= 2
    finally:
        stage.stop()


def test_many_alarms_at_once_are_all_told(stage):
    stage.start()
    ids = [stage.say(f"{n}", "high" if n % 3 else "critical") for n in range(24)]
    assert [stage.ended(n).outcome for n in ids] == [Outcome.DONE] * 24


def test_the_thread_ends(stage):
    stage.start()
    alarm_id = stage.say(LONG)
    stage.started(alarm_id)
    stage.speaker.stop()
    assert not stage.speaker.speaking
    with stage.queue.use() as queue:
        assert queue.is_live(alarm_id), "it is told after the restart"
