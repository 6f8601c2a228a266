#!/bin/sh
# build.sh FOLDER: a small Debian for QEMU that runs guest.py as soon as it is up: vmlinuz, initrd and root.img in FOLDER.
#
# Takes two or three minutes, as root, with the host's own package sources. Needs
#   apt install mmdebstrap e2fsprogs qemu-system-x86
# Then: EDGETTS_USB_VM=FOLDER pytest -m slow tests/audio/test_usb_card.py
set -eu
folder=$1
sources=${APT_SOURCES:-/etc/apt/sources.list.d/debian.sources}
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mkdir -p "$folder"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
packages=linux-image-amd64,initramfs-tools,kmod,mount,python3-pyaudio,python3-numpy
mmdebstrap --quiet --variant=apt --components=main --include=$packages \
    --aptopt='Acquire::Languages "none"' "$suite" "$root" "$sources"
cp "$root"/boot/vmlinuz-* "$folder/vmlinuz"
cp "$root"/boot/initrd.img-* "$folder/initrd"
# Process 1 of the guest: no systemd and no udev, the kernel makes the device nodes.
cat >"$root/sbin/guest-init" <<'INIT'
#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
modprobe -a xhci_pci snd_usb_audio snd_pcm_oss 9p 9pnet_virtio 2>/dev/null
mkdir -p /source /share
mount -t 9p -o trans=virtio,version=9p2000.L,ro source /source
mount -t 9p -o trans=virtio,version=9p2000.L share /share
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=/source HOME=/root \
    timeout -k 5 150 python3 /source/tests/usb_card/guest.py >/share/log 2>&1
echo "exit status $?" >>/share/log
sync
echo o >/proc/sysrq-trigger
sleep 10
INIT
chmod +x "$root/sbin/guest-init"
rm -f "$folder/root.img"
truncate -s 2G "$folder/root.img"
mke2fs -q -t ext4 -O ^has_journal -d "$root" "$folder/root.img"
