#!/usr/bin/env bash
# install_in_root.sh TEXT, as root in an aarch64 root without a network, /srv/bundle an unpacked bundle: installs,
# speaks TEXT into /srv/work/installed.wav, prints what that took, and removes it all.
set -euo pipefail

export PATH=/usr/local/bin:$PATH
limit_mb=120
python=/opt/edge-tts/current/bin/python

! grep -qv -e '|' -e ' lo:' /proc/net/dev || { echo "there is a network here" && exit 1; }
bash /srv/bundle/deploy/install.sh --no-start
edgetts synth "$1" -o /srv/work/installed.wav --stats json
edgetts doctor || true
size_mb=$(du -sm --total /opt/edge-tts /usr/share/edge-tts /etc/edge-tts | awk 'END { print $1 }')
echo "installed: $size_mb MB, of which the voice $(du -smL /usr/share/edge-tts/voices/zh-en | cut -f1) MB, at most $limit_mb MB"
"$python" /srv/rig/startup.py "$python"
bash /srv/bundle/deploy/install.sh --uninstall
left=$(find /opt /etc /usr /var /run -xdev -iname '*edge[-_]tts*' -o -xdev -name '*edgetts*')
[ -z "$left" ] || { echo "left behind: $left" && exit 1; }
[ "$size_mb" -le "$limit_mb" ]
