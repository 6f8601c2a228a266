"""Everything that is neither letter nor digit: marks, signs, pauses, blanks."""

from __future__ import annotations

import re
import unicodedata

from edge_tts.text import en, zh
from edge_tts.text.norm_codes import greek, unix_path
from edge_tts.text.norm_data import QUANTITY_NOUNS, SYMBOLS
from edge_tts.text.norm_numbers import currency, quantity, unit_after
from edge_tts.text.norm_scan import COMMA, EXCLAMATION, FULL_STOP, HAN, QUESTION, Scan
from edge_tts.text.norm_words import number_sign
from edge_tts.text.units import denominator

_MANY = re.compile(r"(<=|=<|>=|=>(?=\s?\d)|==|!=|<>|[-=]+>|<-+|>>|<<|&&|\|\|)(?![<>=])|([-=<>~*_+#./\\|])\2{1,}")
_COMBINED = {"<=": "≤", "=<": "≤", ">=": "≥", "=>": "≥", "==": "=", "!=": "≠", "<>": "≠", ">>": "≫",
             "<<": "≪", "&&": "&"}  # fmt: skip
_AFTER_QUANTITY_NOUN = re.compile(rf"(?:{QUANTITY_NOUNS})\s?$")
_SIGNED_NUMBER = re.compile(r"[-+–—]\s?(?:\d|\.\d)")
_SIGNED_AMOUNT = re.compile(r"[-+–]\s?\d*(?:\.\d+)?")
_RATE = re.compile(r"\s?(?P<unit>min|h|s|d|t|kg|m³|m3|m²|m|L|年|月|日|天|小时|时|分钟|分|秒|个|台|吨|人|次|班|件|平方米|立方米|米|升|公斤|千克|袋|箱|桶|度|公里|克|瓶|块|批|千瓦时|圈|转|套|亩|片|盒|车|根|辆)(?![A-Za-z0-9])")
_RATE_BEFORE = re.compile(
    rf"\d\s?(?:[{HAN}]{{1,4}}|[A-Za-zμ°℃²³·]{{1,6}})\s?$|单位[:：]?\s?[{HAN}]{{1,3}}$"
    r"|(?:转|次|元|米|吨|升|件|公里|千克|立方|度|帧|毫克|微克|脉冲)$"
)
_ENGLISH_RATE = re.compile(
    r"(?:min|hr|h|sec|s|d|minute|hour|second|day|week|month|year|shift|batch|unit)(?![A-Za-z0-9])"
)
_TYPED_LITERAL = re.compile(r"(?:^|[^A-Za-z0-9])(?:T|LT|W|DW|LW|B|L|S5T)$")
_ITEM_NUMBER = re.compile(r"(?:^|[\s，。；;])\d{1,2}$")
_ONE_EACH_SIDE = re.compile(rf"(?:^|[^{HAN}])[{HAN}]$")
_NUMERAL_BEFORE = re.compile(r"[ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ]$|(?<![A-Za-z0-9])(?:I{1,3}|IV|V)$")
_NUMERAL_BEHIND = re.compile(r"\s?(?:[ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ]|(?:I{1,3}|IV|VI{0,3})[母段级类型期号])")
_TIME_WORD = re.compile(r"[一二三四五六七八九十日天月年点时号级]$")
_ZERO_NEIGHBOUR = "零一二三四五六七八九十〇○0123456789"
_DIAMETER = re.compile(r"[ΦφØ⌀∅]\s?(?=\d)")
_TAG_RANGE = re.compile(r"#(?P<first>\d{1,4})\s?[-~–至到]\s?#?(?P<last>\d{1,4})(?![\d.A-Za-z])")
_PLC_ADDRESS = re.compile(r"%(?=[IQMTC][XBWDL]?\d|DB\d)")
_COUNTRY_CODE = re.compile(r"\+(?P<country>86|1|44|49)[- ]?(?=\d)")
_BLANKS = re.compile(r"\s{2,}|[^\S ]")
_PAUSES = re.compile(r" ?[\x01-\x04][ \x01-\x04]*")
_MARKS = {COMMA: "，,", FULL_STOP: "。.", EXCLAMATION: "！!", QUESTION: "？?"}
_HAN_CHARACTER = re.compile(f"[{HAN}]")
_PAUSE_CHARACTERS = {
    ",": COMMA, "，": COMMA, "、": COMMA, ";": COMMA, "；": COMMA, ":": COMMA, "：": COMMA,
    "(": COMMA, "（": COMMA, ")": COMMA, "）": COMMA, "[": COMMA, "]": COMMA, "…": COMMA, "—": COMMA,
    "–": COMMA, "|": COMMA, "。": FULL_STOP, "!": EXCLAMATION, "！": EXCLAMATION, "?": QUESTION,
    "？": QUESTION,
}  # fmt: skip


def han(scan: Scan, run: str, end: int) -> int:
    scan.say(run.replace("〇", "零"))
    return end


def blank(scan: Scan, run: str, end: int) -> int:
    scan.say(FULL_STOP if "\n" in run else " ")
    return end


def _reading(scan: Scan, symbol: str, start: int, end: int) -> str:
    zh_name, en_name = SYMBOLS[symbol]
    return zh_name if scan.language(start, end) == "zh" else en_name


def symbol(scan: Scan, pos: int, character: str) -> int:
    """Say or skip the mark at ``pos``; return where what was used ends."""
    text = scan.text
    if match := _MANY.match(text, pos):
        return _many(scan, match)
    if handler := _HANDLERS.get(character):
        if end := handler(scan, pos):
            return end
    pause = _PAUSE_CHARACTERS.get(character)
    if pause is not None:
        scan.say(pause)
        return pos + 1
    if names := greek(character):
        return _greek(scan, pos, names)
    if character in SYMBOLS:
        scan.say(_reading(scan, character, pos, pos + 1))
        return pos + 1
    value = unicodedata.numeric(character, None)
    if value is not None and value == int(value):
        return _numeral(scan, pos, int(value))
    if character.isspace() or character in "/_\\^{}'\"`*-":
        scan.say(" ")
    return pos + 1


def _many(scan: Scan, match: re.Match[str]) -> int:
    marks = match.group()
    if marks in _COMBINED:
        scan.say(_reading(scan, _COMBINED[marks], match.start(), match.end()))
    elif marks == "||":
        scan.say("或" if scan.default == "zh" else "or")
    elif marks[-1] == ">" and set(marks[:-1]) <= set("-="):
        scan.say(_reading(scan, "→", match.start(), match.end()))
    else:
        # A rule drawn with marks; ../ is left to the path reader.
        if marks[0] in "./" and (found := unix_path(scan, match.start())):
            return found
        scan.say(COMMA)
    return match.end()


def _greek(scan: Scan, pos: int, names: tuple[str, str]) -> int:
    if match := _DIAMETER.match(scan.text, pos):
        scan.say("直径" if scan.language(pos, match.end()) == "zh" else "diameter")
        return match.end()
    scan.say(names[scan.language(pos, pos + 1) == "en"])
    return pos + 1


def _numeral(scan: Scan, pos: int, value: int) -> int:
    """Circled, bracketed, Roman and superscript numbers."""
    character = scan.text[pos]
    chinese = scan.language(pos, pos + 1) == "zh"
    words = zh if chinese else en
    if unicodedata.decomposition(character).startswith("<super>"):
        if value in (2, 3):
            names = {2: ("平方", "squared"), 3: ("立方", "cubed")}[value]
            scan.say(names[not chinese])
        else:
            scan.say(words.power(str(value)))
        return pos + 1
    listed = character not in "ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅺⅻ" and unicodedata.category(character) != "Lo"
    scan.say(words.cardinal(str(value)))
    following = scan.text[pos + 1 : pos + 3].lstrip()[:1]
    if listed and _begins_item(scan, pos) and following not in "号號#台個个路段级線线机泵相组组～~-、，,":
        scan.say(COMMA)
    return pos + 1


def _begins_item(scan: Scan, pos: int) -> bool:
    before = scan.before(pos, 4)
    return not before or before[-1] in "，。；;：:、,.!！?？\n" or scan.text[pos - 1 : pos].isspace()


def _sign(scan: Scan, pos: int) -> int:
    """A plus or minus sign before a number; otherwise a dash or a plus between things."""
    text = scan.text
    mark = text[pos]
    previous = text[pos - 1 : pos]
    if mark == "+" and (match := _COUNTRY_CODE.match(text, pos)) and re.match(
        r"[\d -]{7,}", text[match.end() :]
    ):
        chinese = scan.language(pos, match.end()) == "zh"
        scan.say("加" if chinese else "plus")
        scan.say((zh if chinese else en).digits(match["country"]))
        return match.end()
    if _SIGNED_NUMBER.match(text, pos):
        separate = not previous or previous.isspace() or previous in "(（,，：:;；=<>≤≥≈±~、。\"'“[|/*×÷"
        after_han = _HAN_CHARACTER.match(previous) is not None
        counted = after_han and (
            _signed_with_unit(text, pos)
            or _AFTER_QUANTITY_NOUN.search(text[max(0, pos - 6) : pos]) is not None
        )
        if previous.isspace() and re.match(r"[-–+]\s", text[pos:]):
            before = scan.before(pos, 6)
            if before[-1:].isalnum():
                # "5 - 3", "Zone A - 20": a dash between things.
                if mark == "+":
                    scan.say(_reading(scan, "+", pos, pos + 1))
                else:
                    scan.say(COMMA)
                return pos + 1
        if separate or counted:
            number = pos if text[pos + 1 : pos + 2] != " " else pos
            if text[pos + 1] == " ":
                chinese = scan.language(pos, pos + 2) == "zh"
                scan.say({"+": ("正", "plus")}.get(mark, ("负", "minus"))[not chinese])
                return pos + 2
            if mark in "-+" and (end := quantity(scan, number)):
                return end
            chinese = scan.language(pos, pos + 2) == "zh"
            scan.say("负" if chinese else "minus")
            return pos + 1
    if mark == "+":
        scan.say(_reading(scan, "+", pos, pos + 1) if text[pos + 1 :].strip() else "")
        return pos + 1
    return _dash(scan, pos)


def _signed_with_unit(text: str, pos: int) -> bool:
    """Whether the number after the sign at ``pos`` has a unit: an amount, not a name."""
    match = _SIGNED_AMOUNT.match(text, pos)
    if match is None:
        return False
    if text.startswith(("度", "伏", "安", "毫", "兆"), match.end()):
        return True
    end = unit_after(text, match.end())
    return end > 0 and ("." in match.group() or text[match.end() : end].strip() not in "AdmshtTLHg")


def _dash(scan: Scan, pos: int) -> int:
    text = scan.text
    previous, following = text[pos - 1 : pos], text[pos + 1 : pos + 2]
    if _NUMERAL_BEFORE.search(text[max(0, pos - 4) : pos]) and _NUMERAL_BEHIND.match(text, pos + 1):
        scan.say("到" if scan.language(pos, pos + 1) == "zh" else "to")
    elif _TIME_WORD.search(text[max(0, pos - 3) : pos]) and _HAN_CHARACTER.match(following):
        scan.say("到")
    elif _TIME_WORD.search(text[max(0, pos - 3) : pos]) and following.isdigit():
        scan.say("到")
    elif previous.isspace() or (_HAN_CHARACTER.match(previous) and _HAN_CHARACTER.match(following)):
        scan.say(COMMA)
    else:
        scan.say(" ")
    return pos + 1


def _tilde(scan: Scan, pos: int) -> int:
    text = scan.text
    chinese = scan.language(pos, pos + 1) == "zh"
    previous = text[pos - 1 : pos]
    if re.match(r"~\s?[-+]?\d", text[pos:]) and not re.search(r"[\w℃°%)）]\s?$", text[max(0, pos - 2) : pos]):
        scan.say("约" if chinese else "about")
    elif re.match(r"~\s?[-+]?[\w]", text[pos:]) and previous and not previous.isspace():
        scan.say("到" if chinese else "to")
    else:
        scan.say(COMMA if text[pos + 1 :].strip() else "")
    return pos + 1


def _slash(scan: Scan, pos: int) -> int:
    text = scan.text
    before = text[max(0, pos - 8) : pos]
    if scan.default == "en" and (match := _ENGLISH_RATE.match(text, pos + 1)):
        if re.search(r"[a-z]{3,}$", before):
            unit = denominator(match.group()) if match.group() != "a" else None
            scan.say(f"per {unit.en if unit and len(match.group()) < 4 else match.group()}")
            return match.end()
    if _RATE_BEFORE.search(before) and (match := _RATE.match(text, pos + 1)):
        name = match["unit"]
        unit = denominator(name.replace("³", "").replace("3", "").replace("²", ""))
        per = name
        if unit is not None and name.isascii() or name in ("m³", "m²"):
            cubic = "立方" if name in ("m³", "m3") else "平方" if name == "m²" else ""
            per = cubic + (unit.zh if unit else "米")
        scan.say(f"每{per}")
        return match.end()
    if not before[-1:].isascii() or not before[-1:].isalnum():
        if found := unix_path(scan, pos):
            return found
    following = text[pos + 1 : pos + 2]
    if _NUMERAL_BEFORE.search(before) and _NUMERAL_BEHIND.match(text, pos + 1):
        scan.say(COMMA)
        return pos + 1
    if _HAN_CHARACTER.match(before[-1:]) or _HAN_CHARACTER.match(following):
        # 开/关 and 正/反转 are said in one breath.
        scan.say("" if _ONE_EACH_SIDE.search(before) and _HAN_CHARACTER.match(following) else COMMA)
    else:
        scan.say(" ")
    return pos + 1


def _dot(scan: Scan, pos: int) -> int:
    text = scan.text
    following = text[pos + 1 : pos + 2]
    if following.isdigit() and not (pos and text[pos - 1].isascii() and text[pos - 1].isalnum()):
        return quantity(scan, pos)
    if following in "./~" and (found := unix_path(scan, pos)):
        return found
    if _ITEM_NUMBER.search(text[max(0, pos - 4) : pos]) and _HAN_CHARACTER.match(
        text[pos + 1 : pos + 3].lstrip()
    ):
        scan.say(COMMA)
        return pos + 1
    if not following or following.isspace() or not following.isascii() or not following.isalnum():
        scan.say(FULL_STOP)
    elif text[pos - 1 : pos].isalnum() and text[pos - 1 : pos].isascii():
        scan.say("点" if scan.default == "zh" else "dot")
    else:
        scan.say(" ")
    return pos + 1


def _hash(scan: Scan, pos: int) -> int:
    text = scan.text
    if match := _TAG_RANGE.match(text, pos):
        first, last = match["first"], match["last"]
        if scan.language(pos, match.end()) == "zh":
            named = text.startswith(("号", "號"), match.end())
            scan.say(f"{zh.cardinal(first)}到{zh.cardinal(last)}{'' if named else '号'}")
        else:
            scan.say(f"numbers {en.cardinal(first)} to {en.cardinal(last)}")
        return match.end()
    if _TYPED_LITERAL.search(text[max(0, pos - 4) : pos]):
        return pos + 1
    if text[pos + 1 : pos + 2].isdigit():
        return number_sign(scan, pos, pos + 1)
    previous = text[pos - 1 : pos]
    if previous.isascii() and previous.isalnum() and scan.language(pos, pos + 1) == "zh":
        if not text.startswith(("号", "號"), pos + 1):
            scan.say("号")
    elif previous == "C" and not text[max(0, pos - 2) : pos - 1].isalnum():
        scan.say("sharp")
    else:
        scan.say(" ")
    return pos + 1


def _percent(scan: Scan, pos: int) -> int:
    match = _PLC_ADDRESS.match(scan.text, pos)
    return match.end() if match else 0


def _money(scan: Scan, pos: int) -> int:
    return currency(scan, pos) or pos + 1


def _circle(scan: Scan, pos: int) -> int:
    text = scan.text
    near = text[max(0, pos - 1) : pos] + text[pos + 1 : pos + 2]
    if any(character in _ZERO_NEIGHBOUR for character in near):
        scan.say("零")
    return pos + 1


def _repeat(scan: Scan, pos: int) -> int:
    if pos and _HAN_CHARACTER.match(scan.text[pos - 1]):
        scan.say(scan.text[pos - 1])
    return pos + 1


def _ampersand(scan: Scan, pos: int) -> int:
    scan.say(_reading(scan, "&", pos, pos + 1))
    return pos + 1


def _diameter(scan: Scan, pos: int) -> int:
    match = _DIAMETER.match(scan.text, pos)
    if match is None:
        return 0
    scan.say("直径" if scan.language(pos, match.end()) == "zh" else "diameter")
    return match.end()


_HANDLERS = {
    "+": _sign, "-": _sign, "–": _sign, "~": _tilde, "/": _slash, ".": _dot, "#": _hash,
    "%": _percent, "$": _money, "¥": _money, "￥": _money, "€": _money, "£": _money, "○": _circle,
    "々": _repeat, "&": _ampersand, "Ø": _diameter, "⌀": _diameter, "∅": _diameter,
}  # fmt: skip


def _pause(match: re.Match[str], is_chinese: bool) -> str:
    """One mark for a run of pauses, in the script of its neighbours."""
    run = match.group()
    text = match.string
    start, end = match.span()
    mark = next((m for m in (QUESTION, EXCLAMATION, FULL_STOP) if m in run), COMMA)
    for character in run:
        if character in (QUESTION, EXCLAMATION):
            mark = character
            break
    if start == 0:
        return ""
    if end == len(text) and mark == COMMA:
        return ""
    chinese, latin = _MARKS[mark]
    if _HAN_CHARACTER.match(text[start - 1]) or (
        end < len(text) and _HAN_CHARACTER.match(text[end])
    ):
        return chinese
    if is_chinese and (text[start - 1].isupper() or end < len(text) and text[end].isupper()):
        return chinese
    return latin if end == len(text) else f"{latin} "


def finish(text: str, is_chinese: bool) -> str:
    """Turn pause marks into punctuation, and blanks into single spaces."""
    text = _BLANKS.sub(" ", text)
    return _PAUSES.sub(lambda match: _pause(match, is_chinese), text).strip()
