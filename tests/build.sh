#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the tool and its tests: build.sh BUILD_DIR [MESON_SETUP_OPTIONS...]
# Says nothing unless it fails. The options count when the directory is new.
set -eu

build=$1
shift
mkdir -p "$build"
log=$build/build.log

configure() {
    if [ ! -f "$build/build.ninja" ]; then
        meson setup "$build" "$(dirname "$0")/.." -Dtests=enabled -Dwerror=true "$@"
    elif ! meson introspect --buildoptions "$build" | python3 -c '
import json, sys
sys.exit({o["name"]: o["value"] for o in json.load(sys.stdin)}["tests"] != "enabled")'; then
        meson configure "$build" -Dtests=enabled
    fi
}

if ! { configure "$@" && ninja -C "$build"; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
