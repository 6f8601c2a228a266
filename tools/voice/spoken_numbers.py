"""Numbers, codes and letters as they are spoken, in both languages."""

from __future__ import annotations

from random import Random

ZH_DIGITS = "零一二三四五六七八九"
EN_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def zh_number(value: int) -> str:
    """0 <= value < 100,000,000 as spoken Chinese."""
    if value >= 10000:
        head, tail = divmod(value, 10000)
        middle = "" if tail == 0 or tail >= 1000 else "零"
        return f"{zh_number(head)}万{middle}{zh_number(tail) if tail else ''}"
    text, pending = "", False
    for power, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = value // power % 10
        if digit == 0:
            pending = bool(text)
            continue
        text += ("零" if pending else "") + ZH_DIGITS[digit] + unit
        pending = False
    text = text.removeprefix("一") if text.startswith("一十") else text
    return text or "零"


def zh_decimal(random: Random) -> str:
    digits = "".join(random.choice(ZH_DIGITS) for _ in range(random.choice((1, 1, 2))))
    return (
        f"{zh_number(random.choice((0, random.randint(0, 20), random.randint(0, 400))))}点{digits}"
    )


def zh_value(random: Random) -> str:
    pick = random.random()
    if pick < 0.35:
        return zh_decimal(random)
    if pick < 0.45:
        return f"零下{zh_number(random.randint(1, 60))}"
    return zh_number(
        random.choice((random.randint(0, 20), random.randint(0, 200), random.randint(0, 99999)))
    )


def en_number(value: int) -> str:
    """0 <= value < 1,000,000 as spoken English."""
    if value >= 1000:
        head, tail = divmod(value, 1000)
        return f"{en_number(head)} thousand {en_number(tail) if tail else ''}".strip()
    if value >= 100:
        head, tail = divmod(value, 100)
        return f"{EN_SMALL[head]} hundred {en_number(tail) if tail else ''}".strip()
    if value >= 20:
        head, tail = divmod(value, 10)
        return f"{EN_TENS[head - 2]} {EN_SMALL[tail] if tail else ''}".strip()
    return EN_SMALL[value]


def en_value(random: Random) -> str:
    if random.random() < 0.4:
        digits = " ".join(random.choice(EN_SMALL[:10]) for _ in range(random.choice((1, 1, 2))))
        return f"{en_number(random.randint(0, 200))} point {digits}"
    return en_number(
        random.choice((random.randint(0, 20), random.randint(0, 300), random.randint(0, 20000)))
    )


def letters(random: Random, count: int) -> str:
    return " ".join(random.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(count))


def zh_code(random: Random) -> str:
    digits = "".join(random.choice(ZH_DIGITS + "幺") for _ in range(random.choice((1, 2, 3, 4))))
    return f"{letters(random, random.choice((1, 1, 2)))}{digits}"


def en_code(random: Random) -> str:
    digits = " ".join(random.choice(EN_SMALL[:10]) for _ in range(random.choice((1, 2, 3, 4))))
    return f"{letters(random, random.choice((1, 1, 2)))} {digits}"
