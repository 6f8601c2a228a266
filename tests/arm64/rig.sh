# Shell functions that build and enter foreign root file systems. Source it; it runs nothing.
# shellcheck shell=bash
#
# RIG_CACHE    folder that keeps what was built (default: edge-tts-rigs in the user's cache)
# RIG_NICE     niceness of the emulators (default: 0)
# RIG_SOURCES  apt sources for RIG_SUITE (default: this Debian's, else mmdebstrap's own)
# RIG_SUITE    the distribution of the root file systems (default: bookworm)
# RIG_NETWORK  `no`: what runs in a root has no network

RIG_CACHE=${RIG_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/edge-tts-rigs}
RIG_SUITE=${RIG_SUITE:-bookworm}

say() { printf '%s\n' "$*" >&2; }

fail() {
    say "$(basename "$0"): $*"
    exit 1
}

# not_run REASON: status 77, as for a skipped test.
not_run() {
    say "not run: $*"
    exit 77
}

# need COMMAND PACKAGE...: not run when something is missing.
need() {
    local -a packages=()
    while [ $# -gt 0 ]; do
        command -v "$1" >/dev/null 2>&1 || packages+=("$2")
        shift 2
    done
    [ "${#packages[@]}" -eq 0 ] || not_run "apt-get install ${packages[*]}"
    [ "$(id -u)" -eq 0 ] || not_run "needs root for chroot and mounts"
    unshare --mount --pid --fork --propagation private mount -t tmpfs tmpfs /mnt 2>/dev/null ||
        not_run "this machine lets nobody mount anything"
}

# fetch LOG COMMAND...: COMMAND, which loads from a mirror; its messages are shown if it fails. Not run
# where nothing can be reached, failed for any other reason.
fetch() {
    local log=$1
    shift
    ! "$@" >"$log" 2>&1 || return 0
    cat "$log" >&2
    ! grep -qE 'Temporary failure|Could not (resolve|connect)|Cannot initiate the connection|Unable to connect|[Nn]ame resolution|Network is unreachable|No route to host|(Connection|connection) (failed|timed out)|ConnectTimeout|ConnectionError' "$log" ||
        not_run "$1 reached no mirror"
    fail "$1 failed; see above"
}

# Lets the kernel run aarch64 programs; the F flag of Debian's entry needs no emulator in the root.
enable_arm64_programs() {
    [ "$(uname -m)" != aarch64 ] || return 0
    local registry=/proc/sys/fs/binfmt_misc
    mountpoint -q $registry || mount -t binfmt_misc binfmt_misc $registry ||
        not_run "this kernel has no binfmt_misc"
    [ -e $registry/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64 ||
        not_run "qemu-aarch64 can't be registered"
}

# suite_sources NAME: prints the path of apt sources for RIG_SUITE, NAME with an ending: this machine's with
# another suite, where it is a Debian.
suite_sources() {
    local file target own
    [ "$(sed -n 's/^ID=//p' /etc/os-release)" = debian ] || return 1
    own=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
        grep -qs "$own" "$file" || continue
        target=$1.${file##*.}
        sed "s/\\b$own\\b/$RIG_SUITE/g" "$file" >"$target"
        printf '%s\n' "$target"
        return
    done
    return 1
}

# debian_root FOLDER ARCHITECTURE VARIANT INCLUDE: a root file system by mmdebstrap, whole or not
# at all; INCLUDE names packages, separated by commas. The variant extract unpacks and configures nothing.
debian_root() {
    local folder=$1 architecture=$2 variant=$3 include=$4
    local -a sources=() options=()
    [ ! -d "$folder" ] || return 0
    mkdir -p "$RIG_CACHE"
    if [ -n "${RIG_SOURCES:-}" ]; then
        sources=("$RIG_SOURCES")
    else
        mapfile -t sources < <(suite_sources "$folder")
    fi
    if [ "$variant" = extract ]; then
        options=(--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --include='?essential')
    fi
    say "root file system: $RIG_SUITE $architecture"
    rm -rf -- "$folder.new"
    fetch "$folder.log" mmdebstrap --architectures="$architecture" --variant="$variant" "${options[@]}" \
        --components=main --aptopt='Acquire::Languages "none"' \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' --include="$include" \
        "$RIG_SUITE" "$folder.new" "${sources[@]}"
    rm -f -- "$folder".{list,sources,log}
    mv -T "$folder.new" "$folder"
}

# in_arm64 ROOT SECONDS COMMAND...: runs COMMAND in the root under user-mode emulation, in mounts and
# processes of its own that vanish with it. QEMU_CPU names the processor (cortex-a72: Pi 4, no dot
# product; cortex-a76: Pi 5). BIND, one `SOURCE TARGET` a line, are folders to show inside; those with
# a third word `rw` may be written. ENVIRONMENT holds assignments for COMMAND.
#
# /sys and /proc/cpuinfo of an x86 host end aarch64's onnxruntime at import (its cpuinfo library reads
# them), so the root gets small ones of the processor that is emulated.
in_arm64() {
    local root=$1 seconds=$2
    local -a network=()
    shift 2
    [ "${RIG_NETWORK:-}" != no ] || network=(--net)
    # shellcheck disable=SC2016 # the inner shell expands these
    QEMU_CPU=${QEMU_CPU:-cortex-a76} BIND=${BIND:-} ENVIRONMENT=${ENVIRONMENT:-} ROOT=$root \
        timeout -k 10 "$seconds" nice -n "${RIG_NICE:-0}" unshare --mount --pid --fork --kill-child \
        --propagation private "${network[@]}" bash -euc '
        mkdir -p "$ROOT"/{dev,proc,sys,tmp,root}
        mount --rbind /dev "$ROOT/dev"
        mount -t proc proc "$ROOT/proc"
        mount -t tmpfs tmpfs "$ROOT/tmp"
        mount -t tmpfs tmpfs "$ROOT/sys"
        mkdir -p "$ROOT/sys/devices/system/cpu"
        for file in possible present online; do echo 0-1 >"$ROOT/sys/devices/system/cpu/$file"; done
        case $QEMU_CPU in
        cortex-a53) part=0xd03 features= ;;
        cortex-a72) part=0xd08 features= ;;
        *) part=0xd0b features=" asimdhp asimddp" ;;
        esac
        for core in 0 1; do
            printf "processor\t: %s\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd evtstrm crc32 cpuid%s\n" \
                "$core" "$features"
            printf "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n"
            printf "CPU part\t: %s\nCPU revision\t: 3\n\n" "$part"
        done >"$ROOT/tmp/cpuinfo"
        mount --bind "$ROOT/tmp/cpuinfo" "$ROOT/proc/cpuinfo"
        while read -r source target writable; do
            [ -n "$source" ] || continue
            mkdir -p "$ROOT$target"
            mount --bind "$source" "$ROOT$target"
            [ "$writable" = rw ] || mount -o remount,bind,ro "$ROOT$target"
        done <<<"$BIND"
        # shellcheck disable=SC2086
        exec chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
            LC_ALL=C.UTF-8 QEMU_CPU="$QEMU_CPU" $ENVIRONMENT "$@"' bash "$@"
}
