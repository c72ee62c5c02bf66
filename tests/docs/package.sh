#!/bin/sh
# SPDX-License-Identifier: MIT
# The package of `make deb` in a clean root: package.sh BUILD. Needs root, and the Debian mirror that apt uses.
#
# The root has nothing but what the package depends on, and make, which the tutorial uses. There the package is installed,
# and the tutorial is run. What other builds look for, pkg-config and CMake, is asked from outside. Then the second package is
# installed on top, with what apt finds that it needs, and a bug is found that takes other inputs. Both are removed, and
# nothing of them is left. The last line is 'N passed, N failed'.
set -u

build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
package=$(ls "$build"/deb/fission_*.deb) || exit 69
symbolic=$(ls "$build"/deb/fission-symbolic_*.deb) || exit 69
root=$build/deb/root
passed=0 failed=0

# check NAME COMMAND...: says what went wrong, if anything did
check() {
    name=$1
    shift
    if said=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$name: FAILED"
        echo "$said" | sed 's/^/    /'
    fi
}

# What the package depends on, of alternatives the first, and without versions.
needed() {
    dpkg-deb -f "$package" Depends | tr , '\n' | sed 's/|.*//; s/(.*//; s/ //g' | paste -sd,
}

mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $1" 2>/dev/null | head -n 1
}

make_root() {
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    rm -rf --one-file-system "$root"
    echo "a clean root of $suite in $root: a minute or two"
    debootstrap --variant=minbase --include="$(needed),make" "$suite" "$root" "$(mirror "$suite")" >"$build/deb/root.log" 2>&1 || {
        tail -5 "$build/deb/root.log" >&2
        echo "package.sh: no clean root could be made; $build/deb/root.log has it all" >&2
        exit 69
    }
    mount -t proc proc "$root/proc" && trap 'umount "$root/proc"' EXIT && trap 'exit 130' INT TERM HUP
}

install_package() {
    cp "$package" "$root/tmp/fission.deb" && chroot "$root" dpkg -i /tmp/fission.deb && rm "$root/tmp/fission.deb"
}

has_files() {
    for file in bin/fission-cc lib/fission/libfission.so include/fission.h include/fission/pairs.h \
        share/man/man1/fission.1.gz share/man/man1/fission-pairs.1.gz share/bash-completion/completions/fission \
        share/zsh/site-functions/_fission share/fish/vendor_completions.d/fission.fish share/doc/fission/docs/tutorial.md; do
        [ -e "$root/usr/$file" ] || { echo "/usr/$file is not there"; return 1; }
    done
}

has_pkg_config() {
    found=$(PKG_CONFIG_LIBDIR=$(ls -d "$root"/usr/lib/*/pkgconfig) pkg-config --variable=cc fission)
    [ "$found" = /usr/bin/fission-cc ] || { echo "cc is '$found'"; return 1; }
}

# Configured only: the tests that the package adds must be there.
has_cmake_package() {
    room=$build/deb/cmake
    rm -rf "$room" && mkdir -p "$room/replays" && touch "$room/replays/fsn-00000001.replay"
    cat >"$room/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(some C)
find_package(fission 0.1 REQUIRED)
enable_testing()
add_executable(some some.c)
target_link_libraries(some fission::headers)
fission_add_test(some-fission COMMAND some word)
fission_add_replays(${CMAKE_SOURCE_DIR}/replays)
END
    printf '#include <fission.h>\n#include <fission/pairs.h>\nint main(void) { return FISSION_OTHER == 0; }\n' >"$room/some.c"
    cmake -S "$room" -B "$room/build" -DCMAKE_PREFIX_PATH="$root/usr" && cmake --build "$room/build" || return 1
    (cd "$room/build" && ctest -N) | tee "$room/tests"
    grep -q some-fission "$room/tests" && grep -q fsn-00000001 "$room/tests"
}

install_symbolic() {
    cp "$symbolic" "$root/tmp/symbolic.deb" && chroot "$root" apt-get update &&
        chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /tmp/symbolic.deb &&
        rm "$root/tmp/symbolic.deb"
}

finds_inputs() {
    cp "$here"/../programs/inputs/bank.c "$here"/../programs/inputs/shared.h "$root/tmp" || return 1
    said=$(chroot "$root" sh -c 'cd /tmp && fission-cc --symbolic -g bank.c -o bank -lpthread && fission chase ./bank 10 10' 2>&1)
    case $said in
    *"It takes other inputs than were given"*) ;;
    *) echo "$said"; return 1 ;;
    esac
}

is_gone() {
    rm -rf "$root"/tmp/* && chroot "$root" dpkg -r fission-symbolic fission || return 1
    left=$(find "$root/usr" -path '*fission*' | head -3)
    [ -z "$left" ] || { echo "left: $left"; return 1; }
}

make_root
check "the package is installed" install_package
check "its files are there" has_files
check "fission doctor" chroot "$root" fission doctor
check "the tutorial" "$here/tutorial.py" --root="$root"
check "pkg-config" has_pkg_config
check "CMake" has_cmake_package
check "the second package is installed" install_symbolic
check "other inputs are found" finds_inputs
check "nothing is left of them" is_gone
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
