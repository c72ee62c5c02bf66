#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo: two withdrawals from one account interleave, and the report says how.
set -u

build=$1
echo "A bank account, two threads, every access under the same lock (examples/bank.std):"
echo
sed 's/^/    /' examples/bank.std
echo
echo "\$ $build/fission check examples/bank.std"
"$build/fission" check examples/bank.std
status=$?
echo
echo "exit status $status (66: something was found that cannot be a false alarm, and matters)"
[ "$status" = 66 ]
