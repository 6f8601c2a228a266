#!/usr/bin/env bash
# Runs the core of the tests, `edgetts synth` and the daemon's start with aarch64 Python and aarch64 wheels under
# user-mode emulation:  sudo bash tests/arm64/run.sh [samples|tests|installed|all]
#   samples     compares what `edgetts synth` makes with what it makes on this machine, for each processor
#   tests [pytest argument...]   the tests marked `core`, or those of the arguments
#   installed [bookworm|trixie|jammy]   installs a bundle without a network, speaks, prints sizes and the time to start
#   all         all three (default)
# PYTHON is an interpreter that has the project's test packages (default: .venv-test's, else python3); the
# aarch64 wheels are of the same versions. CPUS names the processors of `samples`. RIG_CACHE, RIG_NICE and RIG_SOURCES as in
# rig.sh. Status 77: can't run here.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
# shellcheck source=tests/arm64/rig.sh
. "$here/rig.sh"
# shellcheck source=tests/arm64/installed.sh
. "$here/installed.sh"

TEXT='警告，3号泵 low oil pressure，当前 85℃。Motor stalled. 2号锅炉水位低于下限，请立即检查给水阀。The cooling fan of cabinet E12 has failed.'
PACKAGES=(numpy onnxruntime click pytest hypothesis onnx scipy)
# Pi 4, and Pi 5 with its dot product; cortex-a53 is a Pi 3.
CPUS=${CPUS:-cortex-a72 cortex-a76}

need mmdebstrap mmdebstrap arch-test arch-test qemu-aarch64-static qemu-user-static update-binfmts binfmt-support
enable_arm64_programs

python=${PYTHON:-$repository/.venv-test/bin/python}
[ -x "$python" ] || python=$(command -v python3)
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

versions() {
    "$python" - "$@" <<'PY'
import sys
from importlib.metadata import version

print(*(f"{name}=={version(name)}" for name in sys.argv[1:]))
PY
}

fetch_wheels() {
    local folder=$1 minor
    shift
    local -a platforms=()
    [ ! -d "$folder" ] || return 0
    say "aarch64 wheels: $*"
    for minor in {36..17}; do platforms+=(--platform "manylinux_2_${minor}_aarch64"); done
    rm -rf -- "$folder.new"
    fetch "$scratch/pip.log" "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
        --no-compile --target "$folder.new" --only-binary=:all: --implementation cp --python-version 3.11 \
        "${platforms[@]}" --platform manylinux2014_aarch64 "$@"
    mv -T "$folder.new" "$folder"
}

# What samples and tests run in: this source tree with aarch64 Python, nothing installed.
prepare_source_root() {
    local names
    local -a wanted
    names=$(versions "${PACKAGES[@]}") || not_run "$python lacks ${PACKAGES[*]}; run tools/test.sh once"
    read -ra wanted <<<"$names"
    root=$RIG_CACHE/arm64-python
    wheels=$RIG_CACHE/arm64-wheels-$(cksum <<<"$names" | cut -d' ' -f1)
    debian_root "$root" arm64 extract python3,libstdc++6
    fetch_wheels "$wheels" "${wanted[@]}"
    bind_source
}

bind_source() {
    # Bytecode is kept: compiling numpy anew at each start would take most of the time.
    mkdir -p "$wheels.bytecode"
    export BIND="$repository /srv/source
$wheels /srv/wheels
$wheels.bytecode /srv/bytecode rw
$scratch /srv/work rw"
}

# arm64_python SECONDS ENVIRONMENT ARGUMENT...
arm64_python() {
    local seconds=$1 more=$2
    shift 2
    ENVIRONMENT="PYTHONPATH=/srv/source:/srv/wheels PYTHONPYCACHEPREFIX=/srv/bytecode \
EDGETTS_LEXICON_D=/srv/work/none $more" in_arm64 "$root" "$seconds" env -C /srv/source python3 "$@"
}

arm64_synth() { arm64_python 900 "EDGETTS_CONFIG=/srv/work/$1.toml" -m edge_tts synth "${@:2}"; }

here_python() { env PYTHONPATH="$repository" EDGETTS_LEXICON_D="$scratch/none" PYTHONDONTWRITEBYTECODE=1 "$python" "$@"; }

here_synth() { EDGETTS_CONFIG=$scratch/$1.toml here_python -m edge_tts synth "${@:2}"; }

# synth_everywhere VOICE PRECISION CPU...: speaks TEXT on this machine and on each processor; the names of what to
# compare are added to `pairs`.
synth_everywhere() {
    local voice=$1 precision=$2 name=$1-$2
    shift 2
    say "$voice $precision: this machine, $*"
    printf '[inference]\nprovider = "cpu"\nprecision = "%s"\n' "$precision" >"$scratch/$precision.toml"
    if [ ! -d "$scratch/$voice" ]; then cp -rL "$repository/models/$voice" "$scratch/$voice"; fi
    here_synth "$precision" "$TEXT" --voice "$scratch/$voice" -o "$scratch/$name-x86.wav" --stats json \
        >"$scratch/$name-x86.json"
    for QEMU_CPU in "$@"; do
        export QEMU_CPU
        arm64_synth "$precision" "$TEXT" --voice "/srv/work/$voice" -o "/srv/work/$name-$QEMU_CPU.wav" --stats json \
            >"$scratch/$name-$QEMU_CPU.json"
        pairs+=("$name-x86" "$name-$QEMU_CPU")
        [ "$QEMU_CPU" = "$1" ] || pairs+=("$name-$1" "$name-$QEMU_CPU")
    done
}

compare_samples() {
    local -a pairs=() cpus
    prepare_source_root
    read -ra cpus <<<"$CPUS"
    here_python -c 'import sys
from pathlib import Path
from tests.tiny_voice import write_tiny_voice
write_tiny_voice(Path(sys.argv[1]), lexicon=Path(sys.argv[2]))' "$scratch/tiny" "$repository/models/zh-en/lexicon.bin"
    synth_everywhere tiny fp32 "${cpus[-1]}"
    synth_everywhere tiny int8 "${cpus[-1]}"
    if [ -f "$repository/models/zh-en/voice.json" ]; then
        synth_everywhere zh-en fp32 "${cpus[@]}"
        synth_everywhere zh-en int8 "${cpus[@]}"
    fi
    if [ -f "$repository/models/zh-en-lite/voice.json" ]; then synth_everywhere zh-en-lite int8 "${cpus[-1]}"; fi
    here_python "$here/compare.py" "$scratch" "${pairs[@]}"
}

run_tests() {
    local -a chosen=("$@")
    prepare_source_root
    if [ $# -eq 0 ]; then
        # Only the files that hold some: collecting the others would take longer than running these.
        mapfile -t chosen < <(cd "$repository" && grep -rl --include='test_*.py' 'pytest\.mark\.core' tests | sort)
        [ "${#chosen[@]}" -gt 0 ] || fail "no test is marked core"
        chosen+=(-m core --durations=10)
    fi
    say "tests: ${chosen[*]}"
    QEMU_CPU=cortex-a72 arm64_python "${TESTS_S:-3000}" HYPOTHESIS_STORAGE_DIRECTORY=/tmp/hypothesis \
        -m pytest --rootdir /srv/source -p no:cacheprovider --color=no "${chosen[@]}"
}

case ${1:-all} in
samples) compare_samples ;;
tests) run_tests "${@:2}" ;;
installed) check_installed "${2:-bookworm}" ;;
all)
    compare_samples
    run_tests
    check_installed bookworm
    ;;
*) fail "samples, tests, installed or all, not $1" ;;
esac
