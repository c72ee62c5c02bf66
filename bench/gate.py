#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events per second under the gate, by how often threads change.

Usage: bench/gate.py BUILD_DIR

Two threads yield after so many accesses to memory of their own. The same program, recorded with values and without
control, is the measure. Wall time, the best of three; nothing here fails because of a number.
"""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
EVENTS = 2_000_000
EACH = (10, 100, 1000, 10_000)
WAYS = (("no control", ["--values"]), ("pct", ["--strategy=pct"]), ("pos", ["--strategy=pos"]), ("plan", ["--strategy=plan"]))


def seconds(build, program, options, each):
    rounds = max(1, (EVENTS if each > 10 else EVENTS // 10) // (2 * each))
    command = [build / "fission", "record", "--format=none", "-o", "/dev/null", *options, "--", program, str(each), str(rounds)]
    best = None
    for _ in range(3):
        start = time.monotonic()
        subprocess.run(command, check=True)
        took = time.monotonic() - start
        best = took if best is None else min(best, took)
    return best / (2 * each * rounds)


def main():
    build = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "turns"
        subprocess.run([build / "fission-cc", "-O1", "-o", program, HERE / "runtime" / "turns.c"], check=True)
        print("controlled runs: million accesses a second, by accesses between two changes of threads")
        print(f"{'':12}" + "".join(f"{e:>10}" for e in EACH))
        for name, options in WAYS:
            row = [1 / seconds(build, program, options, each) / 1e6 for each in EACH]
            print(f"{name:12}" + "".join(f"{r:>10.2f}" for r in row), flush=True)


if __name__ == "__main__":
    main()
