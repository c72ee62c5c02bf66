#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo: a bank account in C, checked by ThreadSanitizer and by Fission.
set -u

build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "\$ gcc -fsanitize=thread -g -pthread examples/bank.c -o bank-tsan && ./bank-tsan"
if gcc -fsanitize=thread -g -pthread examples/bank.c -o "$work/bank-tsan" 2>"$work/log"; then
    # Its shadow memory has fixed addresses, which some kernels' address randomisation hits: then without.
    "$work/bank-tsan" >"$work/tsan" 2>&1
    status=$?
    if grep -q 'unexpected memory mapping' "$work/tsan"; then
        setarch -R "$work/bank-tsan" >"$work/tsan" 2>&1
        status=$?
    fi
    cat "$work/tsan"
    if [ "$status" = 0 ]; then
        echo "exit status 0: ThreadSanitizer has nothing to say"
    else
        echo "exit status $status: ThreadSanitizer does not work here"
    fi
else
    echo "(ThreadSanitizer is not installed: $(head -n 1 "$work/log"))"
fi
echo
echo "\$ fission demo"
"$build/fission" demo 2>&1
