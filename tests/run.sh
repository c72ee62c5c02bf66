#!/bin/sh
# SPDX-License-Identifier: MIT
# The whole test suite: run.sh BUILD_DIR. The last line is 'N passed, N failed', the status 1 if any failed.
#
# Everything is built twice: with gcc as it is shipped, in BUILD_DIR, and with clang and its sanitizers, in
# BUILD_DIR/clang-asan. Then two lanes run side by side; who is through helps the other. A component prints one line,
# or all it has to say if it fails. A component that is not there fails.
set -u

build=$1
here=$(dirname "$0")
asan=$build/clang-asan
mkdir -p "$build"
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM HUP
: >"$logs/results"

units="test_base test_escape test_filter test_guards test_harmless test_law test_merge test_order test_page test_policy test_rank test_record test_replay test_sched test_speculate test_spinlocks test_state test_symbols test_threads test_trace_bin"

# A broken program must not pass for one that says so.
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=print_stacktrace=1

# count LOG: how many tests passed and failed in what a component has printed; nothing if it does not say
count() {
    sed -n -e 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' \
        -e 's/^\[  PASSED  \] \([0-9]*\) test(s).*/\1 0/p' \
        -e 's/^\[  FAILED  \] \([0-9]*\) test(s).*/0 \1/p' "$1" |
        awk '{ p += $1; f += $2 } END { if (NR) print p, f }'
}

# component NAME COMMAND...: runs it, says how it went, and notes the counts. What does not count is one test.
# It is run once, by the lane that comes first; names are unique.
component() {
    name=$1
    log=$logs/$(echo "$name" | tr ' ' _)
    mkdir "$log.taken" 2>/dev/null || return 0
    shift
    start=$(date +%s)
    (
        "$@" >"$log" 2>&1 </dev/null
        status=$?
        times >"$log.times"
        exit $status
    )
    status=$?
    cpu=$(tr ms '  ' <"$log.times" | awk '{ s += 60 * ($1 + $3) + $2 + $4 } END { printf "%.0f", s }')
    counts=$(count "$log")
    if [ "$status" = 0 ]; then
        counts=${counts:-1 0}
        [ "$counts" != "0 0" ] || counts="0 1" # no test is no success
    else
        counts=${counts:-0 0}
        [ "${counts#* }" != 0 ] || counts="${counts% *} 1"
    fi
    echo "$counts" >>"$logs/results"
    if [ "${counts#* }" = 0 ]; then
        echo "$name: ok (${counts% *} tests, $(($(date +%s) - start)) s, $cpu s of CPU)"
    else
        echo "$name: FAILED ($* ended with status $status)"
        sed 's/^/    /' "$log"
    fi
}

# Debug information is for the stacks of what is found: lines are enough. Functions that nobody has called inline are
# compiled once. gold takes half the time of bfd.
sanitizer_build() {
    linker=bfd
    ! command -v ld.gold >/dev/null || linker=gold
    CC=clang CC_LD=$linker "$here/build.sh" "$asan" -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false \
        -Dc_args='-fno-sanitize-recover=all -g1 -fno-inline-functions'
}

# Side by side: the last link of one takes longer than any, and alone.
component "build with clang and sanitizers" sanitizer_build &
component "layers" "$here/layers.py"
component "build with gcc" "$here/build.sh" "$build"
wait

part_one() {
    component "agree, every check with the oracle" "$build/tests/agree" --count 100000 --jobs 2
    component "test_program" "$here/programs/test_program.py" "$build/fission"
    component "traces, recorded as they were" "$here/programs/roundtrip.py" "$build"
    component "promises of run and record" "$here/robust/run.py" "$build"
    component "live programs" "$here/programs/live.py" "$build"
    component "programs with bugs, and without" "$here/programs/bugs.py" "$build"
    component "programs as they are" "$here/stock/run.py" "$build"
    component "runtime, every wrapper" "$here/runtime/wrappers.py" "$build"
    component "runtime, what is not wrapped" "$here/runtime/symbols.py" "$build"
    component "atomics, home-made locks, annotations" "$here/runtime/test_atomics.py" "$build"
    component "real programs, their harness" "$here/real/test_run.py"
    component "programs and tables of the papers" "$here/bench/run.py"
    component "roundtrip" "$build/tests/roundtrip" --count 500
    component "stories, written and read" "$build/tests/stories" --count 300
    component "ids of findings stay" "$here/report/ids.py" "$build"
    component "search, replay, chaos" "$here/chase/run.py" "$build"
    component "pages, links, quotes" "$here/docs/pages.py" "$build/fission"
    component "the tutorial, every command" "$here/docs/tutorial.py" "$build"
    component "pages with examples" "$here/docs/tutorial.py" "$build" "$here"/../docs/annotate.md "$here"/../docs/checks/*.md
    component "units, shards, workers" "$here/scale/run.py" "$build"
    component "merging is a union" "$build/tests/merges" --count 60
    component "fission.out, list, show, report" "$here/report/kept.py" "$build/fission"
    component "moments, rows of each finding" "$here/moments/run.py" "$build/tests/moments_query"
    component "ownership filter, both streams" "$here/filter/run.py" "$build" --runs 15
    component "reports, every form" "$here/report/golden.py" "$build"
    component "reports for machines" "$here/report/machines.py" "$build"
    component "reports with hostile names" "$here/report/hostile.py" "$build"
    component "nonatomic_judge, before all serial orders" "$build/tests/nonatomic_judge" --count 1000000
    component "oracle_self" "$build/tests/oracle_self"
    component "deadlocks_judge" "$build/tests/deadlocks_judge"
    component "races_exact" "$build/tests/races_exact" --count 20000
    component "theorems" "$build/tests/theorems" --count 10000
    component "reorder_self" "$build/tests/reorder_self" --count 1000
    component "lipton, atomizer with all reorderings" "$build/tests/lipton" --count 2000
    component "reduction_sound" "$build/tests/reduction_sound" --count 8000
    component "hooks in programs, before what they stand for" "$build/tests/hooks_judge" --count 3000000
    component "trails, from hooks to readers" "$build/tests/trail_judge" --count 3000000
    component "sidetrack_vectors" "$build/tests/sidetrack_vectors" --count 50000
    component "predicted, before brute force" "$build/tests/predicted" --count 100000 --jobs 2
    component "predict, before brute force" "$build/tests/predict_judge" --count 20000
    component "solver, before walks by hand" "$here/symbolic/solve.py" "$build"
    component "models of libc's functions" "$here/symbolic/models.py" "$build" --count=10
    component "inputs that bugs need" "$here/programs/inputs.py" "$build" aimed bank config
    component "predict, the command" "$here/predict/run.py" "$build"
    component "predict, before z3" "$build/tests/predict_z3" --count 200
    for unit in $units; do
        component "$unit" "$build/tests/$unit"
    done
}

part_two() {
    component "controlled runs" "$here/gate/run.py" "$build"
    component "traces" "$here/traces/run.py" "$build/fission"
    component "branches that were not taken" "$here/programs/speculate.py" "$build"
    component "pairs of operations" "$here/pairs/run.py" "$build"
    component "symbols, sanitized and not" "$here/symbols/run.py" "$build/tests/symbols_query" "$asan/tests/symbols_query" \
        "$build/fission"
    component "expressions mean what is computed" "$here/symbolic/semantics.py" "$build" --count 600
    component "symbolic builds do the same" "$here/symbolic/same.py" "$build"
    component "compiler driver" "$here/cc/run.py" "$build"
    component "processes, signals, memory" "$here/runtime/process/run.py" "$build"
    component "agree, sanitized" "$asan/tests/agree" --count 10000
    component "traces, sanitized" "$here/traces/run.py" "$asan/fission" --every=5
    component "roundtrip, sanitized" "$asan/tests/roundtrip" --count 200
    component "stories, sanitized" "$asan/tests/stories" --count 150
    component "merging is a union, sanitized" "$asan/tests/merges" --count 20
    component "fission.out, sanitized" "$here/report/kept.py" "$asan/fission"
    component "reports, every form, sanitized" "$here/report/golden.py" "$asan"
    component "reports with hostile names, sanitized" "$here/report/hostile.py" "$asan"
    component "nonatomic_judge, sanitized" "$asan/tests/nonatomic_judge" --count 30000
    component "oracle_self, sanitized" "$asan/tests/oracle_self"
    component "deadlocks_judge, sanitized" "$asan/tests/deadlocks_judge" --count 300
    component "races_exact, sanitized" "$asan/tests/races_exact" --count 3000
    component "lipton, sanitized" "$asan/tests/lipton" --count 500
    component "theorems, sanitized" "$asan/tests/theorems" --count 1000
    component "reorder_self, sanitized" "$asan/tests/reorder_self" --count 100
    component "reduction_sound, sanitized" "$asan/tests/reduction_sound" --count 1000
    component "sidetrack_vectors, sanitized" "$asan/tests/sidetrack_vectors" --count 5000
    component "solver, sanitized" "$here/symbolic/solve.py" "$asan"
    component "predict, sanitized" "$asan/tests/predict_judge" --count 1000
    component "predicted, sanitized" "$asan/tests/predicted" --count 5000
    component "promises of run and record, sanitized" "$here/robust/run.py" "$asan" order_of_5_threads end_by_segv \
        killed_program_loses_nothing term_to_the_tool handler_jumps 1000_threads_created_and_joined
    component "search, replay, sanitized" "$here/chase/run.py" "$asan" figure_2 bad_replay_files replay_of_a_fixed_build \
        edited_steps_diverge_and_end deadlock_is_kept crash_is_what_the_program_did_then
    for unit in $units; do
        component "$unit, sanitized" "$asan/tests/$unit"
    done
    component "command line, sanitized" "$here/cli/run.py" "$asan/fission" --cheap
    component "suppressions, baselines, diff, sanitized" "$here/cli/accept.py" "$asan/fission"
}

{ part_one; part_two; echo lane_one >>"$logs/lanes"; } &
{ part_two; part_one; echo lane_two >>"$logs/lanes"; } &
wait
component "command line" "$here/cli/run.py" "$build/fission" &
component "suppressions, baselines, diff" "$here/cli/accept.py" "$build/fission"
component "command line as a whole" "$here/cli/whole.py" "$build"
wait

# A lane that has died took its tests with it.
lanes=$(cat "$logs/lanes" 2>/dev/null | wc -l)
awk -v lost=$((2 - lanes)) '{ p += $1; f += $2 } END { f += lost; print p + 0 " passed, " f + 0 " failed"; exit f > 0 }' \
    "$logs/results"
