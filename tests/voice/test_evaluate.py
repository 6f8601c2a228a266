"""The evaluation: what is kept from an earlier run, and what counts in which column."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.packs import copy_pack
from tools.voice import lite
from tools.voice.evaluate import LINES, Verdicts, makers, read_lines, summary, voice_print
from tools.voice.judge import Verdict
from tools.voice.word_lists import entries, held_out

HEARD = Verdict(1, 2, 4, "heard", 3.0, 1.0, -20.0, -3.0, 0.0, 0, 10.0, 20.0)


def line(kind: str, language: str, text: str) -> dict[str, str]:
    return {"id": "X", "kind": kind, "language": language, "text": text}


def test_verdicts_survive_and_are_of_one_voice(tmp_path: Path) -> None:
    path = tmp_path / "verdicts-int8.jsonl"
    Verdicts(path, "a").add(line("alarm", "zh", "警告"), HEARD)
    assert Verdicts(path, "a").of(line("word", "zh", "警告")) == HEARD
    assert Verdicts(path, "a").of(line("alarm", "zh", "注意")) is None
    assert Verdicts(path, "b").of(line("alarm", "zh", "警告")) is None


def test_a_print_follows_what_changes_the_sound(tmp_path: Path) -> None:
    def prints(description: dict[str, object]) -> str:
        (tmp_path / "voice.json").write_text(json.dumps(description))
        return voice_print(tmp_path)

    first = prints({"version": "1", "figures": {"distillmos": 3.0, "level_dbfs": -20}})
    assert first == prints({"version": "1", "figures": {"distillmos": 4.0, "level_dbfs": -20}})
    assert first != prints({"version": "1", "figures": {"distillmos": 3.0, "level_dbfs": -21}})
    assert first != prints({"version": "2", "figures": {"distillmos": 3.0, "level_dbfs": -20}})


def test_the_lite_form_is_judged_where_it_lies_beside_its_voice(
    tiny_voice: Path, tmp_path: Path
) -> None:
    voice = copy_pack(tiny_voice, tmp_path / "tiny", name="tiny")
    assert "lite" not in makers(voice, None)
    lite.make_lite(voice, tmp_path / "tiny-lite", "tiny-lite")
    spoken = makers(voice, None)["lite"]()("水泵过载", "zh")
    assert spoken is not None
    assert spoken[1] == 24000


def test_single_words_count_in_their_own_columns_alone() -> None:
    clean = replace(HEARD, errors=0, tone_errors=0, mos=4.0)
    figures = summary(
        [
            (line("alarm", "zh", "一"), clean),
            (line("word", "zh", "二"), HEARD),
            (line("known_word", "zh", "三"), replace(HEARD, errors=4)),
        ]
    )
    assert figures["pinyin_error"] == 0
    assert figures["distillmos"] == 4.0
    assert figures["one_word_zh_error"] == pytest.approx(25)
    assert figures["known_word_zh_error"] == pytest.approx(100)
    assert figures["word_error"] is None


def test_held_out_words_are_those_of_the_evaluation() -> None:
    words = {row["text"].lower() for row in read_lines(LINES) if row["kind"] == "word"}
    assert words == set(entries("held_out_words"))
    assert all(held_out(f"the {word} is" if word.isascii() else f"有{word}了") for word in words)
    assert not held_out("leakage, 车")
