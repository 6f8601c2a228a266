"""Phrases that need no model: rendered when there is time, found by what they say."""

from __future__ import annotations

import numpy as np
import pytest

from edge_tts.audio.limiter import to_int16
from edge_tts.daemon.phrases import Phrases, identity
from edge_tts.daemon.speech_cache import SpeechCache
from tests.daemon.fakes import RATE_HZ, FakePipeline, voice_of

WANTED = ("警告", "注意", "警告")


def phrases_in(folder, max_bytes: int = 1_000_000, variant: str = "") -> Phrases:
    phrases = Phrases(
        SpeechCache(folder, max_bytes), identity("v", "1", variant), RATE_HZ, WANTED
    )  # fmt: skip
    phrases.open()
    return phrases


def render_all(phrases: Phrases, pipeline: FakePipeline) -> None:
    while phrases.render_next(pipeline, lambda: False):
        pass


def test_each_phrase_is_rendered_once_and_survives_a_restart(tmp_path):
    pipeline = FakePipeline()
    phrases = phrases_in(tmp_path)
    assert phrases.missing == ("警告", "注意")
    assert phrases.get("警告") is None
    render_all(phrases, pipeline)
    assert pipeline.spoken == ["警告", "注意"]
    again = phrases_in(tmp_path)
    assert again.missing == ()
    found = again.get(" 警告 ")
    assert found is not None
    assert np.array_equal(to_int16(found), to_int16(voice_of("警告")))
    assert again.get("警告", speed=1.5) is None
    assert again.get("警告！") is None


def test_another_voice_or_another_lexicon_is_another_sound(tmp_path):
    render_all(phrases_in(tmp_path), FakePipeline())
    assert phrases_in(tmp_path, variant="new lexicon").missing == ("警告", "注意")


def test_rendering_gives_way_and_is_taken_up_again(tmp_path):
    phrases, pipeline = phrases_in(tmp_path), FakePipeline()
    assert phrases.render_next(pipeline, lambda: True)
    assert phrases.missing == ("警告", "注意")
    render_all(phrases, pipeline)
    assert phrases.missing == ()


def test_a_disk_that_takes_nothing_leaves_the_memory(tmp_path):
    (tmp_path / "file").write_text("")
    phrases = phrases_in(tmp_path / "file" / "cache")
    render_all(phrases, FakePipeline())
    assert phrases.missing == ()
    assert phrases.get("注意") is not None
    phrases.change(identity("v", "2", ""), ["注意"])
    assert phrases.missing == ("注意",)


def test_the_memory_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("edge_tts.daemon.phrases._MAX_MEMORY_BYTES", 10_000)
    phrases, pipeline = phrases_in(tmp_path, max_bytes=0), FakePipeline()
    assert phrases.render_next(pipeline, lambda: False)
    assert not phrases.render_next(pipeline, lambda: False)
    assert phrases.missing == ("注意",)


@pytest.mark.parametrize("silence", [0, RATE_HZ])
def test_a_prefix_ends_where_its_sound_ends(tmp_path, silence):
    cache = SpeechCache(tmp_path)
    cache.open()
    identify = identity("v", "1", "")
    sound = np.concatenate([voice_of("警告"), np.zeros(silence, np.float32)])
    cache.put(identify("警告", 1.0), to_int16(sound).tobytes(), RATE_HZ)
    prefix = Phrases(cache, identify, RATE_HZ).get_prefix("警告")
    assert prefix is not None
    assert 0 <= len(prefix) - len(voice_of("警告")) <= RATE_HZ * 0.02
    assert abs(prefix[-1]) < 0.001, "it ends without a click"


def test_nothing_but_silence_is_an_empty_prefix(tmp_path):
    cache = SpeechCache(tmp_path)
    cache.open()
    identify = identity("v", "1", "")
    cache.put(identify("嗯", 1.0), bytes(4800), RATE_HZ)
    prefix = Phrases(cache, identify, RATE_HZ).get_prefix("嗯")
    assert prefix is not None
    assert len(prefix) == 0


def test_another_sample_rate_counts_as_missing(tmp_path):
    cache = SpeechCache(tmp_path)
    cache.open()
    identify = identity("v", "1", "")
    cache.put(identify("嗯", 1.0), bytes(4800), 22_050)
    assert Phrases(cache, identify, RATE_HZ).get("嗯") is None


def test_phrases_are_rendered_at_the_speed_at_which_they_are_spoken(tmp_path):
    phrases = Phrases(SpeechCache(tmp_path), identity("v", "1", ""), RATE_HZ, WANTED, speed=1.2)
    phrases.open()
    render_all(phrases, FakePipeline())
    assert phrases.get("警告", 1.2) is not None
    assert phrases.get("警告", 1.0) is None
