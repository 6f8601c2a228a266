#!/usr/bin/env bash
# Installs Edge TTS Runtime as a service, or upgrades it in place:  sudo bash deploy/install.sh
#   --bundle FILE|FOLDER  take wheels, packages and voices from a bundle (deploy/make_bundle.sh); no network
#   --cpu N               keep the daemon on core N          --realtime  allow SCHED_FIFO and locked memory
#   --no-start            leave the service stopped          --dry-run   show each step, change nothing
#   --uninstall           remove everything; with --keep-data settings, journal and voices of yours stay
# Raspberry Pi OS and Debian (bookworm, trixie), Ubuntu 22.04 and later, JetPack 6; arm64 and amd64.
#
# An interrupted run leaves the installed version running: a release is built aside and made current by
# one rename, after it has spoken.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_root=$(dirname "$here")
# shellcheck source=deploy/lib.sh
. "$here/lib.sh"

# `su` without a login, and cron, leave them out.
PATH=$PATH:/usr/sbin:/sbin
OPT=/opt/edge-tts
ETC=/etc/edge-tts
VOICES=/usr/share/edge-tts/voices
UNITS=/etc/systemd/system
COMMAND=/usr/local/bin/edgetts
ACCOUNT=edge-tts
# The distribution's own interpreter: it is there for the service user, and its PyAudio fits.
PYTHON=${PYTHON:-/usr/bin/python3}
TEST_TEXT='语音报警已就绪。Voice alarms are ready.'

dry_run=no action=install bundle='' cpu='' realtime=no start=yes keep_data=no

usage() { sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

parse() {
    while [ $# -gt 0 ]; do
        case $1 in
        --bundle | --cpu)
            [ $# -ge 2 ] || usage_error "$1 needs a value"
            if [ "$1" = --cpu ]; then cpu=$2; else bundle=$2; fi
            shift
            ;;
        --realtime) realtime=yes ;;
        --no-start) start=no ;;
        --dry-run) dry_run=yes ;;
        --uninstall) action=uninstall ;;
        --keep-data) keep_data=yes ;;
        -h | --help)
            usage
            exit 0
            ;;
        *) usage_error "unknown option $1" ;;
        esac
        shift
    done
    case $cpu in *[!0-9]*) usage_error "--cpu takes the number of a core, not $cpu" ;; esac
}

usage_error() {
    note "install.sh: $1"
    usage >&2
    exit 64
}

step() { note "- $*"; }

# run COMMAND...: does it, or only shows it.
run() {
    if [ "$dry_run" = yes ]; then
        note "    $(printf '%q ' "$@")"
    else
        "$@"
    fi
}

# put SOURCE TARGET: a file that is either the old or the new one, never half of it.
put() {
    if [ -e "$2" ] && cmp -s "$1" "$2"; then return 0; fi
    run install -D -m 0644 "$1" "$2.new"
    run mv -fT "$2.new" "$2"
}

# point LINK TARGET: one atomic rename, so that the link always leads somewhere whole.
point() {
    run ln -sfn "$2" "$1.new"
    run mv -fT "$1.new" "$1"
}

# settle FOLDER: what was written outlasts a power cut before a name is given to it. Without it the name may
# reach the disk and the contents not.
settle() { run sync -f "$1"; }

systemd_runs() { [ -d /run/systemd/system ]; }

check_device() {
    [ "$(id -u)" -eq 0 ] || [ "$dry_run" = yes ] || die "needs root; run: sudo bash $here/install.sh"
    have apt-get || die "this device has no apt; Raspberry Pi OS, Debian, Ubuntu or JetPack 6 are needed"
    local free_kib
    free_kib=$(df -Pk /opt 2>/dev/null | awk 'NR == 2 { print $4 }')
    [ "${free_kib:-1000000}" -ge 600000 ] ||
        die "only $((free_kib / 1024)) MB are free on /opt, 600 are needed; free some space and run again"
}

board() {
    local model=${DEVICE_MODEL:-}
    if [ -z "$model" ] && [ -r /proc/device-tree/model ]; then
        model=$(tr -d '\0' </proc/device-tree/model)
    fi
    case $model in
    *"Raspberry Pi"*) echo raspberry_pi ;;
    *Jetson* | *Orin* | *Xavier*) echo jetson ;;
    *) echo other ;;
    esac
}

open_bundle() {
    if [ -z "$bundle" ] && [ -d "$source_root/wheels" ]; then bundle=$source_root; fi
    [ -n "$bundle" ] || return 0
    if [ -f "$bundle" ]; then
        step "unpack $bundle"
        unpacked=$(mktemp -d)
        trap 'rm -rf -- "$unpacked"' EXIT
        tar -xf "$bundle" -C "$unpacked" --strip-components=1 || die "$bundle is not a bundle, or is damaged"
        bundle=$unpacked
    fi
    [ -d "$bundle/wheels" ] || die "$bundle has no wheels folder; make a bundle with deploy/make_bundle.sh"
    (cd "$bundle" && sha256sum --quiet --check SHA256SUMS) || die "$bundle is damaged; copy it again"
    source_root=$bundle
}

install_packages() {
    step "system packages"
    if [ -n "$bundle" ]; then
        install_bundled_packages
    elif [ "$dry_run" = yes ]; then
        run apt-get install -y "$(missing_packages python3-venv python3-pyaudio | paste -sd' ')"
    else
        apt_install python3 python3-venv python3-pyaudio ||
            die "apt could not install the packages above; mend apt, or use --bundle"
    fi
}

# Only what this device lacks: nothing of it is downgraded or replaced.
install_bundled_packages() {
    local deb name
    local -a needed=()
    for deb in "$bundle"/debs/*.deb; do
        [ -e "$deb" ] || continue
        name=$(dpkg-deb -f "$deb" Package)
        [ -z "$(missing_packages "$name")" ] || needed+=("$deb")
    done
    [ "${#needed[@]}" -eq 0 ] || run dpkg --install "${needed[@]}" >/dev/null
}

make_account() {
    if ! getent group "$ACCOUNT" >/dev/null; then
        step "group $ACCOUNT: its members may use the socket"
        run groupadd --system "$ACCOUNT"
    fi
    if ! getent passwd "$ACCOUNT" >/dev/null; then
        step "user $ACCOUNT"
        run useradd --system --gid "$ACCOUNT" --groups audio --no-create-home \
            --home-dir /var/lib/edge-tts --shell /usr/sbin/nologin "$ACCOUNT"
    fi
    if [ "$board" = jetson ]; then
        local group
        for group in video render; do
            if getent group "$group" >/dev/null; then run usermod --append --groups "$group" "$ACCOUNT"; fi
        done
    fi
}

# The name of a release changes with anything that would make it another one.
release_name() {
    local version digest models=''
    [ ! -d "$source_root/models" ] || models=models
    version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$source_root/edge_tts/__init__.py")
    digest=$({
        "$python" -VV
        cd "$source_root"
        find edge_tts setup.py deploy/lib.sh ${bundle:+wheels} ${models:+models} -type f ! -name '*.pyc' -print0 |
            sort -z | xargs -0 sha256sum
    } | sha256sum | cut -c1-12)
    echo "$version-$digest"
}

build_release() {
    release=$OPT/releases/$(release_name)
    # One that is there already and was damaged is made anew.
    if [ -e "$release/.complete" ] && speaks 2>/dev/null; then
        step "release $(basename "$release") is there already"
        return 0
    fi
    step "build $release"
    run rm -rf -- "$release"
    run mkdir -p "$OPT/releases"
    if [ "$dry_run" = yes ]; then
        run "$python" -m venv "$release"
        run "$release/bin/python" -m pip install ${bundle:+--no-index --no-deps --find-links "$bundle/wheels"} edge-tts-runtime
        return 0
    fi
    if [ -n "$bundle" ]; then
        build_from_bundle
    else
        make_venv "$python" "$release" || die "python3 -m venv failed; see above"
        local copy
        copy=$(mktemp -d)
        cp -r "$source_root"/{edge_tts,setup.py,pyproject.toml,README.md,LICENSE,NOTICE} "$copy"
        pip_install "$release" --no-compile "$copy" || die "pip could not install; see above"
        rm -rf -- "$copy"
        add_pyaudio "$release" || die "PyAudio can't be had here; run: ${APT_COMMAND:-}"
        if [ "$board" = jetson ]; then
            step "pycuda, for the GPU: it compiles for some minutes"
            PATH=/usr/local/cuda/bin:$PATH pip_install "$release" --no-compile pycuda ||
                note "pycuda could not be installed, so the CPU speaks; see docs/jetson.md"
        fi
    fi
    if [ "$board" = jetson ]; then
        # TensorRT's Python bindings are JetPack's, and there for the system's Python alone.
        sed -i 's/^include-system-site-packages = .*/include-system-site-packages = true/' "$release/pyvenv.cfg"
    else
        prune_installer "$(site_packages "$release")"
    fi
    prune_packages "$(site_packages "$release")"
    "$release/bin/python" -m compileall -q "$release/lib" >/dev/null 2>&1 || true
    "$release/bin/edgetts" --version >/dev/null || die "the new release does not start; the old one stays"
}

build_from_bundle() {
    "$python" -m venv --without-pip "$release"
    local wheel
    local -a pip=("$bundle"/wheels/pip-*.whl) wheels=()
    for wheel in "$bundle"/wheels/*.whl; do
        [ "$wheel" = "${pip[0]}" ] || wheels+=("$wheel")
    done
    # The bundle is whole by construction; pip would ask for what UNUSED_PACKAGES leaves out.
    "$release/bin/python" "${pip[0]}/pip" install --quiet --no-index --no-deps --no-cache-dir --no-compile \
        --disable-pip-version-check --root-user-action=ignore "${wheels[@]}" ||
        die "the wheels of this bundle don't fit this device's $("$python" -V), $(uname -m); \
make one for it with deploy/make_bundle.sh"
    pyaudio_works "$release" || { link_system_pyaudio "$release" && pyaudio_works "$release"; } ||
        die "PyAudio does not load: $("$release/bin/python" -c 'import pyaudio' 2>&1 | tail -n 1)"
}

# What an upgrade of the voice, JetPack or this program left stale is built again here, and never
# while an alarm waits. Without engines the CPU speaks, so that nothing of this is a failure.
build_engines() {
    local folder=/var/lib/edge-tts
    [ "$board" = jetson ] || return 0
    if [ "$dry_run" = no ] && ! "$release/bin/python" -c 'import tensorrt, pycuda' 2>/dev/null; then
        note "TensorRT or pycuda is missing for Python, so the CPU speaks; see docs/jetson.md"
        return 0
    fi
    step "build and judge the engines of the GPU: minutes the first time, moments later"
    run install -d -o "$ACCOUNT" -g "$ACCOUNT" -m 0750 "$folder"
    run runuser -u "$ACCOUNT" -- env HOME="$folder" "$COMMAND" engine build ||
        note "the engines could not be built, so the CPU speaks; the causes: $COMMAND doctor"
}

# A voice belongs to the release that it came with: one rename makes both current.
copy_voices() {
    local folder name
    local -a folders
    [ ! -e "$release/.complete" ] || return 0
    mapfile -t folders < <(voices_in "$source_root/models")
    for folder in "${folders[@]}"; do
        name=$(basename "$folder")
        step "voice $name"
        run copy_voice "$folder" "$release/voices/$name"
    done
}

install_settings() {
    run mkdir -p "$ETC/lexicon.d"
    [ -e "$ETC/edge-tts.toml" ] && return 0
    local -a base=()
    [ "$board" = other ] || base=(--base "$here/$board.toml")
    step "settings $ETC/edge-tts.toml ($board)"
    if [ "$dry_run" = yes ]; then
        run "$release/bin/edgetts" config reference --toml "${base[@]}"
        return 0
    fi
    "$release/bin/edgetts" config reference --toml "${base[@]}" >"$ETC/edge-tts.toml.new"
    settle "$ETC"
    mv -T "$ETC/edge-tts.toml.new" "$ETC/edge-tts.toml"
}

install_units() {
    step "systemd units"
    local drop_ins=$UNITS/edge-tts.service.d scratch
    put "$source_root/systemd/edge-tts.service" "$UNITS/edge-tts.service"
    put "$source_root/systemd/edge-tts.socket" "$UNITS/edge-tts.socket"
    if [ "$realtime" = yes ]; then
        put "$source_root/systemd/drop-ins/realtime.conf" "$drop_ins/realtime.conf"
    fi
    if [ "$board" = jetson ]; then
        put "$source_root/systemd/drop-ins/jetson.conf" "$drop_ins/jetson.conf"
    fi
    if [ -n "$cpu" ]; then
        scratch=$(mktemp)
        sed "s/^CPUAffinity=.*/CPUAffinity=$cpu/" "$source_root/systemd/drop-ins/cpu-affinity.conf" >"$scratch"
        put "$scratch" "$drop_ins/cpu-affinity.conf"
        rm -f "$scratch"
    fi
}

speaks() {
    local voice=$release/voices/zh-en
    [ -d "$voice" ] || voice=
    env ${voice:+EDGETTS_VOICE="$voice"} "$release/bin/edgetts" synth "$TEST_TEXT" -o /dev/null >/dev/null
}

# The new release has to speak before it becomes the current one.
try_release() {
    [ "$dry_run" = no ] || return 0
    step "the new release speaks: $TEST_TEXT"
    speaks ||
        die "the new release can't speak; what was installed before stays. See: $release/bin/edgetts doctor"
    settle "$release"
    touch "$release/.complete"
}

switch_release() {
    local old voice
    settle "$OPT"
    settle "$UNITS"
    old=$(readlink "$OPT/current" 2>/dev/null || true)
    point "$OPT/current" "$release"
    run mkdir -p "$VOICES"
    for voice in "$release"/voices/*/; do
        voice=$(basename "$voice")
        [ "$voice" = '*' ] || point "$VOICES/$voice" "$OPT/current/voices/$voice"
    done
    [ -d /usr/local/bin ] || run mkdir -p /usr/local/bin
    point "$COMMAND" "$OPT/current/bin/edgetts"
    settle "$OPT"
    [ "$dry_run" = no ] || return 0
    find "$OPT/releases" -mindepth 1 -maxdepth 1 ! -path "$release" ! -path "${old:-$release}" \
        -exec rm -rf {} +
}

start_service() {
    step "start the service"
    if ! have systemctl; then
        note "this device has no systemd: start it yourself with: edgetts serve"
        return 0
    fi
    run systemctl --quiet enable edge-tts.socket edge-tts.service 2>/dev/null
    if [ "$start" = no ] || ! systemd_runs; then
        note "not started (no systemd is running here, or --no-start); it starts at the next boot"
        return 0
    fi
    run systemctl daemon-reload
    run systemctl start edge-tts.socket
    run systemctl restart edge-tts.service
    [ "$dry_run" = no ] || return 0
    "$COMMAND" test --wait finished ||
        die "the service runs but its test sentence was not spoken; the causes: sudo -u $ACCOUNT edgetts doctor"
    "$COMMAND" status
}

uninstall() {
    step "stop and remove the service"
    if have systemctl; then
        run systemctl --quiet disable --now edge-tts.service edge-tts.socket 2>/dev/null || true
    fi
    run rm -rf -- "$UNITS/edge-tts.service" "$UNITS/edge-tts.socket" "$UNITS/edge-tts.service.d"
    if systemd_runs; then run systemctl daemon-reload; fi
    step "remove the program"
    run rm -rf -- "$OPT" "$COMMAND" /usr/share/edge-tts /var/cache/edge-tts /run/edge-tts
    if [ "$keep_data" = yes ]; then
        note "kept: $ETC, /var/lib/edge-tts, user and group $ACCOUNT"
        return 0
    fi
    run rm -rf -- "$ETC" /var/lib/edge-tts
    if getent passwd "$ACCOUNT" >/dev/null; then run userdel "$ACCOUNT"; fi
    if getent group "$ACCOUNT" >/dev/null; then run groupdel "$ACCOUNT"; fi
    note "removed; system packages that were installed for it stay: python3-venv, python3-pyaudio"
}

parse "$@"
check_device
if [ "$action" = uninstall ]; then
    uninstall
    exit 0
fi
board=$(board)
open_bundle
install_packages
python=$(find_python) || die "Python 3.10 or later is missing; run: apt-get install python3"
make_account
build_release
copy_voices
install_settings
try_release
install_units
switch_release
build_engines
start_service
if [ "$dry_run" = no ]; then
    note "on the disk:"
    print_sizes "$(site_packages "$release")" "$release/voices" >&2
fi
note "done: $("$COMMAND" --version 2>/dev/null || echo "nothing was changed")"
