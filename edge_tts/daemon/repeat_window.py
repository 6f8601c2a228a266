"""What was spoken last for each key: an identical text soon after needs no second telling."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from edge_tts.daemon.alarm import Alarm
from edge_tts.daemon.queue_entry import tells_the_same
from edge_tts.daemon.requests import Say, Target

_MAX_KEYS = 256


@dataclass
class Spoken:
    """``at``: monotonic seconds when its last sample had left the device."""

    alarm: Alarm
    at: float
    count: int


class RepeatWindow:
    """The last spoken text a key, for ``window_s`` seconds, of at most 256 keys."""

    def __init__(self, window_s: float) -> None:
        self._window_s = window_s
        self._spoken: OrderedDict[str, Spoken] = OrderedDict()

    def remember(self, alarm: Alarm, now: float, count: int) -> None:
        """Note that the alarm was spoken whole."""
        if alarm.key is None:
            return
        self._spoken[alarm.key] = Spoken(alarm, now, count)
        self._spoken.move_to_end(alarm.key)
        while len(self._spoken) > _MAX_KEYS:
            self._spoken.popitem(last=False)

    def forget(self, target: Target, owner_uid: int | None) -> None:
        """What the target told of is over: the same text would be news."""
        for key, spoken in list(self._spoken.items()):
            alarm = spoken.alarm
            if target.names(alarm.id, alarm.key) and owner_uid in (None, alarm.owner_uid):
                del self._spoken[key]

    def match(self, request: Say, now: float) -> Spoken | None:
        """The alarm that said just this within the window."""
        spoken = self._spoken.get(request.key) if request.key is not None else None
        if spoken is None or now - spoken.at > self._window_s:
            return None
        return spoken if tells_the_same(spoken.alarm, request) else None
