"""Can the parser of each TensorRT release take the networks of every voice in the checkout?"""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto, helper, save

from edge_tts.voice import GRAPHS, load_voice
from tests.packs import packs_with_fp32
from tools.tensorrt_operators import OPERATORS, objections, operators_of


def exported_graphs() -> list[Path]:
    return [
        load_voice(folder).graph_path(graph, "fp32")
        for folder in packs_with_fp32()
        for graph in GRAPHS
    ]


@pytest.mark.parametrize("release", OPERATORS)
@pytest.mark.parametrize(
    "graph", exported_graphs(), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_exported_graph_can_be_parsed(graph: Path, release: str) -> None:
    assert objections(graph, release) == []


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_tiny_voice_can_be_parsed_by_all(graph: str, tiny_voice: Path) -> None:
    for release in OPERATORS:
        assert objections(tiny_voice / f"{graph}.onnx", release) == []


def save_node(path: Path, operator: str, opset: int, domain: str = "") -> Path:
    node = helper.make_node(operator, ["x"], ["y"], domain=domain)
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    save(helper.make_model(graph, opset_imports=imports), path)
    return path


@pytest.mark.parametrize(
    ("operator", "opset", "domain", "releases"),
    [
        ("Tanh", 16, "", ["8.5", "8.6", "10.3", "10.13", "10.16", "11.4"]),
        ("LayerNormalization", 17, "", ["8.6", "10.3", "10.13", "10.16", "11.4"]),
        ("Gelu", 20, "", ["10.16", "11.4"]),
        ("Tanh", 18, "", ["10.3", "10.13", "10.16", "11.4"]),
        ("Gelu", 17, "com.microsoft", []),
        ("MatMulInteger", 16, "", []),
        ("DynamicQuantizeLinear", 16, "", []),
    ],
)
def test_each_release_takes_what_it_knows(
    tmp_path: Path, operator: str, opset: int, domain: str, releases: list[str]
) -> None:
    path = save_node(tmp_path / "one.onnx", operator, opset, domain)
    assert [release for release in OPERATORS if not objections(path, release)] == releases


def test_an_objection_names_the_operator_and_its_count(tmp_path: Path) -> None:
    path = save_node(tmp_path / "one.onnx", "Gelu", 20)
    assert objections(path, "8.5") == ["opset 20, it takes up to 17", "Gelu (1 times)"]


def test_operators_inside_subgraphs_are_seen(tmp_path: Path) -> None:
    inner = helper.make_graph(
        [helper.make_node("Hardmax", ["x"], ["inner"])],
        "inner",
        [],
        [helper.make_tensor_value_info("inner", TensorProto.FLOAT, [1, 8])],
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    graph = helper.make_graph(
        [node],
        "outer",
        [
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])],
    )
    save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)]),
        tmp_path / "outer.onnx",
    )
    assert operators_of(tmp_path / "outer.onnx")[1]["Hardmax"] == 2
