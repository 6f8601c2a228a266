#!/usr/bin/env bash
# boot_probe.sh install|remove|run: runs as a service of a throw-away system that has the product installed, and
# writes what it sees, name=value, into /mnt/probe-1.log (the first boot) and probe-2.log.
set -uo pipefail
export PATH=/usr/local/bin:$PATH

units=/etc/systemd/system

install_probe() {
    cat >$units/edge-tts-probe.service <<'UNIT'
[Unit]
After=edge-tts.service edge-tts.socket
[Service]
Type=oneshot
ExecStart=/bin/bash /mnt/boot_probe.sh run
TimeoutStartSec=150
UNIT
    cat >$units/edge-tts-probe.target <<'UNIT'
[Unit]
Requires=basic.target edge-tts.socket edge-tts.service edge-tts-probe.service
After=basic.target
AllowIsolate=yes
UNIT
    cp /etc/edge-tts/edge-tts.toml /etc/edge-tts/before-probe
    sed -i 's/^# sink = .*/sink = "null"/' /etc/edge-tts/edge-tts.toml
}

remove_probe() {
    rm $units/edge-tts-probe.service $units/edge-tts-probe.target
    mv /etc/edge-tts/before-probe /etc/edge-tts/edge-tts.toml
    rm -rf /var/lib/edge-tts /var/cache/edge-tts
}

ask() { systemctl show --property "$1" --value edge-tts.service; }
spoken() { edgetts say --wait finished "$1" >/dev/null 2>&1; }
ms() { echo $(($(date +%s%N) / 1000000)); }

# await_restart N: until systemd has restarted the service N times.
await_restart() {
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        [ "$(ask NRestarts)" -lt "$1" ] || [ "$(ask ActiveState)" != active ] || return 0
        sleep 0.1
    done
}

run_probe() {
    local began pid
    echo "socket=$(systemctl is-active edge-tts.socket)"
    echo "service=$(systemctl is-active edge-tts.service)"
    echo "socket_file=$(stat -c '%a %G' /run/edge-tts/edge-tts.sock)"
    touch /usr/probe 2>/dev/null && echo root_writable=yes || echo root_writable=no
    rm -f /usr/probe
    edgetts test --wait finished >/dev/null 2>&1
    echo "test=$?"
    runuser -u nobody -- /opt/edge-tts/current/bin/edgetts ping >/dev/null 2>&1
    echo "stranger=$?"

    pid=$(ask MainPID)
    echo "peak_memory_kib=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status")"
    systemctl reload edge-tts.service
    echo "reload=$?"
    sleep 1
    [ "$pid" = "$(ask MainPID)" ] && echo reload_kept_process=yes || echo reload_kept_process=no

    began=$(ms)
    kill -KILL "$pid"
    spoken "电机过载"
    echo "after_kill=$?"
    echo "kill_to_finished_ms=$(($(ms) - began))"
    await_restart 1

    began=$(ms)
    kill -STOP "$(ask MainPID)"
    await_restart 2
    echo "stop_signal_to_restart_ms=$(($(ms) - began))"
    spoken "电机过载"
    echo "after_stop_signal=$?"
    echo "restarts=$(ask NRestarts)"

    began=$(ms)
    systemctl restart edge-tts.service
    echo "restart_to_ready_ms=$(($(ms) - began))"
    began=$(ms)
    /opt/edge-tts/current/bin/python -c 'import numpy'
    echo "import_numpy_ms=$(($(ms) - began))"

    systemctl stop edge-tts.service 2>/dev/null
    edgetts ping >/dev/null 2>&1
    echo "by_socket=$(systemctl is-active edge-tts.service)"
    echo "state_folder=$(find /var/lib/edge-tts -mindepth 1 -maxdepth 1 -printf '%f ')"
}

case $1 in
install) install_probe ;;
remove) remove_probe ;;
run)
    log=/mnt/probe-1.log
    [ ! -e $log ] || log=/mnt/probe-2.log
    run_probe >$log 2>&1
    journalctl --no-pager -u edge-tts.service >/mnt/journal.txt 2>&1
    systemctl poweroff --no-block
    ;;
esac
