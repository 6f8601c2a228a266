"""One whole number: said as a quantity, digit by digit, as a year, or as a telephone number."""

from __future__ import annotations

import re

from edge_tts.text import en, zh
from edge_tts.text.norm_data import ALARM_NOUNS, CODE_NOUNS, DEVICE_NOUNS, MEASURES, PHONE_NOUNS
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import HAN, Language, Scan
from edge_tts.text.units import Unit

#: Digits said of one over-long number; the rest is cut, with a warning.
MAX_DIGITS = 100

_MEASURE = pattern(rf"\s?(?:多|几|余|来)?(?:{MEASURES})")
_LINK = r"[\s:：=为是第号码\"'-]{0,4}"
_AFTER_CODE_NOUN = pattern(rf"(?:{CODE_NOUNS}|ID|Id|id|PIN|SN|IP|No|[Cc]ode|CODE){_LINK}$")
_NAMED_BY_THREE = pattern(r"\s?(?:[A-Z]?不锈钢|室|房|宿舍|会议室|办公室)")
_AFTER_BUILDING = pattern(r"(?:座|栋|棟|幢|单元|單元|号楼|號樓)\s?-?$")
_SWITCH = pattern(r"\s?(?:开关|断路器|刀闸|隔离|接地刀|地刀|闸刀|母联|线路|间隔)")
_STOREYS = pattern(r"(?:共|有|分|叠|成|每|隔)\s?$")
_NAMED_BY_YEAR = pattern(r"\s?(?:财年|年度|版|款|届|标准)")
_AFTER_SECRET = pattern(rf"(?:端口|密码|口令|代码|验证码){_LINK}$")
_AFTER_STANDARD = pattern(
    r"(?:GB(?:/?T)?|ISO|IEC|EN|DIN|JB|HG|DL|SY|AQ|JGJ|ANSI|NFPA|UL|IEEE|API|ASTM|DB|SH|TSG|RFC)(?:/[TZ])?"
    r"[\s-](?:\d+[-—–:：])?$"
)
_AFTER_ALARM_NOUN = pattern(
    rf"(?:{ALARM_NOUNS}|[Ee]rror|ERROR|[Ff]ault|FAULT|[Aa]larm|ALARM){_LINK}$"
)
_AFTER_PHONE_NOUN = pattern(rf"(?:{PHONE_NOUNS}){_LINK}$")
_BEFORE_DEVICE = pattern(rf"\s?(?:{DEVICE_NOUNS})")
_ORDINAL_BEFORE = pattern(r"第\s?$")
_DATE_UNIT = pattern(r"\s?(?:[月日时時点點分秒]|[-~–至到]\d{1,2}[月日时点])")
_YEARS_FOLLOW = pattern(r"\s?[-~–至到]\s?[12]\d{3}\s?年")
_HAN_END = pattern(rf"[{HAN}]\s?$")
_EMERGENCY = frozenset(("110", "119", "120", "122", "12345", "12315", "12369", "95598", "10086"))

_EN_CODE_NOUN = pattern(
    r"(?:\b(?:error|http(?:/[\d.]{1,3})?|code|id|pin|password|port|serial|number|no|part|model|extension|ticket|order|rm|sn|s/n|p/n|"
    r"batch|lot|badge|room|line|tag|register|address|channel|zip|asset|ext|job|work order|employee|"
    r"event|status|message|alm|err)(?:\s+(?:code|number|no|id|is|was))?)[\s.:=#\"']*$",
    re.IGNORECASE,
)
_EN_ALARM_NOUN = pattern(
    r"\b(?:alarm|fault|trip|warning|alert|failure)(?:\s+code)?[\s.:=#]*$", re.I
)
_EN_PHONE_NOUN = pattern(
    r"\b(?:call|dial|phone|telephone|tel|fax|hotline|ring|contact|text)(?:\s+(?:us\s+)?(?:at|on|to))?[\s.:]*$",
    re.I,
)
_EN_YEAR_BEFORE = pattern(
    r"\b(?:Q[1-4]|H[12]|in|since|year|of|by|until|before|after|from|during|copyright|circa|built|installed|"
    r"made|commissioned|to|till|model year|(?:January|February|March|April|May|June|July|August|"
    r"September|October|November|December),?)\s$",
    re.IGNORECASE,
)
_YEARLY_PRODUCT = pattern(r"\b(?:Windows|Office|Server|Excel|Word|Studio|Exchange)\s$")
_NOT_A_YEAR = pattern(r"\s?(?:[a-z]{3,}s\b|[%°℃])")


def after_standard(before: str) -> bool:
    """Whether ``before`` ends with the letters of a standard (``ISO ``, ``GB/T``)."""
    return _AFTER_STANDARD.search(before) is not None


def say_integer(
    scan: Scan,
    digits: str,
    start: int,
    end: int,
    language: Language,
    unit: Unit | None,
    in_chain: bool,
) -> None:
    """Say ``digits``, which stand at ``[start, end)`` with their unit."""
    if len(digits) > MAX_DIGITS:
        scan.warnings.append(
            f"a number of {len(digits)} digits is cut after {MAX_DIGITS}: {digits[:12]}..."
        )
        digits = digits[:MAX_DIGITS]
    if language == "zh":
        scan.say(_chinese(scan, digits, start, end, unit, in_chain))
    else:
        scan.say(_english(scan, digits, start, end, unit, in_chain))


def _chinese(
    scan: Scan, digits: str, start: int, end: int, unit: Unit | None, in_chain: bool
) -> str:
    text = scan.text
    before = text[max(0, start - 12) : start]
    if unit is not None:
        if digits[0] == "0" and len(digits) > 1:
            return zh.digits(digits)
        keep_two = unit.is_temperature or unit.zh_before or unit.zh == "度"
        return zh.cardinal(digits) if keep_two else zh.count(digits)
    following = text[end : end + 8]
    if in_chain and len(digits) == 4 and digits[0] in "12" and _YEARS_FOLLOW.match(following):
        return zh.digits(digits)
    if following[:1] == "年" or following[:2] == " 年":
        return _chinese_year(digits, before, following)
    grouped = "," in text[start:end]
    if grouped:
        return zh.cardinal(digits)
    if text[start] in "-–" and digits[0] != "0":
        return zh.cardinal(digits)
    counted = _MEASURE.match(following) is not None
    if counted and following[0] == " " and len(digits) >= 3:
        counted = not (_AFTER_CODE_NOUN.search(before) or _AFTER_ALARM_NOUN.search(before))
    if _DATE_UNIT.match(following):
        timed = following.lstrip()[0] in "点點秒" and not _ORDINAL_BEFORE.search(before)
        return (
            zh.count(digits)
            if timed or following.lstrip()[:2] in ("分钟", "小时")
            else zh.cardinal(digits)
        )
    if digits[0] == "0" and len(digits) > 1:
        return zh.digits(digits)
    if following[:1] in ("层", "層") and _STOREYS.search(before):
        return zh.count(digits)
    if (
        len(digits) == 4
        and digits[:2] in ("19", "20")
        and (_NAMED_BY_YEAR.match(following) or re.search(r"[A-Z][a-z]+\s$", before))
    ):
        return zh.digits(digits)
    if len(digits) >= 3 and _SWITCH.match(following):
        return zh.digits(digits)
    if counted:
        if _ORDINAL_BEFORE.search(before):
            return zh.cardinal(digits)
        return zh.count(digits)
    if len(digits) > zh.MAX_CARDINAL_DIGITS:
        return zh.digits(digits)
    if len(digits) >= (4 if in_chain else 3) and _AFTER_CODE_NOUN.search(before):
        return zh.digits(digits)
    if len(digits) == 2 and _AFTER_SECRET.search(before):
        return zh.digits(digits)
    if _is_phone(digits, before, following):
        return zh.phone_digits(digits)
    if len(digits) >= 3 and _AFTER_ALARM_NOUN.search(before):
        return zh.digits(digits)
    if len(digits) >= 4 and (_BEFORE_DEVICE.match(following) or following[:1] in ("号", "#")):
        return zh.digits(digits)
    if len(digits) in (3, 4) and _AFTER_BUILDING.search(before):
        return zh.digits(digits)
    if len(digits) == 3 and _NAMED_BY_THREE.match(text, end):
        return zh.digits(digits)
    if len(digits) >= 3 and _AFTER_STANDARD.search(before):
        return zh.digits(digits)
    if len(digits) == 8 and re.match(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])", digits):
        return zh.digits(digits)
    if len(digits) == 11 and digits[0] == "1" and digits[1] in "3456789":
        return zh.phone_digits(digits)
    if in_chain and re.match(r"\s?[-~–至到]", following):
        return zh.cardinal(digits)
    return zh.cardinal(digits)


def _chinese_year(digits: str, before: str, following: str) -> str:
    if len(digits) == 4 and "1000" <= digits <= "2999":
        return zh.digits(digits)
    dated = re.match(r"\s?年\s?(?:\d{1,2}\s?月|代|度|款|版)", following)
    if len(digits) == 2 and (
        dated or (digits[0] in "06789" and not re.search(r"[运行期共近达满第]\s?$", before))
    ):
        return zh.digits(digits)
    return zh.count(digits)


def _is_phone(digits: str, before: str, following: str) -> bool:
    if _AFTER_PHONE_NOUN.search(before) and len(digits) >= 3:
        return True
    if digits not in _EMERGENCY:
        return False
    following = following.lstrip()
    if following.startswith(("热线", "电话", "平台", "中心", "指挥", "接警")):
        return True
    return not _HAN_END.search(before) and following.startswith(("报警", "火警", "急救", "举报"))


def _english(
    scan: Scan, digits: str, start: int, end: int, unit: Unit | None, in_chain: bool
) -> str:
    text = scan.text
    before = text[max(0, start - 24) : start]
    if digits[0] == "0" and len(digits) > 1:
        return en.digits(digits)
    if unit is not None or "," in text[start:end]:
        return en.cardinal(digits)
    if len(digits) > en.MAX_CARDINAL_DIGITS:
        return en.digits(digits)
    if len(digits) >= 3:
        if _EN_PHONE_NOUN.search(before) or _EN_CODE_NOUN.search(before):
            return en.digits(digits)
        if len(digits) >= 4 and _EN_ALARM_NOUN.search(before):
            return en.digits(digits)
    if len(digits) >= 3 and _AFTER_STANDARD.search(before):
        return en.digits(digits)
    if len(digits) == 4 and digits[:2] in ("18", "19", "20"):
        if _EN_YEAR_BEFORE.search(before) and not _NOT_A_YEAR.match(text[end : end + 12]):
            return en.year(digits)
        if _YEARLY_PRODUCT.search(before):
            return en.year(digits)
    if len(digits) >= 5 and not before.strip() and re.match(r"\s[A-Z]", text[end : end + 2]):
        return en.digits(digits)
    return en.cardinal(digits)
