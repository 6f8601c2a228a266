"""What is known of a text before any part of the voice is loaded."""

from __future__ import annotations

TEST_TEXT = "语音报警测试。Voice alarm test."

_SPOKEN_SIGNS = frozenset("%‰℃℉°+=<>&@#$€£¥§Ω±×÷≤≥≠")


def is_speakable(text: str) -> bool:
    """Whether anything in a text may be spoken: a letter, a digit, or a sign with a name."""
    return any(char.isalnum() or char in _SPOKEN_SIGNS for char in text)
