# Shell functions that the scripts of deploy/ and tools/ share. Source it; it runs nothing.
# shellcheck shell=bash
# shellcheck disable=SC2034 # APT_COMMAND is for the scripts that source this

note() { printf '%s\n' "$*" >&2; }

die() {
    note "$(basename "$0"): $*"
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# missing_packages NAME...: those that dpkg does not have installed, one a line.
missing_packages() {
    local name
    for name in "$@"; do
        # shellcheck disable=SC2016 # dpkg-query's own placeholder
        dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed ||
            printf '%s\n' "$name"
    done
}

# apt_install NAME...: installs what is missing, as root or by a sudo that asks nothing.
# Status 1, with the one command to run in APT_COMMAND, where it may not.
apt_install() {
    local -a names=() apt=(apt-get -qq -y -o Dpkg::Use-Pty=0 -o APT::Install-Recommends=false
        -o DPkg::Lock::Timeout=300)
    local output
    mapfile -t names < <(missing_packages "$@")
    [ "${#names[@]}" -eq 0 ] && return 0
    APT_COMMAND="sudo apt-get update && sudo apt-get install -y ${names[*]}"
    have apt-get || return 1
    if [ "$(id -u)" -ne 0 ]; then
        sudo -n true 2>/dev/null || return 1
        apt=(sudo -n env DEBIAN_FRONTEND=noninteractive "${apt[@]}")
    fi
    note "installing system packages: ${names[*]}"
    # The lists of a fresh image are empty or old: refresh them when the first try fails.
    output=$(
        export DEBIAN_FRONTEND=noninteractive
        exec 2>&1 </dev/null
        "${apt[@]}" install "${names[@]}" || { "${apt[@]}" update && "${apt[@]}" install "${names[@]}"; }
    ) || {
        note "$output"
        return 1
    }
}

# find_python: the newest usable interpreter, 3.10 or later; PYTHON wins.
find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3 python3.13 python3.12 python3.11 \
        python3.10; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

# make_venv PYTHON FOLDER: a virtual environment with pip, whole or not at all.
make_venv() {
    local python=$1 folder=$2
    if [ -x "$folder/bin/python" ] && "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
        return 0
    fi
    rm -rf -- "$folder"
    "$python" -c 'import venv, ensurepip' 2>/dev/null || apt_install python3-venv || return 1
    "$python" -m venv "$folder"
}

# pip_install FOLDER ARGUMENT...: pip of a virtual environment, quiet unless it fails.
pip_install() {
    local folder=$1
    shift
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
        --root-user-action=ignore "$@"
}

# add_pyaudio FOLDER: PyAudio for a virtual environment, by the quickest way that works: it is
# there already; the distribution's own build, linked in; built from source with PortAudio's headers.
add_pyaudio() {
    local folder=$1
    pyaudio_works "$folder" && return 0
    if link_system_pyaudio "$folder" && pyaudio_works "$folder"; then return 0; fi
    if apt_install python3-pyaudio && link_system_pyaudio "$folder" && pyaudio_works "$folder"; then
        return 0
    fi
    unlink_system_pyaudio "$folder"
    apt_install portaudio19-dev python3-dev gcc libc6-dev || return 1
    pip_install "$folder" 'PyAudio>=0.2.14' && pyaudio_works "$folder"
}

# PyAudio before 0.2.12 fails on its first write with Python 3.10 and later.
pyaudio_works() {
    "$1/bin/python" - 2>/dev/null <<'PY'
import sys

import pyaudio

sys.exit(tuple(map(int, pyaudio.__version__.split(".")[:3])) < (0, 2, 12))
PY
}

# site_packages FOLDER: where the Python of a virtual environment looks for packages.
site_packages() {
    "$1/bin/python" -c 'import sys
print(next(path for path in sys.path if path.startswith(sys.prefix) and path.endswith("-packages")))'
}

# Only PyAudio's own files are linked: the rest of the distribution's Python packages stay out.
link_system_pyaudio() {
    local folder=$1 site file suffix found=1
    site=$(site_packages "$folder") || return 1
    suffix=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
    for file in /usr/lib/python3/dist-packages/pyaudio \
        /usr/lib/python3/dist-packages/pyaudio.py \
        "/usr/lib/python3/dist-packages/_portaudio$suffix"; do
        if [ -e "$file" ]; then
            ln -sfn "$file" "$site/" && found=0
        fi
    done
    return $found
}

# What ONNX Runtime declares and only its converters and tools import.
UNUSED_PACKAGES=(coloredlogs flatbuffers humanfriendly mpmath packaging protobuf sympy)

# prune_packages FOLDER: what speaking never reads goes, half of the size: tests, tools for training
# and conversion, headers, ONNX Runtime's second copy of itself for C programs, packages that it
# declares for all that, and the parts of numpy that numpy 2 loads only when a program names them.
prune_packages() {
    local folder=$1 name
    for name in "${UNUSED_PACKAGES[@]}"; do
        rm -rf "${folder:?}/$name" "$folder/$name"-*.dist-info
    done
    rm -rf "$folder"/google "$folder"/coloredlogs.pth "$folder"/isympy.py "$folder"/__pycache__/isympy.*
    rm -rf "$folder"/onnxruntime/{transformers,quantization,tools,datasets} \
        "$folder"/onnxruntime/capi/libonnxruntime.so.* "$folder"/numpy/f2py \
        "$folder"/numpy/_core/include "$folder"/numpy/_core/lib
    if compgen -G "$folder/numpy/_core/_multiarray_umath.*" >/dev/null; then
        rm -rf "$folder"/numpy/{ctypeslib,distutils,doc,ma,polynomial,random,_pyinstaller}
    fi
    find "$folder/numpy" \( -name tests -o -name testing \) -prune -exec rm -rf {} +
    find "$folder" \( -name '*.pyi' -o -name '*.pxd' -o -name '*.a' -o -name '_*_tests.*.so' -o -name '_simd.*.so' \) -delete
    find "$folder" -name __pycache__ -prune -exec rm -rf {} +
}

# prune_installer FOLDER: a release is never changed, but made anew.
prune_installer() {
    local folder=$1
    rm -rf "${folder:?}"/{pip,setuptools,wheel,pkg_resources,_distutils_hack} "$folder"/distutils-precedence.pth \
        "$folder"/{pip,setuptools,wheel}-*.dist-info "$folder"/../../../bin/{pip,wheel}*
}

# voices_in FOLDER: the voices there that a device gets, a folder a line. A lite one says the same in
# half the bytes: it is for voices sent later, over thin links.
voices_in() {
    local description folder
    for description in "$1"/*/voice.json; do
        folder=${description%/*}
        case $folder in
        *-lite) ;;
        *) [ ! -e "$description" ] || printf '%s\n' "$folder" ;;
        esac
    done
}

# copy_voice FOLDER TARGET: what a device speaks with; what its page shows and its training needs stays behind.
copy_voice() {
    mkdir -p "$(dirname "$2")"
    cp -rL "$1" "$2"
    rm -rf -- "$2"/samples "$2"/*.png "$2"/*.pt
}

# print_sizes FOLDER...: what each of them and the larger entries in it take on the disk, and all together.
print_sizes() {
    local folder
    for folder in "$@"; do
        du -sk "$folder"/* | sort -rn | awk '
            $1 >= 512 { name = $2; sub(".*/", "", name); printf "  %6.1f MB  %s\n", $1 / 1024, name; next }
            { rest += $1 }
            END { printf "  %6.1f MB  the rest\n", rest / 1024 }'
    done
    printf '  %6s MB  in all\n' "$(installed_mb "$@")"
}

installed_mb() { du -sm --total "$@" | awk 'END { print $1 }'; }

unlink_system_pyaudio() {
    local site
    site=$(site_packages "$1") || return 0
    find "$site" -maxdepth 1 -type l \( -name 'pyaudio*' -o -name '_portaudio*' \) -delete
}
