#!/usr/bin/env bash
# package_in_root.sh, as root in a throw-away root whose /mnt is a checkout with the Python packages that the
# command needs in /mnt/packages: what the Debian package's scripts do with what dpkg unpacks, and leave after it
# was interrupted. Prints a heading for each part; test_install.py reads what stands under it.
set -euo pipefail

library=/usr/lib/edge-tts-runtime
export DPKG_MAINTSCRIPT_PACKAGE=edge-tts-runtime

# unpack VERSION: as dpkg does, each file beside its place and then renamed into it.
unpack() {
    mkdir -p $library/package
    cp -r /mnt/edge_tts $library/package/edge_tts.new
    sed -i "s/^__version__ = .*/__version__ = \"$1\"/" $library/package/edge_tts.new/__init__.py
    rm -rf $library/package/edge_tts
    mv $library/package/edge_tts.new $library/package/edge_tts
    cp -r /mnt/packages/. $library/package
    echo "$1-0123" >$library/package/RELEASE
}

state() {
    edgetts --version
    readlink $library/current
    ls $library/releases
}

cd /
install -D -m 0755 /mnt/deploy/debian/edgetts /usr/bin/edgetts
install -D -m 0644 /mnt/deploy/debian/edge-tts.sysusers /usr/lib/sysusers.d/edge-tts.conf
install -m 0644 /mnt/systemd/edge-tts.* /usr/lib/systemd/system
unpack 1.0.0
sh /mnt/deploy/debian/postinst configure >/dev/null
echo "== installed"
state
ls -A /etc/edge-tts
stat -c '%h names of the same file' $library/package/edge_tts/__init__.py

echo "== an interpreter that it starts"
# The test sentence of a voice is spoken by one.
(edgetts voices install --store /tmp/store /mnt/models/zh-en 2>&1 || true) | tail -n 1

echo "== interrupted"
rm -rf $library/package/edge_tts/errors.py $library/package/click
state

echo "== the same, installed again after its release was damaged"
: >$library/current/edge_tts/cli.py
unpack 1.0.0
sh /mnt/deploy/debian/postinst configure >/dev/null
state

echo "== a release that can't speak"
unpack 2.0.0
mkdir -p $library/package/models/zh-en
sh /mnt/deploy/debian/postinst configure 2>/tmp/errors || echo "status $?"
grep -c "stays in use" /tmp/errors
edgetts --version
readlink $library/current

echo "== upgraded"
rm -rf $library/package/models
echo '# mine' >/etc/edge-tts/edge-tts.toml
sh /mnt/deploy/debian/postinst configure >/dev/null
state
cat /etc/edge-tts/edge-tts.toml

echo "== removed"
sh /mnt/deploy/debian/prerm remove
ls $library
