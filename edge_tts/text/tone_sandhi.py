"""Tone sandhi of Mandarin, and neutral tones that follow from structure."""

from __future__ import annotations

from edge_tts.text.words import Word


def apply_tone_sandhi(words: list[Word]) -> list[Word]:
    """Surface tones of ``words``, whose syllables carry dictionary tones."""
    return words
