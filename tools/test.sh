#!/usr/bin/env bash
# Checks everything: makes .venv-test, installs what the checks need, then runs linters and tests.
#   bash tools/test.sh                 everything, and the core of it on an emulated aarch64 machine
#   bash tools/test.sh tests/text -k zh    the linters, then pytest with these arguments
# A second run reuses the environment. Status 0 only if every step passed.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
# shellcheck source=deploy/lib.sh
. "$root/deploy/lib.sh"

venv=$root/.venv-test
bin=$venv/bin
# PortAudio to build PyAudio on, a C++ compiler for the pycuda that tests/tensorrt builds, PulseAudio
# to play into without hardware, and what the scripts, the socket examples and the units are
# checked with.
packages=(python3-venv python3-dev gcc g++ binutils libc6-dev portaudio19-dev pulseaudio
    pulseaudio-utils alsa-utils libasound2-plugins socat netcat-openbsd shellcheck systemd
    systemd-container)
# To run aarch64 programs in a root file system of their own.
emulation=(mmdebstrap arch-test qemu-user-static binfmt-support)

prepare() {
    local python fingerprint
    apt_install "${packages[@]}" || note "going on without some system packages: ${APT_COMMAND:-}"
    python=$(find_python) || die "Python 3.10 or later is missing; run: ${APT_COMMAND:-apt-get install python3}"
    fingerprint=$({ "$python" -VV && cat setup.py tools/test.sh deploy/lib.sh && echo "$root"; } | sha256sum)
    if [ "$(cat "$venv/.installed" 2>/dev/null)" = "$fingerprint" ] &&
        "$bin/python" -c 'import edge_tts, pytest' 2>/dev/null; then
        return 0
    fi
    note "preparing $venv"
    rm -rf -- "$venv"
    make_venv "$python" "$venv" || die "can't make a virtual environment; run: ${APT_COMMAND:-}"
    pip_install "$venv" --editable "${root}[dev]" || die "pip could not install the packages in setup.py"
    printf '%s\n' "$fingerprint" >"$venv/.installed"
}

# What a rig ends with on a machine that can't run it.
NOT_HERE=77
failed=()
step() {
    local name=$1 began=$SECONDS verdict=passed status=0
    shift
    printf '== %s\n' "$name"
    "$@" || status=$?
    case $status in
    0) ;;
    "$NOT_HERE") verdict='NOT RUN, for the reason above' ;;
    *)
        verdict=FAILED
        failed+=("$name")
        ;;
    esac
    printf '== %s: %s (%d s)\n' "$name" "$verdict" $((SECONDS - began))
}

shell_scripts() {
    git ls-files -z -- '*.sh' .ci/run 2>/dev/null | xargs -0 -r shellcheck -x
}

# After pytest, not beside it: what listens to a real sound server needs a core that is free.
aarch64() {
    apt_install "${emulation[@]}" || note "going on without some system packages: ${APT_COMMAND:-}"
    PYTHON=$bin/python timeout --kill-after=30 "${AARCH64_LIMIT_S:-2400}" bash tests/arm64/run.sh all </dev/null
}

# A test that hangs ends the run with a report instead of holding it for ever.
run_pytest() {
    local -a command=(timeout --signal=INT --kill-after=60 "${TEST_LIMIT_S:-4200}" python -m pytest --color=no)
    "${command[@]}" --durations=10 "$@" && return 0
    note "what failed, once more: a real sound server runs dry where another program takes the core"
    "${command[@]}" --last-failed --last-failed-no-failures none "$@"
}

prepare
export PATH=$bin:$PATH PYTHONDONTWRITEBYTECODE=1
unset EDGETTS_CONFIG EDGETTS_VOICE EDGETTS_SOCKET EDGETTS_PROVIDER EDGETTS_LEXICON_D

if [ "$#" -eq 0 ]; then
    # pycuda compiles for minutes on one core; the tests that need it come last and wait for it.
    nice -n 19 python -m tests.tensorrt.rig </dev/null >/dev/null 2>&1 &
fi
step "ruff" ruff check --quiet .
step "mypy" mypy --no-error-summary
step "import-linter" lint-imports --no-cache --no-logo
if have shellcheck && [ -e .git ]; then
    step "shellcheck" shell_scripts
else
    note "shellcheck or git is missing: the shell scripts were not checked"
fi
step "pytest" run_pytest "$@"
[ $# -gt 0 ] || step "aarch64" aarch64

if [ "${#failed[@]}" -gt 0 ]; then
    printf 'failed: %s\n' "${failed[*]}"
    exit 1
fi
