from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edge_tts.synthesis.windows import context_window


@given(st.integers(1, 300), st.integers(0, 20), st.integers(1, 60), st.booleans(), st.data())
def test_window_holds_the_chunk_and_what_it_must_see(
    total: int, context: int, chunk: int, fixed: bool, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, total - 1))
    stop = min(total, start + chunk)
    window = context_window(start, stop, total, context, chunk if fixed else None)
    assert 0 <= window.begin <= max(0, start - context)
    assert min(total, stop + context) <= window.end <= total
    assert (window.begin + window.keep.start, window.begin + window.keep.stop) == (start, stop)


@given(st.integers(100, 400), st.integers(0, 20), st.integers(1, 50))
def test_widths_are_two(total: int, context: int, chunk: int) -> None:
    widths = []
    for start in range(0, total, chunk):
        window = context_window(start, min(total, start + chunk), total, context, chunk)
        widths.append(window.end - window.begin)
    assert widths[0] == chunk + context
    assert set(widths[1:]) <= {chunk + 2 * context}


@given(st.integers(1, 400), st.integers(0, 20), st.integers(1, 60), st.data())
def test_a_free_window_is_no_wider_than_it_must_be(
    total: int, context: int, chunk: int, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, total - 1))
    stop = min(total, start + chunk)
    window = context_window(start, stop, total, context, None)
    assert window.begin == max(0, start - context)
    assert window.end == min(total, stop + context)
