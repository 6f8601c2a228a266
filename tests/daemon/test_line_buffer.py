"""Lines out of a byte stream, whatever pieces it comes in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edge_tts.daemon.line_buffer import LineBuffer

BOUND = 16


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def expected(data: bytes) -> list[bytes | None]:
    *whole, rest = data.split(b"\n")
    lines: list[bytes | None] = [
        line.removesuffix(b"\r") if len(line) < BOUND else None for line in whole
    ]
    return [*lines, None] if len(rest) >= BOUND else lines


@given(st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b"0123456789", b"\xff"])), st.data())
def test_pieces_do_not_matter(parts, data):
    stream = b"".join(parts)
    buffer = LineBuffer(BOUND, Clock())
    lines: list[bytes | None] = []
    position = 0
    while position < len(stream):
        size = data.draw(st.integers(1, 40))
        lines += buffer.feed(stream[position : position + size])
        position += size
    assert lines == expected(stream)


@given(st.binary(max_size=200))
def test_no_more_than_the_bound_is_held(data):
    buffer = LineBuffer(BOUND, Clock())
    for byte in data:
        list(buffer.feed(bytes([byte])))
        assert len(buffer._bytes) < BOUND


def test_the_time_of_a_line_runs_from_its_first_byte():
    clock = Clock()
    buffer = LineBuffer(BOUND, clock)
    list(buffer.feed(b"SAY"))
    for _ in range(4):
        clock.now_s += 0.6
        list(buffer.feed(b"x"))
    assert buffer.overdue(2.0)
    list(buffer.feed(b"\nnext"))
    assert not buffer.overdue(2.0)
    clock.now_s += 2.5
    assert buffer.overdue(2.0)
    buffer.clear()
    assert not buffer.overdue(2.0)


def test_a_line_being_skipped_runs_out_of_time_too():
    clock = Clock()
    buffer = LineBuffer(BOUND, clock)
    assert list(buffer.feed(b"x" * 100)) == [None]
    clock.now_s += 3
    assert list(buffer.feed(b"x" * 100)) == []
    assert buffer.overdue(2.0)
