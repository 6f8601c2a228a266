from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from edge_tts import cli

REPOSITORY = Path(__file__).resolve().parents[2]
EDGETTS = [sys.executable, "-m", "edge_tts"]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tiny_voice: Path, tmp_path: Path) -> None:
    monkeypatch.setenv("EDGETTS_VOICE", str(tiny_voice))
    monkeypatch.setenv("EDGETTS_LEXICON_D", str(tmp_path / "lexicon.d"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(REPOSITORY), *sys.path]))
    monkeypatch.delenv("EDGETTS_CONFIG", raising=False)


def run(*arguments: str) -> int:
    return cli.run(list(arguments))


def test_one_line_for_each_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("phonemize", "--format", "pinyin", "电机过载，1号泵", "PLC stopped") == 0
    assert capsys.readouterr().out.splitlines() == [
        "dian4 ji1 guo4 zai4 yi1 hao4 beng4",
        "P IY1 EH1 L S IY1 S T AA1 P T",
    ]


def test_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("phonemize", "电机，过载 ok") == 0
    assert run("phonemize", "--format", "ids", "电机，过载 ok") == 0
    phonemes, ids = capsys.readouterr().out.splitlines()
    assert phonemes == "d ian4 j i1 , g uo4 z ai4 | OW2 K EY1"
    assert len(ids.split()) == len(phonemes.split()) + 2


@pytest.mark.parametrize(
    ("tones", "said"), [("surface", "yi4 tai2 liang2 shou3"), ("citation", "yi1 tai2 liang3 shou3")]
)
def test_tones(capsys: pytest.CaptureFixture[str], tones: str, said: str) -> None:
    assert run("phonemize", "--format", "pinyin", "--tones", tones, "一台，两手") == 0
    assert capsys.readouterr().out.strip() == said


def test_normal_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("normalize", "主轴温度85℃", "Error E-015") == 0
    assert capsys.readouterr().out.splitlines()[0] == "主轴温度八十五摄氏度"


@pytest.mark.parametrize("command", ["normalize", "phonemize"])
def test_a_text_that_fails_does_not_stop_the_rest(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert run(command, "停机", "！！", "启动") == 65
    shown = capsys.readouterr()
    assert [bool(line) for line in shown.out.split("\n")[:3]] == [True, False, True]
    assert "text 2: nothing to speak" in shown.err


@pytest.mark.parametrize("command", ["normalize", "phonemize"])
def test_json_holds_the_same_and_more(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert run(command, "--json", "停机", "") == 65
    good, bad = map(json.loads, capsys.readouterr().out.splitlines())
    assert good["text"] == "停机"
    assert good["warnings"] == []
    assert good.get("normalized", "停机") == "停机"
    if command == "phonemize":
        assert good["phonemes"][0] == "^"
        assert len(good["ids"]) == len(good["phonemes"])
    assert "nothing to speak" in bad["error"]


def test_own_pronunciations(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"车库": ["ju1", "ku4"]}', "utf-8")
    folder = str(tmp_path)
    assert run("phonemize", "--lexicon-d", folder, "--format", "pinyin", "车库") == 0
    assert capsys.readouterr().out.strip() == "ju1 ku4"
    (tmp_path / "a.json").write_text('{"车库": ["ju1", "kx4"]}', "utf-8")
    assert run("phonemize", "--lexicon-d", folder, "车库") == 65
    message = capsys.readouterr().err
    assert "a.json" in message
    assert "kx4" in message
    assert message.count("\n") == 1


def test_wrong_usage() -> None:
    assert run("phonemize", "--format", "ipa", "x") == 64
    assert run("phonemize", "--lexicon-d", "/nowhere/at/all", "x") == 64


def test_lines_of_standard_input_are_answered_one_by_one() -> None:
    with subprocess.Popen(
        [*EDGETTS, "normalize"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        for line, answer in (("1号泵\n", "一号泵"), ("2 pumps\r\n", "two pumps")):
            process.stdin.write(line.encode())
            # An answer before the next line is sent: nothing waits in a buffer.
            assert process.stdout.readline().decode().strip() == answer
        process.stdin.write("1号".encode("gbk") + b"\n\nok")
        process.stdin.close()
        assert process.stdout.read().decode().split("\n") == ["", "", "okay", ""]
        assert process.stderr is not None
        errors = process.stderr.read().decode().splitlines()
    assert process.returncode == 65
    assert "line 3: the text is not UTF-8" in errors[0]
    assert "line 4: nothing to speak: the text is empty" in errors[1]


@pytest.mark.parametrize("arguments", [("normalize",), ("normalize", "-")])
def test_empty_standard_input_is_nothing_to_speak(arguments: tuple[str, ...]) -> None:
    done = subprocess.run([*EDGETTS, *arguments], input=b"", capture_output=True, check=False)
    assert done.returncode == 65
    assert done.stderr == b"edgetts: nothing to speak: standard input is empty\n"
