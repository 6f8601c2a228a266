#!/usr/bin/env bash
# throwaway_root.sh SCRATCH MOUNTED STEP...: a copy-on-write view of this machine's root in which each STEP
# runs, thrown away at the end. MOUNTED is seen at /mnt. A STEP is the path of a script as seen from inside,
# with its arguments, or `boot [option of systemd-nspawn...]`, which starts systemd and waits for its end.
# LOWER_ROOT is another root than this machine's; NETWORK=no takes the network from the scripts.
set -euo pipefail

scratch=$1 mounted=$2
shift 2

if [ -z "${IN_OWN_MOUNTS:-}" ]; then
    IN_OWN_MOUNTS=yes exec unshare --mount --propagation private bash "$0" "$scratch" "$mounted" "$@"
fi

root=$scratch/root
mount -t tmpfs -o size=3g tmpfs "$scratch"
mkdir "$scratch/upper" "$scratch/work" "$root"
mount -t overlay overlay -o "lowerdir=${LOWER_ROOT:-/},upperdir=$scratch/upper,workdir=$scratch/work" "$root"
mount --bind "$mounted" "$root/mnt"

run() (
    local -a network=()
    [ "${NETWORK:-}" != no ] || network=(--net)
    # Only for the step: a system that boots brings its own.
    # shellcheck disable=SC2016 # the inner shell expands these
    unshare --mount --propagation private "${network[@]}" bash -euc '
        root=$0
        for folder in dev proc sys; do mount --rbind "/$folder" "$root/$folder"; done
        for folder in /opt/*; do
            if mountpoint -q "$folder" && [ -d "$root$folder" ]; then mount --bind "$folder" "$root$folder"; fi
        done
        exec chroot "$root" bash "$@"' "$root" "$@"
)

boot() {
    : >"$root/etc/machine-id"
    SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 timeout -k 5 "${BOOT_TIMEOUT_S:-180}" \
        systemd-nspawn --quiet --directory "$root" --register=no --keep-unit --console=read-only \
        --private-network --machine=throwaway --bind "$mounted:/mnt" "$@" \
        --boot systemd.unit=edge-tts-probe.target </dev/null >"$scratch/console.log" 2>&1 ||
        { tail -n 40 "$scratch/console.log" >&2 && return 1; }
}

for step in "$@"; do
    # shellcheck disable=SC2086 # a step is a command with its arguments
    case $step in
    boot*) $step ;;
    *) run $step ;;
    esac
done
