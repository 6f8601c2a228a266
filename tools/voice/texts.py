"""Sentences for the corpus, generated from word lists and templates.

Word lists in ``data/`` are our own; general Chinese words come from jieba's
dictionary (MIT), general English words from symspellpy's frequency list (MIT).
Everything is already spelled out as the normaliser would leave it.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tools.voice.english_texts import en_alarm, en_ending, en_general, en_numbers, en_sentence
from tools.voice.spoken_numbers import EN_SMALL, letters, zh_code, zh_number, zh_value
from tools.voice.word_lists import entries, general_en, general_zh, held_out, syllable_examples


@dataclass(frozen=True)
class Line:
    """One text to speak. ``words`` kinds are cut into single words afterwards."""

    kind: str
    text: str


def zh_alarm(random: Random) -> str:
    text = random.choice(("警告，", "注意，", "报警，", "紧急，", "提示，", "", "", "", ""))
    text += random.choice(
        (
            f"{zh_number(random.randint(1, 30))}号",
            "",
            "",
            f"第{zh_number(random.randint(1, 300))}台",
            f"{random.choice('一二三四五六七八九')}段",
            "东侧",
            "备用",
            f"{zh_number(random.randint(1, 12))}楼",
            f"回路{zh_number(random.randint(1, 20))}",
        )
    )
    text += random.choice(entries("zh_equipment")) + random.choice(entries("zh_faults"))
    if random.random() < 0.4:
        text += (
            random.choice(
                ("，当前值", "，当前", "，高于", "，低于", "，超过", "，达到", "，设定值")
            )
            + zh_value(random)
            + random.choice(entries("zh_measures"))
        )
    if random.random() < 0.12:
        text += f"，持续{zh_number(random.randint(1, 90))}{random.choice(('秒', '分钟', '小时'))}"
    if random.random() < 0.4:
        text += "，" + random.choice(entries("zh_actions"))
    return text + random.choice(("。", "。", "！"))


def zh_general(random: Random) -> str:
    words, weights = general_zh()
    chosen = random.choices(words, weights, k=random.randint(2, 11))
    if len(chosen) > 5:
        chosen.insert(len(chosen) // 2, "，")
    return "".join(chosen) + random.choice("。。。？！")


def zh_numbers(random: Random) -> str:
    parts = [
        zh_value(random) + random.choice(entries("zh_measures"))
        for _ in range(random.randint(1, 4))
    ]
    if random.random() < 0.3:
        parts.append(
            f"{zh_number(random.randint(1, 12))}月{zh_number(random.randint(1, 31))}日"
            f"{zh_number(random.randint(0, 23))}点{zh_number(random.randint(1, 59))}分"
        )
    if random.random() < 0.3:
        parts.append(f"{zh_number(random.randint(1, 40))}到{zh_number(random.randint(41, 99))}")
    random.shuffle(parts)
    return "，".join(parts) + "。"


def mixed(random: Random) -> str:
    acronym = random.choice(entries("acronyms"))
    english = random.choice(entries("en_in_zh"))
    equipment, fault = random.choice(entries("zh_equipment")), random.choice(entries("zh_faults"))
    other = random.choice(entries("acronyms"))
    text = random.choice(
        (
            f"{acronym}{fault}",
            f"{equipment}{acronym}{fault}",
            f"{zh_number(random.randint(1, 40))}号{acronym}站{fault}",
            f"{acronym}与{other}通讯中断",
            f"{acronym}电源{fault}",
            f"{equipment} {english} {fault}",
            f"请重启 {english} 网关",
            f"故障码{zh_code(random)}，{equipment}{fault}",
            f"{zh_code(random)} {equipment}{fault}",
            f"{letters(random, 1)}相{fault}",
            f"请按 {english} 按钮",
            f"{acronym} {english}，请检查{equipment}",
            f"{equipment}进入 {english} 模式",
            f"{random.choice(('Warning', 'Alarm', 'Error', 'Attention'))}，{equipment}{fault}",
            f"{acronym}无响应，请检查 {random.choice(entries('en_in_zh'))} 和{equipment}",
            f"{letters(random, 2)}{zh_number(random.randint(1, 300))}{equipment}{fault}",
            f"{random.choice(entries('en_equipment'))}，{fault}",
            f"{equipment}，{random.choice(entries('en_faults'))}",
        )
    )
    if random.random() < 0.3:
        text += f"，当前{zh_value(random)}{random.choice(entries('zh_measures'))}"
    if random.random() < 0.25:
        text += "，" + random.choice(entries("zh_actions"))
    return text + "。"


def spelled(random: Random) -> str:
    return f"{letters(random, random.randint(2, 8))}."


def short_words(random: Random) -> str:
    """Single words, each a sentence of its own, cut apart after the teacher spoke them."""
    pick = random.random()
    count = random.randint(5, 8)
    if pick < 0.22:
        pools = (
            entries("zh_faults"),
            entries("zh_equipment"),
            (
                "警告",
                "注意",
                "报警",
                "断电",
                "复位",
                "启动",
                "停止",
                "确认",
                "紧急",
                "火警",
                "正常",
                "异常",
                "完成",
                "开始",
                "失败",
                "成功",
                "超时",
                "一号",
                "二号",
                "三号",
                "左",
                "右",
                "上",
                "下",
                "开",
                "关",
                "是",
                "否",
                "好",
                "停",
            ),
        )
        return "".join(f"{random.choice(random.choice(pools))}。" for _ in range(count))
    if pick < 0.52:
        words, weights = general_zh()
        return "".join(f"{word}。" for word in random.choices(words, weights, k=count))
    if pick < 0.62:
        return "".join(
            f"{{{syllable}}}。" for syllable in random.choices(syllable_examples(), k=count)
        )
    if pick < 0.7:
        return "".join(
            f"{zh_value(random)}{random.choice((*entries('zh_measures'), '', '', '号'))}。"
            for _ in range(count)
        )
    if pick < 0.85:
        pools = (
            entries("en_in_zh"),
            entries("en_endings"),
            general_en()[0],
            (
                "warning",
                "attention",
                "alarm",
                "stop",
                "start",
                "reset",
                "fire",
                "danger",
                "yes",
                "no",
                "open",
                "closed",
                "ready",
                "failed",
                "on",
                "off",
            ),
            tuple(EN_SMALL),
        )
        return " ".join(f"{random.choice(random.choice(pools))}." for _ in range(count))
    if pick < 0.93:
        return " ".join(f"{letters(random, random.choice((1, 1, 2, 3)))}." for _ in range(count))
    return " ".join(f"{random.choice(entries('acronyms'))}." for _ in range(count))


KINDS = (
    ("zh_alarm", zh_alarm, 12), ("zh_general", zh_general, 12), ("zh_numbers", zh_numbers, 4),
    ("mixed", mixed, 10), ("en_alarm", en_alarm, 13), ("en_general", en_general, 8),
    ("en_sentence", en_sentence, 12), ("en_ending", en_ending, 12), ("en_numbers", en_numbers, 3),
    ("spelled", spelled, 2), ("words", short_words, 16),
)  # fmt: skip


def line(random: Random) -> Line:
    """One random line, free of held-out words; the share of each kind is in :data:`KINDS`."""
    kind, generate, _ = random.choices(KINDS, [share for _, _, share in KINDS])[0]
    while held_out(text := generate(random)):
        pass
    return Line(kind, text)
