#!/usr/bin/env bash
# From nothing to a voice pack: fetch, corpus, train, export, calibrate, evaluate.
# Every step goes on where a kill left it. Usage: tools/voice/make_voice.sh [WORK_FOLDER [PACK]]
set -euo pipefail
cd "$(dirname "$0")/../.."

work="${1:-build/voice}"
pack="${2:-models/zh-en}"
hours="${HOURS:-8}"             # of teacher speech
acoustic="${ACOUSTIC_MINUTES:-120}" # CPU time a thread
vocoder="${VOCODER_MINUTES:-120}"
joint="${JOINT_MINUTES:-480}"
threads="${THREADS:-$(nproc)}"
python="${PYTHON:-$work/venv/bin/python}"

mkdir -p "$work"
if [ ! -x "$python" ]; then
  python3 -m venv "$work/venv"
  "$python" -m pip install --quiet -r tools/voice/requirements.txt
  # Their declared dependencies (torchaudio, spacy) are not needed for what is used here.
  "$python" -m pip install --quiet --no-deps -r tools/voice/requirements-no-deps.txt
fi
run() { echo "== $*" >&2; nice -n 10 "$python" -m "$@"; }

run tools.voice.fetch "$work"
run tools.voice.corpus --teacher "$work/teacher" --out "$work/corpus" --hours "$hours" --workers "$threads"
run tools.voice.screen --corpus "$work/corpus" --whisper "$work/whisper" --threads "$threads"
run tools.voice.train vocoder --corpus "$work/corpus" --out "$work/run" --minutes "$vocoder" --processes "$threads"
run tools.voice.train acoustic --corpus "$work/corpus" --out "$work/run" --minutes "$acoustic" --processes "$threads"
run tools.voice.align --corpus "$work/corpus" --checkpoint "$work/run/acoustic.pt"
run tools.voice.screen --corpus "$work/corpus" --checkpoint "$work/run/acoustic.pt"
run tools.voice.train joint --corpus "$work/corpus" --out "$work/run" --minutes "$joint" --processes "$threads"
run tools.voice.export --checkpoints "$work/run" --out "$pack" --match "$work/corpus"
run tools.voice.quantise_study --voice "$pack" --calibrate-only
run tools.voice.lite --voice "$pack" --out "$pack-lite" --name "$(basename "$pack")-lite"
run tools.voice.evaluate --voice "$pack" --whisper "$work/whisper" --teacher "$work/teacher" --out "$work/evaluation"
