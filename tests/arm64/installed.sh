# Shell functions that install a bundle in an aarch64 root and look at what came of it. Source it after rig.sh, into
# run.sh; it runs nothing.
# shellcheck shell=bash disable=SC2034,SC2154

# bundle_for SUITE: prints the path of a bundle of this state of the tree, kept for the next run.
bundle_for() {
    local suite=$1 state folder sources=${RIG_SOURCES:-}
    local -a options=(--no-debs)
    state=$(cd "$repository" && find edge_tts deploy systemd models ./*.* LICENSE NOTICE -type f ! -name '*.pyc' -print0 |
        sort -z | xargs -0 sha256sum | sha256sum | cut -c1-12)
    folder=$RIG_CACHE/bundle-$suite-$state
    if [ ! -d "$folder" ]; then
        say "bundle: $suite arm64"
        rm -rf -- "$RIG_CACHE/bundle-$suite-"*
        [ "$suite" = jammy ] || sources=${sources:-$(suite_sources "$scratch/bundle" || true)}
        [ -z "$sources" ] || options=(--sources "$sources")
        PYTHON=$python fetch "$scratch/bundle.log" bash "$repository/deploy/make_bundle.sh" --arch arm64 \
            --suite "$suite" "${options[@]}" --output "$folder.new"
        mv -T "$folder.new" "$folder"
    fi
    echo "$folder"/*.tar
}

megabytes() { du -sm --total "$@" | awk 'END { print $1 }'; }

# check_installed SUITE: installs there without a network, speaks, starts; sizes and times are printed.
check_installed() {
    local bundle root=$scratch/root
    RIG_SUITE=$1
    bundle=$(bundle_for "$1")
    if [ "$1" = jammy ] && [ -z "${RIG_SOURCES:-}" ]; then
        say "RIG_SOURCES names no apt sources for jammy: its packages are tried with Debian's Python instead"
        check_versions "$bundle"
        return
    fi
    debian_root "$RIG_CACHE/arm64-$1" arm64 apt python3,libstdc++6,passwd
    cp -a "$RIG_CACHE/arm64-$1" "$root"
    mkdir -p "$scratch/work"
    tar -xf "$bundle" -C "$scratch"
    echo "bundle: $(basename "$bundle"), $(megabytes "$bundle") MB"
    BIND="$scratch/edge-tts-bundle /srv/bundle
$here /srv/rig
$scratch/work /srv/work rw" RIG_NETWORK=no in_arm64 "$root" 1200 bash /srv/rig/install_in_root.sh "$TEXT"
    [ -s "$scratch/work/installed.wav" ] || fail "the installed program wrote no sound"
}

# check_versions BUNDLE: the versions of a bundle for another Python, with the Python of the samples. Their wheels
# are other builds of the same sources.
check_versions() {
    local name wheel
    local -a wanted=()
    mkdir -p "$scratch/unpacked"
    tar -xf "$1" -C "$scratch"
    for wheel in "$scratch"/edge-tts-bundle/wheels/*.whl; do
        name=$(basename "$wheel")
        case $name in
        pip-* | edge_tts_runtime-* | PyAudio-*) continue ;;
        esac
        IFS=- read -r name version _ <<<"$name"
        wanted+=("$name==$version")
        "$python" -m zipfile -e "$wheel" "$scratch/unpacked"
    done
    # shellcheck source=deploy/lib.sh
    (. "$repository/deploy/lib.sh" && prune_packages "$scratch/unpacked")
    echo "bundle: $(basename "$1"), $(megabytes "$1") MB"
    echo "installed: $(megabytes "$scratch/unpacked" "$repository"/{edge_tts,models}) MB without bytecode"
    prepare_source_root
    wheels=$RIG_CACHE/arm64-wheels-$(cksum <<<"${wanted[*]}" | cut -d' ' -f1)
    fetch_wheels "$wheels" "${wanted[@]}"
    (. "$repository/deploy/lib.sh" && prune_packages "$wheels")
    rm -rf -- "$wheels.bytecode"
    mkdir -p "$wheels.bytecode"
    bind_source
    local -a pairs=()
    synth_everywhere zh-en fp32 cortex-a76
    synth_everywhere zh-en int8 cortex-a76
    here_python "$here/compare.py" "$scratch" "${pairs[@]}"
}
