from __future__ import annotations

import json
from pathlib import Path

import pytest

from edge_tts.errors import LexiconError, VoiceError
from edge_tts.text.front_end import TextFrontEnd
from edge_tts.text.lexicon import Lexicon
from edge_tts.text.lexicon_overrides import load_overrides
from edge_tts.text.lexicon_table import LexiconTable
from edge_tts.text.segmenter import segment
from tools.lexicon.sorted_trie import SortedTrie
from tools.lexicon.table_writer import front_coded, write_table

TABLE = Path(__file__).parents[2] / "models" / "zh-en" / "lexicon.bin"


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon.open(TABLE)


@pytest.fixture(scope="module")
def table() -> LexiconTable:
    return LexiconTable(TABLE)


def lexicon_with(folder: Path, entries: dict[str, list[str]]) -> Lexicon:
    (folder / "own.json").write_text(json.dumps(entries, ensure_ascii=False), "utf-8")
    return Lexicon.open(TABLE, folder)


def said(text: str, lexicon: Lexicon) -> str:
    words = TextFrontEnd(lexicon).phonemize(text)
    return " ".join(s for word in words if word.language != "pause" for s in word.syllables)


class TestTable:
    def test_missing_file_is_a_voice_error(self, tmp_path: Path) -> None:
        with pytest.raises(VoiceError, match=r"lexicon\.bin"):
            LexiconTable(tmp_path / "lexicon.bin")

    def test_empty_and_foreign_files_are_voice_errors(self, tmp_path: Path) -> None:
        path = tmp_path / "lexicon.bin"
        for data in (b"", b"not a table at all", TABLE.read_bytes()[:14]):
            path.write_bytes(data)
            with pytest.raises(VoiceError):
                LexiconTable(path)

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
    def test_a_torn_file_is_a_voice_error(self, tmp_path: Path, share: float) -> None:
        path = tmp_path / "lexicon.bin"
        data = TABLE.read_bytes()
        path.write_bytes(data[: int(len(data) * share)])
        with pytest.raises(VoiceError, match="cut short"):
            LexiconTable(path)

    def test_a_table_without_a_section_names_it(self, tmp_path: Path) -> None:
        write_table(tmp_path / "lexicon.bin", {"SYLL": b"a1"})
        with pytest.raises(VoiceError, match="ARPA"):
            LexiconTable(tmp_path / "lexicon.bin")

    def test_words_and_characters(self, table: LexiconTable) -> None:
        assert table.word_reading("变频器") == ("bian4", "pin2", "qi4")
        assert table.word_reading("重载") == ("zhong4", "zai4")
        assert table.word_reading("变频") is None or len(table.word_reading("变频") or ()) == 2
        assert table.word_reading("𠮷林") is None
        assert table.character_reading("泵") == "beng4"
        assert table.character_reading("〇") == "ling2"
        assert table.character_reading("A") is None

    def test_english_words(self, table: LexiconTable) -> None:
        assert table.english("pump") == ("P", "AH1", "M", "P")
        assert table.english("don't") is not None
        for word in ("", "zzzz", "aaaa", "pumpx", "pum", "泵"):
            assert table.english(word) is None

    def test_it_is_small(self) -> None:
        assert TABLE.stat().st_size <= 3_000_000


class TestWriter:
    def test_front_coded_words_are_found_again(self, tmp_path: Path) -> None:
        numbers = {"A": 0, "B": 1, "C": 2}
        words = {f"w{n:03d}{'x' * (n % 5)}": ["A", "B", "C"][: n % 3 + 1] for n in range(100)}
        blocks, data = front_coded(words, numbers)
        sections = {name: TABLE_SECTIONS[name] for name in TABLE_SECTIONS}
        sections |= {"ARPA": b"A\nB\nC", "EIDX": blocks, "EWRD": data}
        write_table(tmp_path / "t.bin", sections)
        table = LexiconTable(tmp_path / "t.bin")
        for word, symbols in words.items():
            assert table.english(word) == tuple(symbols)
        assert table.english("w") is None
        assert table.english("w0001") is None

    def test_trie_finds_its_words_alone(self) -> None:
        trie = SortedTrie([("电", 1), ("电机", 2), ("电机房", 3), ("机", 4)])
        assert [trie.value[trie.find(w)] for w in ("电", "电机", "电机房", "机")] == [1, 2, 3, 4]
        with pytest.raises(KeyError):
            trie.find("房")


TABLE_SECTIONS = {
    name: bytes(LexiconTable(TABLE).section(name))
    for name in (
        "SYLL READ SIMP ROOT CODE VALU FRST EXST EXOF EXSY".split()
    )
}  # fmt: skip


class TestSegmenter:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("板卡轴报警", "板卡 轴 报警"),
            ("冷机出水温度", "冷机 出水 温度"),
            ("三十分钟", "三十 分钟"),
            ("三点五兆帕", "三点五 兆帕"),
            ("一切正常", "一切 正常"),
            ("重瓦斯保护跳闸", "重瓦斯 保护 跳闸"),
            ("油水分离器", "油水分离器"),
        ],
    )
    def test_cuts(self, table: LexiconTable, text: str, words: str) -> None:
        cut = segment(text, table)
        assert "".join(cut) == text
        if words == "油水分离器":
            assert not any("水分" in word and "分离" not in word for word in cut)
        else:
            assert cut == words.split()


class TestWordList:
    @pytest.mark.parametrize(
        "word", ["throttle", "THROTTLE", "Heatsink", "Overtemperature", "tripped", "setpoint"]
    )
    def test_known(self, lexicon: Lexicon, word: str) -> None:
        assert lexicon.has_word(word)

    @pytest.mark.parametrize("word", ["plc", "xqzt", "vfd", "hmi", "pc", "dc"])
    def test_unknown(self, lexicon: Lexicon, word: str) -> None:
        assert not lexicon.has_word(word)

    def test_acronyms(self, lexicon: Lexicon) -> None:
        assert lexicon.acronym("SCADA") == "word"
        assert lexicon.acronym("UPS") == "letters"
        assert lexicon.acronym("XYZ") is None


class TestOverrides:
    def test_chinese_word_wins_over_the_table(self, tmp_path: Path) -> None:
        lexicon = lexicon_with(tmp_path, {"车库": ["ju1", "ku4"], "门": ["men4"]})
        assert said("车库门开", lexicon) == "ju1 ku4 men4 kai1"

    def test_a_word_that_the_table_cuts_otherwise(self, tmp_path: Path) -> None:
        plain = said("主变压器室", Lexicon.open(TABLE))
        lexicon = lexicon_with(tmp_path, {"变压器室": ["bian4", "ya1", "qi4", "shi5"]})
        assert plain.endswith("shi4")
        assert said("主变压器室", lexicon) == "zhu3 bian4 ya1 qi4 shi5"

    def test_a_pair_of_words_that_the_user_names_stays_one(self, tmp_path: Path) -> None:
        lexicon = lexicon_with(tmp_path, {"切换失败": ["qie1", "huan4", "shi2", "bai4"]})
        assert said("切换失败", lexicon) == "qie1 huan4 shi2 bai4"

    def test_erhua_counts_for_two_characters(self, tmp_path: Path) -> None:
        lexicon = lexicon_with(tmp_path, {"阀门儿": ["fa2", "menr2"]})
        assert said("阀门儿坏", lexicon) == "fa2 menr2 huai4"

    def test_letters_of_the_key_are_letter_names(self, tmp_path: Path) -> None:
        lexicon = lexicon_with(tmp_path, {"SCADA": ["S", "C", "A", "D", "A"]})
        assert said("SCADA", lexicon) == "EH1 S S IY1 EY1 D IY1 EY1"

    def test_other_symbols_are_arpabet(self, tmp_path: Path) -> None:
        lexicon = lexicon_with(tmp_path, {"PLC": ["P", "L", "IH1", "K"]})
        assert said("PLC通讯故障", lexicon).startswith("P L IH1 K tong1")

    def test_a_foreign_name_may_be_given_in_pinyin(self, tmp_path: Path) -> None:
        lexicon = lexicon_with(tmp_path, {"SIEMENS": ["xi1", "men2", "zi5"]})
        assert said("SIEMENS停机", lexicon) == "xi1 men2 zi5 ting2 ji1"

    def test_a_key_with_digits_reaches_the_phonemizer_whole(self, tmp_path: Path) -> None:
        lexicon = lexicon_with(tmp_path, {"S7-1200": ["S", "EH1", "V", "AH0", "N"]})
        assert said("S7-1200停机", lexicon) == "S EH1 V AH0 N ting2 ji1"

    def test_lower_case_key_holds_for_any_case(self, tmp_path: Path) -> None:
        lexicon = lexicon_with(tmp_path, {"roboteq": ["R", "OW1"]})
        assert said("Roboteq", lexicon) == said("ROBOTEQ", lexicon) == "R OW1"

    def test_homographs_of_the_user_are_left_alone(self, tmp_path: Path) -> None:
        lexicon = lexicon_with(tmp_path, {"close": ["K", "L", "OW2"]})
        assert said("close valve", lexicon).startswith("K L OW2 ")

    def test_later_files_replace_earlier_ones(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text('{"泵": ["beng1"]}', "utf-8")
        (tmp_path / "b.json").write_text('{"泵": ["beng2"]}', "utf-8")
        (tmp_path / "c.txt").write_text("not read", "utf-8")
        assert load_overrides(tmp_path).chinese["泵"].syllables == ("beng2",)

    def test_no_folder_no_entries(self, tmp_path: Path) -> None:
        assert not load_overrides(tmp_path / "none").chinese
        assert not load_overrides(None).tokens

    @pytest.mark.parametrize(
        ("entries", "complaint"),
        [
            ({"车库": ["che1", "kv9"]}, r"own\.json: entry '车库': unknown symbol 'kv9'.*tone"),
            ({"车库": ["che1"]}, r"entry '车库': has 1 syllables for 2 characters"),
            ({"车库": "che1 ku4"}, r"entry '车库': must be a list"),
            ({"车库": []}, r"entry '车库': must be a list"),
            ({"PLC": ["P", "XX1"]}, r"entry 'PLC': unknown symbol 'XX1'; allowed are ARPAbet"),
            ({"PLC": ["P", "Q"]}, r"entry 'PLC': unknown symbol 'Q'"),
            ({"PLC 库": ["P"]}, r"entry 'PLC 库': a key is"),
            ({"": ["P"]}, r"entry '': a key is"),
            ({"x" * 40: ["P"]}, r"longer than 32"),
        ],
    )
    def test_a_wrong_entry_names_file_entry_and_symbols(
        self, tmp_path: Path, entries: dict[str, list[str]], complaint: str
    ) -> None:
        with pytest.raises(LexiconError, match=complaint):
            lexicon_with(tmp_path, entries)

    @pytest.mark.parametrize("text", ["[1]", "{", "", '"x"'])
    def test_a_file_that_is_no_object(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "own.json").write_text(text, "utf-8")
        with pytest.raises(LexiconError, match=r"own\.json"):
            load_overrides(tmp_path)

    def test_reload_picks_up_changes_and_keeps_the_old_on_error(self, tmp_path: Path) -> None:
        lexicon = lexicon_with(tmp_path, {"泵": ["beng1"], "Foo": ["F"]})
        assert said("泵", lexicon) == "beng1"
        (tmp_path / "own.json").write_text('{"泵": ["beng2"]}', "utf-8")
        lexicon.reload()
        assert said("泵", lexicon) == "beng2"
        (tmp_path / "own.json").write_text('{"泵": ["bxng2"]}', "utf-8")
        with pytest.raises(LexiconError):
            lexicon.reload()
        assert said("泵", lexicon) == "beng2"
        (tmp_path / "own.json").unlink()
        lexicon.reload()
        assert said("泵", lexicon) == "beng4"


@pytest.mark.parametrize(
    ("word", "symbols"),
    [
        ("becquerels", "B EH2 K ER0 EH1 L Z"),
        ("gigabits", "G IH1 G AH0 B IH2 T S"),
        ("nanometers", "N AE1 N AH0 M IY2 T ER0 Z"),
        ("millitesla", "M IH1 L AH0 T EH2 S L AH0"),
        ("gigapascals", "G IH1 G AH0 P AE0 S K AE2 L Z"),
        ("isolators", "AY1 S AH0 L EY2 T ER0 Z"),
        ("thyristor's", "TH AY0 R IH1 S T ER0 Z"),
        ("annunciator", "AH0 N AH1 N S IY0 EY2 T ER0"),
    ],
)
def test_units_and_words_of_the_trades_have_their_stress(
    lexicon: Lexicon, word: str, symbols: str
) -> None:
    assert lexicon.has_word(word)
    assert " ".join(lexicon.english(word)) == symbols
