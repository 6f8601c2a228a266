"""Bytes from outside to text: UTF-8 or a clear word on why not."""

from __future__ import annotations

from edge_tts.errors import EncodingError

_BYTE_ORDER_MARK = "\ufeff"


def decode_text(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Text, and warnings on what was repaired.

    A character that is cut short at the very end (a buffer that was too small)
    is left out with a warning. A byte order mark is dropped.

    Raises:
        EncodingError: anything else that is not UTF-8; nothing of it would be
            sure to be what the sender meant.
    """
    try:
        return data.decode("utf-8").removeprefix(_BYTE_ORDER_MARK), ()
    except UnicodeDecodeError as exc:
        if exc.reason != "unexpected end of data":
            raise EncodingError(_not_utf8(data, exc.start), exc.start) from exc
        text = data[: exc.start].decode("utf-8").removeprefix(_BYTE_ORDER_MARK)
        cut = len(data) - exc.start
        plural = "s" if cut > 1 else ""
        warning = f"the text ends within a character; its last {cut} byte{plural} were left out"
        return text, (warning.replace("byte were", "byte was"),)


def _not_utf8(data: bytes, offset: int) -> str:
    message = f"the text is not UTF-8 (byte 0x{data[offset]:02x} at offset {offset})"
    try:
        data.decode("gb18030")
    except UnicodeDecodeError:
        return f"{message}; send it as UTF-8"
    return f"{message}, it may be GBK; convert it, for example with: iconv -f GB18030 -t UTF-8"
