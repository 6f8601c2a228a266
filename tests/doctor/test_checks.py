from __future__ import annotations

import json
import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from edge_tts.doctor.finding import Finding
from edge_tts.doctor.jetson import check_engines, check_jetson
from edge_tts.doctor.packages import (
    PACKAGE_FOLDER,
    check_packages,
    check_upgrade,
    how_to_install,
)
from edge_tts.doctor.power import check_power
from edge_tts.doctor.service import check_clock, check_daemon, check_state_folder
from edge_tts.doctor.speech import (
    check_lexicon_folder,
    check_onnxruntime,
    check_providers,
    check_voice,
)
from edge_tts.inference.board import Board
from edge_tts.inference.engine_store import EngineKey, EngineStore, graph_sha256
from edge_tts.inference.provider import provider_table
from edge_tts.voice import GRAPHS, load_voice
from tests.doctor.systems import make_system, severities
from tests.inference import boards
from tests.inference.boards import write
from tests.packs import copy_pack
from tools.voice.lite import make_lite


class TestProviders:
    def test_a_pi_is_fine(self, tmp_path: Path) -> None:
        board = boards.pi_5(tmp_path)
        (finding,) = check_providers(board, provider_table(board), "auto")
        assert finding.severity == "ok"
        assert finding.message.startswith("cpu int8 will be used")

    def test_a_forced_one_that_is_missing(self, tmp_path: Path) -> None:
        board = boards.pi_5(tmp_path)
        (finding,) = check_providers(board, provider_table(board), "cuda")
        assert finding.severity == "error"
        assert "inference.provider" in finding.fix

    def test_nothing_installed(self, tmp_path: Path) -> None:
        board = boards.make_board(tmp_path, modules=())
        (finding,) = check_providers(board, provider_table(board), "auto")
        assert finding.severity == "error"
        assert finding.fix.endswith("-m pip install onnxruntime")

    def test_too_little_memory(self, tmp_path: Path) -> None:
        board = boards.make_board(tmp_path, memory_kb=200_000)
        findings = check_providers(board, provider_table(board), "auto")
        assert severities(findings) == ["ok", "warning"]


class TestOnnxRuntime:
    def test_the_real_one(self) -> None:
        from edge_tts.doctor.finding import System

        (finding,) = check_onnxruntime(System())
        assert finding.severity == "ok"
        assert "CPUExecutionProvider" in finding.message

    @pytest.mark.parametrize(
        ("status", "output", "reason"),
        [
            (-4, "", "crashed by signal 4"),
            (1, "Traceback\nImportError: no numpy", "no numpy"),
            (None, "no answer within 60 s", "no answer within 60 s"),
        ],
    )
    def test_one_that_breaks(
        self, tmp_path: Path, status: int | None, output: str, reason: str
    ) -> None:
        system = make_system(tmp_path, {"onnxruntime": (status, output)})
        (finding,) = check_onnxruntime(system)
        assert finding.severity == "error"
        assert reason in finding.message


class TestVoice:
    def test_a_whole_one(self, tiny_voice: Path) -> None:
        assert severities(check_voice(str(tiny_voice))) == ["ok"]

    def test_a_changed_byte(self, tiny_voice: Path, tmp_path: Path) -> None:
        pack = copy_pack(tiny_voice, tmp_path / "pack")
        data = bytearray((pack / "vocoder.onnx").read_bytes())
        data[-1] ^= 1
        (pack / "vocoder.onnx").write_bytes(data)
        (finding,) = check_voice(str(pack))
        assert finding.severity == "error"
        assert "vocoder.onnx" in finding.message
        assert "voices install" in finding.fix

    def test_a_missing_one(self, tmp_path: Path) -> None:
        assert severities(check_voice(str(tmp_path))) == ["error"]

    def test_one_of_another_release(self, tiny_voice: Path, tmp_path: Path) -> None:
        pack = copy_pack(tiny_voice, tmp_path / "pack")
        description = json.loads((pack / "voice.json").read_text())
        description["phonemes"].remove("zh")
        (pack / "voice.json").write_text(json.dumps(description))
        assert severities(check_voice(str(pack))) == ["ok", "error"]


class TestLexiconFolder:
    def test_none_is_fine(self, tmp_path: Path) -> None:
        assert severities(check_lexicon_folder(tmp_path / "none")) == ["ok"]

    def test_entries_are_counted(self, tmp_path: Path) -> None:
        write(tmp_path / "a.json", '{"车库": ["che1", "ku4"], "PLC": ["P", "L", "C"]}')
        (finding,) = check_lexicon_folder(tmp_path)
        assert "2 pronunciations" in finding.message

    @pytest.mark.parametrize(
        "text", ["{", "[]", '{"PLC": "P L C"}', '{"PLC": [1]}', '{"车库": ["che1", "xyz9"]}']
    )
    def test_a_broken_file_is_named(self, tmp_path: Path, text: str) -> None:
        write(tmp_path / "a.json", text)
        (finding,) = check_lexicon_folder(tmp_path)
        assert finding.severity == "error"
        assert "a.json" in finding.message

    def test_a_file_that_is_not_read_is_told(self, tmp_path: Path) -> None:
        write(tmp_path / "plant.txt", "")
        (finding,) = check_lexicon_folder(tmp_path)
        assert "plant.txt" in finding.message


class TestPackages:
    def findings(self, **versions: str) -> list:
        known = {name.replace("_", "-"): version for name, version in versions.items()}
        return check_packages(known.get, lambda: {"edge_tts": ["edge-tts", "edge-tts-runtime"]})

    def test_alone_is_fine(self) -> None:
        assert severities(self.findings(onnxruntime="1.23")) == ["ok"]

    def test_the_cloud_client_is_told_apart(self) -> None:
        (finding,) = self.findings(edge_tts="7.0", onnxruntime="1.23")
        assert finding.severity == "error"
        assert "edge-tts, edge-tts-runtime" in finding.message
        assert "uninstall -y edge-tts &&" in finding.fix

    def test_two_onnxruntimes(self) -> None:
        (finding,) = self.findings(onnxruntime="1.23", onnxruntime_gpu="1.22")
        assert finding.severity == "warning"
        assert "1.22" in finding.message

    def test_what_puts_a_package_right(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """An installed release has no pip: telling of it would lead nowhere."""
        inside = PACKAGE_FOLDER / "releases/1/edge_tts/doctor/packages.py"
        assert "apt install --reinstall" in how_to_install("onnxruntime", inside)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        assert "deploy/install.sh" in how_to_install("onnxruntime", Path("/opt/x.py"))
        monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
        assert "-m pip install onnx" in how_to_install("onnxruntime", Path("/opt/x.py"))

    def test_this_environment(self) -> None:
        assert severities(check_packages()) == ["ok"]

    @pytest.mark.parametrize(
        ("state", "fix"),
        [
            ((None, "dpkg-query: No such file or directory"), None),
            ((1, "no packages found matching edge-tts-runtime"), None),
            ((0, "installed"), None),
            ((0, "config-files"), None),
            ((0, "unpacked"), "dpkg --configure -a"),
            ((0, "half-configured"), "dpkg --configure -a"),
            ((0, "half-installed"), "apt install ./edge-tts-runtime"),
        ],
    )
    def test_an_interrupted_upgrade(
        self, tmp_path: Path, state: tuple[int | None, str], fix: str | None
    ) -> None:
        found = check_upgrade(make_system(tmp_path, {"dpkg-query": state}))
        assert severities(found) == (["warning"] if fix else [])
        assert all(fix is not None and fix in finding.fix for finding in found)


class TestState:
    def test_a_folder_to_be_made(self, tmp_path: Path) -> None:
        finding = check_state_folder(make_system(tmp_path), tmp_path / "a/b")[0]
        assert finding.severity == "ok"

    def test_a_closed_one(self, tmp_path: Path) -> None:
        system = make_system(tmp_path, closed=[tmp_path.name])
        finding = check_state_folder(system, tmp_path / "a/b")[0]
        assert finding.severity == "warning"
        assert "install -d" in finding.fix


class TestDaemon:
    def test_none_installed(self, tmp_path: Path) -> None:
        (finding,) = check_daemon(make_system(tmp_path), tmp_path / "edge-tts.sock")
        assert finding.severity == "info"

    def test_installed_and_dead(self, tmp_path: Path) -> None:
        commands = {"systemctl cat": (0, "[Unit]"), "systemctl is-active": (3, "failed\n")}
        (finding,) = check_daemon(make_system(tmp_path, commands), tmp_path / "edge-tts.sock")
        assert finding.severity == "error"
        assert "the service is failed" in finding.message
        assert "journalctl" in finding.fix

    def test_a_socket_that_nobody_serves(self, tmp_path: Path) -> None:
        path = tmp_path / "edge-tts.sock"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
        (finding,) = check_daemon(make_system(tmp_path), path)
        assert "does not answer" in finding.message

    def test_a_closed_socket_names_the_group(self, tmp_path: Path) -> None:
        path = tmp_path / "edge-tts.sock"
        write(path, "")
        (finding,) = check_daemon(make_system(tmp_path, closed=["edge-tts.sock"]), path)
        assert "usermod -aG edge-tts" in finding.fix

    def check(self, tmp_path: Path, **status: object) -> list[Finding]:
        """The findings about a daemon that answers STATUS with this."""
        path = tmp_path / "edge-tts.sock"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            server.listen()

            def answer() -> None:
                connection, _ = server.accept()
                with connection:
                    connection.recv(4096)
                    connection.sendall(f"OK lines=1\n{json.dumps(status)}\n".encode())

            thread = threading.Thread(target=answer)
            thread.start()
            findings = check_daemon(make_system(tmp_path), path)
            thread.join()
        return findings

    def test_one_that_answers(self, tmp_path: Path) -> None:
        good = {
            "device": {"state": "asleep", "detail": "sleeps"},
            "voice": {"name": "zh-en", "error": ""},
            "journal": {"degraded": False, "reason": "", "damaged_records": 0},
        }
        assert severities(self.check(tmp_path, **good)) == ["ok"]

    @pytest.mark.parametrize(
        ("status", "severity", "words", "fix"),
        [
            ({"device": {"state": "lost", "detail": "no 'X'"}}, "error", "no 'X'", "by itself"),
            ({"voice": {"error": "torn"}}, "error", "tones instead of words: torn", "install"),
            (
                {"journal": {"degraded": True, "reason": "No space left on device"}},
                "warning",
                "No space left on device",
                "sudo -u edge-tts edgetts doctor",
            ),
            (
                {"journal": {"degraded": True, "reason": "in use by another process"}},
                "warning",
                "in use by another process",
                "pgrep",
            ),
            (
                {"journal": {"degraded": False, "damaged_records": 15}},
                "warning",
                "15 damaged records",
                "dmesg",
            ),
        ],
    )
    def test_what_the_daemon_complains_of(
        self,
        tmp_path: Path,
        status: dict[str, object],
        severity: str,
        words: str,
        fix: str,
    ) -> None:
        _, finding = self.check(tmp_path, **status)
        assert finding.severity == severity
        assert words in finding.message
        assert fix in finding.fix


class TestClock:
    def test_a_board_without_a_battery(self) -> None:
        (finding,) = check_clock(86400.0)
        assert finding.severity == "warning"
        assert "1970-01-02" in finding.message
        assert "timedatectl" in finding.fix

    def test_now(self) -> None:
        assert check_clock() == []


class TestPower:
    @pytest.mark.parametrize(
        ("bits", "severity", "words"),
        [
            ("0x0", "ok", "no under-voltage"),
            ("0x50005", "warning", "now: under-voltage, throttled"),
            ("0x50000", "warning", "since boot: under-voltage, throttled"),
            ("0x80008", "warning", "soft temperature limit"),
        ],
    )
    def test_the_firmware_s_bits(
        self, tmp_path: Path, bits: str, severity: str, words: str
    ) -> None:
        system = make_system(tmp_path, {"vcgencmd": (0, f"throttled={bits}\n")})
        (finding,) = check_power(system, boards.pi_5(tmp_path))
        assert finding.severity == severity
        assert words in finding.message

    def test_the_kernel_s_file_stands_in(self, tmp_path: Path) -> None:
        write(tmp_path / "sys/devices/platform/soc/soc:firmware/get_throttled", "50005\n")
        (finding,) = check_power(make_system(tmp_path), boards.pi_4(tmp_path))
        assert "5 V 5 A" in finding.fix

    def test_other_boards_have_no_such_firmware(self, tmp_path: Path) -> None:
        system = make_system(tmp_path, {"vcgencmd": (0, "throttled=0x5\n")})
        assert check_power(system, boards.desktop(tmp_path)) == []

    @pytest.mark.parametrize(
        ("governor", "severity"),
        [("powersave", "warning"), ("ondemand", "info"), ("performance", "ok")],
    )
    def test_governors(self, tmp_path: Path, governor: str, severity: str) -> None:
        for core in range(2):
            place = tmp_path / f"sys/devices/system/cpu/cpu{core}/cpufreq/scaling_governor"
            write(place, governor + "\n")
        (finding,) = check_power(make_system(tmp_path), boards.desktop(tmp_path))
        assert finding.severity == severity

    def test_heat(self, tmp_path: Path) -> None:
        write(tmp_path / "sys/class/thermal/thermal_zone0/temp", "84500\n")
        (finding,) = check_power(make_system(tmp_path), boards.desktop(tmp_path))
        assert "84 °C" in finding.message


class TestJetson:
    def test_other_boards_are_left_alone(self, tmp_path: Path) -> None:
        assert check_jetson(make_system(tmp_path), boards.pi_5(tmp_path)) == []

    def messages(self, tmp_path: Path, board: object, **options: object) -> str:
        write(tmp_path / "dev/nvmap", "")
        system = make_system(tmp_path, **options)  # type: ignore[arg-type]
        found = check_jetson(system, board)  # type: ignore[arg-type]
        return "\n".join(f"{finding.severity} {finding.message} {finding.fix}" for finding in found)

    def test_a_good_one(self, tmp_path: Path) -> None:
        text = self.messages(tmp_path, boards.orin(tmp_path))
        assert "warning" not in text
        assert "ok JetPack 6 with TensorRT 10.3 and CUDA 12.6" in text

    def test_closed_devices_name_the_groups(self, tmp_path: Path) -> None:
        text = self.messages(tmp_path, boards.orin(tmp_path), closed=["nvmap"], groups=["video"])
        assert "not in render" in text
        assert "usermod -aG video,render" in text

    def test_missing_bindings(self, tmp_path: Path) -> None:
        board = boards.orin(tmp_path, modules=("onnxruntime",))
        text = self.messages(tmp_path, board)
        assert "python3-libnvinfer" in text
        assert "system-site-packages" in text
        assert "pip install pycuda" in text

    def test_a_mixture_of_releases(self, tmp_path: Path) -> None:
        text = self.messages(tmp_path, boards.orin(tmp_path, tensorrt=8502))
        assert "TensorRT 8.5 instead of 8.6 or 10.3" in text

    def test_power_mode_and_clocks(self, tmp_path: Path) -> None:
        write(tmp_path / "sys/class/devfreq/17000000.gpu/min_freq", "306000000\n")
        write(tmp_path / "sys/class/devfreq/17000000.gpu/max_freq", "1020000000\n")
        commands = {"nvpmodel": (0, "NV Power Mode: 7W\n1\n")}
        text = self.messages(tmp_path, boards.orin(tmp_path), commands=commands)
        assert "the power mode is 7W" in text
        assert "between 306 and 1020 MHz" in text
        assert "jetson_clocks" in text


class TestEngines:
    @pytest.fixture(autouse=True)
    def _voice(self, tiny_voice: Path, tmp_path: Path) -> None:
        self.voice = load_voice(tiny_voice)
        self.board = boards.orin(tmp_path / "board")
        self.folder = tmp_path / "engines"

    def check(self, board: Board | None = None) -> list[Finding]:
        board = board or self.board
        step = provider_table(board)[0]
        return check_engines(self.folder, step, board, str(self.voice.folder))

    def put(self, graph: str, verdict: str, reason: str = "", **changes: str) -> None:
        store = EngineStore(self.folder)
        assert self.board.gpu is not None
        key = EngineKey(
            graph_sha256(self.voice.graph_path(graph, "fp32")),
            self.board.tensorrt.detail.removeprefix("TensorRT "),
            self.board.gpu.name,
            self.board.gpu.compute_capability,
            "fp16",
        )
        key = replace(key, **changes)
        store.put(key, graph, b"plan", 1.0)
        store.judge(key, verdict, reason)

    def test_a_board_without_tensorrt_has_none(self, tmp_path: Path) -> None:
        assert self.check(boards.pi_5(tmp_path / "pi")) == []

    def test_a_voice_of_int8_alone_has_none(self, tmp_path: Path) -> None:
        make_lite(self.voice.folder, tmp_path / "lite", "tiny-lite")
        self.voice = load_voice(tmp_path / "lite")
        (finding,) = self.check()
        assert finding.severity == "info"
        assert "tiny-lite has int8 graphs alone" in finding.message

    def test_none_built(self) -> None:
        (finding,) = self.check()
        assert finding.severity == "warning"
        assert "edgetts engine build" in finding.fix

    def test_all_passed(self) -> None:
        for graph in GRAPHS:
            self.put(graph, "passed")
        (finding,) = self.check()
        assert finding.severity == "ok"

    def test_one_that_failed_is_told_with_the_reason(self) -> None:
        for graph in GRAPHS:
            self.put(graph, "passed")
        self.put("vocoder", "failed", "log-spectral distance 9.00 dB")
        (finding,) = self.check()
        assert finding.severity == "warning"
        assert "9.00 dB" in finding.message

    @pytest.mark.parametrize(
        "changes",
        [
            {"graph_sha256": "0" * 64},
            {"tensorrt_version": "8.6.2"},
            {"gpu_name": "Xavier"},
            {"compute_capability": "7.2"},
        ],
    )
    def test_those_of_something_else_do_not_count(self, changes: dict[str, str]) -> None:
        """A voice, JetPack or card that was changed leaves the old ones behind."""
        for graph in GRAPHS:
            self.put(graph, "passed", **changes)
        (finding,) = self.check()
        assert finding.severity == "warning"
        assert "no TensorRT engine of encoder, decoder, vocoder" in finding.message
        assert "are there for another voice, TensorRT or GPU" in finding.message

    def test_a_fourth_number_of_the_release_does_not_matter(self) -> None:
        """The library tells three, the Python module four."""
        release = self.board.tensorrt.detail.removeprefix("TensorRT ")
        for graph in GRAPHS:
            self.put(graph, "passed", tensorrt_version=f"{release}.9")
        (finding,) = self.check()
        assert finding.severity == "ok"
