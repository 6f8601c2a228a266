"""Text that arrives over time, read from the start as often as it is told."""

from __future__ import annotations

import threading
import time

from edge_tts.daemon.text_stream import TextStream


def test_each_reader_gets_everything_in_order():
    stream = TextStream()
    got: list[list[str]] = [[], []]
    readers = [
        threading.Thread(target=lambda n=n: got[n].extend(stream.read(lambda: False)))
        for n in range(2)
    ]
    for reader in readers:
        reader.start()
    for piece in ("一", "二", "三"):
        stream.add(piece)
        time.sleep(0.01)
    stream.end()
    for reader in readers:
        reader.join(10)
    assert got == [["一", "二", "三"]] * 2
    assert stream.text == "一二三"


def test_waiting_for_text_shows_and_ends_with_the_stream():
    stream = TextStream()
    reader = threading.Thread(target=lambda: list(stream.read(lambda: False)))
    reader.start()
    while not stream.waits_for_text:
        time.sleep(0.005)
    stream.end()
    reader.join(10)
    assert not stream.waits_for_text


def test_a_cancelled_reader_returns():
    stream = TextStream()
    cancelled = threading.Event()
    reader = threading.Thread(target=lambda: list(stream.read(cancelled.is_set)))
    reader.start()
    cancelled.set()
    reader.join(10)
    assert not reader.is_alive()


def test_length_is_bounded_and_nothing_follows_the_end():
    stream = TextStream(max_chars=5)
    assert stream.add("1234")
    assert not stream.add("56")
    assert stream.add("5")
    stream.end()
    assert not stream.add("")
    assert stream.text == "12345"
    assert stream.ended
