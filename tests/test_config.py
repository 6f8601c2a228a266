"""Settings: where they come from, what is refused, and that the reference tells the truth."""

from __future__ import annotations

import os
import pwd
import re
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from edge_tts.config import Settings, load_settings
from edge_tts.config.environment import client_socket_path, settings_file
from edge_tts.config.loader import all_settings, section_types
from edge_tts.config.reference import commented_toml, effective_toml, markdown
from edge_tts.errors import ConfigError

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine that runs the tests reaches them."""
    for name in list(os.environ):
        if name.startswith(("EDGETTS_", "XDG_")) or name.endswith("_DIRECTORY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("os.geteuid", lambda: 1000)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "edge-tts.toml"
    path.write_text(text, encoding="utf-8")
    return path


def error_of(tmp_path: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_settings(write(tmp_path, text), environ={})
    return str(caught.value)


def test_a_file_changes_only_what_it_names(tmp_path: Path) -> None:
    path = write(
        tmp_path, '[audio]\ngain_db = -6\nsink = "null"\n[realtime]\ncpu_affinity = [2, 3]'
    )
    settings = load_settings(path, environ={})
    assert settings.audio.gain_db == -6.0
    assert isinstance(settings.audio.gain_db, float)
    assert settings.audio.sink == "null"
    assert settings.realtime.cpu_affinity == (2, 3)
    assert settings.audio.block_ms == Settings().audio.block_ms
    assert settings.queue == Settings().queue


def test_settings_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().audio.gain_db = 3.0  # type: ignore[misc]


def test_order_of_precedence(tmp_path: Path) -> None:
    path = write(tmp_path, '[voice]\nname = "file"')
    environ = {"EDGETTS_VOICE": "environment"}
    assert load_settings(path, environ={}).voice.name == "file"
    assert load_settings(path, environ=environ).voice.name == "environment"
    overrides = {"voice.name": "option", "audio.sink": None}
    settings = load_settings(path, environ=environ, overrides=overrides)
    assert settings.voice.name == "option"
    assert settings.audio.sink == "device"


@pytest.mark.parametrize(
    ("variable", "value", "read"),
    [
        ("EDGETTS_VOICE", "/voices/x", lambda s: s.voice.name),
        ("EDGETTS_SOCKET", "/tmp/x.sock", lambda s: str(s.socket.path)),
        ("EDGETTS_PROVIDER", "cuda", lambda s: s.inference.provider),
        ("EDGETTS_LEXICON_D", "/words", lambda s: str(s.text.lexicon_folder)),
    ],
)
def test_variables(variable: str, value: str, read: object) -> None:
    assert callable(read)
    assert read(load_settings(environ={variable: value})) == value


def test_the_file_is_looked_for_in_order(tmp_path: Path) -> None:
    own = tmp_path / "home/.config/edge-tts/edge-tts.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[audio]\ngain_db = 2\n")
    assert settings_file({}) == (own, False)
    assert load_settings(environ={}).audio.gain_db == 2
    named = write(tmp_path, "[audio]\ngain_db = 3\n")
    assert settings_file({"EDGETTS_CONFIG": str(named)}) == (named, True)
    assert load_settings(environ={"EDGETTS_CONFIG": str(named)}).audio.gain_db == 3


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: there is no such settings file"):
        load_settings(environ={"EDGETTS_CONFIG": str(tmp_path / "gone.toml")})


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[audio]\ngain = 1", ["edge-tts.toml", "audio.gain is not a setting", "audio.gain_db"]),
        ("[adio]\nx = 1", ["edge-tts.toml", "[adio] is not a section", "audio"]),
        ("sink = 'x'", ["sink stands outside of every section"]),
        ("audio = 3", ["audio is a section, write [audio]"]),
        ("[audio]\ngain_db = 'x'", ["audio.gain_db must be a number, not 'x'"]),
        ("[audio]\ngain_db = true", ["audio.gain_db must be a number, not True"]),
        ("[audio]\ngain_db = nan", ["audio.gain_db must be a number"]),
        ("[audio]\ngain_db = 99", ["audio.gain_db is 99, the most is 24 dB"]),
        ("[audio]\nkeep_awake = 1", ["audio.keep_awake must be true or false, not 1"]),
        ("[queue]\nmax_waiting = 2.5", ["queue.max_waiting must be a whole number"]),
        ("[queue]\nmax_waiting = 1", ["queue.max_waiting is 1, the least is 2 alarms"]),
        ("[queue]\nmax_waiting = 8", ["queue.reserved_critical (8)", "less than"]),
        ("[inference]\nprovider = 'cpuu'", ["must be one of auto", "did you mean cpu?"]),
        ("[realtime]\ncpu_affinity = [1, 'a']", ["a list of whole numbers"]),
        ("[cache]\nphrases = '警告'", ["cache.phrases must be a list of strings"]),
        ("[journal]\npath = ''", ["journal.path must be a path"]),
        ("[socket]\nmode = '0668'", ["socket.mode must be an octal file mode"]),
        ("[audio\n", ["is not TOML", "line 1"]),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, parts: list[str]) -> None:
    message = error_of(tmp_path, text)
    for part in parts:
        assert part in message


def test_a_variable_that_is_wrong_is_named() -> None:
    with pytest.raises(ConfigError, match=r"the variable EDGETTS_PROVIDER: .*'gpu'"):
        load_settings(environ={"EDGETTS_PROVIDER": "gpu"})


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "edge-tts.toml"
    path.write_bytes("[voice]\nname = '警告'".encode("gbk"))
    with pytest.raises(ConfigError, match="not UTF-8 at byte 16"):
        load_settings(path, environ={})


def test_a_folder_is_not_a_settings_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read"):
        load_settings(tmp_path, environ={})


def test_service_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/edge-tts")
    monkeypatch.setenv("CACHE_DIRECTORY", "/var/cache/edge-tts")
    monkeypatch.setenv("RUNTIME_DIRECTORY", "/run/edge-tts")
    settings = load_settings(environ={})
    assert settings.journal.path == Path("/var/lib/edge-tts/journal")
    assert settings.cache.folder == Path("/var/cache/edge-tts")
    assert settings.socket.path == Path("/run/edge-tts/edge-tts.sock")
    assert settings.text.lexicon_folder == Path("/etc/edge-tts/lexicon.d")


def test_the_service_s_account_means_its_folders_by_hand_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``sudo -u edge-tts edgetts engine build`` builds where the service looks."""
    account = pwd.struct_passwd(("edge-tts", "x", 990, 990, "", "/var/lib/edge-tts", "/bin/false"))
    monkeypatch.setattr("pwd.getpwuid", lambda number: account)
    settings = load_settings(environ={})
    assert settings.inference.engine_folder == Path("/var/lib/edge-tts/engines")
    assert settings.text.lexicon_folder == Path("/etc/edge-tts/lexicon.d")


def test_an_unknown_account_has_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unknown(number: int) -> None:
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert load_settings(environ={}).journal.path == tmp_path / "home/.local/state/edge-tts/journal"


def test_user_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    settings = load_settings(environ={})
    assert settings.socket.path == tmp_path / "edge-tts/edge-tts.sock"
    assert settings.journal.path == tmp_path / "home/.local/state/edge-tts/journal"


def test_a_client_takes_the_users_daemon_before_the_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert client_socket_path() == Path("/run/edge-tts/edge-tts.sock")
    own = tmp_path / "edge-tts/edge-tts.sock"
    own.parent.mkdir()
    own.touch()
    assert client_socket_path() == own
    assert client_socket_path(Path("/x")) == Path("/x")
    monkeypatch.setenv("EDGETTS_SOCKET", "/y")
    assert client_socket_path(Path("/x")) == Path("/y")


def test_every_setting_is_described() -> None:
    assert len(section_types()) == 12
    for section, item, _kind in all_settings():
        assert item.metadata["doc"].endswith("."), f"{section}.{item.name}"
        unit_suffixes = {"_s": "s", "_ms": "ms", "_hz": "Hz", "_db": "dB", "_bytes": "bytes"}
        for suffix, unit in unit_suffixes.items():
            if item.name.endswith(suffix) and not item.name.endswith("_per_s"):
                assert item.metadata["unit"] == unit, f"{section}.{item.name}"


def test_every_setting_is_used() -> None:
    """A setting that no module reads would be a promise that nothing keeps."""
    code = "\n".join(
        path.read_text("utf-8")
        for path in (ROOT / "edge_tts").rglob("*.py")
        if "config" not in path.relative_to(ROOT / "edge_tts").parts
    )
    unused = [
        f"{section}.{item.name}"
        for section, item, _kind in all_settings()
        if not re.search(rf"[.\"]{item.name}\b", code)
        and not (item.name.endswith("_gain_db") and "}_gain_db" in code)
    ]
    assert unused == []


def test_what_show_prints_gives_the_same_settings(tmp_path: Path) -> None:
    text = '[voice]\nname = "a \\"b\\" 警告"\n[audio]\nblock_ms = 12.5\n[cache]\nphrases = []\n'
    settings = load_settings(write(tmp_path, text), environ={})
    again = load_settings(write(tmp_path, effective_toml(settings)), environ={})
    assert again == settings


def test_the_commented_file_is_read_as_the_defaults(tmp_path: Path) -> None:
    assert load_settings(write(tmp_path, commented_toml()), environ={}) == load_settings(environ={})


def test_the_commented_file_with_its_comments_taken_away_is_valid(tmp_path: Path) -> None:
    text = "\n".join(
        line[2:] if re.match(r"# [a-z_]+ = (?!\"\"$)", line) else line
        for line in commented_toml().splitlines()
    )
    settings = load_settings(write(tmp_path, text), environ={})
    assert settings.queue == Settings().queue
    assert settings.audio == Settings().audio


def test_the_reference_page_is_what_the_code_says() -> None:
    page = (ROOT / "docs/configuration.md").read_text("utf-8")
    assert page == markdown(), "run: edgetts config reference > docs/configuration.md"


def test_a_device_file_sets_its_values_in_the_commented_file(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from edge_tts.commands.config import command

    base = ROOT / "deploy/raspberry_pi.toml"
    result = CliRunner().invoke(command, ["reference", "--toml", "--base", str(base)])
    assert result.exit_code == 0
    written = write(tmp_path, result.output)
    assert load_settings(written, environ={}) == load_settings(base, environ={})


@pytest.mark.parametrize("name", ["raspberry_pi.toml", "jetson.toml"])
def test_the_device_files_are_valid_and_say_something(name: str) -> None:
    settings = load_settings(ROOT / "deploy" / name, environ={})
    assert settings != load_settings(environ={})
