from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.synthesis.utterance_stream import ChunkPlan

LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=4)


@given(st.integers(1, 500), st.integers(0, 20), LENGTHS, st.booleans())
def test_spans_cover_every_frame_once(
    total: int, lookahead: int, lengths: list[int], fixed: bool
) -> None:
    spans = list(ChunkPlan(lengths, lambda: fixed).spans(total, lookahead))
    assert [span.start for span in spans] == [0, *(span.stop for span in spans[:-1])]
    assert [span.decoded for span in spans] == [0, *(span.ahead for span in spans[:-1])]
    assert (spans[-1].stop, spans[-1].ahead) == (total, total)
    assert all(span.ahead == min(total, span.stop + lookahead) for span in spans)


@given(st.integers(1, 500), st.integers(0, 20), LENGTHS)
def test_fixed_shapes_keep_to_the_nominal_lengths(
    total: int, lookahead: int, lengths: list[int]
) -> None:
    for index, span in enumerate(ChunkPlan(lengths).spans(total, lookahead)):
        assert span.chunk == lengths[min(index, len(lengths) - 1)]
        assert span.stop - span.start <= span.chunk
        assert span.decode_chunk is not None
        assert span.ahead - span.decoded <= span.decode_chunk


@pytest.mark.parametrize(
    ("total", "stops"),
    [
        (20, [20]),
        (24, [24]),
        (30, [24, 30]),
        (95, [24, 95]),
        (96, [24, 72, 96]),
        (190, [24, 72, 190]),
    ],
)
def test_a_processor_takes_a_short_remainder_with_the_chunk_before(
    total: int, stops: list[int]
) -> None:
    # The first chunk stays as short as the first sound asks.
    spans = list(ChunkPlan((24, 48, 96), lambda: False).spans(total, 15))
    assert [span.stop for span in spans] == stops
    assert all(span.chunk is None and span.decode_chunk is None for span in spans)
