#!/usr/bin/env bash
# Collects all that an installation without a network needs:  bash deploy/make_bundle.sh --arch arm64 --suite bookworm
#   --arch arm64|amd64          the target's architecture (default: this machine's)
#   --suite bookworm|trixie|jammy|noble   the target's distribution (default: bookworm); Pi OS has Debian's names, JetPack 6 is jammy
#   --sources FILE              apt sources to take packages from (default: this machine's)
#   --no-debs                   leave the system packages out (the target has python3-pyaudio, jammy libportaudio2, already)
#   --output FOLDER             where the bundle goes (default: dist)
# On the target: tar xf edge-tts-bundle-*.tar && sudo bash edge-tts-bundle/deploy/install.sh
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=deploy/lib.sh
. "$here/lib.sh"

arch=$(dpkg --print-architecture) suite=bookworm sources='' debs=yes output=$root/dist

while [ $# -gt 0 ]; do
    case $1 in
    --arch | --suite | --sources | --output)
        [ $# -ge 2 ] || die "$1 needs a value"
        declare "${1#--}=$2"
        shift
        ;;
    --no-debs) debs=no ;;
    -h | --help)
        sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 0
        ;;
    *) die "unknown option $1" ;;
    esac
    shift
done

case $arch in
arm64) machine=aarch64 ;;
amd64) machine=x86_64 ;;
*) die "--arch takes arm64 or amd64, not $arch" ;;
esac
# Each suite with its python3 and the newest glibc that its wheels may ask for. The PyAudio of jammy, 0.2.11, fails on
# its first write with that Python: a newer one is compiled here.
pyaudio=packaged
case $suite in
jammy) version=3.10 glibc=35 pyaudio=compiled ;;
bookworm) version=3.11 glibc=36 ;;
noble) version=3.12 glibc=39 ;;
trixie) version=3.13 glibc=41 ;;
*) die "--suite takes bookworm, trixie, jammy or noble, not $suite" ;;
esac

python=$(find_python) || die "Python 3.10 or later is missing"
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
bundle=$scratch/edge-tts-bundle
mkdir -p "$bundle/wheels" "$output"

collect_program() {
    local voice
    local -a voices
    cp -r "$root"/{edge_tts,deploy,systemd,setup.py,pyproject.toml,README.md,LICENSE,NOTICE} "$bundle"
    find "$bundle" -name __pycache__ -prune -exec rm -rf {} +
    mapfile -t voices < <(voices_in "$root/models")
    for voice in "${voices[@]}"; do
        copy_voice "$voice" "$bundle/models/$(basename "$voice")"
    done
}

collect_wheels() {
    local minor name
    local -a platforms=() needed
    for ((minor = glibc; minor >= 17; minor--)); do
        platforms+=(--platform "manylinux_2_${minor}_$machine")
    done
    platforms+=(--platform "manylinux2014_$machine")
    make_venv "$python" "$scratch/venv"
    "$scratch/venv/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps \
        --wheel-dir "$bundle/wheels" "$bundle"
    rm -rf -- "$bundle/build" "$bundle"/*.egg-info
    mapfile -t needed < <(requirements "$bundle"/wheels/edge_tts_runtime-*.whl)
    [ "${#needed[@]}" -gt 0 ] || die "the program's own wheel names no requirement"
    "$scratch/venv/bin/python" -m pip download --quiet --disable-pip-version-check \
        --dest "$bundle/wheels" --only-binary=:all: --implementation cp --python-version "$version" \
        "${platforms[@]}" pip "${needed[@]}"
    for name in "${UNUSED_PACKAGES[@]}"; do rm -f "$bundle/wheels/$name"-*.whl; done
}

# requirements WHEEL: what it needs on the target. pip judges the conditions of a requirement by the
# Python that pip runs in, whatever its --python-version is.
requirements() {
    "$scratch/venv/bin/python" - "$1" "$version" <<'PY'
import sys
from email import message_from_bytes
from zipfile import ZipFile

from pip._vendor.packaging.requirements import Requirement

wheel, version = sys.argv[1:]
target = {"python_version": version, "python_full_version": f"{version}.0", "extra": ""}
with ZipFile(wheel) as archive:
    (name,) = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
    fields = message_from_bytes(archive.read(name))
for each in map(Requirement, fields.get_all("Requires-Dist")):
    if each.marker is None or each.marker.evaluate(target):
        print(f"{each.name}{each.specifier}")
PY
}

# find_pyaudio_headers: where those of Python and PortAudio are, one folder a line: the target's own, or this machine's.
find_pyaudio_headers() {
    local headers=$scratch/headers name own
    mkdir -p "$headers"
    if [ -n "${APT_CONFIG:-}" ]; then
        (cd "$headers" && apt-get -qq download "libpython$version-dev" portaudio19-dev >/dev/null)
        for name in "$headers"/*.deb; do dpkg-deb -x "$name" "$headers"; done
        printf '%s\n' "$headers/usr/include/python$version" "$headers/usr/include"
    elif own=$("python$version" -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null) &&
        [ -e "$own/Python.h" ] && [ -e /usr/include/portaudio.h ]; then
        cp /usr/include/portaudio.h "$headers"
        printf '%s\n' "$own" "${own%/*}" "$headers"
    fi
}

# compile_pyaudio: a wheel of it, so that the device needs no compiler.
compile_pyaudio() {
    local wanted
    local -a include
    [ "$arch" != "$(dpkg --print-architecture)" ] || export CC=${CC:-gcc}
    mapfile -t include < <(find_pyaudio_headers)
    wanted="apt sources of $suite (--sources)"
    [ "${#include[@]}" -gt 0 ] && wanted="gcc-${machine/_/-}-linux-gnu"
    if [ "${#include[@]}" -eq 0 ] || ! have "${CC:-$machine-linux-gnu-gcc}"; then
        [ "$debs" = no ] || die "PyAudio for $suite is compiled here, which needs $wanted"
        note "PyAudio is left out, since compiling it needs $wanted: the target must have 0.2.12 or later"
        return 0
    fi
    "$scratch/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
        --dest "$scratch/headers" 'PyAudio>=0.2.14'
    "$python" "$here/pyaudio_wheel.py" "$scratch"/headers/PyAudio-*.tar.gz --python "$version" \
        --machine "$machine" --include "${include[@]}" --output "$bundle/wheels" >/dev/null
}

# What python3-pyaudio needs beyond a system that has python3, resolved for the target and not for
# this machine.
collect_debs() {
    local name wanted=python3-pyaudio
    [ "$pyaudio" = packaged ] || wanted=libportaudio2
    mkdir -p "$bundle/debs"
    apt-get -qq -y --download-only -o Debug::NoLocking=1 install "$wanted" python3 >/dev/null
    for name in "$scratch"/apt/archives/*.deb; do
        # What every installed system has stays out.
        case $(dpkg-deb -f "$name" Package) in
        libasound2* | libjack* | libportaudio* | python3-pyaudio | libdb5* | libopus* | libsamplerate*)
            cp "$name" "$bundle/debs"
            ;;
        esac
    done
}

# From here on apt works in folders of its own, for a made-up system with the target's required packages.
use_target_apt() {
    local folder=$scratch/apt
    mkdir -p "$folder"/{lists/partial,archives/partial,etc/preferences.d}
    : >"$folder/status"
    cat >"$folder/conf" <<CONF
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State::lists "$folder/lists";
Dir::State::status "$folder/status";
Dir::Cache "$folder";
Dir::Cache::archives "$folder/archives";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "$folder/etc/preferences.d";
CONF
    if [ -n "$sources" ]; then
        printf 'Dir::Etc::sourcelist "%s";\nDir::Etc::sourceparts "/dev/null";\n' \
            "$(realpath "$sources")" >>"$folder/conf"
    else
        grep -rqs -- "$suite" /etc/apt/sources.list /etc/apt/sources.list.d ||
            die "this machine's apt has no $suite; name its sources with --sources, or use --no-debs"
    fi
    export APT_CONFIG=$folder/conf
    apt-get -qq update
}

# installation: what install.sh will make of it, bytecode of this machine's Python in place of the target's.
installation() {
    local tree=$scratch/installed wheel
    for wheel in "$bundle"/wheels/*.whl; do
        case ${wheel##*/} in
        pip-*) ;;
        *) "$python" -m zipfile -e "$wheel" "$tree" ;;
        esac
    done
    prune_packages "$tree"
    "$scratch/venv/bin/python" -m compileall -q "$tree" >/dev/null 2>&1 || true
    if [ -d "$bundle/models" ]; then cp -rL "$bundle/models" "$tree/voices"; fi
    note "installed about $(installed_mb "$tree") MB:"
    print_sizes "$tree" >&2
    rm -rf -- "$tree"
}

note "program and voices"
collect_program
note "wheels for Python $version on $machine"
collect_wheels
if [ "$debs" = yes ] || { [ "$pyaudio" = compiled ] && [ -n "$sources" ]; }; then use_target_apt; fi
[ "$pyaudio" = packaged ] || compile_pyaudio
if [ "$debs" = yes ]; then
    note "packages for $suite $arch"
    collect_debs
fi
(cd "$bundle" && find . -type f ! -name SHA256SUMS -printf '%P\0' | sort -z | xargs -0 sha256sum) \
    >"$scratch/sums"
mv "$scratch/sums" "$bundle/SHA256SUMS"

release=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$root/edge_tts/__init__.py")
target=$output/edge-tts-bundle-$release-$suite-$arch.tar
# The same input gives the same bundle.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$scratch" -cf "$target.new" edge-tts-bundle
mv "$target.new" "$target"
printf '%s\n' "$target"
note "$(du -h --apparent-size "$target" | cut -f1)B, of which wheels $(du -sh --apparent-size "$bundle/wheels" | cut -f1)B"
installation
