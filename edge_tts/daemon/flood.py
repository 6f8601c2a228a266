"""The alarm that stands for many in a flood."""

from __future__ import annotations

from collections.abc import Sequence

from edge_tts.daemon.alarm import Alarm


def _has_han(text: str) -> bool:
    return any("\u4e00" <= char <= "\u9fff" for char in text)


def count_text(texts: Sequence[str]) -> str:
    """``还有 N 条报警`` or ``N more alarms``, by the language most of the alarms are in."""
    count = len(texts)
    if 2 * sum(map(_has_han, texts)) >= count:
        return f"还有{count}条报警"
    return "1 more alarm" if count == 1 else f"{count} more alarms"


def count_alarm(alarm_id: int, members: Sequence[Alarm], now: float) -> Alarm:
    """The spoken count of ``members``, as urgent as the most urgent of them."""
    return Alarm(
        id=alarm_id,
        text=count_text([alarm.text for alarm in members]),
        priority=max(alarm.priority for alarm in members),
        accepted_at=now,
        members=tuple(alarm.id for alarm in members),
    )
