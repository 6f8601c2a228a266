"""Output devices by names that survive a restart: PCM names and ALSA card ids.

The kernel numbers sound cards in the order they answer, which changes from
boot to boot; a card id such as ``Headphones`` or ``vc4hdmi0`` stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from edge_tts.errors import DeviceError

_CARD_LINE = re.compile(r"^\s*(\d+)\s+\[(\S+)\s*\]:")
_HW_NAME = re.compile(r"\(hw:(\d+),(\d+)\)$")
# PortAudio proposes this rate whenever a device takes it without ALSA's conversion.
_PROBED_RATE_HZ = 44100
_COMMON_RATES_HZ = (48000, 44100, 32000, 16000)
_CARD_WANTED = re.compile(r"^(?:(?:plug)?hw:)?(?:CARD=)?([^,:=]+)(?:,(?:DEV=)?(\d+))?$")


@dataclass(frozen=True)
class OutputDevice:
    """One output as PortAudio lists it now.

    Attributes:
        index: PortAudio's number, valid until it is initialised again.
        name: PortAudio's name, a PCM name or ``card: device (hw:N,M)``.
        card_id: of the ALSA card; None for PCMs such as ``default`` and ``pulse``.
        card_device: device number on that card.
        default_rate_hz: the rate that PortAudio proposes.
        channels: the most it takes.
        is_default: the one played to when no name is given.
    """

    index: int
    name: str
    card_id: str | None
    card_device: int
    default_rate_hz: int
    channels: int
    is_default: bool

    @property
    def stable_name(self) -> str:
        """The name to write into the configuration."""
        if self.card_id is None:
            return self.name
        return f"{self.card_id},{self.card_device}" if self.card_device else self.card_id

    @property
    def has_one_rate(self) -> bool:
        """It runs at its own rate alone, and would convert ours by linear interpolation."""
        return self.default_rate_hz != _PROBED_RATE_HZ

    @property
    def is_mixer(self) -> bool:
        """No card itself, and of one rate: ALSA's ``dmix``, by whichever name."""
        return self.card_id is None and self.has_one_rate


def alsa_card_ids(path: Path = Path("/proc/asound/cards")) -> dict[int, str]:
    """Card ids by the number they have now; empty without ALSA in the kernel."""
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return {}
    matches = (_CARD_LINE.match(line) for line in text.splitlines())
    return {int(match[1]): match[2] for match in matches if match}


def card_of(name: str, card_ids: Mapping[int, str]) -> tuple[str | None, int]:
    """Card id and device number of a PortAudio name such as ``USB Audio: - (hw:1,0)``."""
    match = _HW_NAME.search(name)
    if match is None:
        return None, 0
    return card_ids.get(int(match[1])), int(match[2])


def choose_device(wanted: str | None, devices: Sequence[OutputDevice]) -> OutputDevice:
    """The device meant by a PCM name, a card id, ``CARD,DEV`` or a part of its name.

    ``None`` means the default one.

    Raises:
        DeviceError: none or several fit; the message lists what there is.
    """
    known = ", ".join(device.stable_name for device in devices) or "none at all"
    if wanted is None:
        chosen = [device for device in devices if device.is_default]
        if not chosen:
            raise DeviceError(f"there is no default output device; there are: {known}")
        return chosen[0]
    card = _CARD_WANTED.match(wanted)
    card_id, card_device = (card[1], int(card[2] or 0)) if card else (None, 0)
    tests = (
        lambda device: device.name == wanted,
        lambda device: (
            card_id is not None and (device.card_id, device.card_device) == (card_id, card_device)
        ),
        lambda device: wanted.lower() in device.name.lower(),
    )
    for test in tests:
        chosen = [device for device in devices if test(device)]
        if len(chosen) == 1:
            return chosen[0]
        if chosen:
            names = ", ".join(device.stable_name for device in chosen)
            raise DeviceError(f"output device {wanted!r} fits several: {names}; name one of them")
    raise DeviceError(f"no output device {wanted!r}; there are: {known}")


def rates_to_try(device: OutputDevice, wanted_hz: int) -> tuple[int, ...]:
    """Sample rates in the order to try them.

    A PCM that runs at one rate alone, such as ALSA's mixer ``dmix``, gets that
    rate first: it would take ours too, and convert it by linear interpolation.
    """
    own_hz = device.default_rate_hz
    first = (own_hz, wanted_hz) if device.has_one_rate else (wanted_hz, own_hz)
    return tuple(dict.fromkeys((*first, *_COMMON_RATES_HZ)))
