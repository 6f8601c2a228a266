"""What one boot of a device is put through, while it runs."""

from __future__ import annotations

import re

from tests.device.machine import Machine, MachineError, must
from tests.device.speech import TEXTS, Report, into_words_s

OWN_TIME = "which by instructions counted every wait for the disk stretches"
# The state goes to the second disk, so that the root can be read-only; and the card is named.
MAKE_READ_ONLY = """set -e
systemctl stop edge-tts.service edge-tts.socket
mount /dev/vdb /mnt
cp -a /var/lib/edge-tts/. /mnt
umount /mnt
echo '/dev/vdb /var/lib/edge-tts ext4 defaults 0 0' >/etc/fstab
sed -i 's/^# sink = .*/sink = "device:{card}"/' /etc/edge-tts/edge-tts.toml
grep -q '^sink' /etc/edge-tts/edge-tts.toml
systemctl daemon-reload
mount /var/lib/edge-tts
systemctl start edge-tts.socket edge-tts.service
sync"""


def log_time_s(line: str) -> float:
    """The monotonic clock in front of a line of ``journalctl -o short-monotonic``."""
    found = re.match(r"\[\s*([0-9.]+)\]", line)
    if found is None:
        raise ValueError(f"no time in front of {line!r}")
    return float(found[1])


def say(machine: Machine, name: str) -> dict[str, float]:
    priority, text = TEXTS[name]
    answer = machine.do("say", text=text, key=name, prio=priority)
    if "state=accepted" not in answer["reply"]:
        raise MachineError(f"{name}: {answer['reply']}")
    return {"sent_s": answer["sent_s"], "replied_s": answer["replied_s"]}


def say_into(machine: Machine, name: str, spin_s: float = 0.3) -> float:
    """Send an alarm and go on in mid-speech, at once while the device's time passes slowly.

    Returns when, by the device's clock.
    """
    say(machine, name)
    words_s = into_words_s(name)
    waited = machine.do("wait", key=name, event="started", seconds=words_s, spin_s=spin_s)
    return float(waited["now_s"])


def told(line: str) -> bool:
    """Whether a line of the log says that an alarm was told whole, by the network."""
    good = "outcome=done via=neural" in line
    if not good:
        print(f"       {line}", flush=True)
    return good


def check_start(machine: Machine, report: Report) -> None:
    """From ``systemctl start`` to READY against an import of numpy, both with files in memory."""
    numpy = ["env", "PYTHONPATH=/usr/lib/edge-tts-runtime/current", "python3", "-c", "import numpy"]
    start_s, numpy_s = [], []
    for _ in range(2):
        machine.do("shell", command="systemctl stop edge-tts.service")
        start_s.append(
            machine.do("time", command=["systemctl", "start", "edge-tts.service"])["seconds"]
        )
        numpy_s.append(machine.do("time", command=numpy)["seconds"])
    ratio = min(start_s) / min(numpy_s)
    report.check(
        ratio <= 3.0,
        f"systemctl start to READY {min(start_s):.2f} s, import numpy {min(numpy_s):.2f} s, "
        f"ratio {ratio:.2f}, at most 3",
    )


def check_activation(machine: Machine, report: Report) -> None:
    machine.do("shell", command="systemctl stop edge-tts.service")
    before = machine.do("state")["ActiveState"]
    said = say(machine, "activation")
    started = machine.do("wait", key="activation", event="started")
    ended = machine.do("wait", key="activation", event="finished")
    report.check(
        before == "inactive" and "outcome=done via=neural" in ended["line"],
        f"a stopped service is started by its socket and speaks ({ended['line']})",
    )
    report.figure(
        f"accepted {said['replied_s'] - said['sent_s']:.2f} s and heard "
        f"{started['at_s'] - said['sent_s']:.2f} s after it was sent to the stopped service"
    )


def speak_in_order(machine: Machine, report: Report) -> None:
    say(machine, "first")
    machine.do("wait", key="first", event="started")
    say(machine, "last")
    say(machine, "urgent")
    for name in ("urgent", "last"):
        ended = machine.do("wait", key=name, event="finished")["line"]
        report.check("outcome=done via=neural" in ended, f"{name}: {ended}")


def check_loss(machine: Machine, report: Report, name: str, signal: str) -> None:
    """The process goes away in mid-speech; its alarm is told again by the next one."""
    say_into(machine, name)
    sent = machine.do("signal", name=signal)
    after = machine.do("await_new_process", pid=sent["pid"])
    started = log_time_s(machine.do("await_log", words=["alarm-started", f"key={name}"], count=2))
    ended = machine.do("await_log", words=["alarm-finished", f"key={name}"])
    report.check(told(ended), f"{name} by {signal}: the alarm is told again, whole")
    report.figure(
        f"{signal} to READY of the next process {after['at_s'] - sent['sent_s']:.2f} s, "
        f"to the alarm's first sound {started - sent['sent_s']:.2f} s"
    )


def check_pull(machine: Machine, report: Report) -> None:
    """The USB card is pulled out in mid-speech and comes back: the alarm is told again."""
    pulled_s = say_into(machine, "pulled", spin_s=1.0)
    machine.pull_card()
    lost = ["alarm-returned", "key=pulled", "reason=device-lost"]
    lost_s = log_time_s(machine.do("await_log", words=lost))
    machine.do("sleep", seconds=2.0)
    back_s = machine.do("now", spin_s=0.5)
    machine.plug_card()
    started = log_time_s(machine.do("await_log", words=["alarm-started", "key=pulled"], count=2))
    ended = machine.do("await_log", words=["alarm-finished", "key=pulled"])
    report.check(told(ended), "the card pulled and plugged: the alarm is told again")
    report.figure(
        f"pulled out to the loss noticed {lost_s - pulled_s:.2f} s, plugged in to the alarm's "
        f"first sound {started - back_s:.2f} s"
    )


def check_late_card(machine: Machine, report: Report) -> None:
    """The service starts while the kernel has no sound at all; the card is found later."""
    machine.pull_card()
    modules = "for name in snd_usb_audio snd_rawmidi snd_timer; do modprobe -r $name; done"
    must(machine, f"systemctl stop edge-tts.service; {modules}")
    devices = must(machine, "cat /proc/devices; lsmod")
    known = re.search(r"^ *116 alsa$", devices, re.MULTILINE) is not None
    if known:
        print(devices, flush=True)
    must(machine, "systemctl start edge-tts.service")
    say(machine, "late")
    machine.do("sleep", seconds=2.0)
    back_s = machine.do("now", spin_s=0.5)
    machine.plug_card()
    started = log_time_s(machine.do("await_log", words=["alarm-started", "key=late"]))
    ended = machine.do("await_log", words=["alarm-finished", "key=late"])
    report.check(
        not known and told(ended),
        "an alarm waits for a card that the kernel finds after the service's start",
    )
    report.figure(f"plugged in to the alarm's first sound {started - back_s:.2f} s")


def check_retold(machine: Machine, report: Report, name: str, after: str) -> None:
    started_s = log_time_s(machine.do("await_log", words=["alarm-started", f"key={name}"]))
    ended = machine.do("await_log", words=["alarm-finished", f"key={name}"])
    service_s = log_time_s(machine.do("await_log", words=["systemd[1]", "Starting edge-tts"]))
    report.check(told(ended), f"after {after} the alarm is told")
    report.figure(
        f"first sound of it {started_s:.1f} s after the kernel's start, {OWN_TIME}, "
        f"{started_s - service_s:.1f} s after the service's"
    )


def make_read_only(machine: Machine) -> None:
    """From the next boot on the root may be read-only; the card is chosen by its name."""
    card = re.findall(r"\[(\S+)", must(machine, "cat /proc/asound/cards"))[0]
    before = len(machine.do("log"))
    must(machine, MAKE_READ_ONLY.format(card=card))
    machine.do("await_log", words=["state=ready"], skip=before)


def check_read_only(machine: Machine, report: Report) -> None:
    refused = machine.do("shell", command="touch /etc/edge-tts/probe")["output"]
    status = machine.do("status")
    report.check(
        "Read-only file system" in refused and not status["journal"]["degraded"],
        f"the root is read-only, the journal {status['journal']}",
    )
    cards = must(machine, "cat /proc/asound/cards")
    names = re.findall(r"^ *\d+ \[(\S+)", cards, re.MULTILINE)
    report.check(len(names) == 2, f"two sound cards, the system's default first: {names}")
