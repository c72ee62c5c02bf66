#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the seeds anew from the traces of the tests: seeds.sh FISSION
#
# Trails are what no text trace has: their seed comes from test_trace_bin, in tests/ beside FISSION.
#
# From small to large, a trace is taken if it has an operation, or one with arguments of a shape, that none before it
# has: few files, and everything occurs. What cannot be parsed is a seed for text but has no binary form. The text
# harnesses get all traces of the tests besides (run.sh). The seeds of the policy are written by hand.
set -eu

fission=$(realpath "$1")
cd "$(dirname "$0")"
most=1500

# The traces to take, one a line.
choose() {
    find ../traces ../programs/steps -name '*.std' -size "-${most}c" -printf '%s %p\n' |
        sort -k1,1n -k2 | cut -d' ' -f2- |
        LC_ALL=C awk '{
            path = $0; new = 0
            while ((getline line < path) > 0) {
                split(line, field, "|")
                shape = line ~ /^# *[a-z]+:/ ? substr(line, 1, index(line, ":")) : line ~ /^#/ ? "#" : field[2]
                arguments = index(shape, "(") ? substr(shape, index(shape, "(")) : ""
                sub(/\(.*/, "", shape)
                gsub(/[^(),=%-]+/, "n", arguments)
                if (!((shape, arguments) in seen)) new = 1
                seen[shape, arguments]
            }
            close(path)
            if (new) print path
        }'
}

rm -rf seeds/text seeds/bin
mkdir -p seeds/text seeds/bin
choose | while read -r trace; do
    name=$(echo "$trace" | sed 's,^\.\./,,; s,\.std$,,; s,[^A-Za-z0-9],-,g')
    cp "$trace" "seeds/text/$name.std"
    "$fission" trace convert --to=binary -o "seeds/bin/$name.ftr" "$trace" 2>/dev/null || true
done
"$(dirname "$fission")/tests/test_trace_bin" --seed seeds/bin/trails.ftr
echo "$(find seeds/text -type f | wc -l) text seeds, $(find seeds/bin -type f | wc -l) binary seeds"
