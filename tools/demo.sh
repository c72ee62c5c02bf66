#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo: a bank account in C, checked by ThreadSanitizer and by Fission.
set -u

build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "A bank account, two customers, every access under the same lock (examples/bank.c):"
echo
sed -n '/^static void withdraw/,/^}/p' examples/bank.c | sed 's/^/    /'
echo
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
    echo "exit status $status: ThreadSanitizer has nothing to say"
else
    echo "(ThreadSanitizer is not installed: $(head -n 1 "$work/log"))"
fi
echo
echo "\$ fission-cc -pthread examples/bank.c -o bank && fission run ./bank"
"$build/fission-cc" -O1 -pthread examples/bank.c -o "$work/bank" || exit 1
"$build/fission" run --out="$work/fission.out" "$work/bank" 2>&1
status=$?
echo "exit status $status (66: something was found that cannot be a false alarm, and matters)"
[ "$status" = 66 ]
