"""The power goes at random moments of an upgrade; each time the device must come up speaking.

Runs on this machine's processor: systemd boots in a container on a disk that
loses what was not flushed (:mod:`tests.device.lossy_disk`), and one upgrade is
cut at many moments, half of them drawn evenly over its time, half over what it
writes. Then each cut disk is mounted, boots, and speaks an alarm that comes
through the socket; what it says is compared with what it said before.
Prints a line for each and ends with status 1 when one was silent.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import time
from pathlib import Path

from tests.device.container import JOB_S, Boot, device, read_wav, speak
from tests.device.lossy_disk import loses_what_is_not_flushed, new_overlay
from tests.device.sound import Signal, trimmed
from tests.packs import copy_pack

GUEST = Path(__file__).resolve().parent / "guest"
# How long after its end the upgrade may still be cut: what it wrote is not all on the disk.
AFTER_S = 5.0
PACKAGE, VOICE = "package", "voice"


def prepare(image: Path, folder: Path, package: Path) -> Path:
    """The device before the upgrade: its alarms go into a WAV file, what to install is there."""
    overlay = new_overlay(image, folder / "prepared.qcow2")
    with device(overlay, folder) as disk:
        root = disk.root
        for name in ("edge-tts-cuts.service", "edge-tts-cuts.target"):
            shutil.copy(GUEST / name, root / "etc/systemd/system")
        shutil.copy(GUEST / "cuts.sh", root / "usr/local/lib/edge-tts-rig")
        settings = root / "etc/edge-tts/edge-tts.toml"
        text = settings.read_text()
        changed = text.replace('# sink = "device"', 'sink = "wav:/var/lib/edge-tts/said.wav"')
        if changed == text:
            raise RuntimeError("the settings have no line for the sink")
        settings.write_text(changed)
        # The package's own, which the system's link names as seen from inside; or one put there.
        voice = root / "usr/share/edge-tts/voices/zh-en"
        if voice.is_symlink():
            voice = root / "usr/lib/edge-tts-runtime/current/models/zh-en"
        packages = root / "root/rig"
        packages.mkdir()
        shutil.copy(package, packages / "new.deb")
        for number in (1, 2):
            copy_pack(voice, packages / f"voice-{number}", version=f"9.{number}.0")
    return overlay


def cut_upgrade(
    kind: str, prepared: Path, folder: Path, count: int, draw: random.Random
) -> list[tuple[Path, str]]:
    """Cut one upgrade at random moments; returns the copies, each with its moment in words.

    How long it takes and how much it writes is learned from a first one.
    """
    whole_s, whole_bytes, _ = watch_upgrade(kind, prepared, folder, [], [])
    moments = sorted(draw.uniform(0.0, whole_s + AFTER_S) for _ in range((count + 1) // 2))
    sizes = sorted(draw.uniform(0.0, whole_bytes) for _ in range(count // 2))
    _, _, cuts = watch_upgrade(kind, prepared, folder, moments, sizes)
    return cuts


def watch_upgrade(
    kind: str, prepared: Path, folder: Path, moments: list[float], sizes: list[float]
) -> tuple[float, float, list[tuple[Path, str]]]:
    """One upgrade with its cuts, in seconds from its start and in bytes written since."""
    moments, sizes = list(moments), list(sizes)
    cuts: list[tuple[Path, str]] = []
    overlay = new_overlay(prepared, folder / "upgrade.qcow2")
    with device(overlay, folder) as disk:
        boot = Boot(disk, folder / "shared", f"upgrade {kind}")
        try:
            boot.wait_for("began")
            began_s, bytes_before = time.monotonic(), disk.written_bytes()
            paused_s, ended_s = 0.0, 0.0
            while True:
                now_s = time.monotonic() - began_s - paused_s
                written = disk.written_bytes() - bytes_before
                if (folder / "shared/ended").exists():
                    ended_s = ended_s or now_s
                    if not moments and now_s > ended_s + AFTER_S:
                        break
                by_time = bool(moments) and now_s >= moments[0]
                if by_time or (sizes and written >= sizes[0]):
                    (moments if by_time else sizes).pop(0)
                    copy = folder / f"cut-{kind}-{len(cuts) + 1}.qcow2"
                    disk.cut(copy)
                    cuts.append((copy, f"{now_s:6.2f} s, {written / 1e6:5.1f} MB"))
                    paused_s = time.monotonic() - began_s - now_s
                elif now_s > JOB_S:
                    raise RuntimeError(f"the upgrade takes too long: {boot.read('output')}")
                time.sleep(0.01)
            # Cuts drawn beyond what was written this time are cuts after the end.
            for _ in sizes:
                copy = folder / f"cut-{kind}-{len(cuts) + 1}.qcow2"
                disk.cut(copy)
                cuts.append((copy, "at its end"))
            # Else there was nothing to interrupt.
            voice = str(json.loads(boot.read("status") or "{}").get("voice", {}).get("version"))
            new = voice if kind == VOICE else boot.read("output").partition("edgetts ")[2]
            if "status 0" not in boot.read("output") or not new.startswith("9."):
                raise RuntimeError(f"the upgrade failed: {boot.read('output')}")
        finally:
            boot.end()
        return ended_s, float(disk.written_bytes() - bytes_before), cuts


def check_cuts(
    cuts: list[tuple[Path, str]], folder: Path, reference: Signal
) -> tuple[int, dict[str, Path]]:
    """Boot each; returns how many spoke, and one disk for each unfinished state of the package."""
    spoke, states = 0, dict[str, Path]()
    for number, (copy, moment) in enumerate(cuts, 1):
        keep = new_overlay(copy, folder / "boot.qcow2")
        with device(keep, folder) as disk:
            said = speak(disk, folder / "shared", "check", reference)
        spoke += said.good
        print(
            f"{'ok    ' if said.good else 'FAILED'} cut {number:2d} at {moment}: package "
            f"{said.package}, release {said.release}, voice {said.voice}, spoken "
            f"{said.after_s:.1f} s after power-on, likeness {said.likeness:.3f}"
            + (f", at try {said.tries}" if said.tries != "1" else ""),
            flush=True,
        )
        if not said.good:
            output = (folder / "shared/output").read_text("utf-8", "replace")
            journal = (folder / "shared/journal").read_text("utf-8", "replace")
            print(said, output[-1500:], journal[-2500:], sep="\n", flush=True)
        if said.package != "ii":
            states.setdefault(said.package, copy)
    return spoke, states


def run(image: Path, folder: Path, package: Path, count: int, seed: int) -> int:
    began_s = time.monotonic()
    print(f"       seed {seed}, {count} cuts of each kind", flush=True)
    failed = not loses_what_is_not_flushed(image, folder)
    print(f"{'FAILED' if failed else 'ok    '} the disk loses what was not flushed", flush=True)
    prepared = prepare(image, folder, package)
    with device(new_overlay(prepared, folder / "boot.qcow2"), folder) as disk:
        before = speak(disk, folder / "shared", "reference", None)
        reference = trimmed(read_wav(folder / "shared/reference.wav"))
    print(f"       before: release {before.release}, voice {before.voice}, {before.outcome}")
    failed |= not before.good
    draw = random.Random(seed)
    for kind in (VOICE, PACKAGE):
        cuts = cut_upgrade(kind, prepared, folder, count, draw)
        spoke, states = check_cuts(cuts, folder, reference)
        good = spoke == len(cuts) == count
        failed |= not good
        print(
            f"{'ok    ' if good else 'FAILED'} {kind} upgrade cut at {len(cuts)} random moments: "
            f"{spoke} of {len(cuts)} come up speaking",
            flush=True,
        )
        failed |= not mend(states, folder, reference)
        for copy, _ in cuts:
            copy.unlink()
    print(f"       all in {time.monotonic() - began_s:.0f} s", flush=True)
    return int(failed)


def mend(states: dict[str, Path], folder: Path, reference: Signal) -> bool:
    """Each unfinished state ends installed, and speaks with the new release, once it is mended."""
    good = True
    for state, copy in sorted(states.items()):
        with device(new_overlay(copy, folder / "boot.qcow2"), folder) as disk:
            said = speak(disk, folder / "shared", "mend", reference)
        mended = said.good and said.package == "ii" and said.release.startswith("9.")
        good &= mended
        print(
            f"{'ok    ' if mended else 'FAILED'} package {state}: after `dpkg --configure -a` or a "
            f"second installation {said.package}, release {said.release} speaks",
            flush=True,
        )
        if not mended:
            print(said, (folder / "shared/output").read_text("utf-8", "replace")[-3000:])
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("image", type=Path, help="root.img with the package installed")
    parser.add_argument("folder", type=Path)
    parser.add_argument("package", type=Path, help="the package to upgrade to, version 9")
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    return run(options.image, options.folder, options.package, options.cuts, seed)


if __name__ == "__main__":
    sys.exit(main())
