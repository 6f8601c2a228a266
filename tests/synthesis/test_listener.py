from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edge_tts.synthesis.listener import Listener


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_nothing_is_due_before_the_first_sound() -> None:
    assert Listener(Clock()).due_s() is None


def test_due_at_half_of_what_is_left() -> None:
    clock = Clock()
    listener = Listener(clock)
    listener.hand_over(0.3)
    assert listener.due_s() == 100.15
    clock.now_s = 100.1
    listener.hand_over(0.6)
    assert listener.due_s() == 100.5


def test_after_a_gap_the_sound_begins_again() -> None:
    clock = Clock()
    listener = Listener(clock)
    listener.hand_over(0.3)
    clock.now_s = 101.0
    assert listener.due_s() is None
    listener.hand_over(0.5)
    assert listener.due_s() == 101.25


@given(
    st.lists(st.tuples(st.floats(0, 2), st.floats(0.01, 1.2)), min_size=1, max_size=20),
    st.floats(0, 3),
)
def test_a_player_always_has_at_least_as_much_left(
    chunks: list[tuple[float, float]], delay_s: float
) -> None:
    """Whenever it begins, and however often it runs dry."""
    clock = Clock()
    listener = Listener(clock)
    starts_s: float | None = None
    ends_s = 0.0
    for work_s, duration_s in chunks:
        clock.now_s += work_s
        if starts_s is None:
            starts_s = ends_s = clock.now_s + delay_s
        due_s = listener.due_s()
        assert due_s is None or clock.now_s <= due_s <= ends_s
        listener.hand_over(duration_s)
        ends_s = max(ends_s, clock.now_s) + duration_s
