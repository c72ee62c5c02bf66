#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages of the named groups that are missing: deps.sh build|test ...
set -eu

packages() {
    case $1 in
    build) echo gcc g++ libc6-dev meson ninja-build pkgconf python3 libzstd-dev libxxhash-dev \
        libdw-dev libelf-dev libiberty-dev libjansson-dev libcadical-dev ;;
    test) echo git libcmocka-dev libz3-dev binutils clang libclang-rt-14-dev cmake ccache groff-base ;;
    # dpkg-dev unpacks sources, tcl puts SQLite's single file together; the rest is what the programs are linked with.
    real) echo dpkg-dev make g++ tcl libevent-dev zlib1g-dev libbz2-dev ;;
    symbolic) echo clang-14 llvm-14-dev libz3-dev ;;
    scale) echo parallel slurm-wlm munge openssh-server openssh-client rsync ;;
    peers) echo valgrind util-linux ;;
    valgrind) echo valgrind ;;
    stock) echo pigz pbzip2 xz-utils zstd sqlite3 python3 git curl x264 memcached redis-server nginx-light musl-tools ;;
    sarif)
        command -v npm >/dev/null || echo npm
        python3 -c 'import jsonschema' 2>/dev/null || echo python3-jsonschema
        ;;
    # Elsewhere than at Debian's, nodejs comes with an npm of its own, and Debian's does not go with it.
    page) echo chromium nodejs; command -v npm >/dev/null || echo npm ;;
    deb) echo build-essential debhelper dpkg-dev fakeroot lintian meson libz3-dev llvm-14-dev ;;
    deb-root) echo debootstrap cmake ;;
    *) echo "deps.sh: unknown group '$1'" >&2; exit 64 ;;
    esac
}

installed() {
    dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

missing=
for group in "$@"; do
    if ! command -v dpkg-query >/dev/null; then
        echo "deps.sh: not a Debian machine; these must be there: $(packages "$group")" >&2
        continue
    fi
    for package in $(packages "$group"); do
        installed "$package" || missing="$missing $package"
    done
done
[ -n "$missing" ] || exit 0

root=
if [ "$(id -u)" != 0 ]; then
    root=sudo
    command -v sudo >/dev/null || {
        echo "deps.sh: please install as root:$missing" >&2
        exit 69
    }
fi
echo "installing:$missing"
log=$(mktemp)
if ! { $root apt-get update && $root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "deps.sh: could not install:$missing" >&2
    exit 69
fi
rm -f "$log"
