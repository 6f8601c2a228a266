"""The command line as a process: start-up, errors, pipes and exit statuses."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from edge_tts import cli as cli_module
from edge_tts import errors
from edge_tts.cli import COMMANDS, LazyGroup, cli, run
from edge_tts.errors import EdgeTtsError, VoiceError

EDGETTS = [sys.executable, "-m", "edge_tts"]
PRESENT = LazyGroup().list_commands(click.Context(cli))


def edgetts(*args: str, **kwargs: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [*EDGETTS, *args], capture_output=True, text=True, encoding="utf-8", timeout=60, **kwargs
    )


def all_errors() -> list[type[EdgeTtsError]]:
    return [
        value
        for value in vars(errors).values()
        if isinstance(value, type)
        and issubclass(value, EdgeTtsError)
        and value is not errors.RequestError  # carries a status of its own
    ]


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom edge_tts.cli import run\nrun(['--help'])\n"
        "print([m for m in sys.modules if m.split('.')[0] in "
        "('numpy', 'scipy', 'onnxruntime', 'pyaudio', 'json', 'tomllib', 'asyncio')"
        " or m.startswith('edge_tts.commands.') or m == 'edge_tts.config'], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == "[]"
    assert "Usage: edgetts" in done.stdout


@pytest.mark.parametrize("name", PRESENT)
def test_the_help_of_each_command_imports_no_numpy(name: str) -> None:
    code = (
        f"import sys\nfrom edge_tts.cli import run\nstatus = run(['{name}', '--help'])\n"
        "print(status, [m for m in ('numpy', 'scipy', 'onnxruntime', 'pyaudio')"
        " if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == "0 []"
    assert f"Usage: edgetts {name}" in done.stdout


def test_each_command_in_help_is_in_the_table_once() -> None:
    names = [name for group in COMMANDS.values() for name in group]
    assert len(names) == len(set(names))
    folder = Path(cli_module.__file__).parent / "commands"
    modules = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    commands = {
        name
        for name in modules
        if hasattr(importlib.import_module(f"edge_tts.commands.{name}"), "command")
    }
    assert commands <= set(names)
    assert commands == set(PRESENT)


@pytest.mark.parametrize("name", PRESENT)
def test_each_command_shows_an_example_or_where_it_goes(name: str) -> None:
    command = LazyGroup().get_command(click.Context(cli), name)
    assert command is not None
    leaves = command.commands.values() if isinstance(command, click.Group) else [command]
    for leaf in leaves:
        text = f"{leaf.help} {leaf.epilog} {command.epilog}"
        assert leaf.help, f"{name}: {leaf.name} has no help"
        assert "edgetts " in text, f"{name}: {leaf.name} shows no example"


def test_a_command_whose_module_is_missing_neither_shows_nor_breaks_help(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(LazyGroup, "_folder", tmp_path)
    result = CliRunner().invoke(cli, ["--help"])
    assert result.exit_code == 0
    assert "synth " not in result.output.partition("Examples:")[0]


def test_version() -> None:
    import edge_tts

    done = edgetts("--version")
    assert done.stdout == f"edgetts {edge_tts.__version__}\n"
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["confg"], "there is no command 'confg'; did you mean config?; see 'edgetts --help'"),
        (["--nope"], "No such option"),
        (["config", "check", "--nope"], "see 'edgetts config check --help'"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
    ],
)
def test_usage_errors_are_one_line_and_64(args: list[str], message: str) -> None:
    done = edgetts(*args)
    assert done.returncode == 64
    assert done.stderr.startswith("edgetts: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("error", all_errors(), ids=lambda error: error.__name__)
def test_each_error_becomes_one_line_and_its_status(
    error: type[EdgeTtsError], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise error("it broke\non two lines; mend it")

    monkeypatch.setattr(cli, "callback", fail)
    assert run(["config", "show"]) == error.exit_code
    assert capsys.readouterr().err == "edgetts: it broke on two lines; mend it\n"


def test_a_fault_of_our_own_is_70_and_shows_its_traceback_only_on_request(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise ZeroDivisionError("nought")

    monkeypatch.setattr(cli, "callback", fail)
    monkeypatch.delenv("EDGETTS_DEBUG", raising=False)
    assert run(["config", "show"]) == 70
    first = capsys.readouterr().err
    assert first.startswith("edgetts: internal error: ZeroDivisionError: nought")
    assert "Traceback" not in first
    monkeypatch.setenv("EDGETTS_DEBUG", "1")
    assert run(["config", "show"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "callback", interrupt)
    assert run(["config", "show"]) == 130


def test_an_interrupted_process_prints_no_traceback() -> None:
    # In short sleeps: a signal right before a sleep begins does not wake it.
    code = (
        "import time\nfrom edge_tts import cli\n"
        "def wait(**_):\n    print('ready', flush=True)\n"
        "    for _ in range(1200):\n        time.sleep(0.05)\n"
        "cli.cli.callback = wait\nimport sys\nsys.argv = ['edgetts', 'config', 'show']\ncli.main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_a_status_that_a_command_returns_is_the_exit_status(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @click.command()
    def command() -> int:
        return 11

    monkeypatch.setattr(LazyGroup, "get_command", lambda *_: command)
    assert run(["config"]) == 11


def test_a_reader_that_left_is_no_news() -> None:
    process = subprocess.Popen(
        [*EDGETTS, "config", "reference"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 74
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full to write into")
def test_a_full_disk_is_told() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*EDGETTS, "config", "reference"], stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    assert done.returncode == 74
    assert done.stderr == b"edgetts: standard output: No space left on device\n"


def test_output_is_utf8_in_any_locale() -> None:
    environ = {**os.environ, "LC_ALL": "en_US.ISO-8859-1", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*EDGETTS, "config", "show"], capture_output=True, env=environ, timeout=60
    )
    assert done.returncode == 0
    assert "警告" in done.stdout.decode("utf-8")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_calls_us(shell: str) -> None:
    done = edgetts("completion", shell)
    assert done.returncode == 0
    assert "_EDGETTS_COMPLETE" in done.stdout


def test_completion_offers_the_commands() -> None:
    environ = {
        **os.environ,
        "_EDGETTS_COMPLETE": "bash_complete",
        "COMP_WORDS": "edgetts con",
        "COMP_CWORD": "1",
    }
    done = edgetts(env=environ)
    assert "plain,config" in done.stdout


def test_config_check_and_show(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text("[audio]\ngain_db = 1\n")
    bad.write_text("[audio]\ngian_db = 1\n")
    assert edgetts("config", "check", str(good)).stdout == f"{good}: good\n"
    done = edgetts("config", "check", str(good), str(bad))
    assert done.returncode == 64
    assert "audio.gian_db is not a setting; did you mean audio.gain_db?" in done.stderr
    shown = edgetts("--config", str(good), "config", "show").stdout
    assert f"# from {good}" in shown
    assert "gain_db = 1.0" in shown


def test_the_error_tree_maps_to_sysexits() -> None:
    assert VoiceError("x").exit_code == 70
    assert {error.exit_code for error in all_errors()} <= {64, 65, 69, 70, 74, 75, 77, 124}
