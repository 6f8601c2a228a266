"""What people, scripts and gateways really send: each row of nasty.tsv, through the command."""

from __future__ import annotations

import csv
import io
import json
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edge_tts import cli
from edge_tts.text.front_end import TextFrontEnd
from edge_tts.text.lexicon import Lexicon

with (Path(__file__).parent / "cases" / "nasty.tsv").open(encoding="utf-8", newline="") as _file:
    ROWS = {row["id"]: row for row in csv.DictReader(_file, delimiter="\t", quoting=csv.QUOTE_NONE)}


@dataclass(frozen=True)
class Outcome:
    """What ``edgetts synth - -o FILE`` made of some bytes."""

    status: int
    errors: list[str]
    stats: dict[str, Any]
    samples: np.ndarray

    @property
    def seconds(self) -> float:
        return len(self.samples) / 24000


Synth = Callable[..., Outcome]
Said = Callable[[bytes], str]


@pytest.fixture
def synth(
    tiny_voice: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Synth:
    monkeypatch.setenv("EDGETTS_VOICE", str(tiny_voice))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def run(data: bytes, *options: str) -> Outcome:
        path = tmp_path / "out.wav"
        path.unlink(missing_ok=True)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        status = cli.run(["synth", "-", "-o", str(path), "--stats", "json", *options])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        samples = np.zeros(0, np.int16)
        if path.exists():
            with wave.open(str(path)) as reader:
                samples = np.frombuffer(reader.readframes(reader.getnframes()), "<i2")
        return Outcome(status, err.splitlines(), json.loads(out) if out else {}, samples)

    return run


@pytest.fixture(scope="module")
def said(tiny_voice: Path) -> Said:
    """The spelled-out text of some bytes, all phrases together."""
    front_end = TextFrontEnd(Lexicon.open(tiny_voice / "lexicon.bin"))
    return lambda data: " ".join(phrase.text for phrase in front_end.phrases(data.decode()))


def bytes_of(row: str) -> bytes:
    # The table gives each input as a Python expression.
    data: bytes = eval(ROWS[row]["how_to_make"], {"__builtins__": {}})
    return data


def is_refused(outcome: Outcome, *words: str) -> None:
    """Status 65, one line that says why, and no sound."""
    assert outcome.status == 65
    (line,) = outcome.errors
    assert line.startswith("edgetts: ")
    assert all(word in line for word in words)
    assert not len(outcome.samples)


def is_spoken(outcome: Outcome, warnings: int = 0) -> None:
    """Status 0, sound, and so many warnings, each a line."""
    assert outcome.status == 0
    assert np.abs(outcome.samples).max() > 100
    assert len(outcome.stats["warnings"]) <= len(outcome.errors)
    assert len(outcome.errors) == warnings
    assert all(line.startswith("edgetts: warning: ") for line in outcome.errors)


@pytest.mark.parametrize(
    ("row", "says"), [("X01", "empty"), ("X03", "nothing"), ("X05", "nothing")]
)
def test_nothing_to_speak_is_said(synth: Synth, row: str, says: str) -> None:
    is_refused(synth(bytes_of(row)), says)


def test_x07_ten_thousand_characters_without_punctuation(synth: Synth) -> None:
    outcome = synth(bytes_of("X07"), "--speed", "2")
    is_spoken(outcome)
    # Each of the 10,000 syllables has at least its two or three frames.
    assert outcome.seconds > 10_000 * 2 * 300 / 24000


def test_x09_stacked_suffixes(synth: Synth) -> None:
    outcome = synth(bytes_of("X09"))
    is_spoken(outcome, len(outcome.errors))
    assert 1 < outcome.seconds < 300


def test_x11_cut_in_mid_character(synth: Synth) -> None:
    outcome = synth(bytes_of("X11"))
    is_spoken(outcome, warnings=1)
    assert "left out" in outcome.errors[0]
    np.testing.assert_array_equal(outcome.samples, synth("电机过".encode()).samples)


def test_x13_gbk_is_no_utf8(synth: Synth) -> None:
    is_refused(synth(bytes_of("X13")), "not UTF-8", "GBK")


def test_x15_control_characters_and_colour_codes(synth: Synth, said: Said) -> None:
    is_spoken(synth(bytes_of("X15")))
    words = said(bytes_of("X15")).lower().split()
    assert words == ["alarm", "tank", "three"]


def test_x17_direction_marks(synth: Synth, said: Said) -> None:
    outcome = synth(bytes_of("X17"))
    assert outcome.status == 0
    text = said(bytes_of("X17"))
    assert text.lower().replace(" ", "").startswith("pumpthreepots")
    assert not any(mark in "".join([text, *outcome.errors]) for mark in "\u202e\u202c\u200f\u200e")


def test_x19_decomposed_accents_sound_like_composed_ones(synth: Synth) -> None:
    decomposed, composed = synth(bytes_of("X19")), synth("Défaut moteur, über".encode())
    is_spoken(decomposed, len(decomposed.errors))
    np.testing.assert_array_equal(decomposed.samples, composed.samples)


@pytest.mark.parametrize("row", ["X21", "X23", "X25"])
def test_scripts_it_cannot_speak_are_named_and_the_digit_is_spoken(
    synth: Synth, said: Said, row: str
) -> None:
    outcome = synth(bytes_of(row))
    is_spoken(outcome, warnings=1)
    assert said(bytes_of(row)).strip() in ("two", "二")


def test_x27_ssml_makes_no_endless_silence(synth: Synth, said: Said) -> None:
    outcome = synth(bytes_of("X27"))
    is_spoken(outcome, len(outcome.errors))
    assert outcome.seconds < 10
    assert said(bytes_of("X27")).strip("，。 ") == "电机过载"


def test_x29_comparisons_are_no_tags(said: Said, synth: Synth) -> None:
    is_spoken(synth(bytes_of("X29")))
    text = said(bytes_of("X29"))
    assert text.count("小于") == 2
    assert text.count("大于") == 1
    for part in ("温度", "压力", "液位", "八十五", "一点二", "百分之二十"):
        assert part in text


def test_x31_a_path_is_only_spoken(
    synth: Synth, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = synth(bytes_of("X31"))
    is_spoken(outcome, len(outcome.errors))
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["out.wav"]


def test_x33_templates_are_reported(synth: Synth, said: Said) -> None:
    outcome = synth(bytes_of("X33"))
    is_spoken(outcome, warnings=len(outcome.errors))
    assert any("template" in line or "format" in line for line in outcome.errors)
    assert "tank" in said(bytes_of("X33"))


def test_x35_a_number_without_end_is_cut(synth: Synth) -> None:
    outcome = synth(bytes_of("X35"))
    is_spoken(outcome, warnings=1)
    # Far fewer digits than were sent.
    assert outcome.seconds < 200


def test_x37_short_sentences(synth: Synth, said: Said) -> None:
    outcome = synth(bytes_of("X37"))
    is_spoken(outcome)
    text = said(bytes_of("X37")).lower()
    words = "ten nine eight seven six five four three two one finished"
    assert "".join(filter(str.isalpha, text)) == words.replace(" ", "")
    assert outcome.seconds < 60


def test_x39_one_character(synth: Synth) -> None:
    outcome = synth(bytes_of("X39"))
    is_spoken(outcome)
    assert outcome.seconds > 0.1


def test_every_row_has_a_test() -> None:
    tested = Path(__file__).read_text("utf-8")
    assert len(ROWS) >= 20
    assert all(f'"{row}"' in tested for row in ROWS)
