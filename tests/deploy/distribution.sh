#!/usr/bin/env bash
# Installs in another distribution's amd64 root file system without a network, by bundle and by Debian package:
#   sudo bash tests/deploy/distribution.sh bookworm|trixie|jammy|noble
# The root comes from mmdebstrap, from apt sources that RIG_SOURCES names or that a Debian has. jammy without RIG_SOURCES:
# this machine's root with the python3.10 of its PATH, by bundle alone, which brings a PyAudio; noble's is in its sources alone.
# PARTS is `bundle package` or one of them; RIG_CACHE as in tests/arm64/rig.sh. Status 77: can't run here.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
# shellcheck source=tests/arm64/rig.sh
. "$repository/tests/arm64/rig.sh"

RIG_SUITE=${1:-bookworm}
case $RIG_SUITE in
jammy) version=3.10 ;;
bookworm | trixie | noble) version='' ;;
*) fail "it takes bookworm, trixie, jammy or noble, not $RIG_SUITE" ;;
esac
need mmdebstrap mmdebstrap systemd-nspawn systemd-container dpkg-deb dpkg
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
mkdir -p "$scratch/root"

apt_sources=${RIG_SOURCES:-}
if [ -z "$apt_sources" ] && [ "$RIG_SUITE" = noble ]; then
    not_run "Ubuntu 24.04's PyAudio is in its own apt sources alone: name them by RIG_SOURCES"
elif [ -z "$apt_sources" ] && [ -z "$version" ]; then
    apt_sources=$(suite_sources "$scratch/own") || not_run "RIG_SOURCES names no apt sources for $RIG_SUITE"
fi

state=$(cd "$repository" && find edge_tts deploy systemd models setup.py pyproject.toml LICENSE NOTICE -type f ! -name '*.pyc' -print0 |
    sort -z | xargs -0 sha256sum | sha256sum | cut -c1-12)
kept=$RIG_CACHE/amd64-bundle-$RIG_SUITE

# make SCRIPT OPTION...: makes a bundle or a package, kept until the tree changes.
make() {
    say "$1: $RIG_SUITE amd64"
    fetch "$scratch/make.log" bash "$repository/deploy/$1" --arch amd64 --suite "$RIG_SUITE" "${@:2}" \
        --output "$kept-$state.new"
    grep -E 'MB|PyAudio' "$scratch/make.log" >&2 || true
}

make_both() {
    local -a options=(--no-debs)
    [ ! -d "$kept-$state" ] || return 0
    rm -rf -- "$kept"-*
    mkdir -p "$RIG_CACHE"
    [ -z "$apt_sources" ] || options=(--sources "$apt_sources")
    make make_bundle.sh "${options[@]}"
    [ -z "$apt_sources" ] || make build_deb.sh --bundle "$(echo "$kept-$state.new"/*.tar)"
    mv -T "$kept-$state.new" "$kept-$state"
}

parts=${PARTS:-bundle package}
if [ -n "$apt_sources" ]; then
    make_both
    lower=$RIG_CACHE/amd64-system-$RIG_SUITE
    debian_root "$lower" amd64 apt python3,libstdc++6,systemd-sysv,dbus,passwd
else
    own=$("python$version" -c 'import sys; print(sys.base_prefix)' 2>/dev/null) ||
        not_run "this machine has no python$version"
    make_both
    lower=/
fi
bundle=$(echo "$kept-$state"/*.tar) package=$(echo "$kept-$state"/*.deb)
[ -n "$apt_sources" ] || package=''
tar -xf "$bundle" -C "$scratch"
mounted=$scratch/edge-tts-bundle
first=()
if [ -z "$package" ]; then
    # Where the service, which sees no home folders, reaches it. Its own run path leads to the first place still.
    cp -a "$own" "$mounted/python"
    printf 'echo /mnt/python/lib >/etc/ld.so.conf.d/rig-python.conf\nldconfig\n' >"$mounted/find_python.sh"
    first=(/mnt/find_python.sh)
    rm -rf "$mounted/python/lib/python$version"/{test,site-packages}
    export PYTHON=/mnt/python/bin/python$version
fi
cp "$here"/*.sh "$mounted"
export LOWER_ROOT=$lower NETWORK=no
# As `sudo` sets it.
rig() { PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash "$here/throwaway_root.sh" "$scratch/root" "$mounted" "$@"; }

try_bundle() {
    say "$RIG_SUITE: bundle, $(du -m "$bundle" | cut -f1) MB"
    rig "${first[@]}" "/mnt/install_in_root.sh bundle" "/mnt/boot_probe.sh install" boot "/mnt/boot_probe.sh remove" \
        "/mnt/install_in_root.sh remove"
    cat "$mounted"/probe-1.log
    for expected in service=active test=0 after_kill=0 after_stop_signal=0 by_socket=active; do
        grep -qx "$expected" "$mounted/probe-1.log" || fail "the booted system does not say $expected"
    done
}

try_package() {
    say "$RIG_SUITE: package, $(du -m "$package" | cut -f1) MB"
    mkdir "$mounted/package"
    cp "$package" "$mounted/package"
    rig "/mnt/install_in_root.sh package"
}

case $parts in *bundle*) try_bundle ;; esac
[ -z "$package" ] || case $parts in *package*) try_package ;; esac
