"""Voice packs: a folder with a ``voice.json`` that names and describes its files.

Reading a voice touches json and file sizes only; :meth:`Voice.verify` reads
every byte. Nothing here imports numpy or an inference library.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from edge_tts.config.environment import state_folder
from edge_tts.errors import VoiceError

SCHEMA = 2
DEFAULT_NAME = "zh-en"
GRAPHS = ("encoder", "decoder", "vocoder")
PRECISIONS = ("int8", "fp32")
SYSTEM_STORE = Path("/var/lib/edge-tts/voices")
SYSTEM_VOICES = Path("/usr/share/edge-tts/voices")
CHECKOUT_VOICES = Path(__file__).resolve().parent.parent / "models"


@dataclass(frozen=True)
class VoiceFile:
    """One file of a pack: its place in the folder, sha256 (hex) and size."""

    path: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True)
class VoiceGraph:
    """One network: its files by precision and the frames it must see.

    ``context`` frames on each side reach the middle of a chunk;
    ``chunk_frames`` are the fixed chunk lengths, empty for the encoder.
    """

    context: int
    chunk_frames: tuple[int, ...]
    files: Mapping[str, VoiceFile]


@dataclass(frozen=True)
class Voice:
    """What ``voice.json`` says, checked. Times in samples, frames or hertz.

    ``n_latents`` are the channels that the decoder hands to the network vocoder beside
    ``n_mels`` mel bands, F0 and voicing; other vocoders leave them alone.
    """

    folder: Path
    name: str
    version: str
    languages: tuple[str, ...]
    sample_rate_hz: int
    hop_length: int
    n_fft: int
    n_mels: int
    n_latents: int
    phonemes: tuple[str, ...]
    frame_positions: int
    max_phonemes: int
    graphs: Mapping[str, VoiceGraph]
    lexicon: VoiceFile | None
    noise_log_spectrum: tuple[float, ...] | None
    wiener_enabled: bool
    figures: Mapping[str, Any]
    licence: str
    provenance: Mapping[str, Any]

    @property
    def n_features(self) -> int:
        """Channels between decoder and vocoder: mel bands, log F0, voicing, latents."""
        return self.n_mels + 2 + self.n_latents

    def graph_path(self, graph: str, precision: str) -> Path:
        """Path of one network file, such as ``("decoder", "int8")``.

        Raises:
            VoiceError: the pack has no such network, or not in this precision.
        """
        file = self._graph(graph).files.get(precision)
        if file is None:
            raise VoiceError(
                f"voice {self.name} has no {precision} {graph}; "
                f"it has {', '.join(self._graph(graph).files)}; name a voice that has"
            )
        return self.folder / file.path

    def graph_paths(self, graph: str) -> dict[str, Path]:
        """Every precision of one network with its path.

        Raises:
            VoiceError: the pack has no such network.
        """
        return {name: self.folder / file.path for name, file in self._graph(graph).files.items()}

    def lexicon_path(self) -> Path:
        """Path of the compiled pronunciation table.

        Raises:
            VoiceError: the pack has none.
        """
        if self.lexicon is None:
            raise VoiceError(f"voice {self.name} has no lexicon; install a complete pack")
        return self.folder / self.lexicon.path

    def all_files(self) -> tuple[VoiceFile, ...]:
        """Every file that ``voice.json`` names."""
        files = [file for graph in self.graphs.values() for file in graph.files.values()]
        return (*files, self.lexicon) if self.lexicon else tuple(files)

    def verify(self) -> None:
        """Compare size and sha256 of every file with ``voice.json``.

        Raises:
            VoiceError: a file is missing, torn or changed; the message names it.
        """
        import hashlib  # brings OpenSSL, 3 MB that speaking does not need

        for file in self.all_files():
            _check_size(self.folder, file)
            digest = hashlib.sha256()
            try:
                with open(self.folder / file.path, "rb") as stream:
                    while block := stream.read(1 << 20):
                        digest.update(block)
            except OSError as exc:
                raise VoiceError(f"can't read {self.folder / file.path}: {exc.strerror}") from exc
            if digest.hexdigest() != file.sha256:
                raise VoiceError(
                    f"{self.folder / file.path} is not the file that voice.json names "
                    f"(sha256 {digest.hexdigest()[:12]}…, expected {file.sha256[:12]}…); "
                    "install the voice again"
                )

    def _graph(self, graph: str) -> VoiceGraph:
        if graph not in self.graphs:
            raise VoiceError(f"voice {self.name} has no {graph}; it has {', '.join(self.graphs)}")
        return self.graphs[graph]


def load_voice(folder: Path | str) -> Voice:
    """Read and check ``voice.json``; each file must exist with the size it states.

    Raises:
        VoiceError: no voice there, a field missing or of a wrong form, another
            schema, a path that leaves the folder, or a file missing or torn.
    """
    folder = Path(folder)
    description = folder / "voice.json"
    try:
        data = json.loads(description.read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise VoiceError(f"no voice in {folder}: voice.json is missing") from exc
    except (OSError, ValueError) as exc:
        raise VoiceError(f"can't read {description}: {exc}") from exc
    try:
        voice = _parse(folder, data)
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        detail = f"no {exc}" if isinstance(exc, KeyError) else str(exc)
        raise VoiceError(f"{description} does not describe a voice: {detail}") from exc
    for file in voice.all_files():
        _check_size(folder, file)
    return voice


def voice_folders() -> tuple[Path, ...]:
    """Where voices are looked for: installed by this user, by the system, the checkout's own."""
    return (state_folder() / "voices", SYSTEM_STORE, SYSTEM_VOICES, CHECKOUT_VOICES)


def find_voice(
    name_or_path: str | os.PathLike[str] | None = None,
    *,
    search: tuple[Path, ...] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Path:
    """Find a voice's folder.

    A folder given is taken as it is. A name is looked for in each folder of
    ``search`` (:func:`voice_folders` unless given): first as the pack that a
    ``current`` link there points to, then as a folder of that name. With
    nothing given, ``$EDGETTS_VOICE`` is asked, then the first ``current``, then
    the voice named ``zh-en``.

    Raises:
        VoiceError: there is none; the message names the places looked at.
    """
    wanted = os.fspath(name_or_path) if name_or_path else ""
    if not wanted:
        wanted = (os.environ if environ is None else environ).get("EDGETTS_VOICE", "")
    if wanted and (os.sep in wanted or (Path(wanted) / "voice.json").is_file()):
        return Path(wanted)
    tried = []
    for place in voice_folders() if search is None else search:
        current = place / "current"
        if (current / "voice.json").is_file() and wanted in ("", _name_of(current)):
            return current.resolve()
        folder = place / (wanted or DEFAULT_NAME)
        if (folder / "voice.json").is_file():
            return folder
        tried.append(str(folder))
    raise VoiceError(
        f"voice {wanted or DEFAULT_NAME} not found in {', '.join(tried)}; "
        "install one with `edgetts voices install`, or name its folder"
    )


def _name_of(folder: Path) -> str | None:
    try:
        name = json.loads((folder / "voice.json").read_text(encoding="utf-8")).get("name")
    except (OSError, ValueError, AttributeError):
        return None
    return name if isinstance(name, str) else None


def _parse(folder: Path, data: Any) -> Voice:
    if data["schema"] != SCHEMA:
        raise ValueError(
            f"schema {data['schema']!r}, this program reads {SCHEMA}; "
            "install the voice of this release"
        )
    graphs = {
        name: VoiceGraph(
            context=_count(graph["context"], 0),
            chunk_frames=tuple(_count(frames, 1) for frames in graph.get("chunk_frames", ())),
            files={precision: _file(entry) for precision, entry in graph["files"].items()},
        )
        for name, graph in data["graphs"].items()
    }
    missing = [name for name in GRAPHS if name not in graphs or not graphs[name].files]
    if missing:
        raise ValueError(f"no files for {', '.join(missing)}")
    phonemes = tuple(str(symbol) for symbol in data["phonemes"])
    if not phonemes or len(set(phonemes)) != len(phonemes):
        raise ValueError("phonemes is empty or names one twice")
    noise = data.get("wiener", {}).get("noise_log_spectrum")
    n_fft = _count(data["n_fft"], 2)
    if noise is not None and len(noise) != n_fft // 2 + 1:
        raise ValueError(f"noise_log_spectrum has {len(noise)} values, expected {n_fft // 2 + 1}")
    return Voice(
        folder=folder,
        name=str(data["name"]),
        version=str(data["version"]),
        languages=tuple(str(language) for language in data["languages"]),
        sample_rate_hz=_count(data["sample_rate_hz"], 8000),
        hop_length=_count(data["hop_length"], 1),
        n_fft=n_fft,
        n_mels=_count(data["n_mels"], 1),
        n_latents=_count(data.get("n_latents", 0), 0),
        phonemes=phonemes,
        frame_positions=_count(data["frame_positions"], 0),
        max_phonemes=_count(data["max_phonemes"], 1),
        graphs=MappingProxyType(graphs),
        lexicon=_file(data["lexicon"]) if data.get("lexicon") else None,
        noise_log_spectrum=None if noise is None else tuple(float(value) for value in noise),
        wiener_enabled=noise is not None and bool(data["wiener"].get("enabled", False)),
        figures=MappingProxyType(dict(data.get("figures", {}))),
        licence=str(data.get("licence", "")),
        provenance=MappingProxyType(dict(data.get("provenance", {}))),
    )


def _count(value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{value!r} is not a whole number of at least {least}")
    return value


def _file(entry: Any) -> VoiceFile:
    path = str(entry["path"])
    if not path or os.path.isabs(path) or ".." in Path(path).parts:
        raise ValueError(f"path {path!r} leaves the voice's folder")
    digest = str(entry["sha256"])
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise ValueError(f"{path}: sha256 {digest!r} is not 64 hexadecimal digits")
    return VoiceFile(path=path, sha256=digest, size_bytes=_count(entry["bytes"], 0))


def _check_size(folder: Path, file: VoiceFile) -> None:
    try:
        size = (folder / file.path).stat().st_size
    except OSError as exc:
        raise VoiceError(
            f"{folder / file.path} is missing ({exc.strerror}); install the voice again"
        ) from exc
    if size != file.size_bytes:
        raise VoiceError(
            f"{folder / file.path} has {size} bytes, expected {file.size_bytes}; "
            "install the voice again"
        )
