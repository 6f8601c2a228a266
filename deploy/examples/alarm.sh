#!/bin/sh
# Speak an alarm from a shell, with nc or socat.
#   alarm.sh PRIORITY TEXT...            exit 0 when the alarm was accepted
#   WAIT=finished alarm.sh high TEXT...  exit 0 when it was spoken
# More fields by FIELDS, for example FIELDS='key=tank7 repeat=30'.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: alarm.sh critical|high|medium|low TEXT..." >&2
    exit 64
fi
priority=$1
shift
socket=${EDGETTS_SOCKET:-/run/edge-tts/edge-tts.sock}
wait=${WAIT:-accepted}
# One line is one request: line ends in the text become spaces.
text=$(printf '%s' "$*" | tr '\r\n' '  ')
line="SAY prio=$priority wait=$wait ${FIELDS:-} text=$text"

ask() {
    if command -v socat >/dev/null 2>&1; then
        printf '%s\n' "$line" | socat -t 600 - "UNIX-CONNECT:$socket"
    elif command -v nc >/dev/null 2>&1; then
        printf '%s\n' "$line" | nc -N -U "$socket"
    else
        echo "alarm.sh: neither socat nor nc is installed" >&2
        exit 69
    fi
}

answer=$(ask) || exit 69
printf '%s\n' "$answer"
case $answer in
    ERR*)
        # ERR <exit status> <reason> ...
        code=${answer#ERR }
        exit "${code%% *}" ;;
    *outcome=superseded* | *outcome=preempted*) exit 10 ;;
    *outcome=expired* | *outcome=shelved*) exit 11 ;;
    *outcome=failed* | *via=tone*) exit 74 ;;
    OK*) exit 0 ;;
    *) exit 69 ;;
esac
