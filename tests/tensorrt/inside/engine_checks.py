"""From a voice to speech by way of built, judged and stored engines, over the stand-ins."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tensorrt

from edge_tts.cli import run
from edge_tts.errors import InferenceError, ProviderError
from edge_tts.inference.engine_builder import build_engine
from edge_tts.inference.engine_profiles import AxisProfile, axis_profiles
from edge_tts.inference.engine_store import FAILED, PASSED, EngineStore
from edge_tts.inference.engines import build_engines, engine_key, open_engine
from edge_tts.inference.gpu_thread import shared_gpu_thread
from edge_tts.inference.provider import ProviderPlan, ProviderStep, open_session
from edge_tts.synthesis.source import lookahead_frames
from edge_tts.text.front_end import Phrase
from edge_tts.voice import GRAPHS, Voice, load_voice
from tests.tensorrt.inside import helper
from tests.tiny_voice import write_tiny_voice

# Where the graph itself is in half precision the stand-in computes so.
LOWERS = hasattr(tensorrt.BuilderFlag, "FP16")


@pytest.fixture
def full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines that give the CPU's samples: half precision moves the phase."""
    if not LOWERS:
        monkeypatch.setattr("edge_tts.inference.engines.engine_precision", lambda graph: "fp32")


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> Voice:
    return load_voice(write_tiny_voice(tmp_path_factory.mktemp("voice")))


@pytest.fixture(autouse=True)
def _no_faults() -> Iterator[None]:
    yield
    helper.let_go()
    deadline_s = time.monotonic() + 20
    while shared_gpu_thread().is_stuck:
        assert time.monotonic() < deadline_s
        time.sleep(0.005)
    tensorrt.faults.update(dict.fromkeys(tensorrt.faults, False))


def examples(voice: Voice) -> dict[str, list[dict[str, np.ndarray]]]:
    """Inputs of each width that has a profile."""
    return {
        graph: [
            helper.random_inputs(voice.graph_path(graph, "fp32"), min(profile.highest, 60), 3)
            for profile in axis_profiles(
                voice, graph, lookahead_frames(voice.n_fft, voice.hop_length)
            )
        ]
        for graph in GRAPHS
    }


def build(voice: Voice, folder: Path, **options: object) -> list:
    return build_engines(
        voice,
        folder,
        lambda: examples(voice),
        lookahead_frames=lookahead_frames(voice.n_fft, voice.hop_length),
        **options,  # type: ignore[arg-type]
    )


class TestBuilding:
    def test_every_network_is_built_judged_and_opened(self, voice: Voice, tmp_path: Path) -> None:
        told: list[str] = []
        engines = build(voice, tmp_path, tell=told.append)
        assert [engine.graph for engine in engines] == list(GRAPHS)
        assert {engine.verdict for engine in engines} == {PASSED}
        assert [engine.key.precision for engine in engines] == ["fp32", "fp16", "fp16"]
        assert engines[0].key.compute_capability == "8.7"
        assert any("building the decoder" in line for line in told)
        assert (tmp_path / "timing.cache").read_bytes().startswith(b"timings of")
        for graph in GRAPHS:
            open_engine(voice.graph_path(graph, "fp32"), graph, tmp_path).close()

    def test_what_is_there_is_not_built_again(self, voice: Voice, tmp_path: Path) -> None:
        build(voice, tmp_path)
        before = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.plan")}
        told: list[str] = []
        build(voice, tmp_path, tell=told.append)
        assert not any("building" in line for line in told)
        assert before == {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.plan")}
        build(voice, tmp_path, tell=told.append, force=True)
        assert sum("building" in line for line in told) == 3

    def test_an_engine_that_computes_wrongly_is_put_aside(
        self, voice: Voice, tmp_path: Path
    ) -> None:
        tensorrt.faults["wrong by"] = 0.5
        engines = build(voice, tmp_path)
        assert {engine.verdict for engine in engines} == {FAILED}
        assert "durations differ" in engines[0].reason
        assert "largest error 50" in engines[1].reason or "error 49.9" in engines[1].reason
        assert "log-spectral distance" in engines[2].reason
        tensorrt.faults["wrong by"] = 0.0
        with pytest.raises(InferenceError, match=r"is not trusted \(failed"):
            open_engine(voice.graph_path("decoder", "fp32"), "decoder", tmp_path)

    def test_the_error_of_half_precision_passes(self, voice: Voice, tmp_path: Path) -> None:
        tensorrt.faults["wrong by"] = 2.0**-11
        assert {engine.verdict for engine in build(voice, tmp_path)} == {PASSED}

    def test_an_engine_that_does_not_run_is_put_aside(self, voice: Voice, tmp_path: Path) -> None:
        tensorrt.faults["no start"] = True
        engines = build(voice, tmp_path)
        assert {engine.verdict for engine in engines} == {FAILED}
        assert "did not start" in engines[0].reason

    def test_an_operator_that_it_does_not_know_is_named(self, tmp_path: Path) -> None:
        from onnx import TensorProto, helper, save

        node = helper.make_node("Unknown", ["x"], ["y"])
        shape = ["N", 8]
        graph = helper.make_graph(
            [node],
            "strange",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        )
        save(helper.make_model(graph), tmp_path / "strange.onnx")
        with pytest.raises(InferenceError, match=r"can't parse it: .*Unknown"):
            build_engine(tmp_path / "strange.onnx", [AxisProfile(1, 2, 3)], "fp32")

    @pytest.mark.parametrize("what", ["network", "configuration"])
    def test_a_builder_that_makes_nothing_is_told(self, what: str, voice: Voice) -> None:
        tensorrt.faults[f"no {what}"] = True
        with pytest.raises(InferenceError, match=f"TensorRT made no {what}"):
            build_engine(voice.graph_path("decoder", "fp32"), [AxisProfile(1, 2, 3)], "fp32")

    def test_no_profile_is_told_with_tensorrt_s_reason(self, voice: Voice) -> None:
        with pytest.raises(InferenceError, match="dynamic input without a profile"):
            build_engine(voice.graph_path("decoder", "fp32"), [], "fp32")

    def test_half_precision_is_the_builder_s_or_the_graph_s(self, voice: Voice) -> None:
        plan = build_engine(voice.graph_path("decoder", "fp32"), [AxisProfile(1, 2, 3)], "fp16")
        assert (b"::half" in plan.plan) == (not LOWERS)

    def test_without_onnx_the_package_is_named(
        self, voice: Voice, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if LOWERS:
            pytest.skip("this release needs none")
        monkeypatch.setitem(sys.modules, "onnx", None)
        with pytest.raises(ProviderError, match="pip install onnx"):
            build_engine(voice.graph_path("decoder", "fp32"), [AxisProfile(1, 2, 3)], "fp16")

    def test_no_engine_at_all_keeps_every_network_away(self, voice: Voice, tmp_path: Path) -> None:
        with pytest.raises(ProviderError, match="no engine was built yet"):
            open_engine(voice.graph_path("decoder", "fp32"), "decoder", tmp_path)

    def test_an_engine_of_another_release_is_a_stranger(self, voice: Voice, tmp_path: Path) -> None:
        build(voice, tmp_path)
        store = EngineStore(tmp_path)
        path = voice.graph_path("decoder", "fp32")
        foreign = replace(engine_key(path, "decoder"), tensorrt_version="7.0")
        with pytest.raises(InferenceError, match=r"no engine was built for TensorRT 7\.0"):
            store.trusted_plan(foreign)


class TestProfiles:
    def test_every_chunk_of_speech_has_a_profile(self, voice: Voice) -> None:
        """Widths as the synthesizer asks for them, recorded from real synthesis."""
        seen = spoken_widths(voice)
        for graph in ("decoder", "vocoder"):
            profiles = axis_profiles(voice, graph, lookahead_frames(voice.n_fft, voice.hop_length))
            fixed = {p.highest for p in profiles if p.lowest == p.highest}
            widest = max(p.highest for p in profiles)
            assert seen[graph], graph
            assert max(seen[graph]) <= widest
            # Long utterances are cut into chunks of fixed widths alone.
            assert {width for width in seen[graph] if width in fixed}, graph


class Phrases:
    """A front end whose text is the number of phonemes of one phrase."""

    warnings: tuple[str, ...] = ()

    def phrases(self, text: str) -> Iterator[Phrase]:
        ids = np.arange(int(text))[None] % 200 + 8
        yield Phrase(ids, tuple("x" * int(text)), text)


def spoken_widths(voice: Voice) -> dict[str, set[int]]:
    from edge_tts.inference.onnx_session import OnnxSession
    from edge_tts.synthesis.acoustic_model import AcousticModel
    from edge_tts.synthesis.dsp_vocoder import DspVocoder
    from edge_tts.synthesis.synthesizer import Synthesizer
    from edge_tts.synthesis.vocoder import NeuralVocoder

    widths: dict[str, set[int]] = {graph: set() for graph in GRAPHS}

    class Watched:
        def __init__(self, graph: str) -> None:
            self._graph = graph
            self._session = OnnxSession(voice.graph_path(graph, "fp32")).load()

        def run(self, inputs: dict) -> dict:
            (array,) = inputs.values()
            widths[self._graph].add(array.shape[2 if self._graph == "vocoder" else 1])
            return self._session.run(inputs)

        def close(self) -> None:
            self._session.close()

    synthesizer = Synthesizer(
        Phrases(),
        AcousticModel(Watched("encoder"), Watched("decoder"), voice),
        NeuralVocoder(Watched("vocoder"), voice),
        DspVocoder(voice),
        voice,
    )
    for length in (3, 5, 8, 13, 21, 34, 60, 199):
        for _ in synthesizer.stream(str(length)):
            pass
    return widths


@pytest.mark.usefixtures("full_precision")
class TestSpeaking:
    def plan(self) -> ProviderPlan:
        return ProviderPlan(
            (
                ProviderStep("tensorrt", "fp16", "the stand-in"),
                ProviderStep("cpu", "fp32", "the reference"),
            )
        )

    def speak(
        self,
        voice: Voice,
        plan: ProviderPlan,
        folder: Path,
        *,
        gpu_worker: bool = False,
        listened: bool = False,
    ) -> list[np.ndarray]:
        """The chunks of one utterance; ``listened``, with a time when each is due."""
        from edge_tts.synthesis.acoustic_model import AcousticModel
        from edge_tts.synthesis.dsp_vocoder import DspVocoder
        from edge_tts.synthesis.listener import Listener
        from edge_tts.synthesis.synthesizer import Synthesizer
        from edge_tts.synthesis.vocoder import NeuralVocoder

        sessions = {
            graph: open_session(
                voice.graph_paths(graph),
                plan,
                graph=graph,
                engine_folder=folder,
                gpu_worker=gpu_worker,
            )
            for graph in GRAPHS
        }

        synthesizer = Synthesizer(
            Phrases(),
            AcousticModel(sessions["encoder"], sessions["decoder"], voice),
            NeuralVocoder(sessions["vocoder"], voice),
            DspVocoder(voice),
            voice,
            new_listener=Listener if listened else None,
        )
        chunks: list[np.ndarray] = []
        heard_until_s, self.gaps_s = None, []
        for index, chunk in enumerate(synthesizer.stream("40")):
            assert chunk.via == "neural"
            now_s = time.monotonic()
            heard_until_s = heard_until_s or now_s
            self.gaps_s.append(max(0.0, now_s - heard_until_s))
            heard_until_s = max(heard_until_s, now_s) + len(chunk.samples) / 24000
            chunks.append(chunk.samples)
            if index == 0:
                self.after_first_chunk()
        for session in sessions.values():
            session.close()
        return chunks

    def after_first_chunk(self) -> None:
        pass

    def test_the_whole_synthesizer_gives_the_cpu_s_samples(
        self, voice: Voice, tmp_path: Path
    ) -> None:
        build(voice, tmp_path)
        plan = self.plan()
        found = np.concatenate(self.speak(voice, plan, tmp_path))
        assert {str(step) for step in plan.in_use.values()} == {"tensorrt fp16"}
        reference = ProviderPlan(self.plan().steps[1:])
        expected = np.concatenate(self.speak(voice, reference, tmp_path))
        assert len(found) > 24000
        np.testing.assert_allclose(found, expected, atol=1e-6)

    def test_a_worker_gives_the_same_samples_and_is_gone_afterwards(
        self, voice: Voice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from edge_tts.inference.worker_session import shared_worker

        monkeypatch.undo()  # The worker has the program's own precision.
        build(voice, tmp_path)
        expected = np.concatenate(self.speak(voice, self.plan(), tmp_path))
        runs, plan = tensorrt.counters["runs"], self.plan()
        found = np.concatenate(self.speak(voice, plan, tmp_path, gpu_worker=True))
        np.testing.assert_array_equal(found, expected)
        assert {step.name for step in plan.in_use.values()} == {"tensorrt"}
        assert tensorrt.counters["runs"] == runs, "this process ran an engine itself"
        assert shared_worker().process_id is None

    @pytest.mark.parametrize(
        ("function", "code"),
        [
            ("cuStreamSynchronize", helper.ILLEGAL_ADDRESS),
            ("cuMemcpyHtoDAsync", helper.OUT_OF_MEMORY),
        ],
    )
    def test_a_gpu_lost_in_mid_sentence_is_not_heard(
        self,
        voice: Voice,
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
        function: str,
        code: int,
    ) -> None:
        build(voice, tmp_path)
        expected = self.speak(voice, ProviderPlan(self.plan().steps[1:]), tmp_path)
        self.after_first_chunk = lambda: helper.fail(function, code)  # type: ignore[method-assign]
        plan = self.plan()
        found = self.speak(voice, plan, tmp_path)
        assert len(found) == len(expected)
        np.testing.assert_allclose(np.concatenate(found), np.concatenate(expected), atol=1e-6)
        lines = [record.getMessage() for record in caplog.records]
        assert len(lines) == 1
        assert " falls from tensorrt fp16 to cpu fp32: " in lines[0]

    @pytest.mark.parametrize(
        "function", ["cuStreamSynchronize", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync"]
    )
    def test_a_gpu_that_hangs_in_mid_sentence_is_not_heard(
        self,
        voice: Voice,
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
        function: str,
    ) -> None:
        """A call into the driver never returns: what was asked of the GPU comes from the CPU."""
        build(voice, tmp_path)
        expected = self.speak(voice, ProviderPlan(self.plan().steps[1:]), tmp_path)
        self.after_first_chunk = lambda: helper.hang(function)  # type: ignore[method-assign]
        plan = self.plan()
        found = self.speak(voice, plan, tmp_path, listened=True)
        assert helper.count("hanging") == 1
        assert shared_gpu_thread().is_stuck
        assert len(found) == len(expected)
        np.testing.assert_allclose(np.concatenate(found), np.concatenate(expected), atol=1e-6)
        fallen = [name for name, step in plan.in_use.items() if step.name == "cpu"]
        assert "decoder" in fallen or "vocoder" in fallen
        lines = [record.getMessage() for record in caplog.records]
        assert len(lines) == len(fallen)
        assert "did not come back from the GPU within" in lines[0]
        assert " falls from tensorrt fp16 to cpu fp32: " in lines[0]
        print(f"longest gap {1000 * max(self.gaps_s):.1f} ms while {function} hangs")

    def test_a_gpu_that_hangs_takes_no_alarm_with_it(self, voice: Voice, tmp_path: Path) -> None:
        """The next alarm is spoken by the CPU, from its first chunk."""
        build(voice, tmp_path)
        self.after_first_chunk = lambda: helper.hang(  # type: ignore[method-assign]
            "cuStreamSynchronize"
        )
        plan = self.plan()
        expected = np.concatenate(self.speak(voice, plan, tmp_path, listened=True))
        self.after_first_chunk = lambda: None  # type: ignore[method-assign]
        found = np.concatenate(self.speak(voice, plan, tmp_path))
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert {step.name for step in plan.in_use.values()} == {"cpu"}

    def test_an_engine_for_one_network_alone(
        self, voice: Voice, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        build(voice, tmp_path)
        store = EngineStore(tmp_path)
        key = engine_key(voice.graph_path("vocoder", "fp32"), "vocoder")
        store.judge(key, FAILED, "log-spectral distance 9.00 dB")
        plan = self.plan()
        self.speak(voice, plan, tmp_path)
        assert {name: step.name for name, step in plan.in_use.items()} == {
            "encoder": "tensorrt",
            "decoder": "tensorrt",
            "vocoder": "cpu",
        }
        assert "9.00 dB" in caplog.records[0].getMessage()


class TestCommand:
    @pytest.fixture(autouse=True)
    def _settings(self, voice: Voice, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("EDGETTS_VOICE", str(voice.folder))
        monkeypatch.setattr(
            "edge_tts.commands.engine.recorded_inputs", lambda voice: examples(voice)
        )

    def test_build_list_and_clean(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = ["--folder", str(tmp_path)]
        assert run(["engine", "build", *folder]) == 0
        assert "decoder: passed, largest error 0.0" in capsys.readouterr().out
        assert run(["engine", "list", "--json", *folder]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert sorted(row["graph"] for row in rows) == sorted(GRAPHS)
        (tmp_path / "stranger.plan").write_bytes(b"x")
        (tmp_path / "interrupted.part").write_bytes(b"x")
        assert run(["engine", "clean", *folder]) == 0
        assert capsys.readouterr().out.count("removed") == 2
        assert len(list(tmp_path.glob("*.plan"))) == 3
        assert run(["engine", "clean", "--all", *folder]) == 0
        assert list(tmp_path.glob("*.plan")) == []

    def test_a_failed_comparison_is_the_command_s_failure(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        tensorrt.faults["wrong by"] = 0.5
        assert run(["engine", "build", "--folder", str(tmp_path)]) == 70
        error = capsys.readouterr().err
        assert "differ from the CPU and will not be used" in error
        assert error.count("\n") == 1


@pytest.mark.usefixtures("full_precision")
class TestWholeProgram:
    """The board is probed, engines are built and speak, all as a user does it."""

    @pytest.fixture(autouse=True)
    def _device(
        self, tmp_path: Path, compiled_lexicon: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        voice = write_tiny_voice(tmp_path / "voice", lexicon=compiled_lexicon)
        monkeypatch.setenv("EDGETTS_VOICE", str(voice))
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        monkeypatch.setenv("EDGETTS_LEXICON_D", str(tmp_path / "none"))

    def test_before_the_engines_are_built(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["selftest", "--provider", "tensorrt"]) == 70
        assert "no engine was built yet" in capsys.readouterr().err

    def test_after(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        assert run(["engine", "build"]) == 0
        capsys.readouterr()
        assert run(["selftest", "--provider", "tensorrt", "--json"]) == 0
        results = json.loads(capsys.readouterr().out)
        assert [result["provider"] for result in results] == ["tensorrt fp16"] * 3
        assert max(result["log_spectral_distance_db"] for result in results) < 0.01
        wav = tmp_path / "out.wav"
        assert run(["synth", "PLC 通讯故障", "--provider", "tensorrt", "-o", str(wav)]) == 0
        assert wav.stat().st_size > 20_000
