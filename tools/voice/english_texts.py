"""English sentences for the corpus, from word lists and templates; see :mod:`tools.voice.texts`."""

from __future__ import annotations

from random import Random

from tools.voice.spoken_numbers import EN_SMALL, en_code, en_number, en_value
from tools.voice.word_lists import entries, general_en

EN_UNITS = (
    "degrees,degrees celsius,percent,bar,millibar,kilopascals,megapascals,amps,milliamps,volts,"
    "kilovolts,hertz,seconds,minutes,hours,meters,millimeters,liters per minute,"
    "cubic meters per hour,revolutions per minute,kilowatts,kilowatt hours,decibels,ohms,"
    "parts per million,millimeters per second,kilograms,tons,newton meters,"
    "microsiemens per centimeter"
).split(",")


def en_alarm(random: Random) -> str:
    text = random.choice(("warning, ", "attention, ", "alarm, ", "critical, ", "", "", ""))
    text += random.choice(
        (
            "",
            "",
            f"unit {en_number(random.randint(1, 30))} ",
            f"line {en_number(random.randint(1, 9))} ",
            "the ",
            f"zone {en_number(random.randint(1, 40))} ",
            f"number {en_number(random.randint(1, 12))} ",
            f"alarm {en_number(random.randint(1, 900))}, ",
            f"{en_code(random)}, ",
        )
    )
    text += f"{random.choice(entries('en_equipment'))} {random.choice(entries('en_faults'))}"
    if random.random() < 0.4:
        relation = random.choice(("current value", "now", "above", "below", "at"))
        text += f", {relation} {en_value(random)} {random.choice(EN_UNITS)}"
    if random.random() < 0.4:
        text += f", {random.choice(entries('en_actions'))}"
    return text + random.choice((".", ".", "!"))


def en_general(random: Random) -> str:
    words, weights = general_en()
    chosen = random.choices(words, weights, k=random.randint(3, 12))
    if len(chosen) > 7:
        chosen[len(chosen) // 2] += ","
    return " ".join(chosen) + random.choice("...?!")[0].replace("…", ".")


def en_sentence(random: Random) -> str:
    """An English sentence with the small words that alarms do without, which speech reduces."""

    def thing() -> str:
        adjective = f"{random.choice(entries('en_adjectives'))} " if random.random() < 0.5 else ""
        noun = random.choice(entries(random.choice(("en_things", "en_things", "en_people"))))
        return f"{random.choice(('the', 'the', 'this', 'that', 'our', 'your'))} {adjective}{noun}"

    def place() -> str:
        return random.choice(entries("en_places")).replace("_", " ")

    who = random.choice(("the", "the", "our", "my", "her", "his", "another"))
    who = random.choice((*("i", "we", "they", "he", "she"), *(f"{who} {w}" for w in random.sample(
        entries("en_people"), 6))))  # fmt: skip
    did = random.choice(entries("en_doings"))
    plural = "were" if who in ("we", "they") else "was"
    text = random.choice(
        (
            f"{who} {did} {thing()} {place()}",
            f"{who} {did} {thing()}, but {random.choice(('nobody', 'no one', 'we'))} "
            f"{random.choice(entries('en_doings'))} {thing()}",
            f"{place()}, {who} {did} {thing()}",
            f"{who} {plural} not sure whether {thing()} was "
            f"{random.choice(entries('en_adjectives'))}",
            f"there are {random.choice(EN_SMALL)} people {place()}, and {thing()} is still "
            f"{random.choice(entries('en_adjectives'))}",
            f"if {thing()} is {random.choice(entries('en_adjectives'))}, you should tell {thing()}",
            f"{thing()} has been {random.choice(entries('en_adjectives'))} {place()}",
            f"please put {thing()} {place()} and wait for {thing()}",
            f"it would be {random.choice(entries('en_adjectives'))} to have {thing()} {place()}",
            f"why is {thing()} as {random.choice(entries('en_adjectives'))} as {thing()}?",
            f"can you see {thing()} {place()}?",
            f"{thing()} will be there in {en_number(random.randint(2, 90))} "
            f"{random.choice(('minutes', 'days', 'weeks', 'months', 'years'))}",
        )
    )
    return text if text.endswith("?") else f"{text}."


def en_ending(random: Random) -> str:
    """A short English alarm whose words end as most do that report a fault: in consonants."""
    ending, other = random.sample(entries("en_endings"), 2)
    equipment = random.choice(entries("en_equipment"))
    number = en_number(random.randint(1, 40))
    who = random.choice(entries("en_people"))
    text = random.choice(
        (
            f"{equipment} {ending}",
            f"{equipment} {ending}",
            f"{equipment} {number} {ending}",
            f"{ending} at station {number}",
            f"the {equipment} {ending} and the {other}",
            f"{ending}, {other}",
            f"the {who} said {ending}, not {other}",
            f"{number} liters of {ending}, {number} of {other}",
            f"failed to {random.choice(('start', 'stop', 'lift', 'lock', 'connect', 'reset'))}, "
            f"{equipment} {ending}",
            f"{ending} on line {number}, {other} on line {en_number(random.randint(1, 9))}",
            f"a {ending} in the {equipment}",
            f"our {who} {random.choice(entries('en_doings'))} the {other}",
        )
    )
    return text + random.choice((".", ".", ".", "!"))


def en_numbers(random: Random) -> str:
    parts = [f"{en_value(random)} {random.choice(EN_UNITS)}" for _ in range(random.randint(1, 3))]
    parts.append(en_code(random))
    random.shuffle(parts)
    return ", ".join(parts) + "."
