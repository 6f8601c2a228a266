#!/usr/bin/env bash
# install_in_root.sh install|upgrade, as root in a throw-away root whose /mnt is a checkout: installs, twice;
# upgrades and removes. Prints a heading for each part; test_install.py reads what stands under it.
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

cd /mnt
"$1"
