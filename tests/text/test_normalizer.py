from __future__ import annotations

import re
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.text.normalizer import normalize

SPEAKABLE = re.compile(r"[㐀-䶿一-鿿A-Za-z '，。！？,.!?-]*")
CHINESE_DIGITS = "零一二三四五六七八九"
ENGLISH_DIGITS = "zero one two three four five six seven eight nine".split()


class FakeWordList:
    """A word list of the words given; tokens in ``own`` have an entry of their own."""

    def __init__(self, words: str = "", own: str = "", spelled: str = "") -> None:
        self._words = frozenset(words.split())
        self._own = frozenset(own.split())
        self._spelled = frozenset(spelled.split())

    def has_word(self, word: str) -> bool:
        return word.lower() in self._words

    def acronym(self, word: str) -> Literal["letters", "word"] | None:
        if word in self._own:
            return "word"
        return "letters" if word in self._spelled else None


WORDS = FakeWordList("alarm tank emergency stop throttle warning fire pump")


def say(text: str) -> str:
    return normalize(text, WORDS).text


def test_plain_chinese_is_left_alone() -> None:
    assert say("底坑进水，电梯已停梯。") == "底坑进水，电梯已停梯。"


def test_own_entry_reaches_the_phonemizer_untouched() -> None:
    own = FakeWordList(own="PLC plc4")
    assert normalize("PLC故障", own).text == "PLC故障"


def test_table_can_ask_for_letters() -> None:
    assert normalize("STOP灯亮", FakeWordList("stop", spelled="STOP")).text == "S T O P灯亮"


def test_capital_words_follow_the_word_list() -> None:
    assert say("EMERGENCY STOP") == "emergency stop"
    assert normalize("HVQC故障", WORDS).text == "H V Q C故障"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10", "ten"),
        ("-5℃", "零下五摄氏度"),
        ("Motor 3过载", "motor 三过载"),
        ("Motor 3 stopped，请检查2号泵", "motor three stopped，请检查二号泵"),
        ("温度 85 ℃, pump 3 running", "温度 八十五摄氏度，pump three running"),
        ("请重启 Control Net 2 网关", "请重启 control net 二 网关"),
    ],
)
def test_number_takes_the_language_of_its_neighbours(text: str, said: str) -> None:
    assert say(text) == said


def test_default_language_is_for_lines_without_words() -> None:
    assert normalize("10", WORDS, default_language="zh").text == "十"
    assert normalize("tank 10", WORDS, default_language="zh").text == "tank ten"


# --- input as it arrives -------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " \n\t", "……！！？？，。、；：“”", "🔥🚨⚠️", "\u200b\u202e"])
def test_nothing_speakable_is_empty(text: str) -> None:
    assert say(text) == ""


def test_escape_sequences_and_controls_go() -> None:
    assert say("\x01\x02\x07\x1b[31mALARM\x1b[0m\x7f tank 3") == "alarm tank three"


def test_direction_marks_go() -> None:
    assert say("Pump \u202e3 pots\u202c \u200fOK\u200e") == "pump three pots okay"


def test_decomposed_accents_equal_composed_ones() -> None:
    assert say("De\u0301faut moteur, u\u0308ber") == say("Défaut moteur, über")


@pytest.mark.parametrize(
    ("text", "script"),
    [("Отказ насоса 2", "Cyrillic"), ("ปั๊มขัดข้อง 2", "Thai"), ("펌프 고장 2", "Hangul")],
)
def test_unsupported_script_is_reported_and_the_rest_said(text: str, script: str) -> None:
    result = normalize(text, WORDS)
    assert result.text == "two"
    assert script in result.warnings[0]


def test_tags_go_but_comparisons_stay() -> None:
    assert say('<speak><break time="99999999s"/>电机过载</speak>') == "电机过载"
    assert (
        say("温度<85℃，压力>1.2MPa & 液位<20%").replace(" ", "")
        == "温度小于八十五摄氏度，压力大于一点二兆帕和液位小于百分之二十"
    )


def test_templates_are_left_out_and_reported() -> None:
    result = normalize('%s%n%x {0} ${VAR} {{ states("sensor.t") }} tank', WORDS)
    assert result.text == "tank"
    assert "template" in result.warnings[0]


def test_percent_is_no_template() -> None:
    result = normalize("负荷 50%d", WORDS)
    assert not result.warnings


def test_long_number_is_cut_with_a_warning() -> None:
    result = normalize("9" * 5000, WORDS)
    assert result.text.split() == ["nine"] * 100
    assert "5000 digits" in result.warnings[0]


def test_countdown_is_eleven_sentences() -> None:
    assert say("10. 9. 8. 7. 6. 5. 4. 3. 2. 1. Finished").count(".") == 10


def test_broken_bytes_are_reported() -> None:
    result = normalize("电机过载".encode()[:-1].decode("utf-8", "surrogateescape"), WORDS)
    assert result.text == "电机过"
    assert "UTF-8" in result.warnings[0]


def test_warning_can_not_act_on_a_terminal() -> None:
    warnings = normalize("Привет\u202eмир", WORDS).warnings
    assert all(warning.isprintable() for warning in warnings)


@pytest.mark.parametrize(
    "piece",
    ["电机过载", "s'", "1-", "<a ", "1.2kW/", "A1-", "(1) ", "12:30-", "{", "./", "a-b_", "_a",
     "m³/", "№", "<!--", "&#1", "1 1/", "http://", "a@", "*a", "[a", "温度Motor 3 ",
     "9,999", " \n", "-", "PT1H"],
)  # fmt: skip
def test_ten_thousand_characters_of_anything(piece: str) -> None:
    said = say(piece * (10_000 // len(piece)))
    assert SPEAKABLE.fullmatch(said)


# --- properties ---------------------------------------------------------------------------

_PIECES = st.sampled_from(
    "电机 过载 温度 第 号 泵 台 年 月 日 点 零下 Motor stopped PLC SCADA kW MPa ℃ % ‰ "
    "mm² m³/h r/min - ~ ～ / : ： . , ， 。 ( ) （ ） # ± × ≥ < > = + * ** ` _ & @ ' \" "
    "Ⅱ ③ ⁻³ ² ½ Φ μ E301 S7-1200 0x80 16#FF I0.0 192.168.1.1 2026-03-05 14:30:09 1h30m 1# No. V1.2 "
    "$ ¥ 😀 I A a X × 10⁻³ \n".split(" ")
)
_LINES = st.lists(
    st.one_of(_PIECES, st.integers(0, 10**6).map(str), st.just(" ")), max_size=12
).map("".join)


@given(st.one_of(st.text(max_size=60), _LINES))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_any_text_becomes_speakable(text: str) -> None:
    assert SPEAKABLE.fullmatch(say(text))


@given(_LINES)
@settings(max_examples=400, deadline=None, derandomize=True)
def test_normal_form_is_left_alone(text: str) -> None:
    said = say(text)
    assert say(said) == said


_PREFIXES = st.sampled_from("E F AL ER ERR S QF FX FV LSHH SRV K TAG XV KM".split())
_GROUPS = st.lists(st.from_regex(r"[0-9]{1,6}", fullmatch=True), min_size=1, max_size=3)


@given(_PREFIXES, st.sampled_from(["", "-"]), _GROUPS)
def test_no_digit_of_a_code_vanishes_in_chinese(prefix: str, mark: str, groups: list[str]) -> None:
    said = say(f"故障代码 {prefix}{mark}{'-'.join(groups)}，请检查")
    spoken = [CHINESE_DIGITS.index(character) for character in said if character in CHINESE_DIGITS]
    assert spoken == [int(digit) for digit in "".join(groups)]


@given(_PREFIXES, st.sampled_from(["", "-"]), st.from_regex(r"[0-9]{3,6}", fullmatch=True))
def test_no_digit_of_a_code_vanishes_in_english(prefix: str, mark: str, digits: str) -> None:
    said = say(f"fault {prefix}{mark}{digits} tripped")
    spoken = [ENGLISH_DIGITS.index(word) for word in said.split() if word in ENGLISH_DIGITS]
    assert spoken == [int(digit) for digit in digits]


def test_letters_without_end_are_cut_with_a_warning() -> None:
    normal = normalize("Alarm " + "A" * 10_000 + " tank 3", WORDS)

    assert normal.text == "alarm " + "a" * 60 + " tank three"
    assert normal.warnings == ("a word of 10000 letters is cut after 60: AAAAAAAAAAAA...",)
