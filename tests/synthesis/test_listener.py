from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edge_tts.synthesis.listener import LONGEST_WAIT_S, Listener


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_before_the_first_sound_the_wait_is_bounded_too() -> None:
    assert Listener(Clock()).due_s() == 100.0 + LONGEST_WAIT_S


def test_due_at_half_of_what_is_left() -> None:
    clock = Clock()
    listener = Listener(clock)
    listener.hand_over(0.3)
    assert listener.due_s() == 100.15
    clock.now_s = 100.1
    listener.hand_over(0.6)
    assert listener.due_s() == 100.5
    listener.hand_over(5.0)
    assert listener.due_s() == 100.1 + LONGEST_WAIT_S


def test_after_a_gap_the_sound_begins_again() -> None:
    clock = Clock()
    listener = Listener(clock)
    listener.hand_over(0.3)
    clock.now_s = 101.0
    assert listener.due_s() == 101.0 + LONGEST_WAIT_S
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
    begun = False
    prompt_s = slow_s = 0.0  # When the sound of two players ends.
    for work_s, duration_s in chunks:
        clock.now_s += work_s
        if not begun:
            begun, prompt_s, slow_s = True, clock.now_s, clock.now_s + delay_s
        due_s = listener.due_s()
        assert clock.now_s <= due_s <= clock.now_s + LONGEST_WAIT_S
        if prompt_s > clock.now_s:
            assert due_s <= prompt_s <= slow_s
        listener.hand_over(duration_s)
        prompt_s = max(prompt_s, clock.now_s) + duration_s
        slow_s = max(slow_s, clock.now_s) + duration_s
