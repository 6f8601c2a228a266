#!/usr/bin/env bash
# Makes .venv, installs what it needs and speaks:  bash deploy/quickstart.sh "警告，主轴温度过高，当前 85℃"
# Through the sound device where there is one, else into a WAV file. The second run takes seconds.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/lib.sh
. "$root/deploy/lib.sh"

text=${*:-警告，主轴温度过高，当前 85℃}
venv=$root/.venv
case $text in
-h | --help)
    sed -n '2,3s/^# //p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
esac

needs_command() {
    die "$1; run this once, then again what you just ran:  ${APT_COMMAND:-sudo apt-get install -y python3-venv}"
}

python=$(find_python) || { apt_install python3 && python=$(find_python); } ||
    needs_command "Python 3.10 or later is missing"

fingerprint=$({ "$python" -VV && cat "$root/setup.py" "$root/deploy/lib.sh"; } | sha256sum)
if [ "$(cat "$venv/.installed" 2>/dev/null)" != "$fingerprint" ] ||
    ! "$venv/bin/python" -c 'import edge_tts' 2>/dev/null; then
    note "preparing $venv (a minute or two, once)"
    make_venv "$python" "$venv" || needs_command "Python's venv module is missing"
    pip_install "$venv" --editable "$root" || die "pip could not install the packages named in setup.py; see above"
    if ! add_pyaudio "$venv"; then
        note "no PyAudio, so no sound device; for one run:  ${APT_COMMAND:-sudo apt-get install -y python3-pyaudio}"
    fi
    printf '%s\n' "$fingerprint" >"$venv/.installed"
fi

print_stats() {
    "$venv/bin/python" -c '
import json, sys

stats = json.load(sys.stdin)
print("first audio after {:8.1f} ms, loading the voice on the way; of which".format(
    stats["first_audio_ms"]))
for stage, took_ms in stats["first_stages_ms"].items():
    print("  {:15} {:8.1f} ms".format(stage, took_ms))
print("{:.0f} times real time, {:.0f} MB, {}".format(
    stats["x_real_time"], stats["peak_rss_mb"], stats["provider"]))
'
}

has_sound_device() {
    "$venv/bin/python" -c 'import pyaudio; pyaudio.PyAudio().get_default_output_device_info()' >/dev/null 2>&1
}

# Status 74: the device is there, and can't be played through.
status=74
if has_sound_device; then
    status=0
    stats=$("$venv/bin/edgetts" synth "$text" --stats json) || status=$?
fi
if [ "$status" -eq 74 ]; then
    wav=$root/speech.wav
    status=0
    stats=$("$venv/bin/edgetts" synth "$text" --stats json -o "$wav") || status=$?
    [ "$status" -ne 0 ] || printf 'no sound device (see edgetts doctor), so the speech is in\n%s\n' "$wav"
fi
[ "$status" -eq 0 ] || exit "$status"
print_stats <<<"$stats"
