"""Blends of the teacher's speakers, as options and in words."""

from __future__ import annotations

from tools.voice.teacher import BLEND, describe_blend, parse_blend, spell_blend


def test_a_blend_is_read_as_it_is_spelled():
    assert parse_blend("zf_xiaobei=0.6, af_heart=0.4") == {"zf_xiaobei": 0.6, "af_heart": 0.4}
    assert parse_blend(spell_blend(BLEND)) == BLEND
    assert sum(BLEND.values()) == 1


def test_a_blend_in_words():
    assert describe_blend({"zf_xiaobei": 0.6, "af_heart": 0.4}) == "0.6 zf_xiaobei + 0.4 af_heart"
