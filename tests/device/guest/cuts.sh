#!/bin/bash
# cuts.sh, in a booted system whose power will go: does the job named in /mnt/job, and says in files there what
# it saw. Written for tests/device/cuts.py.
set -uo pipefail

text='一号锅炉压力过高，boiler one.'
packages=/root/rig

seconds() { cut -d' ' -f1 /proc/uptime; }

restart() { systemctl restart edge-tts.service; }

upgrade() {
    seconds >/mnt/began
    case $1 in
    package) dpkg --install $packages/new.deb ;;
    voice)
        edgetts voices install $packages/voice-1 && restart &&
            edgetts voices install $packages/voice-2 && restart &&
            edgetts voices rollback && restart
        ;;
    esac
    echo "status $?"
    edgetts --version
    edgetts status --json >/mnt/status
    seconds >/mnt/ended
    sleep 60
}

# What its owner would type after an interrupted upgrade.
mend() {
    dpkg --configure -a || dpkg --install $packages/new.deb
    [ "$(dpkg-query -W -f='${db:Status-Abbrev}' edge-tts-runtime)" = "ii " ] || dpkg --install $packages/new.deb
}

# Speaks through the socket, and tells of what spoke.
check() {
    local tries
    # A busy host makes the network late, and the fallback speaks; a torn voice never speaks by itself.
    for tries in 1 2 3 4; do
        edgetts say --wait finished --key "rig$tries" "$text" >/mnt/said 2>&1
        [ -e /mnt/finished ] || seconds >/mnt/finished
        grep -q 'outcome=done via=neural' /mnt/said && break
    done
    echo "$tries" >/mnt/tries
    cp /var/lib/edge-tts/said.wav /mnt/said.wav
    edgetts --version >/mnt/version 2>&1
    edgetts status --json >/mnt/status 2>&1
    edgetts voices verify >/mnt/verify 2>&1
    dpkg-query -W -f='${db:Status-Abbrev}|${Version}\n' edge-tts-runtime >/mnt/package
}

read -r job argument </mnt/job
{
    systemctl start edge-tts.socket
    case $job in
    upgrade) upgrade "$argument" ;;
    check) check ;;
    mend) mend && check ;;
    reference)
        check
        edgetts synth "$text" -o /mnt/reference.wav
        ;;
    esac
} >/mnt/output 2>&1
journalctl --no-pager -b -u edge-tts.service >/mnt/journal 2>&1
touch /mnt/done
