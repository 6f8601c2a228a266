from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from edge_tts.errors import VoiceError
from edge_tts.text.inventory import PHONEMES
from edge_tts.voice import find_voice, load_voice
from tests.packs import copy_pack


@pytest.fixture
def pack(tmp_path: Path, tiny_voice: Path) -> Path:
    return copy_pack(tiny_voice, tmp_path / "pack")


def rewrite(pack: Path, change: Any) -> None:
    description = json.loads((pack / "voice.json").read_text())
    change(description)
    (pack / "voice.json").write_text(json.dumps(description))


def test_voice_holds_what_voice_json_says(pack: Path) -> None:
    voice = load_voice(pack)
    assert (voice.name, voice.version, voice.languages) == ("zh-en", "1.0.0", ("zh", "en"))
    assert (voice.sample_rate_hz, voice.hop_length, voice.n_fft, voice.n_mels) == (
        24000,
        300,
        600,
        80,
    )
    assert (voice.n_latents, voice.n_features) == (3, 85)
    assert voice.phonemes == PHONEMES
    assert voice.graphs["decoder"].context == 6
    assert voice.graphs["decoder"].chunk_frames == (24, 48)
    assert voice.graph_path("decoder", "fp32") == pack / "decoder.onnx"
    assert voice.graph_paths("vocoder") == {
        "fp32": pack / "vocoder.onnx",
        "int8": pack / "vocoder.int8.onnx",
    }
    assert voice.lexicon_path() == pack / "lexicon.bin"
    assert voice.noise_log_spectrum is None
    voice.verify()


def test_a_voice_need_not_have_latents(pack: Path) -> None:
    rewrite(pack, lambda description: description.pop("n_latents"))
    assert load_voice(pack).n_features == 82


def test_a_voice_is_read_without_numpy(pack: Path) -> None:
    script = (
        "import sys; from edge_tts.voice import load_voice, find_voice; "
        "load_voice(sys.argv[1]); print(sorted(set(sys.modules) & {'numpy', 'onnxruntime'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(pack)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("graph", "precision"), [("decoder", "fp16"), ("painter", "fp32")])
def test_unknown_network_or_precision_is_named(pack: Path, graph: str, precision: str) -> None:
    with pytest.raises(VoiceError, match=r"zh-en has no .*it has"):
        load_voice(pack).graph_path(graph, precision)


def test_noise_spectrum_is_read(pack: Path) -> None:
    rewrite(pack, lambda d: d.update(wiener={"noise_log_spectrum": [-9.5] * 301}))
    assert load_voice(pack).noise_log_spectrum == (-9.5,) * 301


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(schema=1), "schema 1"),
        (lambda d: d.pop("schema"), "no 'schema'"),
        (lambda d: d.pop("sample_rate_hz"), "no 'sample_rate_hz'"),
        (lambda d: d.update(hop_length="300"), "'300' is not a whole number"),
        (lambda d: d.update(max_phonemes=True), "True is not a whole number"),
        (lambda d: d.update(phonemes=[]), "phonemes is empty"),
        (lambda d: d.update(phonemes=["a", "a"]), "names one twice"),
        (lambda d: d["graphs"].pop("vocoder"), "no files for vocoder"),
        (lambda d: d["graphs"]["encoder"].update(files={}), "no files for encoder"),
        (lambda d: d["lexicon"].update(path="../lexicon.bin"), "leaves the voice's folder"),
        (lambda d: d["lexicon"].update(path="/etc/passwd"), "leaves the voice's folder"),
        (lambda d: d["lexicon"].update(sha256="abc"), "64 hexadecimal digits"),
        (lambda d: d.update(wiener={"noise_log_spectrum": [0.0]}), "has 1 values, expected 301"),
        (lambda d: d.update(graphs=[]), "does not describe a voice"),
    ],
)
def test_a_wrong_description_is_refused(pack: Path, change: Any, message: str) -> None:
    rewrite(pack, change)
    with pytest.raises(VoiceError, match=message):
        load_voice(pack)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"schema": 2}', "\xff"])
def test_text_that_is_no_description_is_refused(pack: Path, text: str) -> None:
    (pack / "voice.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(VoiceError):
        load_voice(pack)


def test_a_folder_without_voice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match=r"voice\.json is missing"):
        load_voice(tmp_path)


def test_a_torn_file_is_seen_by_its_size(pack: Path) -> None:
    data = (pack / "vocoder.onnx").read_bytes()
    (pack / "vocoder.onnx").write_bytes(data[:-1])
    with pytest.raises(VoiceError, match=rf"vocoder\.onnx has {len(data) - 1} bytes"):
        load_voice(pack)


def test_a_missing_file_is_named(pack: Path) -> None:
    (pack / "lexicon.bin").unlink()
    with pytest.raises(VoiceError, match=r"lexicon\.bin is missing"):
        load_voice(pack)


def test_verify_sees_one_changed_byte(pack: Path) -> None:
    data = bytearray((pack / "encoder.onnx").read_bytes())
    data[len(data) // 2] ^= 1
    (pack / "encoder.onnx").write_bytes(data)
    voice = load_voice(pack)
    with pytest.raises(VoiceError, match=r"encoder\.onnx is not the file"):
        voice.verify()


class TestFindVoice:
    @pytest.fixture
    def places(self, tmp_path: Path, tiny_voice: Path) -> tuple[Path, Path]:
        copy_pack(tiny_voice, tmp_path / "system" / "zh-en")
        copy_pack(tiny_voice, tmp_path / "system" / "zh-lite", name="zh-lite")
        return tmp_path / "store", tmp_path / "system"

    def test_default_is_the_named_folder(self, places: tuple[Path, Path]) -> None:
        assert find_voice(search=places, environ={}) == places[1] / "zh-en"

    def test_a_name_is_found(self, places: tuple[Path, Path]) -> None:
        assert find_voice("zh-lite", search=places, environ={}) == places[1] / "zh-lite"

    def test_the_current_pack_comes_first(
        self, places: tuple[Path, Path], tiny_voice: Path
    ) -> None:
        newer = copy_pack(tiny_voice, places[0] / "zh-en-2.0.0", version="2.0.0")
        (places[0] / "current").symlink_to("zh-en-2.0.0")
        assert find_voice(search=places, environ={}) == newer
        assert find_voice("zh-en", search=places, environ={}) == newer
        assert find_voice("zh-lite", search=places, environ={}) == places[1] / "zh-lite"

    def test_a_dangling_current_is_passed_by(self, places: tuple[Path, Path]) -> None:
        places[0].mkdir()
        (places[0] / "current").symlink_to("gone")
        assert find_voice(search=places, environ={}) == places[1] / "zh-en"

    def test_a_path_is_taken_as_it_is(
        self, places: tuple[Path, Path], tmp_path: Path, tiny_voice: Path
    ) -> None:
        mine = copy_pack(tiny_voice, tmp_path / "mine")
        assert find_voice(mine, search=places, environ={}) == mine
        assert find_voice(search=places, environ={"EDGETTS_VOICE": str(mine)}) == mine

    def test_environment_may_name_a_voice(self, places: tuple[Path, Path]) -> None:
        environ = {"EDGETTS_VOICE": "zh-lite"}
        assert find_voice(search=places, environ=environ) == places[1] / "zh-lite"
        assert find_voice("zh-en", search=places, environ=environ) == places[1] / "zh-en"

    def test_a_missing_voice_names_the_places(self, places: tuple[Path, Path]) -> None:
        with pytest.raises(VoiceError, match=r"fr not found in .*store.fr, .*system.fr"):
            find_voice("fr", search=places, environ={})
