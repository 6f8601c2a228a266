from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from edge_tts.cli import run
from edge_tts.commands.voices import speak_test_sentence
from edge_tts.errors import VoiceError
from edge_tts.voice import CHECKOUT_VOICES, find_voice
from edge_tts.voice_store import VoiceStore
from tests.packs import copy_pack


@pytest.fixture
def store(tmp_path: Path, tiny_voice: Path) -> Path:
    """Two versions, the second current."""
    folder = tmp_path / "store"
    voices = VoiceStore(folder, lambda pack: None, system_folders={})
    for version in ("1.0.0", "1.1.0"):
        voices.install(copy_pack(tiny_voice, tmp_path / version, version=version))
    return folder


def test_list_marks_current_and_previous(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["voices", "list", "--store", str(store)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line[:13] for line in lines[:2]] == ["- zh-en 1.0.0", "* zh-en 1.1.0"]


def test_list_as_json(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["voices", "list", "--json", "--store", str(store)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["version"], row["is_current"]) for row in rows[:2]] == [
        ("1.0.0", False),
        ("1.1.0", True),
    ]


def test_the_voice_of_the_checkout_is_listed_as_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is installed, and yet it speaks."""
    monkeypatch.setattr("edge_tts.voice.SYSTEM_STORE", tmp_path / "none")
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    arguments = ["voices", "list", "--store", str(tmp_path / "none")]
    assert run([*arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    (row,) = (row for row in rows if row["folder"] == str(CHECKOUT_VOICES / "zh-en"))
    assert (row["name"], row["origin"]) == ("zh-en", "checkout")
    speaks = find_voice(environ={}) == Path(row["folder"])
    assert row["is_current"] is speaks
    assert run(arguments) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if f"{row['folder']} " in line)
    assert line.startswith("* zh-en" if speaks else "  zh-en")
    assert line.endswith("(of this checkout, not installed)")


def test_an_installed_voice_is_current_and_the_checkout_s_is_not(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["voices", "list", "--json", "--store", str(store)]) == 0
    rows = json.loads(capsys.readouterr().out)
    origins = [row["origin"] for row in rows if row["is_current"]]
    assert origins == ["installed"]
    assert not any(row["is_current"] for row in rows if row["origin"] == "checkout")


def test_verify_names_the_damaged_file(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = (store / "current").resolve()
    assert run(["voices", "verify", str(folder)]) == 0
    data = bytearray((folder / "decoder.onnx").read_bytes())
    data[100] ^= 1
    (folder / "decoder.onnx").write_bytes(data)
    assert run(["voices", "verify", "--store", str(store)]) == 70
    captured = capsys.readouterr()
    assert "decoder.onnx is not the file that voice.json names" in captured.out
    assert captured.err.startswith("edgetts: damaged: ")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["use", "fr"], 70, "no voice 'fr'"),
        (["install", "/nonexistent.tar.gz"], 70, "is not there"),
        (["install"], 64, "Missing argument"),
    ],
)
def test_what_can_not_be_done_is_one_line(
    store: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    status: int,
    words: str,
) -> None:
    assert run(["voices", *arguments, "--store", str(store)]) == status
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_a_pack_that_can_not_speak_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="failed its test sentence: edgetts: "):
        speak_test_sentence(tmp_path)


@pytest.fixture
def speaking_pack(tmp_path: Path, tiny_voice: Path, compiled_lexicon: Path) -> Path:
    return copy_pack(tiny_voice, tmp_path / "pack", version="2.0.0")


def test_install_speaks_before_it_switches(
    store: Path, speaking_pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The real synthesizer on a random voice: noise, but to be heard."""
    assert run(["voices", "install", str(speaking_pack), "--store", str(store)]) == 0
    assert "installed zh-en 2.0.0" in capsys.readouterr().out
    assert run(["voices", "list", "--json", "--store", str(store)]) == 0
    current = [row for row in json.loads(capsys.readouterr().out) if row["is_current"]]
    assert [row["version"] for row in current] == ["2.0.0"]


def test_install_of_a_silent_voice_is_refused(
    store: Path, speaking_pack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every file matches its sha256; only the sound tells."""
    silence_vocoder(speaking_pack)
    assert run(["voices", "install", str(speaking_pack), "--store", str(store)]) == 70
    assert "spoke nothing that could be heard" in capsys.readouterr().err
    assert run(["voices", "list", "--json", "--store", str(store)]) == 0
    current = [row for row in json.loads(capsys.readouterr().out) if row["is_current"]]
    assert [row["version"] for row in current] == ["1.1.0"]


def silence_vocoder(pack: Path) -> None:
    """Make every output of the vocoder zero, and voice.json agree."""
    import onnx
    from onnx import numpy_helper

    description = json.loads((pack / "voice.json").read_text())
    files = description["graphs"]["vocoder"]["files"]
    files.pop("int8")
    path = pack / files["fp32"]["path"]
    model = onnx.load(str(path))
    for weight in model.graph.initializer:
        value = numpy_helper.to_array(weight)
        lowest = -60.0 if weight.name == "noise_bias" else 0.0
        if weight.name.endswith(("_weight", "noise_bias")):
            changed = numpy_helper.from_array(value * 0 + value.dtype.type(lowest), weight.name)
            weight.CopyFrom(changed)
    onnx.save(model, str(path))
    data = path.read_bytes()
    files["fp32"].update(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))
    (pack / "voice.json").write_text(json.dumps(description))
