#!/usr/bin/env bash
# Builds a Debian package with everything inside:  bash deploy/build_deb.sh --arch arm64 --suite bookworm
#   --arch, --suite and --sources as for deploy/make_bundle.sh; --output FOLDER (default: dist)
#   --bundle FILE   a bundle made before for the same --arch and --suite
# On the target: sudo apt install ./edge-tts-runtime_*_arm64.deb
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=deploy/lib.sh
. "$here/lib.sh"

arch=$(dpkg --print-architecture) suite=bookworm sources='' bundle='' output=$root/dist
while [ $# -gt 0 ]; do
    case $1 in
    --arch | --suite | --sources | --bundle | --output)
        [ $# -ge 2 ] || die "$1 needs a value"
        declare "${1#--}=$2"
        shift
        ;;
    -h | --help)
        sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 0
        ;;
    *) die "unknown option $1" ;;
    esac
    shift
done
sound=python3-pyaudio
case $suite in
jammy) python_from=3.10 python_below=3.11 sound=libportaudio2 ;;
bookworm) python_from=3.11 python_below=3.12 ;;
noble) python_from=3.12 python_below=3.13 ;;
trixie) python_from=3.13 python_below=3.14 ;;
*) die "--suite takes bookworm, trixie, jammy or noble, not $suite" ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
umask 022
if [ -z "$bundle" ]; then
    bash "$here/make_bundle.sh" --arch "$arch" --suite "$suite" ${sources:+--sources "$sources"} \
        --no-debs --output "$scratch" >/dev/null
    bundle=$(echo "$scratch"/edge-tts-bundle-*.tar)
fi
case $bundle in
*-"$suite-$arch.tar") ;;
*) die "$bundle is not for $suite $arch" ;;
esac
tar -xf "$bundle" -C "$scratch" || die "$bundle is not a bundle, or is damaged"
bundle=$scratch/edge-tts-bundle
if [ "$sound" = libportaudio2 ] && ! compgen -G "$bundle/wheels/PyAudio-*.whl" >/dev/null; then
    die "a package for $suite holds its own PyAudio, which could not be compiled; see above"
fi
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$root/edge_tts/__init__.py")
tree=$scratch/tree
library=$tree/usr/lib/edge-tts-runtime/package

unpack_wheels() {
    local wheel
    mkdir -p "$library"
    for wheel in "$bundle"/wheels/*.whl; do
        case $(basename "$wheel") in
        pip-*) ;;
        *) python3 -m zipfile -e "$wheel" "$library" ;;
        esac
    done
    prune_packages "$library"
    find "$library" -type d -empty -delete
}

place() { install -D -m "${3:-0644}" "$1" "$tree/$2"; }

place_files() {
    local doc=usr/share/doc/edge-tts-runtime drop_in
    place "$here/debian/edgetts" usr/bin/edgetts 0755
    place "$here/debian/edge-tts.sysusers" usr/lib/sysusers.d/edge-tts.conf
    place "$here/raspberry_pi.toml" usr/share/edge-tts/raspberry_pi.toml
    place "$here/jetson.toml" usr/share/edge-tts/jetson.toml
    place "$root/systemd/edge-tts.socket" lib/systemd/system/edge-tts.socket
    mkdir -p "$tree/lib/systemd/system"
    sed 's|/opt/edge-tts/current/bin/edgetts|/usr/bin/edgetts|' "$root/systemd/edge-tts.service" \
        >"$tree/lib/systemd/system/edge-tts.service"
    place "$root/README.md" $doc/README.md
    for drop_in in "$root"/systemd/drop-ins/*.conf; do
        place "$drop_in" "$doc/examples/$(basename "$drop_in")"
    done
    place "$here/debian/lintian-overrides" usr/share/lintian/overrides/edge-tts-runtime
    mkdir -p "$tree/usr/share/edge-tts/voices"
    [ ! -d "$bundle/models" ] || place_voices
    {
        printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n'
        printf 'Files: *\nCopyright: the Edge TTS Runtime contributors\nLicense: Apache-2.0\n'
        printf ' On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.\nComment:\n'
        sed 's/^$/./; s/^/ /' "$root/NOTICE"
    } >"$tree/$doc/copyright"
    {
        printf 'edge-tts-runtime (%s-1) %s; urgency=medium\n\n' "$version" "$suite"
        printf '  * Release %s; see CHANGELOG.md of the project.\n\n' "$version"
        printf ' -- Edge TTS Runtime contributors <maintainers@edge-tts-runtime.invalid>  %s\n' \
            "$(date -R -u -d @"${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}")"
    } | gzip -9n >"$tree/$doc/changelog.Debian.gz"
}

# A voice belongs to the release that it came with, and changes together with it.
place_voices() {
    local voice name
    for voice in "$bundle"/models/*/voice.json; do
        name=$(basename "$(dirname "$voice")")
        mkdir -p "$library/models"
        cp -rL "$bundle/models/$name" "$library/models/$name"
        ln -s "../../../lib/edge-tts-runtime/current/models/$name" "$tree/usr/share/edge-tts/voices/$name"
    done
}

# The name of a release changes with anything that would make it another one; postinst reads it.
name_release() {
    (cd "$library" && find . -type f -print0 | sort -z | xargs -0 sha256sum) | sha256sum | cut -c1-12 |
        sed "s/^/$version-/" >"$scratch/release"
    mv "$scratch/release" "$library/RELEASE"
}

write_control() {
    local size script
    size=$(du -sk --apparent-size "$tree" | cut -f1)
    mkdir -p "$tree/DEBIAN"
    cat >"$tree/DEBIAN/control" <<CONTROL
Package: edge-tts-runtime
Version: $version-1
Architecture: $arch
Maintainer: Edge TTS Runtime contributors <maintainers@edge-tts-runtime.invalid>
Installed-Size: $size
Depends: python3 (>= $python_from), python3 (<< $python_below), $sound, libc6 (>= 2.28), libstdc++6, libgcc-s1, systemd | systemd-standalone-sysusers
Section: sound
Priority: optional
Description: spoken alarms in Chinese and English, offline
 An alarm script or a PLC gateway writes one line to a local socket and the
 device speaks it, in Chinese, English or both in one sentence, within tens of
 milliseconds and without a network.
 .
 The package holds the daemon with its systemd units, the edgetts command, a
 voice, and the Python libraries that they need for Python $python_from.
CONTROL
    for script in postinst prerm postrm; do
        install -m 0755 "$here/debian/$script" "$tree/DEBIAN/$script"
    done
    (cd "$tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) \
        >"$tree/DEBIAN/md5sums"
}

unpack_wheels
place_files
name_release
find "$tree" -type d -exec chmod 0755 {} +
find "$tree" -type f ! -path '*/bin/*' -exec chmod 0644 {} +
write_control
mkdir -p "$output"
deb=$output/edge-tts-runtime_$version-1_$arch.deb
dpkg-deb --root-owner-group -Zxz -z2 --build "$tree" "$deb" >/dev/null
printf '%s\n' "$deb"
note "$(du -h --apparent-size "$deb" | cut -f1)B, installed $(($(du -sk --apparent-size "$tree" | cut -f1) / 1024)) MB"
