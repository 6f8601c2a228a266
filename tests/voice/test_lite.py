"""The four-bit form of a voice: what its graphs unpack to, and that it speaks the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from edge_tts.config import load_settings
from edge_tts.errors import VoiceError
from edge_tts.pipeline import build_pipeline
from edge_tts.voice import GRAPHS, load_voice
from tools.voice import lite


def int8_product(weights: lite.Int8) -> onnx.ModelProto:
    """``x (1, K) float32 -> y (1, N)``: a product as dynamic quantisation has it."""
    rows, columns = weights.shape
    tensors = [
        numpy_helper.from_array(weights, "weights"),
        numpy_helper.from_array(np.zeros(columns, np.int8), "weights_zero_point"),
        numpy_helper.from_array(np.linspace(0.5, 1, columns, dtype=np.float32), "scale"),
    ]
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["codes", "x_scale", "x_zero"]),
        helper.make_node(
            "MatMulInteger", ["codes", "weights", "x_zero", "weights_zero_point"], ["sum"]
        ),
        helper.make_node("Cast", ["sum"], ["sum_float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["scale", "x_scale"], ["both"]),
        helper.make_node("Mul", ["sum_float", "both"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, rows))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, columns))],
        tensors,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (y,) = session.run(None, {"x": x})
    return np.asarray(y)


def unpacked(codes: lite.UInt8, multipliers: lite.Int8) -> np.ndarray:
    both = np.concatenate([codes & 15, codes >> 4], axis=1).astype(int) - lite.CODE_OFFSET
    return (both * multipliers.astype(int)).reshape(-1, codes.shape[2])


@given(
    blocks=st.integers(1, 4),
    block=st.sampled_from([16, 24, 32]),
    columns=st.integers(1, 9),
    largest=st.integers(1, 127),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_a_weight_is_missed_by_no_more_than_its_blocks_range_allows(
    blocks: int, block: int, columns: int, largest: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    weights = random.integers(-largest, largest + 1, (blocks * block, columns)).astype(np.int8)
    codes, multipliers = lite.pack(weights, block)
    assert codes.nbytes == weights.nbytes / 2
    found = unpacked(codes, multipliers)
    # With the multiplier that just reaches the largest weight each is missed by half of it.
    steps = np.ceil(np.abs(weights.reshape(blocks, block, -1).astype(int)).max(1) / 7)
    error = ((found - weights.astype(int)) ** 2).reshape(blocks, block, -1).sum(1)
    # 127 is 18 times 7 and one more.
    assert (error <= block * (np.minimum(steps, 18) / 2 + (steps > 18)) ** 2).all()
    if largest <= lite.LARGEST_CODE:
        np.testing.assert_array_equal(found, weights)


def test_onnx_runtime_unpacks_what_was_packed() -> None:
    random = np.random.default_rng(3)
    weights = random.integers(-127, 128, (64, 70)).astype(np.int8)
    model = int8_product(weights)
    lite.shrink(model)
    x = random.normal(0, 1, (1, 64)).astype(np.float32)
    expected = int8_product(unpacked(*lite.pack(weights, 32)).astype(np.int8))
    np.testing.assert_allclose(run(model, x), run(expected, x), rtol=2e-3)


def test_half_the_bytes_and_the_same_operators_at_run_time(tmp_path: Path) -> None:
    weights = np.random.default_rng(3).integers(-127, 128, (256, 256)).astype(np.int8)
    whole = int8_product(weights)
    model = int8_product(weights)
    lite.shrink(model)
    assert model.ByteSize() < 0.6 * whole.ByteSize()
    kinds = []
    for number, each in enumerate((whole, model)):
        options = onnxruntime.SessionOptions()
        options.optimized_model_filepath = str(tmp_path / f"{number}.onnx")
        onnxruntime.InferenceSession(each.SerializeToString(), options)
        graph = onnx.load(options.optimized_model_filepath).graph
        kinds.append([node.op_type for node in graph.node])
    assert kinds[0] == kinds[1]


def test_weights_that_no_block_fits_stay_int8() -> None:
    assert lite.block_length(197) is None
    weights = np.random.default_rng(3).integers(-127, 128, (197, 70)).astype(np.int8)
    model = int8_product(weights)
    lite.shrink(model)
    x = np.ones((1, 197), np.float32)
    np.testing.assert_allclose(run(model, x), run(int8_product(weights), x), rtol=2e-3)


def test_the_lite_form_of_a_pack_is_a_pack_that_keeps_its_level_alone(
    tiny_voice: Path, tmp_path: Path
) -> None:
    total = lite.make_lite(tiny_voice, tmp_path / "lite", "tiny-lite")
    voice = load_voice(tmp_path / "lite")
    voice.verify()
    assert voice.name == "tiny-lite"
    assert voice.noise_log_spectrum is None
    assert set(voice.figures) <= set(lite.LEVELS)
    assert total == sum(voice.graph_path(graph, "int8").stat().st_size for graph in GRAPHS)
    with pytest.raises(VoiceError, match="no fp32 decoder"):
        voice.graph_path("decoder", "fp32")


def test_the_lite_form_says_what_its_voice_says(tiny_voice: Path, tmp_path: Path) -> None:
    lite.make_lite(tiny_voice, tmp_path / "lite", "lite")

    def spoken(folder: Path) -> np.ndarray:
        settings = load_settings(
            environ={}, overrides={"voice.name": str(folder), "inference.provider": "cpu"}
        )
        chunks = build_pipeline(settings).stream("水泵过载 overload")
        return np.concatenate([chunk.samples for chunk in chunks])

    whole, short = spoken(tiny_voice), spoken(tmp_path / "lite")
    assert len(whole) == len(short)
    # F0 is rounded a little differently, so samples drift apart; how loud they are stays.
    assert np.std(short) == pytest.approx(np.std(whole), rel=0.1)


def test_the_same_pack_gives_the_same_bytes(tiny_voice: Path, tmp_path: Path) -> None:
    for folder in ("one", "other"):
        lite.make_lite(tiny_voice, tmp_path / folder, "lite")
    for graph in GRAPHS:
        one, other = (tmp_path / f / f"{graph}.int8.onnx" for f in ("one", "other"))
        assert one.read_bytes() == other.read_bytes()
