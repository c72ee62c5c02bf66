#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the Debian package: deb.sh BUILD. It comes to BUILD/deb/, and lintian has no objection to it.
set -eu

build=$1
room=$build/deb
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" meson.build)
tree=$room/fission-$version

rm -rf --one-file-system "$room"
mkdir -p "$tree"
# What git knows of, as it is now; a tree without git has nothing else than the sources.
if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -co --exclude-standard -z | xargs -0 -r tar c --ignore-failed-read 2>/dev/null | tar x -C "$tree"
else
    tar c --exclude=./build --exclude="./$build" . | tar x -C "$tree"
fi
echo "building the package in $room: a few minutes"
if ! (cd "$tree" && DEB_BUILD_OPTIONS="nocheck noautodbgsym ${DEB_BUILD_OPTIONS:-}" \
    dpkg-buildpackage --no-sign --build=binary) >"$room/log" 2>&1; then
    tail -40 "$room/log" >&2
    echo "deb.sh: the package could not be built; $room/log has it all" >&2
    exit 1
fi
# As root lintian says so, each time.
lintian --fail-on error,warning --allow-root "$room"/fission_*.changes
ls "$room"/*.deb
