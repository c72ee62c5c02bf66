#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ownership filter's law: run.py BUILD_DIR [--runs N] [--seed S].

Random programs without data races, each run once with both streams, all accesses and those that the filter leaves:
the same checks must name the same blocks, and find no race. Every fourth program has packed numbers too, which share granules:
there something may be missed (docs/runtime.md), and nothing may be named that is not so. The last line is 'N passed, N
failed'.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def build(folder, directory, flags):
    program = os.path.join(directory, "program" + "".join(flags))
    subprocess.run([os.path.join(folder, "fission-cc"), *flags, "-pthread", os.path.join(HERE, "random_program.c"),
                    "-o", program], check=True, env={**os.environ, "FISSION_HOME": folder})
    return program


def run(folder, program, packed, *arguments):
    """What `run --both` says: (events in full, events filtered, findings, words if they differ)."""
    words = [str(a) for a in arguments] + ["packed"] * packed
    p = subprocess.run([os.path.join(folder, "fission"), "run", "--both", "--", program, *words],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    m = re.search(r"both: (\d+) events in full, (\d+) and (\d+) of the past filtered; (\d+) activations in full", p.stderr)
    if not m:
        return 0, 0, 0, p.stderr or f"status {p.returncode}"
    missed = packed and not re.search(r"both: only filtered", p.stderr)
    wrong = p.stderr if p.returncode and not missed or re.search(r"both: .* races", p.stderr) else ""
    return int(m[1]), int(m[2]) + int(m[3]), int(m[4]), wrong


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder")
    p.add_argument("--runs", type=int, default=60)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--steps", type=int, default=300)
    a = p.parse_args()
    passed = failed = full = filtered = findings = 0
    with tempfile.TemporaryDirectory() as directory:
        programs = [build(a.folder, directory, [flag]) for flag in ("-O1", "-O2")]
        for i in range(a.runs):
            seed = a.seed + i
            pick = random.Random(seed)
            threads = pick.choice([2, 2, 3, 4, 8, 16])
            one = run(a.folder, programs[i % len(programs)], i % 4 == 3, seed, threads, a.steps * 4 // threads)
            full, filtered, findings = full + one[0], filtered + one[1], findings + one[2]
            if one[3]:
                failed += 1
                print(f"seed {seed}, {threads} threads:\n{one[3]}")
            else:
                passed += 1
    print(f"{full} events in full, {filtered} filtered, {findings} findings")
    if not findings:
        print("nothing was found at all: that tests nothing")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
