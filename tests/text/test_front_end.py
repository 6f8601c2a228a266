from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edge_tts.errors import NothingToSpeakError
from edge_tts.text.front_end import TextFrontEnd
from edge_tts.text.inventory import END, PAUSES, PHONEMES, START, WORD_BOUNDARY
from edge_tts.text.lexicon import Lexicon
from edge_tts.text.normalizer import NormalizedText
from edge_tts.text.text_blocks import text_blocks

pytestmark = pytest.mark.core

REPOSITORY = Path(__file__).parents[2]
TABLE = REPOSITORY / "models" / "zh-en" / "lexicon.bin"


class CountingFrontEnd(TextFrontEnd):
    """Counts the characters that were normalised so far."""

    characters = 0

    def normalize(self, text: str) -> NormalizedText:
        self.characters += len(text)
        return super().normalize(text)


@pytest.fixture
def front_end() -> CountingFrontEnd:
    return CountingFrontEnd(Lexicon.open(TABLE))


def check(phonemes: tuple[str, ...], most: int) -> None:
    assert 2 < len(phonemes) <= most
    assert phonemes[0] == START
    assert phonemes[-1] == END
    inside = phonemes[1:-1]
    assert set(inside) <= set(PHONEMES) - {START, END}
    assert inside[0] not in PAUSES
    assert WORD_BOUNDARY not in (inside[0], inside[-1])
    for left, right in itertools.pairwise(inside):
        assert not (left in PAUSES and right in PAUSES)
        assert not (WORD_BOUNDARY in (left, right) and (left in PAUSES or right in PAUSES))


def test_an_alarm_is_one_phrase(front_end: TextFrontEnd) -> None:
    (phrase,) = front_end.phrases("警告，主轴温度过高，当前 85℃")
    assert phrase.ids.shape == (1, len(phrase.phonemes))
    assert phrase.text == "警告,主轴温度过高,当前八十五摄氏度"
    check(phrase.phonemes, 200)


def test_sentences_are_phrases_of_their_own(front_end: TextFrontEnd) -> None:
    phrases = list(front_end.phrases("一号泵已经停机。请检查电源！Motor stalled. 完毕"))
    assert [phrase.phonemes[-2] for phrase in phrases[:3]] == [".", "!", "."]
    assert len(phrases) == 4


def test_tiny_sentences_join_the_next(front_end: TextFrontEnd) -> None:
    phrases = list(front_end.phrases("10. 9. 8. 7. 6. 5. 4. 3. 2. 1. Finished"))
    assert all(len(phrase.phonemes) >= 8 for phrase in phrases[:-1])
    assert phrases[-1].text.endswith("finished")


def test_commas_end_long_phrases(front_end: TextFrontEnd) -> None:
    phrases = list(front_end.phrases("主轴温度过高，" * 20))
    assert len(phrases) > 1
    assert all(phrase.phonemes[-2] == "," for phrase in phrases[:-1])


@pytest.mark.parametrize("text", ["电机过载" * 2500, "Motor stalled " * 700, "温度高，" * 2500])
def test_ten_thousand_characters_come_in_pieces(front_end: CountingFrontEnd, text: str) -> None:
    phrases = front_end.phrases(text)
    check(next(phrases).phonemes, 200)
    assert front_end.characters <= 1000
    rest = list(phrases)
    for phrase in rest:
        check(phrase.phonemes, 200)
    assert front_end.characters == len(text)
    assert len(rest) > 40


def test_nothing_is_lost_where_a_text_is_cut(front_end: TextFrontEnd) -> None:
    said = "".join(phrase.text for phrase in front_end.phrases("电机过载" * 300))
    assert said == "电机过载" * 300


@pytest.mark.parametrize("most", [12, 40, 200])
def test_phrases_fit_the_voice(most: int) -> None:
    front_end = TextFrontEnd(Lexicon.open(TABLE), max_phonemes=most)
    for phrase in front_end.phrases("Supercalifragilistic PLC，" * 9 + "变频器通讯故障请检查" * 9):
        check(phrase.phonemes, most)


@pytest.mark.parametrize("text", ["", "  \n", "……！！？？，。", "🔥🚨⚠️", "---"])
def test_nothing_to_speak(front_end: TextFrontEnd, text: str) -> None:
    with pytest.raises(NothingToSpeakError, match="nothing to speak: the text"):
        list(front_end.phrases(text))


def test_warnings_belong_to_the_last_text(front_end: TextFrontEnd) -> None:
    list(front_end.phrases("Отказ насоса 2"))
    assert front_end.warnings
    list(front_end.phrases("停机"))
    assert front_end.warnings == ()


def test_traditional_text_is_normalised_as_simplified(front_end: TextFrontEnd) -> None:
    assert (
        front_end.normalize("溫度－5℃，1號電機過載").text
        == front_end.normalize("温度－5℃，1号电机过载").text
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=120))
def test_any_text_gives_sound_phrases_or_says_why_not(text: str) -> None:
    front_end = TextFrontEnd(_lexicon(), max_phonemes=60)
    try:
        for phrase in front_end.phrases(text):
            check(phrase.phonemes, 60)
    except NothingToSpeakError:
        pass


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="电机, 。.a1\n十", max_size=400), st.integers(5, 50))
def test_blocks_are_the_text(text: str, longest: int) -> None:
    blocks = list(text_blocks(text, longest))
    assert "".join(blocks) == text


def test_blocks_do_not_cut_numbers_or_words() -> None:
    for block in text_blocks("1234567890 word " * 100):
        assert not block[-1:].isalnum() or block.endswith("word")
    assert list(text_blocks("9" * 5000)) == ["9" * 5000]


def test_opening_the_front_end_loads_no_numpy() -> None:
    code = (
        "import sys; from pathlib import Path; from edge_tts.text.lexicon import Lexicon; "
        "from edge_tts.text.front_end import TextFrontEnd; "
        f"front_end = TextFrontEnd(Lexicon.open(Path({str(TABLE)!r}))); "
        "front_end.phonemize('1号泵 PLC stopped'); print('numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert done.stdout.strip() == "False"


_LEXICONS: list[Lexicon] = []


def _lexicon() -> Lexicon:
    if not _LEXICONS:
        _LEXICONS.append(Lexicon.open(TABLE))
    return _LEXICONS[0]


def test_words_begin_behind_blanks_and_between_chinese_words(front_end: TextFrontEnd) -> None:
    text = "三号变频器过载，check pump 一百二十五号"
    starts = front_end.word_starts(text)

    assert all(start in starts for start in (text.index("变频器"), text.index("过载")))
    assert not {text.index("频器"), text.index("器过"), text.index("百二十五")} & set(starts)
    assert text.index("pump") in starts
    assert starts == sorted(set(starts))


def test_a_traditional_text_has_the_words_of_the_simplified_one(front_end: TextFrontEnd) -> None:
    assert front_end.word_starts("變頻器過載") == front_end.word_starts("变频器过载") == [3]


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("en", "42", "forty-two"),
        ("zh", "42", "四十二"),
        ("zh", "85.5%", "百分之八十五点五"),
        ("zh", "Tank 3 high", "tank three high"),
        ("en", "3号泵", "三号泵"),
    ],
)
def test_the_default_language_holds_where_nothing_else_tells(
    language: str, text: str, said: str
) -> None:
    front_end = TextFrontEnd(Lexicon.open(TABLE), default_language=language)
    assert front_end.normalize(text).text == said
