from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from edge_tts.audio_chunk import AudioChunk
from edge_tts.config import load_settings
from edge_tts.errors import ConfigError, NothingToSpeakError, ProviderError, UsageError, VoiceError
from edge_tts.pipeline import Pipeline, build_pipeline
from edge_tts.synthesis.utterance_stream import ChunkPlan
from tests.tiny_voice import write_tiny_voice

TEXT = "警告，主轴温度过高，当前 85℃。Motor overload."


def pipeline_of(voice: Path, **overrides: object) -> Pipeline:
    settings = {"voice.name": str(voice), "text.lexicon_folder": "/nonexistent"}
    named = {key.replace("__", "."): value for key, value in overrides.items()}
    return build_pipeline(load_settings(environ={}, overrides=settings | named))


def samples_of(chunks: object) -> np.ndarray:
    return np.concatenate([chunk.samples for chunk in chunks])  # type: ignore[attr-defined]


@pytest.fixture
def pipeline(tiny_voice: Path) -> Pipeline:
    return pipeline_of(tiny_voice)


def test_speaks_both_languages(pipeline: Pipeline) -> None:
    chunks = list(pipeline.stream(TEXT))
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert [chunk.is_last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert {"text", "encoder", "decoder", "vocoder", "transform", "limiter"} <= set(
        chunks[0].stage_ms
    )
    samples = samples_of(chunks)
    assert samples.dtype == np.float32
    # The limiter holds chunks back by a moment and loses none of it.
    assert len(samples) % pipeline.voice.hop_length == 0
    assert 0 < np.abs(samples).max() <= 10 ** (-1 / 20)


def test_a_processor_makes_no_chunk_of_a_short_remainder(pipeline: Pipeline) -> None:
    lengths = pipeline.voice.graphs["vocoder"].chunk_frames
    spared = 0
    for speed in np.linspace(0.5, 2.0, 16):
        chunks = list(pipeline.stream("当前值过高", float(speed)))
        frames = len(samples_of(chunks)) // pipeline.voice.hop_length
        free, fixed = (
            len(list(ChunkPlan(lengths, lambda fixed=fixed: fixed).spans(frames, 0)))  # type: ignore[misc]
            for fixed in (False, True)
        )
        assert len(chunks) == free
        spared += fixed - free
    assert spared


def test_building_loads_no_network(pipeline: Pipeline) -> None:
    assert pipeline.describe()["loaded"] == []
    assert pipeline.describe()["provider"] is None
    next(pipeline.stream(TEXT))
    about = pipeline.describe()
    assert about["loaded"] == ["decoder", "encoder", "vocoder"]
    assert about["networks"] == dict.fromkeys(about["loaded"], "cpu int8")


def test_the_same_text_has_the_same_samples(pipeline: Pipeline, tiny_voice: Path) -> None:
    first = samples_of(pipeline.stream(TEXT))
    pipeline.unload()
    np.testing.assert_array_equal(samples_of(pipeline.stream(TEXT)), first)
    np.testing.assert_array_equal(samples_of(pipeline_of(tiny_voice).stream(TEXT)), first)


def test_memory_comes_back_and_speech_too(tiny_voice: Path) -> None:
    now_s = [0.0]
    pipeline = pipeline_of(tiny_voice, inference__idle_unload_s=60.0)
    first = samples_of(pipeline.stream(TEXT))
    for session in pipeline._sessions.values():
        session._clock = lambda: now_s[0]
        session._last_used_s = 0.0
    assert not pipeline.unload_if_idle()
    now_s[0] = 61.0
    assert pipeline.unload_if_idle()
    assert pipeline.describe()["loaded"] == []
    np.testing.assert_array_equal(samples_of(pipeline.stream(TEXT)), first)


def test_gain_makes_louder(pipeline: Pipeline) -> None:
    plain, louder = (samples_of(pipeline.stream("电机", gain_db=gain)) for gain in (-12.0, -6.0))
    quiet = np.abs(louder) < 0.5
    np.testing.assert_allclose(louder[quiet], plain[quiet] * 10 ** (6 / 20), atol=1e-5)


def test_level_of_the_voice_is_brought_to_the_target(tmp_path: Path, tiny_voice: Path) -> None:
    samples = {}
    for level in (-20.0, -26.0):
        folder = write_tiny_voice(tmp_path / str(level), lexicon=tiny_voice / "lexicon.bin")
        pack = json.loads((folder / "voice.json").read_text("utf-8"))
        pack["figures"] = {"level_dbfs": level}
        (folder / "voice.json").write_text(json.dumps(pack), "utf-8")
        samples[level] = samples_of(pipeline_of(folder, audio__loudness_dbfs=-40.0).stream("电机"))
    np.testing.assert_allclose(samples[-26.0], samples[-20.0] * 10 ** (6 / 20), atol=1e-5)


def test_the_dsp_vocoder_can_be_asked_for(tiny_voice: Path) -> None:
    pipeline = pipeline_of(tiny_voice, synthesis__vocoder="dsp")
    assert {chunk.via for chunk in pipeline.stream("电机")} == {"dsp"}
    assert pipeline.describe()["loaded"] == ["decoder", "encoder"]


def test_a_vocoder_that_cannot_load_is_replaced(tmp_path: Path, tiny_voice: Path) -> None:
    folder = write_tiny_voice(tmp_path / "torn", lexicon=tiny_voice / "lexicon.bin")
    for file in folder.glob("vocoder*.onnx"):
        file.write_bytes(b"\0" * file.stat().st_size)
    assert {chunk.via for chunk in pipeline_of(folder).stream("电机")} == {"dsp"}


def test_only_a_listener_makes_a_slow_network_give_way(
    tiny_voice: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every chunk takes more than no time at all.
    monkeypatch.setattr("edge_tts.pipeline.SLOWEST_REAL_TIME_FACTOR", 0.0)
    settings = load_settings(environ={}, overrides={"voice.name": str(tiny_voice)})
    heard = [chunk.via for chunk in build_pipeline(settings, real_time=True).stream(TEXT)]
    assert heard[:3] == ["neural", "neural", "dsp"]
    written = [chunk.via for chunk in build_pipeline(settings).stream(TEXT)]
    assert set(written) == {"neural"}


def wiener_times(voice: Path, **overrides: object) -> list[AudioChunk]:
    return list(pipeline_of(voice, **overrides).stream("电机过载"))


def test_wiener_filter_follows_the_voice(tmp_path: Path, tiny_voice: Path) -> None:
    lexicon = tiny_voice / "lexicon.bin"
    helped = write_tiny_voice(tmp_path / "helped", lexicon=lexicon, wiener=True)
    pack = json.loads((helped / "voice.json").read_text("utf-8"))
    pack["wiener"]["noise_log_spectrum"] = [0.0] * 301
    (helped / "voice.json").write_text(json.dumps(pack), "utf-8")

    filtered, off = (
        samples_of(wiener_times(helped, synthesis__wiener_filter=mode)) for mode in ("auto", "off")
    )
    assert np.abs(filtered - off).max() > 1e-3
    # Full precision has no quantisation noise to take away.
    fp32 = [
        samples_of(wiener_times(helped, synthesis__wiener_filter=mode, inference__precision="fp32"))
        for mode in ("on", "off")
    ]
    np.testing.assert_array_equal(*fp32)

    pack["wiener"]["enabled"] = False
    (helped / "voice.json").write_text(json.dumps(pack), "utf-8")
    np.testing.assert_array_equal(samples_of(wiener_times(helped)), off)
    on = samples_of(wiener_times(helped, synthesis__wiener_filter="on"))
    np.testing.assert_array_equal(on, filtered)


def test_wiener_filter_needs_a_calibrated_voice(tiny_voice: Path) -> None:
    with pytest.raises(ConfigError, match="noise"):
        pipeline_of(tiny_voice, synthesis__wiener_filter="on")


def test_pieces_are_spoken_as_they_come(pipeline: Pipeline) -> None:
    taken = []

    def writer() -> object:
        for piece in ("警告，", "主轴", "温度过高。"):
            taken.append(piece)
            yield piece

    chunks = pipeline.stream_pieces(writer())  # type: ignore[arg-type]
    first = next(chunks)
    assert taken == ["警告，"]
    rest = list(chunks)
    assert rest[-1].is_last
    assert len(first.samples) > 0


def test_warnings_of_the_whole_text_are_kept(pipeline: Pipeline) -> None:
    for chunks in (
        lambda: pipeline.stream("Отказ 2。电机过载。"),
        lambda: pipeline.stream_pieces(["Отказ 2。", "电机过载。"]),
    ):
        for _ in chunks():
            pass
        assert len(pipeline.warnings) == 1
    next(pipeline.stream("电机过载"))
    assert pipeline.warnings == ()


def test_users_pronunciations_are_reloaded(tmp_path: Path, tiny_voice: Path) -> None:
    folder = tmp_path / "lexicon.d"
    folder.mkdir()
    pipeline = pipeline_of(tiny_voice, text__lexicon_folder=str(folder))
    before = samples_of(pipeline.stream("车库"))
    (folder / "own.json").write_text('{"车库": ["ju1", "ku3"]}', "utf-8")
    np.testing.assert_array_equal(samples_of(pipeline.stream("车库")), before)
    pipeline.reload_lexicon()
    after = samples_of(pipeline.stream("车库"))
    assert len(after) != len(before) or np.abs(after - before).max() > 1e-3


@pytest.mark.parametrize("text", ["", " \n", "……！！？？", "🔥"])
def test_nothing_to_speak(pipeline: Pipeline, text: str) -> None:
    with pytest.raises(NothingToSpeakError):
        next(pipeline.stream(text))


def test_wrong_use_is_told_at_once(pipeline: Pipeline, tiny_voice: Path) -> None:
    with pytest.raises(UsageError, match="speed"):
        pipeline.stream("电机", speed=3.0)
    with pytest.raises(UsageError, match="gain"):
        pipeline.stream("电机", gain_db=float("nan"))
    with pytest.raises(VoiceError, match="no-such-voice"):
        pipeline_of(Path("no-such-voice"))
    forced = pipeline_of(tiny_voice, inference__provider="tensorrt")
    with pytest.raises(ProviderError, match="tensorrt"):
        next(forced.stream("电机"))


def test_long_text_streams_in_bounded_memory(tiny_voice: Path) -> None:
    # In a process of its own: the kernel's high-water mark never comes down.
    script = f"""
import sys
from tests.test_pipeline import pipeline_of, Path
pipeline = pipeline_of(Path({str(tiny_voice)!r}))
def peak_kb():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
for text in ("电机过载" * 25, "电机过载" * 500):
    seconds = sum(len(chunk.samples) for chunk in pipeline.stream(text)) / 24000
    print(seconds, peak_kb())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[1],
    )  # fmt: skip
    (short_s, short_kb), (long_s, long_kb) = (
        map(float, line.split()) for line in done.stdout.splitlines()
    )
    assert long_s > 15 * short_s
    assert long_kb < short_kb + 4096
