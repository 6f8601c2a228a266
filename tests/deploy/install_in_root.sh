#!/usr/bin/env bash
# install_in_root.sh install|upgrade, as root in a throw-away root whose /mnt is a checkout: installs, twice;
# upgrades and removes. Prints a heading for each part; test_install.py reads what stands under it.
# install_in_root.sh bundle|remove|package, with /mnt an unpacked bundle: for tests/deploy/distribution.sh, which fails
# where one of them does.
set -euo pipefail

# What carries the product's name in the system's folders.
traces() {
    find /etc /opt /usr /var/lib /var/cache /run -xdev \( -iname '*edge[-_]tts*' -o -name '*edgetts*' \)
    grep -s edge-tts /etc/passwd /etc/group /etc/shadow /etc/gshadow || true
}

install() {
    echo "== installed"
    bash deploy/install.sh --cpu 0 --realtime
    edgetts --version
    readlink /usr/local/bin/edgetts
    edgetts synth "电机过载" -o /tmp/speech.wav
    stat -c '%s bytes' /tmp/speech.wav
    edgetts config check
    getent passwd edge-tts | cut -d: -f1,6,7
    id -nG edge-tts
    grep -h -e CPUAffinity= -e LimitRTPRIO= /etc/systemd/system/edge-tts.service.d/*.conf
    ls /etc/systemd/system/sockets.target.wants/ /etc/systemd/system/multi-user.target.wants/

    echo "== again"
    echo '# mine' >>/etc/edge-tts/edge-tts.toml
    release=$(readlink /opt/edge-tts/current)
    inode=$(stat -c %i "$release/bin/edgetts")
    bash deploy/install.sh
    [ "$inode" = "$(stat -c %i "$release/bin/edgetts")" ] && echo "the release was kept"
    tail -n 1 /etc/edge-tts/edge-tts.toml

    echo "== again, damaged"
    find "$release/lib/" -path '*/edge_tts/cli.py' -exec truncate -s 0 {} +
    ! edgetts synth "电机过载" -o /dev/null 2>/dev/null || echo "it was not damaged"
    bash deploy/install.sh
    edgetts synth "电机过载" -o /dev/null
    edgetts --version
}

upgrade() {
    release=$(readlink /opt/edge-tts/current)
    echo "== an upgrade that can't speak"
    sed -i 's/^__version__ = .*/__version__ = "9.9.9"/' edge_tts/__init__.py
    sed -i 's/^def build_pipeline/def build_no_pipeline/' edge_tts/pipeline.py
    bash deploy/install.sh 2>/tmp/errors || echo "status $?"
    grep "can't speak" /tmp/errors
    [ "$(readlink /opt/edge-tts/current)" = "$release" ] && echo "the old release stayed"
    edgetts synth "电机过载" -o /dev/null
    edgetts --version

    echo "== an upgrade"
    sed -i 's/^def build_no_pipeline/def build_pipeline/' edge_tts/pipeline.py
    bash deploy/install.sh
    edgetts --version

    echo "== removed"
    bash deploy/install.sh --uninstall
    traces
}

fail() {
    echo "$*" >&2
    exit 1
}

# What a person would try, without a network.
try() {
    edgetts --version
    edgetts synth "电机过载，pump 2 high pressure" -o /tmp/speech.wav
    [ "$(stat -c %s /tmp/speech.wav)" -gt 50000 ] || fail "it spoke nothing"
    edgetts bench --rounds 1 | tail -n 3
    edgetts doctor || true
    ! edgetts doctor --json | grep -E 'broke down|PyAudio|No module' || fail "the doctor found that"
}

bundle() {
    ! grep -qv -e '|' -e ' lo:' /proc/net/dev || fail "there is a network here"
    bash deploy/install.sh
    try
    size_mb=$(du -sm --total /opt/edge-tts /usr/share/edge-tts /etc/edge-tts | awk 'END { print $1 }')
    echo "installed: $size_mb MB, at most 120 MB"
    [ "$size_mb" -le 120 ] || fail "that is too large"
    bash deploy/install.sh 2>&1 | grep 'is there already'
}

remove() {
    bash deploy/install.sh --uninstall
    left=$(traces)
    [ -z "$left" ] || fail "left behind: $left"
    echo "removed without a trace"
}

package() {
    local -a debs=(debs/*.deb package/*.deb)
    apt-get install -y --no-install-recommends "${debs[@]/#/.\/}" 2>&1 | tail -n 20
    try
    size_mb=$(du -sm --total /usr/lib/edge-tts-runtime /usr/share/edge-tts /etc/edge-tts | awk 'END { print $1 }')
    echo "installed: $size_mb MB, at most 120 MB"
    [ "$size_mb" -le 120 ] || fail "that is too large"
    systemctl is-enabled edge-tts.service edge-tts.socket
    apt-get purge -y edge-tts-runtime 2>&1 | tail -n 3
    # Debian's policy lets the system's user stay.
    left=$(traces | grep -v '^/etc/[a-z]*:' || true)
    [ -z "$left" ] || fail "left behind: $left"
    echo "purged without a trace but the user"
}

cd /mnt
"$1"
