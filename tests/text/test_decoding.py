from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_tts.errors import EncodingError
from edge_tts.text.decoding import decode_text


@given(st.text())
def test_utf8_passes_unchanged(text: str) -> None:
    assert decode_text(text.encode("utf-8", "ignore"))[0] == text.encode(
        "utf-8", "ignore"
    ).decode().removeprefix("\ufeff")


def test_byte_order_mark_is_dropped() -> None:
    assert decode_text(b"\xef\xbb\xbfok") == ("ok", ())


@pytest.mark.parametrize("cut", [1, 2])
def test_a_character_cut_at_the_end_is_left_out_with_a_warning(cut: int) -> None:
    text, warnings = decode_text("电机过载".encode()[:-cut])
    assert text == "电机过"
    assert len(warnings) == 1
    assert "left out" in warnings[0]


def test_gbk_is_named_with_the_remedy() -> None:
    with pytest.raises(EncodingError, match=r"offset 1\), it may be GBK.*iconv") as caught:
        decode_text("1号电机过载".encode("gbk"))
    assert caught.value.offset == 1
    assert caught.value.exit_code == 65


@pytest.mark.parametrize("data", [b"pump \xff three", b"\x80", b"\xc3(", "电机".encode()[1:]])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(EncodingError, match="not UTF-8"):
        decode_text(data)
