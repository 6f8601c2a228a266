"""A complete voice pack of tiny random networks."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from edge_tts.text.inventory import PHONEMES
from tests.inference import graphs


def file_entry(folder: Path, name: str) -> dict[str, Any]:
    data = (folder / name).read_bytes()
    return {"path": name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def make_pack(folder: Path, name: str = "zh-en", version: str = "1.0.0") -> Path:
    """Write a pack that :func:`edge_tts.voice.load_voice` takes."""
    folder.mkdir(parents=True, exist_ok=True)
    graphs.save_encoder_graph(folder / "encoder.onnx", len(PHONEMES))
    graphs.save_decoder_graph(folder / "decoder.onnx")
    graphs.save_vocoder_graph(folder / "vocoder.onnx")
    # The lexicon's content is of no matter here; the version makes packs differ.
    (folder / "lexicon.bin").write_bytes(b"lexicon " + version.encode())

    def graph(graph_name: str, context: int, chunk_frames: list[int]) -> dict[str, Any]:
        entry = file_entry(folder, f"{graph_name}.onnx")
        return {"context": context, "chunk_frames": chunk_frames, "files": {"fp32": entry}}

    description = {
        "schema": 1,
        "name": name,
        "version": version,
        "languages": ["zh", "en"],
        "sample_rate_hz": 24000,
        "hop_length": 300,
        "n_fft": 1200,
        "n_mels": 80,
        "phonemes": list(PHONEMES),
        "frame_positions": 3,
        "max_phonemes": 200,
        "graphs": {
            "encoder": graph("encoder", 0, []),
            "decoder": graph("decoder", 1, [24, 48]),
            "vocoder": graph("vocoder", 1, [24, 48]),
        },
        "lexicon": file_entry(folder, "lexicon.bin"),
        "licence": "Apache-2.0",
        "provenance": {"made_by": "tests"},
    }
    (folder / "voice.json").write_text(json.dumps(description), encoding="utf-8")
    return folder
