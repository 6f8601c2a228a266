"""``edgetts engine``: TensorRT engines, built on the device that runs them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from edge_tts.config import Settings
    from edge_tts.inference.session import Array, InferenceSession
    from edge_tts.voice import Voice

# Both languages, digits, a code and a pause: what alarms are made of. The shortest and the longest
# phrase are there for the profiles that no other line needs.
COMPARED_LINES = (
    "警告，主轴温度过高，当前 85℃",
    "Pump 3 tripped on overload, error E01.",
    "PLC 通讯故障，请检查 CPU 模块！",
    "停机。",
    "The hydraulic pressure in the clamping circuit of the main spindle has fallen below the "
    "minimum required for safe operation of machining center number three.",
)
# So many inputs of each size are compared; the CPU computes each of them too.
_MOST_OF_A_SIZE = 3
_voice_option = click.option(
    "--voice", metavar="NAME", help="Voice to take instead of the set one."
)
_folder_option = click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of engines instead of the one in the settings.",
)


@click.group()
def command() -> None:
    """Build and list TensorRT engines (Jetson and other NVIDIA GPUs)."""


@command.command(epilog="Example: sudo -u edge-tts edgetts engine build")
@_voice_option
@_folder_option
@click.option("--force", is_flag=True, help="Build again what is there.")
def build(voice: str | None, folder: Path | None, force: bool) -> None:
    """Build the engines of the voice and compare each with the CPU.

    Takes minutes the first time on a small board. An engine is used only after
    it gave what the CPU gives; one that did not is kept aside with the reason.
    """
    import sys

    from edge_tts.errors import InferenceError
    from edge_tts.inference.engine_store import PASSED
    from edge_tts.inference.engines import build_engines
    from edge_tts.synthesis.source import lookahead_frames

    settings, chosen = _load(voice)
    engines = build_engines(
        chosen,
        folder or settings.inference.engine_folder,
        lambda: recorded_inputs(chosen),
        lookahead_frames=lookahead_frames(chosen.n_fft, chosen.hop_length),
        force=force,
        progress=_show_progress if sys.stderr.isatty() else None,
        tell=click.echo,
    )
    failed = [engine for engine in engines if engine.verdict != PASSED]
    if failed:
        names = ", ".join(engine.graph for engine in failed)
        raise InferenceError(
            f"the engines of {names} differ from the CPU and will not be used "
            f"({failed[0].reason}); the CPU speaks in their place"
        )


@command.command("list", epilog="Example: edgetts engine list --json")
@_folder_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_(folder: Path | None, as_json: bool) -> None:
    """List the engines with what they were built for and whether they are trusted."""
    from dataclasses import asdict

    from edge_tts.inference.engine_store import EngineStore

    engines = EngineStore(folder or _load_settings().inference.engine_folder).engines()
    if as_json:
        import json

        click.echo(json.dumps([asdict(engine) for engine in engines], indent=1))
        return
    for engine in engines:
        key = engine.key
        click.echo(
            f"{engine.graph:<8} {engine.verdict:<8} {key.precision}  TensorRT "
            f"{key.tensorrt_version}  {key.gpu_name} {key.compute_capability}  {engine.reason}"
        )
    if not engines:
        click.echo("no engine was built; see `edgetts engine build --help`", err=True)


@command.command(epilog="Example: sudo -u edge-tts edgetts engine clean")
@_voice_option
@_folder_option
@click.option("--all", "everything", is_flag=True, help="Also those that this device can use.")
def clean(voice: str | None, folder: Path | None, everything: bool) -> None:
    """Remove engines of other releases, GPUs and voices, and the rest of broken builds."""
    from edge_tts.inference.engine_store import EngineStore

    keep: frozenset[Any] = frozenset()
    settings, store_folder = _load_settings(), folder
    if not everything:
        from edge_tts.inference.engines import engine_key
        from edge_tts.voice import GRAPHS

        settings, chosen = _load(voice)
        keep = frozenset(engine_key(chosen.graph_path(g, "fp32"), g) for g in GRAPHS)
    store = EngineStore(store_folder or settings.inference.engine_folder)
    for path in store.clean(keep):
        click.echo(f"removed {path}")


def recorded_inputs(voice: Voice) -> dict[str, list[dict[str, Array]]]:
    """What each network is given when the CPU speaks :data:`COMPARED_LINES` in fp32.

    Raises:
        VoiceError: the voice has no lexicon or no fp32 graphs.
        InferenceError: the CPU could not speak.
    """
    from edge_tts.inference.onnx_session import OnnxSession
    from edge_tts.synthesis.acoustic_model import AcousticModel
    from edge_tts.synthesis.dsp_vocoder import DspVocoder
    from edge_tts.synthesis.synthesizer import Synthesizer
    from edge_tts.synthesis.vocoder import NeuralVocoder
    from edge_tts.text.front_end import TextFrontEnd
    from edge_tts.text.lexicon import Lexicon
    from edge_tts.voice import GRAPHS

    recorders = {graph: _Recorder(OnnxSession(voice.graph_path(graph, "fp32"))) for graph in GRAPHS}
    lexicon = Lexicon.open(voice.lexicon_path())
    synthesizer = Synthesizer(
        TextFrontEnd(lexicon, voice.phonemes, max_phonemes=voice.max_phonemes),
        AcousticModel(recorders["encoder"], recorders["decoder"], voice),
        NeuralVocoder(recorders["vocoder"], voice),
        DspVocoder(voice),
        voice,
    )
    for line in COMPARED_LINES:
        for _ in synthesizer.stream(line):
            pass
    return {graph: recorder.inputs for graph, recorder in recorders.items()}


class _Recorder:
    """A session that keeps what it is given, a few of each size."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._sizes: Counter[tuple[int, ...]] = Counter()
        self.inputs: list[dict[str, Array]] = []

    def run(self, inputs: dict[str, Array]) -> dict[str, Array]:
        size = tuple(size for array in inputs.values() for size in array.shape)
        self._sizes[size] += 1
        if self._sizes[size] <= _MOST_OF_A_SIZE:
            self.inputs.append({name: array.copy() for name, array in inputs.items()})
        return self._session.run(inputs)

    def close(self) -> None:
        self._session.close()


def _load_settings() -> Settings:
    from edge_tts.config import load_settings

    return load_settings()


def _load(voice: str | None) -> tuple[Settings, Voice]:
    from edge_tts.voice import find_voice, load_voice

    settings = _load_settings()
    return settings, load_voice(find_voice(voice or settings.voice.name))


def _show_progress(phase: str, share: float) -> None:
    click.echo(f"\r\033[K{phase[:60]} {share:4.0%}", nl=share >= 1.0, err=True)
