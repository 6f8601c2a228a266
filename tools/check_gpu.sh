#!/usr/bin/env bash
# Everything that only a GPU can show, in one go: engines, what they say beside the CPU, latency and
# jitter, and what is heard when the GPU is lost.
#   bash tools/check_gpu.sh [FOLDER]    engines and reports go there; ./gpu-report without it
# PYTHON names the interpreter that sees tensorrt, pycuda and this program's requirements.
# Status 0 only if every step passed.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p -- "${1:-gpu-report}"
report=$(cd "${1:-gpu-report}" && pwd)
python=${PYTHON:-python3}
cd "$root" || exit 1
export PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
export EDGETTS_CONFIG=$report/edge-tts.toml
printf '[inference]\nengine_folder = "%s/engines"\n' "$report" >"$EDGETTS_CONFIG"

failed=()
# step NAME COMMAND...: what it prints is shown, and kept in NAME.txt.
step() {
    local name=$1
    shift
    printf '== %s\n' "$name"
    "$@" 2>&1 | tee "$report/$name.txt" || failed+=("$name")
}

# It finds other things too, such as a missing sound card, which are no failure here.
"$python" -m edge_tts doctor | tee "$report/doctor.txt"
step engines "$python" -m edge_tts engine build
step selftest "$python" -m edge_tts selftest --provider tensorrt
step jetson "$python" -m pytest -q -p no:cacheprovider -m jetson tests/tensorrt
step bench "$python" -m edge_tts bench --provider tensorrt
step loss "$python" -m tools.measure_gpu_loss --gpu

if [ "${#failed[@]}" -gt 0 ]; then
    printf 'failed: %s\n' "${failed[*]}"
    exit 1
fi
printf 'all passed; see %s\n' "$report"
