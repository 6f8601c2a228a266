"""Characters before words: what can't be spoken goes, variants become one form.

Follows Unicode NFC and, character by character, NFKC (UAX #15), except where a
compatibility character means more than its plain form: superscripts, circled
and Roman numbers keep their own code point for the scanner.
"""

from __future__ import annotations

import re
import unicodedata

from edge_tts.text.norm_pattern import pattern

# Nothing to do for a line of these alone.
_PLAIN = pattern(r"[一-鿿A-Za-z0-9，。！？、：；（） ,.!?:;()/'\"=+℃²³–—…~-]*\Z")

_ANSI = pattern(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -~]?"
)
_TAG_NAMES = (
    "speak|break|prosody|p|s|emphasis|say-as|sub|voice|audio|phoneme|mark|lang|w|desc|"
    "b|i|u|em|strong|small|big|br|hr|div|span|a|img|ul|ol|li|h[1-6]|table|tbody|thead|tr|td|th|"
    "code|pre|font|html|body|head|title|meta|link|center|label|input|button|form|sup|sub|del|ins|"
    "blockquote|section|article|header|footer|nav|svg|path|script|style|mstts:[a-z-]+|amazon:[a-z-]+"
)
_TAG = pattern(
    rf"<(?P<close>/?)(?P<name>{_TAG_NAMES})"
    r"(?:\s+[\w:.-]+(?:\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s<>\"']+))?)*\s*/?>"
    r"|<!--(?:(?!<!--).)*?-->|<!(?:DOCTYPE|doctype)[^<>]*>|<\?[^<>]*\?>|<!\[CDATA\[|\]\]>",
    re.IGNORECASE | re.DOTALL,
)
_HIDDEN = pattern(r"<(script|style)\b[^<>]*>(?:(?!<\1\b).)*?</\1\s*>", re.I | re.S)
_PAUSING_TAGS = frozenset("break p s br hr div li h1 h2 h3 h4 h5 h6 tr td th title".split())
_ENTITY = pattern(
    r"&(lt|gt|amp|nbsp|quot|apos|deg|plusmn|micro|times|#\d{1,7}|#x[0-9a-fA-F]{1,6});"
)
_ENTITIES = {
    "lt": "<", "gt": ">", "amp": "&", "nbsp": " ", "quot": '"', "apos": "'", "deg": "°",
    "plusmn": "±", "micro": "µ", "times": "×",
}  # fmt: skip
_TEMPLATE = pattern(
    r"\$\{[^{}\n]*\}|\{\{[^{}\n]*\}\}|\{%[^{}\n]*%\}|\{(?:\d*|[A-Za-z_][\w.]*)(?::[^{}\s]*)?\}"
    r"|%\([A-Za-z_]\w*\)[sdifrx]"
    r"|(?<![\d.)%])%[-+0#]?\d*(?:\.\d+)?[sdnxXucpef](?![A-Za-z0-9.])"
    r"|(?<=%[sdnxXucpef])%[sdnxXucpef](?![A-Za-z0-9])"
)
_FORMAT_RUN = pattern(r"(?<![\d.)%])(?:%[sdnxXucpef]){2,}(?![A-Za-z0-9])")
_MARKDOWN_INLINE = pattern(
    r"!?\[(?P<label>[^\[\]\n]*)\]\([^()\s]*\)|\*\*|__(?=\S)|(?<=\S)__|~~|`+"
    r"|(?<![\w*])\*(?=[^\s*\d])|(?<=[^\s*])\*(?![\w*])|(?<![\w_])_(?=[^\s_])|(?<=[^\s_])_(?![\w_])"
)
_MARKDOWN_LINE = pattern(
    r"^[ \t]*(?:#{1,6}[ \t]+(?!\d)|>[ \t]?(?![\d=\s.>-])|[-*+][ \t]+(?!\d)|(?:[-*_][ \t]*){3,}$"
    r"|\|?[ :|-]*--[ :|-]*$)"
    r"|^[ \t]*\||\|[ \t]*$",
    re.MULTILINE,
)
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


def _untag(match: re.Match[str]) -> str:
    name = (match["name"] or "").lower()
    return "\n" if name in _PAUSING_TAGS else ""


def _entity(match: re.Match[str]) -> str:
    body = match[1]
    if not body.startswith("#"):
        return _ENTITIES[body]
    code_point = int(body[2:], 16) if body[1] == "x" else int(body[1:])
    return chr(code_point) if code_point < 0x110000 else ""


def _shown(text: str) -> str:
    """For a warning: short, and escaped so that it can't act on a terminal."""
    return ascii(text if len(text) <= 24 else f"{text[:24]}...") if not text.isprintable() else (
        f"'{text if len(text) <= 24 else text[:24] + '...'}'"
    )  # fmt: skip


def _strip_markup(text: str, warnings: list[str]) -> str:
    if "\x1b" in text or "\x9b" in text:
        text = _ANSI.sub("", text)
    if "<" in text:
        text = _HIDDEN.sub(" ", text)
        text = _TAG.sub(_untag, text)
    if "&" in text:
        text = _ENTITY.sub(_entity, text)
    if "{" in text or "%" in text:
        found = []
        for form in (_FORMAT_RUN, _TEMPLATE):
            found += [match.group() for match in form.finditer(text)]
            text = form.sub(" ", text)
        if found:
            warnings.append(
                f"the text holds a template that was never filled in: {_shown(' '.join(found))}; "
                "it is left out, fix the sender"
            )
    if any(mark in text for mark in "*_`~[|"):
        text = _MARKDOWN_INLINE.sub(lambda match: match["label"] or "", text)
    return _MARKDOWN_LINE.sub("", text)


def clean(text: str) -> tuple[str, list[str]]:
    """Text in the characters that the scanner knows, and warnings about what was left out."""
    if _PLAIN.match(text):
        return text, []
    warnings: list[str] = []
    text = _strip_markup(text, warnings)
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
            f"unsupported script {script} is left out: {_shown(sample)}"
            for script, sample in scripts.items()
        )
    return text, warnings
