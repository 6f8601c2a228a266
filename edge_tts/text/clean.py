"""Characters before words: what can't be spoken goes, variants become one form.

Follows Unicode NFC and, character by character, NFKC (UAX #15), except where a
compatibility character means more than its plain form: superscripts, circled
and Roman numbers keep their own code point for the scanner.
"""

from __future__ import annotations

import unicodedata

from edge_tts.text.markup import shown, strip_markup
from edge_tts.text.norm_pattern import pattern

# Nothing to do for a line of these alone.
_PLAIN = pattern(r"[一-鿿A-Za-z0-9，。！？、：；（） ,.!?:;()/'\"=+℃²³–—…~-]*\Z")

_COMBINING = pattern("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u20d0-\u20ff\ufe20-\ufe2f]")
_UNSUPPORTED = pattern(
    "[^\x00-\x7e\u00a0-\u00bf\u00d7\u00f7\u0370-\u03ff\u2000-\u2bff\u3000-\u303f\u3200-\u33ff\u3400-\u9fff"
    "\u2460-\u24ff\uff01-\uff65\uffe0-\uffe6Ø]+"
)
_REPLACEMENT = "\ufffd"

# Kept as they are: the scanner reads more out of them than NFKC would leave.
_KEEP = set("²³¹⁰⁴⁵⁶⁷⁸⁹⁺⁻，！？：；（）、。…℃℉—–￥～〇○◯ØⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅺⅻ")
_OWN = {
    "−": "-", "‐": "-", "‑": "-", "－": "-", "﹣": "-", "‒": "–", "―": "—", "～": "~", "〜": "~",
    "∼": "~", "˜": "~", "µ": "μ", "Ω": "Ω", "º": "°", "˚": "°", "⁰": "⁰", "⁄": "/", "∕": "/",
    "№": "No. ", "℡": "Tel ", "™": "", "®": "", "©": "", "‘": "'", "’": "'", "＇": "'", "ʼ": "'",
    "′": "′", "″": "″", "⋅": "·", "∙": "·", "•": "·", "・": "·", "‧": "·", "∆": "Δ", "ß": "ss",
    "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "đ": "d", "ł": "l", "Ł": "L", "ı": "i",
    "þ": "th", "ð": "d", "㏑": "ln", "㏒": "log", "㏄": "cc", "㎡": "m²", "㎥": "m³", "㎠": "cm²",
    "㎤": "cm³", "㎟": "mm²", "㎣": "mm³", "㎢": "km²", "㎨": "m/s²", "㎯": "rad/s²", "◯": "〇",
    "✕": "×", "✖": "×", "╳": "×", "∶": ":", "︰": ":", "❗": "！", "❕": "！", "❓": "？",
    "‼": "！",
    "⁉": "？", "✗": " ", "✓": " ", "✔": " ", "✘": " ", "⇑": "↑", "⇓": "↓", "➔": "→", "➜": "→",
    "➡": "→", "⬆": "↑", "⬇": "↓", "¼": " 1/4", "½": " 1/2", "¾": " 3/4", "⅓": " 1/3", "⅔": " 2/3",
    "⅛": " 1/8", "⅜": " 3/8", "⅝": " 5/8", "⅞": " 7/8", "⅕": " 1/5", "⅙": " 1/6", "\u2028": "\n",
    "\u2029": "\n", "\x85": "\n", "\x0b": "\n", "\x0c": "\n", "\r": "\n", "\t": " ", "\n": "\n",
    "‖": " ", "¦": " ", "｡": "。", "､": "、", "〔": "（", "〕": "）", "［": "（", "］": "）",
    "｛": "（",
    "｝": "）", "【": "（", "】": "）", "〖": "（", "〗": "）", "⺀": "冫", "⺁": "厂", "⺈": "刀",
    "⺌": "小", "⺍": "小", "⺕": "彐", "⺜": "日", "⺝": "月", "⺟": "母", "⺠": "民", "⺡": "水",
    "⺣": "火", "⺤": "爪", "⺩": "王", "⺪": "疋", "⺫": "目", "⺬": "示", "⺮": "竹", "⺯": "糸",
    "⺰": "纟", "⺲": "网", "⺶": "羊", "⺷": "羊", "⺼": "月", "⻁": "虎", "⻄": "西", "⻅": "见",
    "⻆": "角", "⻇": "角", "⻈": "讠", "⻉": "贝", "⻋": "车", "⻌": "辶", "⻍": "辶", "⻎": "辶",
    "⻐": "钅", "⻑": "长", "⻒": "长", "⻓": "长", "⻔": "门", "⻕": "阜", "⻖": "阜", "⻗": "雨",
    "⻘": "青", "⻙": "韦", "⻚": "页", "⻛": "风", "⻜": "飞", "⻝": "食", "⻢": "马", "⻣": "骨",
    "⻤": "鬼", "⻥": "鱼", "⻦": "鸟", "⻧": "卤", "⻨": "麦", "⻩": "黄", "⻪": "黾", "⻬": "齐",
    "⻮": "齿", "⻰": "龙", "⻳": "龟", "⽧": "斗",
}  # fmt: skip
# Cyrillic capitals that look like Latin ones, as they get into tags typed on two keyboards.
_LOOKALIKES = str.maketrans("АВЕКМНОРСТУХІЅЈ", "ABEKMHOPCTYXISJ")
_LOOKALIKE_RUN = pattern(
    "(?<=[A-Za-z0-9])[АВЕКМНОРСТУХІЅЈ]+(?![а-яё])|(?<![А-яЁё])[АВЕКМНОРСТУХІЅЈ]+(?=[A-Za-z0-9-]|[一-鿿])"
)


class _CharacterMap(dict[int, str]):
    """``str.translate`` table that works each code point out once."""

    def __missing__(self, code_point: int) -> str:
        value = _plain_form(chr(code_point))
        if len(self) < 4096:
            self[code_point] = value
        return value


def _is_pictograph(code_point: int) -> bool:
    return (
        0x1F000 <= code_point <= 0x1FAFF
        or 0x2600 <= code_point <= 0x2775
        or 0x2794 <= code_point <= 0x27BF
        or 0x2B00 <= code_point <= 0x2BFF
        or 0x2300 <= code_point <= 0x23FF
        or 0x2500 <= code_point <= 0x25FF
        or 0x4DC0 <= code_point <= 0x4DFF
    )


def _plain_form(character: str) -> str:
    if character in _OWN:
        return _OWN[character]
    if character in _KEEP:
        return character
    code_point = ord(character)
    category = unicodedata.category(character)
    if category in ("Cc", "Cf", "Co", "Cn") or 0xFE00 <= code_point <= 0xFE0F:
        return "" if code_point != 0xFFFD else character
    if category in ("Zs", "Zl", "Zp"):
        return " "
    if category in ("No", "Nl") and unicodedata.numeric(character, None) is not None:
        return character if character < "\u2070" or character > "\u209f" else (
            unicodedata.normalize("NFKC", character)
        )  # fmt: skip
    if _is_pictograph(code_point) and character not in "⌀⁉":
        return " "
    if category == "Nd":
        return str(unicodedata.decimal(character))
    plain = unicodedata.normalize("NFKC", character)
    if 0xC0 <= code_point < 0x250 or 0x1E00 <= code_point < 0x1F00:
        return _COMBINING.sub("", unicodedata.normalize("NFD", plain))
    if len(plain) > 1 or plain != character:
        return "".join(_plain_form(part) if part != character else part for part in plain)
    return character


_CHARACTERS = _CharacterMap()


def _script(text: str) -> str:
    name = unicodedata.name(text[0], "UNKNOWN").split()
    return "Chinese (rare)" if name[0] == "CJK" else name[0].capitalize()


def clean(text: str) -> tuple[str, list[str]]:
    """Text in the characters that the scanner knows, and warnings about what was left out."""
    if _PLAIN.match(text):
        return text, []
    warnings: list[str] = []
    text = strip_markup(text, warnings)
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    if _REPLACEMENT in text or any("\ud800" <= character <= "\udfff" for character in text):
        warnings.append("bytes that are not valid UTF-8 are left out; send UTF-8")
        text = "".join(
            character
            for character in text
            if character != _REPLACEMENT and not "\ud800" <= character <= "\udfff"
        )
    text = text.translate(_CHARACTERS)
    text = _COMBINING.sub("", text)
    if _UNSUPPORTED.search(text):
        text = _LOOKALIKE_RUN.sub(lambda match: match.group().translate(_LOOKALIKES), text)
        scripts: dict[str, str] = {}
        for match in _UNSUPPORTED.finditer(text):
            scripts.setdefault(_script(match.group()), match.group())
        text = _UNSUPPORTED.sub(" ", text)
        warnings.extend(
            f"unsupported script {script} is left out: {shown(sample)}"
            for script, sample in scripts.items()
        )
    return text, warnings
