#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The moments of findings as tests: run.py MOMENTS_QUERY [FILES...]

Each *.std here says in '# check:' which checks look at it, and in the '# row:' lines behind that all that
moments_query must print then: a row that is not there must not be. Several checks are several tests. '# trace: PATH'
takes the events from another file. The last line is 'N passed, M failed'.
"""

import difflib
import pathlib
import subprocess
import sys


def tests_of(path):
    """(checks, rows) of the file, and the trace that they are about."""
    tests, trace = [], path
    for line in path.read_text().splitlines():
        if line.startswith("# trace: "):
            trace = path.parent / line.removeprefix("# trace: ")
        elif line.startswith("# check: "):
            tests.append((line.removeprefix("# check: "), []))
        elif line.startswith("# row: "):
            tests[-1][1].append(line.removeprefix("# row: "))
    return tests, trace


def differences(query, checks, trace, rows):
    done = subprocess.run([query, checks, trace], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if done.returncode:
        return [f"exit status is {done.returncode}", done.stderr]
    return list(difflib.unified_diff(rows, done.stdout.splitlines(), "expected", "printed", lineterm="", n=99))


def main():
    query, *files = sys.argv[1:]
    passed = failed = 0
    for path in map(pathlib.Path, files or sorted(pathlib.Path(__file__).parent.glob("*.std"))):
        tests, trace = tests_of(path)
        if not all(rows for _, rows in tests) or not tests:
            tests = [("", ["a file without '# check:' and '# row:' lines is no test"])]
        for checks, rows in tests:
            wrong = differences(query, checks, trace, rows)
            failed, passed = failed + bool(wrong), passed + (not wrong)
            if wrong:
                print(f"{path.name}: {checks}:", *wrong, sep="\n  ")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
