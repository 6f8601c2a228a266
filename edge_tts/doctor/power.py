"""Is the processor held back by its supply, its heat or its governor?"""

from __future__ import annotations

import re

from edge_tts.doctor.finding import INFO, OK, WARNING, Finding, System
from edge_tts.inference.board import Board

# Bits of the Raspberry Pi firmware's get_throttled, and the same 16 higher: since boot.
_THROTTLE_BITS = {
    0: "under-voltage",
    1: "frequency capped",
    2: "throttled",
    3: "soft temperature limit",
}
_SINCE_BOOT = 16
_HOT_MILLIDEGREES = 80_000


def check_power(system: System, board: Board) -> list[Finding]:
    """Look at the firmware's throttling, the temperature and the frequency governor."""
    findings = _check_throttling(system) if board.is_raspberry_pi else []
    findings += _check_temperature(system)
    findings += _check_governor(system)
    return findings


def _check_throttling(system: System) -> list[Finding]:
    text = system.run(["vcgencmd", "get_throttled"], 5.0).output
    found = re.search(r"throttled=0x([0-9a-fA-F]+)", text)
    value = (
        found.group(1)
        if found
        else system.read("sys/devices/platform/soc/soc:firmware/get_throttled")
    )
    if not re.fullmatch(r"[0-9a-fA-F]+", value):
        return []
    bits = int(value, 16)
    now = [name for bit, name in _THROTTLE_BITS.items() if bits >> bit & 1]
    before = [name for bit, name in _THROTTLE_BITS.items() if bits >> (bit + _SINCE_BOOT) & 1]
    if not now and not before:
        return [Finding(OK, "power", "no under-voltage and no throttling since boot")]
    when = f"now: {', '.join(now)}" if now else f"since boot: {', '.join(before)}"
    fix = "cool the board: fit a heat sink or a fan"
    if "under-voltage" in now + before:
        fix = "use the board's own power supply (Pi 5: 5 V 5 A) and a short cable"
    return [Finding(WARNING, "power", f"the processor is held back ({when})", fix)]


def _check_temperature(system: System) -> list[Finding]:
    values = [
        system.read(str(path.relative_to(system.root)))
        for path in system.glob("sys/class/thermal/thermal_zone*/temp")
    ]
    hottest = max((int(value) for value in values if value.lstrip("-").isdigit()), default=0)
    if hottest < _HOT_MILLIDEGREES:
        return []
    message = f"the processor is at {hottest / 1000:.0f} °C and will slow down"
    return [Finding(WARNING, "power", message, "cool the board: fit a heat sink or a fan")]


def _check_governor(system: System) -> list[Finding]:
    paths = system.glob("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
    governors = sorted({system.read(str(path.relative_to(system.root))) for path in paths} - {""})
    if not governors:
        return []
    fix = "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
    names = ", ".join(governors)
    if "powersave" in governors:
        message = f"the frequency governor is {names}: first audio is late"
        return [Finding(WARNING, "power", message, fix)]
    if governors == ["performance"]:
        return [Finding(OK, "power", "the frequency governor is performance")]
    message = f"the frequency governor is {names}; performance makes first audio steadier"
    return [Finding(INFO, "power", message, fix)]
