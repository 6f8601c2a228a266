#!/usr/bin/env bash
# Boots a virtual device with an emulated sound card, has it speak, crash and lose power, and checks the sound
# that left the card:  sudo bash tests/device/run.sh [amd64|arm64]
# With `cuts` it interrupts upgrades of a device by power cuts, on this machine's own processor.
#   --short          one boot and one crash alone
#   --package FILE   a package built before (default: builds one with deploy/build_deb.sh and keeps it)
#   --voice FOLDER   a voice in place of the package's; `tiny` is a random one of a few kilobytes
#   --cuts N         how many power cuts of each kind of upgrade (default: 20)
#   --keep FOLDER    where captures, references and consoles go (default: thrown away)
# PYTHON is an interpreter that has the project's test packages (default: .venv-test's, else python3).
# RIG_CACHE, RIG_NICE and RIG_SOURCES as in tests/arm64/rig.sh. Status 77: can't run here.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
# shellcheck source=tests/arm64/rig.sh
. "$repository/tests/arm64/rig.sh"
# shellcheck source=tests/device/image.sh
. "$here/image.sh"

architecture=amd64 part=scenario package='' voice='' keep='' cuts=20 short=''
while [ $# -gt 0 ]; do
    case $1 in
    amd64 | arm64) architecture=$1 ;;
    cuts) part=cuts architecture=$(dpkg --print-architecture) ;;
    --short) short=--short ;;
    --package | --voice | --cuts | --keep)
        [ $# -ge 2 ] || fail "$1 needs a value"
        declare "${1#--}=$2"
        shift
        ;;
    -h | --help)
        sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 0
        ;;
    *) fail "unknown argument $1" ;;
    esac
    shift
done

need mmdebstrap mmdebstrap mke2fs e2fsprogs cpio cpio modprobe kmod
case $part-$architecture in
cuts-*)
    need qemu-storage-daemon qemu-system-common qemu-img qemu-utils systemd-nspawn systemd-container mount mount
    if [ ! -c /dev/fuse ] || [ ! -c /dev/loop-control ]; then
        not_run "no FUSE or no loop devices here"
    fi
    ;;
*-amd64) need qemu-system-x86_64 qemu-system-x86 ;;
*-arm64)
    need qemu-system-aarch64 qemu-system-arm qemu-aarch64-static qemu-user-static update-binfmts binfmt-support
    enable_arm64_programs
    ;;
esac
python=${PYTHON:-$repository/.venv-test/bin/python}
[ -x "$python" ] || python=$(command -v python3)
"$python" -c 'import numpy, onnx, onnxruntime, scipy' 2>/dev/null ||
    not_run "$python lacks the test packages; run tools/test.sh once"

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/edge-tts-device.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT
export PYTHONPATH=$repository PYTHONDONTWRITEBYTECODE=1
mkdir -p "$RIG_CACHE"

# One of this state of the tree, kept for the next run.
build_package() {
    local state folder
    state=$(cd "$repository" && find edge_tts deploy systemd models setup.py -type f ! -name '*.pyc' -print0 |
        sort -z | xargs -0 sha256sum | sha256sum | cut -c1-12)
    folder=$RIG_CACHE/package-$architecture-$state
    if [ ! -d "$folder" ]; then
        say "package: $architecture"
        rm -rf -- "$RIG_CACHE/package-$architecture-"*
        bash "$repository/deploy/build_deb.sh" --arch "$architecture" --suite "$RIG_SUITE" \
            --output "$folder.new" >&2 || fail "deploy/build_deb.sh failed"
        mv -T "$folder.new" "$folder"
    fi
    package=$(echo "$folder"/*.deb)
}
[ -n "$package" ] || build_package

if [ -z "$voice" ] && [ ! -f "$repository/models/zh-en/voice.json" ]; then
    say "no voice in models/zh-en: the tiny one speaks, which says no words"
    voice=tiny
fi
if [ "$voice" = tiny ]; then
    voice=$scratch/tiny
    "$python" -c 'import sys
from pathlib import Path
from tests.tiny_voice import write_tiny_voice
write_tiny_voice(Path(sys.argv[1]), name="zh-en", lexicon=Path(sys.argv[2]))' \
        "$voice" "$repository/models/zh-en/lexicon.bin"
fi

base=$RIG_CACHE/$architecture-device
kernel=$RIG_CACHE/$architecture-kernel
native=$(dpkg --print-architecture)
debian_root "$RIG_CACHE/$native-device" "$native" apt "$DEVICE_PACKAGES"
[ "$architecture" = "$native" ] || foreign_root "$base" "$architecture" "$RIG_CACHE/$native-device"
kernel "$kernel" "$architecture"
made_of=$({
    sha256sum "$package" "$here"/image.sh "$here"/guest/*
    [ -z "$voice" ] || find "$voice" -type f -print0 | sort -z | xargs -0 sha256sum
} | cut -c1-64 | sha256sum | cut -c1-12)
image=$RIG_CACHE/$architecture-image-$made_of
[ -d "$image" ] || rm -rf -- "$RIG_CACHE/$architecture-image-"*
device_image "$image" "$architecture" "$kernel" "$base" "$package" "$voice"

[ -z "$keep" ] || mkdir -p "$keep"
status=0
if [ "$part" = cuts ]; then
    newer_package "$package" "$scratch/new.deb"
    # The mounts are gone with the process, however it ends.
    unshare --mount --propagation private "$python" -m tests.device.cuts "$image/root.img" \
        "${keep:-$scratch}" "$scratch/new.deb" --cuts "$cuts" || status=$?
else
    "$python" -m tests.device.scenario "$architecture" "$image" "${keep:-$scratch}" \
        "${voice:-$repository/models/zh-en}" ${short:+"$short"} || status=$?
fi
exit $status
