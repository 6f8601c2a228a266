"""What dresses a text up and is not said: escape sequences, tags, entities, templates, Markdown."""

from __future__ import annotations

import re

from edge_tts.text.norm_pattern import pattern

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
    r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s<>\"']+))*\s*/?>"
    r"|<!--(?:(?!<!--).)*?-->|<!(?:DOCTYPE|doctype)[^<>\[]*(?:\[[^\]]*\])?[^<>]*>|<\?[^<>]*\?>"
    r"|<!\[CDATA\[|\]\]>",
    re.IGNORECASE | re.DOTALL,
)
# Elements of any other name: what has an attribute, a slash, or a closing tag in the same text.
_ELEMENT = pattern(
    r"<(?P<close>/?)(?P<name>[A-Za-z_][\w:.-]{0,60})"
    r"(?P<attributes>(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))*)\s*(?P<empty>/?)>"
)
_CLOSING = pattern(r"</([A-Za-z_][\w:.-]{0,60})\s*>")
_HIDDEN = pattern(r"<(script|style)\b[^<>]*>(?:(?!<\1\b).)*?</\1\s*>", re.I | re.S)
_PAUSING_TAGS = frozenset("break p s br hr div li h1 h2 h3 h4 h5 h6 tr td th title".split())
_ENTITY = pattern(
    r"&(lt|gt|amp|nbsp|quot|apos|deg|plusmn|micro|times|#\d{1,7}|#x[0-9a-fA-F]{1,6});"
)
_UNKNOWN_ENTITY = pattern(r"(?<![A-Za-z0-9])&[a-z][A-Za-z0-9]{0,30};")
# Escapes that nobody undid: a code point and, where it can be no path, the end of a line.
_ESCAPED = pattern(r"\\u(?P<code>[0-9a-fA-F]{4})|(?:(?<=[^\x00-\x7e])|(?<=[.,;!?) ]))\\[nrt]|\\n$")
_PERCENT_ENCODED = pattern(r"(?:%[0-9A-Fa-f]{2}){3,}")
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


def _untag(match: re.Match[str]) -> str:
    name = (match["name"] or "").lower()
    return "\n" if name in _PAUSING_TAGS else ""


def _strip_elements(text: str) -> str:
    """Without the tags of XML elements; ``<name>`` that is none keeps its name."""
    closed = set(_CLOSING.findall(text))

    def plain(match: re.Match[str]) -> str:
        name = match["name"]
        if match["close"]:
            return ", "
        if match["attributes"] or match["empty"] or name in closed:
            return " "
        return f" {name} " if len(name) > 1 else match.group()

    return _ELEMENT.sub(plain, text)


def _unescaped(match: re.Match[str]) -> str:
    if match["code"]:
        return chr(int(match["code"], 16))
    return " " if match.group()[-1] == "t" else "\n"


def _percent_decoded(match: re.Match[str]) -> str:
    try:
        return bytes.fromhex(match.group().replace("%", "")).decode("utf-8")
    except UnicodeDecodeError:
        return match.group()


def _entity(match: re.Match[str]) -> str:
    body = match[1]
    if not body.startswith("#"):
        return _ENTITIES[body]
    code_point = int(body[2:], 16) if body[1] == "x" else int(body[1:])
    return chr(code_point) if code_point < 0x110000 else ""


def shown(text: str) -> str:
    """``text`` for a warning: short, and escaped so that it can't act on a terminal."""
    return ascii(text if len(text) <= 24 else f"{text[:24]}...") if not text.isprintable() else (
        f"'{text if len(text) <= 24 else text[:24] + '...'}'"
    )  # fmt: skip


def strip_markup(text: str, warnings: list[str]) -> str:
    """``text`` without its markup; a template that was never filled in adds to ``warnings``."""
    if "\x1b" in text or "\x9b" in text:
        text = _ANSI.sub("", text)
    if "<" in text:
        text = _HIDDEN.sub(" ", text)
        text = _strip_elements(_TAG.sub(_untag, text))
    if "&" in text:
        text = _UNKNOWN_ENTITY.sub(" ", _ENTITY.sub(_entity, text))
    if "\\" in text:
        text = _ESCAPED.sub(_unescaped, text)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if "%" in text:
        text = _PERCENT_ENCODED.sub(_percent_decoded, text)
    if "{" in text or "%" in text:
        found = []
        for form in (_FORMAT_RUN, _TEMPLATE):
            found += [match.group() for match in form.finditer(text)]
            text = form.sub(" ", text)
        if found:
            warnings.append(
                f"the text holds a template that was never filled in: {shown(' '.join(found))}; "
                "it is left out, fix the sender"
            )
    if any(mark in text for mark in "*_`~[|"):
        text = _MARKDOWN_INLINE.sub(lambda match: match["label"] or "", text)
    return _MARKDOWN_LINE.sub("", text)
