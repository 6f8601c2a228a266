# Shell functions that make a bootable disk with the package installed. Source it after
# tests/arm64/rig.sh; it runs nothing.
# shellcheck shell=bash

# shellcheck disable=SC2034 # the script that sources this reads it
# What the device has before the package comes: systemd, sound, and what the package depends on.
DEVICE_PACKAGES=systemd,systemd-sysv,udev,dbus,kmod,python3,python3-pyaudio,alsa-utils,libstdc++6
# What Debian's kernel needs as modules: first to reach the root, then sound, the agent's port and entropy.
BOOT_MODULES=(virtio_pci virtio_blk ext4 crc32c_generic)
DEVICE_MODULES=(snd_hda_intel snd_hda_codec_generic snd_usb_audio xhci_pci virtio_console virtio_rng autofs4)

# fetch_debs FOLDER ARCHITECTURE NAME...: packages of any architecture by apt in folders of its own.
fetch_debs() (
    local folder=$1 architecture=$2 state=$1.apt sources=${RIG_SOURCES:-}
    shift 2
    mkdir -p "$folder" "$state"/{lists/partial,archives/partial}
    : >"$state/status"
    cat >"$state/conf" <<CONF
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State::lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state";
Dir::Cache::archives "$state/archives";
CONF
    sources=${sources:-$(suite_sources "$state/suite")} || sources=
    if [ -n "$sources" ]; then
        printf 'Dir::Etc::sourcelist "%s";\nDir::Etc::sourceparts "/dev/null";\n' "$sources" >>"$state/conf"
    fi
    export APT_CONFIG=$state/conf
    fetch "$state/log" apt-get -qq update
    cd "$folder" || exit
    fetch "$state/log" apt-get -qq download "$@"
)

# kernel FOLDER ARCHITECTURE: Debian's kernel with its modules, unpacked, and a static busybox.
kernel() {
    local folder=$1 architecture=$2 scratch=$1.new image deb
    [ ! -d "$folder" ] || return 0
    say "kernel: $RIG_SUITE $architecture"
    rm -rf -- "$scratch" "$scratch.debs"
    # The meta package names the kernel.
    fetch_debs "$scratch.debs" "$architecture" "linux-image-$architecture" busybox-static
    image=$(dpkg-deb -f "$scratch.debs/linux-image-$architecture"_*.deb Depends | sed 's/[ ,(].*//')
    fetch_debs "$scratch.debs" "$architecture" "$image"
    rm "$scratch.debs/linux-image-$architecture"_*.deb
    mkdir -p "$scratch"
    for deb in "$scratch.debs"/*.deb; do dpkg-deb -x "$deb" "$scratch"; done
    depmod -b "$scratch" "$(ls "$scratch/lib/modules")"
    rm -rf -- "$scratch.debs" "$scratch.debs.apt"
    mv -T "$scratch" "$folder"
}

# modules KERNEL NAME...: the files of modules in the order of loading, dependencies first.
modules() {
    local kernel=$1 name
    shift
    for name in "$@"; do
        modprobe -d "$kernel" -S "$(ls "$kernel/lib/modules")" --show-depends "$name" |
            awk '$1 == "insmod" { print $2 }'
    done | awk '!seen[$0]++'
}

# initial_ram_disk KERNEL FILE: loads what reaches the disk and goes there; Debian's own, made by
# initramfs-tools, takes an emulated machine a minute longer.
initial_ram_disk() {
    local kernel=$1 file=$2 tree number=10 module
    tree=$(mktemp -d)
    mkdir -p "$tree"/{bin,dev,proc,root,modules}
    cp "$kernel/bin/busybox" "$tree/bin/busybox"
    while read -r module; do
        cp "$module" "$tree/modules/$((number++))-$(basename "$module")"
    done < <(modules "$kernel" "${BOOT_MODULES[@]}")
    cat >"$tree/init" <<'INIT'
#!/bin/busybox sh
bb=/bin/busybox
$bb mount -t devtmpfs dev /dev
$bb mount -t proc proc /proc
for module in /modules/*; do $bb insmod "$module"; done
tries=0
while [ ! -b /dev/vda ] && [ $tries -lt 100 ]; do $bb sleep 0.1; tries=$((tries + 1)); done
mode=rw
for word in $($bb cat /proc/cmdline); do [ "$word" != ro ] || mode=ro; done
$bb mount -t ext4 -o $mode /dev/vda /root || { echo "no root"; $bb poweroff -f; }
$bb umount /proc
$bb mount --move /dev /root/dev
exec $bb switch_root /root /sbin/init
INIT
    chmod +x "$tree/init"
    (cd "$tree" && find . | cpio --quiet -o -H newc | gzip -1) >"$file"
    rm -rf -- "$tree"
}

# foreign_root FOLDER ARCHITECTURE NATIVE: a root file system of another architecture, without emulating a
# hundred installations: packages are unpacked, and what their scripts make of them (accounts, links, bytecode,
# dpkg's records) is taken from NATIVE, which has the same packages.
foreign_root() {
    local folder=$1 architecture=$2 native=$3 own file
    local scratch=$folder.unpacked records=$folder.unpacked/var/lib/dpkg
    [ ! -d "$folder" ] || return 0
    rm -rf -- "$scratch"
    debian_root "$scratch" "$architecture" extract "$DEVICE_PACKAGES"
    own=$(dpkg --print-architecture)
    cp -an "$native/etc/." "$scratch/etc/"
    mkdir -p "$scratch"/{dev,proc,sys,run,srv,root,boot,mnt,tmp} "$scratch"/var/lib/{dbus,systemd}
    chmod 1777 "$scratch/tmp"
    for file in "$native"/usr/{bin,sbin}/*; do
        [ ! -L "$file" ] || [ -L "$scratch${file#"$native"}" ] || cp -an "$file" "$scratch${file#"$native"}"
    done
    (cd "$native" && find usr/lib/python3* usr/share/python3 -name '*.pyc' -print0 | tar --null -T - -cf -) |
        tar -C "$scratch" -xf -
    rm -rf -- "$records"
    cp -a "$native/var/lib/dpkg" "$records"
    sed -i "s/^Architecture: $own\$/Architecture: $architecture/" "$records/status"
    for file in "$records/info/"*:"$own".*; do mv "$file" "${file/:$own./:$architecture.}"; done
    in_root "$architecture" "$scratch" 300 ldconfig
    mv -T "$scratch" "$folder"
}

# in_root ARCHITECTURE ROOT SECONDS COMMAND...: COMMAND in a root file system, emulated where it must be.
in_root() {
    local architecture=$1
    shift
    if [ "$architecture" = arm64 ] && [ "$(uname -m)" != aarch64 ]; then
        in_arm64 "$@"
        return
    fi
    local root=$1 seconds=$2
    shift 2
    # shellcheck disable=SC2016 # the inner shell expands these
    ROOT=$root timeout -k 10 "$seconds" unshare --mount --pid --fork --kill-child \
        --propagation private bash -euc '
        mount --rbind /dev "$ROOT/dev"
        mount -t proc proc "$ROOT/proc"
        mount -t tmpfs tmpfs "$ROOT/tmp"
        exec chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"
        ' bash "$@"
}

# device_image FOLDER ARCHITECTURE KERNEL ROOT PACKAGE VOICE: vmlinuz, initrd and root.img in FOLDER, the
# package installed offline. VOICE is a folder that takes the place of the package's voice, or empty.
device_image() {
    local folder=$1 architecture=$2 kernel=$3 base=$4 package=$5 voice=$6
    local tree=$folder.tree module target guest
    guest=$(dirname "${BASH_SOURCE[0]}")/guest
    [ ! -d "$folder" ] || return 0
    say "image: $(basename "$package") on $RIG_SUITE $architecture"
    rm -rf -- "$folder.new" "$tree"
    mkdir -p "$folder.new"
    cp -a "$base" "$tree"
    cp "$package" "$tree/root/package.deb"
    in_root "$architecture" "$tree" 1200 dpkg --install /root/package.deb >&2 || fail "the package did not install"
    rm "$tree/root/package.deb"
    if [ -n "$voice" ]; then
        rm -rf -- "$tree/usr/share/edge-tts/voices/zh-en"
        mkdir -p "$tree/usr/share/edge-tts/voices"
        cp -rL "$voice" "$tree/usr/share/edge-tts/voices/zh-en"
    fi
    install -D -m 0755 "$guest/agent.py" "$tree/usr/local/lib/edge-tts-rig/agent.py"
    install -D -m 0644 "$guest/edge-tts-rig.service" "$tree/etc/systemd/system/edge-tts-rig.service"
    ln -s ../edge-tts-rig.service "$tree/etc/systemd/system/multi-user.target.wants/edge-tts-rig.service"
    # A shorter boot: nothing here is what is tested.
    for module in systemd-binfmt.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
        e2scrub_all.timer fstrim.timer getty@tty1.service serial-getty@.service; do
        ln -sf /dev/null "$tree/etc/systemd/system/$module"
    done
    while read -r module; do
        target=$tree/usr${module#"$kernel"}
        mkdir -p "$(dirname "$target")"
        cp "$module" "$target"
    done < <(modules "$kernel" "${DEVICE_MODULES[@]}")
    cp "$kernel"/lib/modules/*/modules.{order,builtin,builtin.modinfo} "$(echo "$tree"/usr/lib/modules/*)"
    depmod -b "$tree" "$(ls "$tree/usr/lib/modules")"
    echo device >"$tree/etc/hostname"
    : >"$tree/etc/fstab"
    : >"$tree/etc/machine-id"
    cp "$kernel"/boot/vmlinuz-* "$folder.new/vmlinuz"
    initial_ram_disk "$kernel" "$folder.new/initrd"
    truncate -s 1536M "$folder.new/root.img"
    mke2fs -q -t ext4 -d "$tree" "$folder.new/root.img"
    rm -rf -- "$tree"
    mv -T "$folder.new" "$folder"
}

# newer_package PACKAGE FILE: the same as version 9.0.0, in which a module has another name: a mixture of the
# two releases does not start.
newer_package() {
    local package=$1 file=$2 tree=$2.tree library
    rm -rf -- "$tree"
    dpkg-deb -R "$package" "$tree"
    library=$tree/usr/lib/edge-tts-runtime/package
    mv "$library/edge_tts/errors.py" "$library/edge_tts/faults.py"
    find "$library/edge_tts" -name '*.py' -exec sed -i 's/\bedge_tts\.errors\b/edge_tts.faults/g' {} +
    sed -i 's/^__version__ = .*/__version__ = "9.0.0"/' "$library/edge_tts/__init__.py"
    echo "9.0.0-$(sha256sum <"$package" | cut -c1-12)" >"$library/RELEASE"
    sed -i 's/^Version: .*/Version: 9.0.0-1/' "$tree/DEBIAN/control"
    (cd "$tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) \
        >"$tree/DEBIAN/md5sums"
    dpkg-deb --root-owner-group -Zgzip -z1 --build "$tree" "$file" >/dev/null
    rm -rf -- "$tree"
}
