#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the fuzzing harnesses with clang and runs them: run.sh BUILD_DIR SECONDS
#
# Each harness runs for SECONDS divided by their number, two at a time. What was learnt is kept in BUILD_DIR/corpus
# for the next run. What makes a harness crash, hang or eat memory is kept in BUILD_DIR/found, and the status is 1.
set -eu

build=$1
seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
harnesses="text bin check program policy walk"
count=$(echo $harnesses | wc -w)
each=$((seconds / count > 0 ? seconds / count : 1))
sanitize="-fsanitize=address,undefined -fno-sanitize-recover=all"

mkdir -p "$build/obj" "$build/found"
build=$(cd "$build" && pwd)

# Each source's object is named after its path.
build_all() {
    rm -f "$build"/obj/*.o
    cd "$root"
    tools/embed.py "$build/page.c" $(grep -o "src/report/page/[a-z]*\.[a-z]*" meson.build)
    ls "$build/page.c" src/base/*.c src/base/os/*.c src/event/*.c src/symbols/*.c src/state/*.c src/policy/*.c src/finding/*.c src/check/*.c \
        src/symbolic/walk_read.c src/symbolic/slice.c \
        src/report/*.c src/cli/program_*.c src/cli/trace_program.c tests/fuzz/*.c |
        xargs -P "$(nproc)" -I '{}' sh -ec 'clang -std=gnu11 -g -O1 -D_GNU_SOURCE -DFISSION_VERSION=\"0\" -Isrc -Itests/fuzz \
            -fsanitize=fuzzer-no-link '"$sanitize"' -c {} -o "$0/obj/$(echo {} | tr / _).o"' "$build"
    for name in $harnesses; do
        clang -fsanitize=fuzzer $sanitize "$build/obj/tests_fuzz_fuzz_$name.c.o" "$build/obj/tests_fuzz_fuzz.c.o" \
            "$build"/obj/src_*.o "$build"/obj/*page.c.o -lzstd -lxxhash -ldw -lelf -liberty -ljansson -o "$build/fuzz_$name"
    done
}

# run_one NAME OPTIONS AND SEEDS...
run_one() {
    name=$1
    shift
    mkdir -p "$build/corpus/$name"
    "$build/fuzz_$name" -max_total_time=$each -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 \
        -artifact_prefix="$build/found/$name-" "$build/corpus/$name" "$@" >"$build/$name.log" 2>&1 ||
        echo "fuzz_$name failed, see $build/$name.log" >&2
}

run_text() {
    run_one "$1" -dict="$here/text.dict" -max_len=4096 "$here/seeds/text" "$here/../traces" "$here/../programs/steps"
}

run_policy() {
    run_one policy -dict="$here/policy.dict" -max_len=2048 "$here/seeds/policy"
}

executions() {
    cat "$build"/*.log | sed -n 's/^stat::number_of_executed_units: *//p' | awk '{ n += $1 } END { print n + 0 }'
}

build_all
before=$(find "$build/found" -type f | wc -l)
rm -f "$build"/*.log
(run_text text; run_text check; run_policy) &
(run_one bin -max_len=16384 "$here/seeds/bin"; run_text program; run_one walk -max_len=4096 "$here/seeds/walk") &
wait
crashes=$(($(find "$build/found" -type f | wc -l) - before))
ran=$(cat "$build"/*.log | grep -c '^stat::number_of_executed_units' || true)
echo "fuzz: $count harnesses, $(executions) executions, $crashes crashes"
[ "$crashes" -eq 0 ] && [ "$ran" -eq "$count" ]
