"""The socket protocol: request lines in, reply lines out. Bytes and strings only.

A request is one line of UTF-8: ``VERB name=value ... text=the rest, raw``, or
a JSON object with the same fields, or plain words, which are spoken as they
are. ``docs/protocol.md`` describes it for a person who writes a client.
"""

from __future__ import annotations

from edge_tts.daemon.protocol_fields import FIELDS
from edge_tts.daemon.reply_line import (
    Reply,
    format_error,
    format_event,
    format_ok,
    format_say,
    format_stream,
    parse_reply,
    quote_value,
)
from edge_tts.daemon.request_line import MAX_LINE_BYTES, parse_piece, parse_request

__all__ = [
    "MAX_LINE_BYTES",
    "PROTOCOL_VERSION",
    "VERBS",
    "Reply",
    "format_error",
    "format_event",
    "format_ok",
    "format_say",
    "format_stream",
    "parse_piece",
    "parse_reply",
    "parse_request",
    "quote_value",
]

PROTOCOL_VERSION = 1
VERBS = tuple(FIELDS)
