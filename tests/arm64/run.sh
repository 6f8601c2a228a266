#!/usr/bin/env bash
# Runs the core of the tests and `edgetts synth` with aarch64 Python and aarch64 wheels under user-mode
# emulation, and compares the samples with those of this machine:  sudo bash tests/arm64/run.sh
#   samples   only the samples        tests [pytest argument...]   only the tests
# PYTHON is an interpreter that has the project's test packages (default: .venv-test's, else python3); the
# aarch64 wheels are of the same versions. RIG_CACHE, RIG_NICE and RIG_SOURCES as in rig.sh. Status 77: can't run here.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
# shellcheck source=tests/arm64/rig.sh
. "$here/rig.sh"

TEXT='警告，3号泵 low oil pressure，当前 85℃。Motor stalled.'
PACKAGES=(numpy onnxruntime click pytest hypothesis onnx scipy)
CORE=(tests/text tests/synthesis tests/inference)

need mmdebstrap mmdebstrap qemu-aarch64-static qemu-user-static update-binfmts binfmt-support
enable_arm64_programs

python=${PYTHON:-$repository/.venv-test/bin/python}
[ -x "$python" ] || python=$(command -v python3)
versions=$("$python" - "${PACKAGES[@]}" <<'PY'
import sys
from importlib.metadata import version

print(*(f"{name}=={version(name)}" for name in sys.argv[1:]))
PY
) || { say "not run: $python lacks ${PACKAGES[*]}; run tools/test.sh once" && exit 77; }

root=$RIG_CACHE/arm64-python
wheels=$RIG_CACHE/arm64-wheels-$(cksum <<<"$versions" | cut -d' ' -f1)
debian_root "$root" arm64 extract python3,libstdc++6

fetch_wheels() {
    local minor
    local -a platforms=()
    [ ! -d "$wheels" ] || return 0
    say "aarch64 wheels: $versions"
    for minor in {36..17}; do platforms+=(--platform "manylinux_2_${minor}_aarch64"); done
    rm -rf -- "$wheels.new"
    # shellcheck disable=SC2086 # one requirement a word
    "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-compile \
        --target "$wheels.new" --only-binary=:all: --implementation cp --python-version 3.11 \
        "${platforms[@]}" --platform manylinux2014_aarch64 $versions ||
        fail "pip could not get the aarch64 wheels; see above"
    mv -T "$wheels.new" "$wheels"
}
fetch_wheels

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
export BIND="$repository /srv/source
$wheels /srv/wheels
$scratch /srv/work rw"
arm64_environment='PYTHONPATH=/srv/source:/srv/wheels PYTHONDONTWRITEBYTECODE=1 EDGETTS_LEXICON_D=/srv/work/none'

# synth PLACE VOICE PRECISION NAME COMMAND...: one `edgetts synth` into NAME.wav, its statistics beside it.
synth() {
    local place=$1 voice=$2 precision=$3 name=$4
    shift 4
    printf '[inference]\nprovider = "cpu"\nprecision = "%s"\n' "$precision" >"$scratch/$precision.toml"
    "$@" -m edge_tts synth "$TEXT" --voice "$place/$voice" -o "$place/$name.wav" --stats json \
        >"$scratch/$name.json"
}

here_python() { env PYTHONPATH="$repository" EDGETTS_LEXICON_D="$scratch/none" "$python" "$@"; }

arm64_python() { ENVIRONMENT="$arm64_environment $extra" in_arm64 "$root" "${limit_s:-${SYNTH_S:-600}}" python3 "$@"; }

compare_samples() {
    local voice precision
    local -a pairs=()
    here_python -c 'import sys
from pathlib import Path
from tests.tiny_voice import write_tiny_voice
write_tiny_voice(Path(sys.argv[1]), lexicon=Path(sys.argv[2]))' "$scratch/tiny" "$repository/models/zh-en/lexicon.bin"
    [ ! -f "$repository/models/zh-en/voice.json" ] || cp -rL "$repository/models/zh-en" "$scratch/zh-en"
    for voice in tiny zh-en; do
        [ -d "$scratch/$voice" ] || continue
        for precision in fp32 int8; do
            say "$voice $precision"
            EDGETTS_CONFIG=$scratch/$precision.toml synth "$scratch" $voice $precision "$voice-$precision-x86" here_python
            for QEMU_CPU in cortex-a72 cortex-a76; do
                export QEMU_CPU
                extra="EDGETTS_CONFIG=/srv/work/$precision.toml" \
                    synth /srv/work $voice $precision "$voice-$precision-$QEMU_CPU" arm64_python
                pairs+=("$voice-$precision-x86" "$voice-$precision-$QEMU_CPU")
            done
        done
    done
    here_python "$here/compare.py" "$scratch" "${pairs[@]}"
}

run_tests() {
    local -a chosen=("$@")
    [ $# -gt 0 ] || chosen=("${CORE[@]}")
    say "tests: ${chosen[*]}"
    limit_s=${TESTS_S:-3000} extra="HYPOTHESIS_STORAGE_DIRECTORY=/tmp/hypothesis" QEMU_CPU=cortex-a72 \
        arm64_python -m pytest --rootdir /srv/source -c /srv/source/pyproject.toml -p no:cacheprovider \
        --color=no "${chosen[@]/#/\/srv\/source\/}"
}

extra=''
case ${1:-all} in
samples) compare_samples ;;
tests)
    shift
    run_tests "$@"
    ;;
all)
    compare_samples
    run_tests
    ;;
*) fail "samples, tests or nothing, not $1" ;;
esac
