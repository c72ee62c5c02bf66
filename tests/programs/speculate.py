#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Candidates from branches that were not taken: speculate.py BUILD [--only NAMES]

Each file of speculate/ is a program whose run does not go where the bug is, or where it only looks as if there were one.
Its branch is the line with // COLD.

  // EXPECT kind=K rank=R variable=V   that candidate is told, the best one of its branch
  // NEVER why                         nothing is told
  // CONTROL ...                       the same of the program that is built with -DCONTROL: 'kind=...' or 'NEVER'

So every NEVER has a control that is told: what is kept silent is not silent for another reason. The last line is
'N passed, M failed'.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent / "speculate"
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]
SEEDS = (1, 2)  # what is told must not depend on who came first


class Wrong(Exception):
    """What is told that should not be, or is not."""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **options)
    if done.returncode:
        raise Wrong(f"{Path(command[0]).name}: status {done.returncode}: {done.stderr}")
    return done.stdout


def speculate(build, program, seed, directory):
    return json.loads(run(build / "fission", "speculate", "--format=json", f"--seed={seed}", program, cwd=directory))


def check(told, wanted, cold):
    if wanted.startswith("NEVER"):
        if told:
            raise Wrong(f"told, and should not be: {json.dumps(told[0])}")
        return
    want = dict(pair.split("=") for pair in wanted.split())
    here = [c for c in told if c["needs"]["where"].endswith(f":{cold}")]
    right = [c for c in here if c["kind"] == want["kind"] and str(c["rank"]) == want["rank"] and c["variable"] == want["variable"]]
    if not right:
        raise Wrong(f"{wanted}: not told; but {json.dumps(told)}")


def try_form(build, source, form, directory):
    text = source.read_text()
    plain = re.search(r"^// (?:EXPECT (.*)|(NEVER .*))$", text, re.M)
    control = re.search(r"^// CONTROL (.*)$", text, re.M)
    wanted = control[1] if form else plain[1] or plain[2]
    cold = 1 + next(i for i, line in enumerate(text.splitlines()) if "// COLD" in line)
    program = Path(directory) / f"{source.stem}{'-control' if form else ''}"
    run(build / "fission-cc", "--symbolic", *FLAGS, *(["-DCONTROL"] if form else []), source, "-o", program)
    for seed in SEEDS:
        check(speculate(build, program, seed, directory)["candidates"], wanted, cold)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    build, passed, failed = options.build.resolve(), 0, 0
    only = options.only.split(",") if options.only else []
    with tempfile.TemporaryDirectory() as directory:
        for source in sorted(HERE.glob("*.c")):
            forms = [False] + ([True] if "// CONTROL" in source.read_text() else [])
            for form in forms if not only or source.stem in only else []:
                try:
                    try_form(build, source, form, directory)
                    passed += 1
                except (Wrong, subprocess.TimeoutExpired) as wrong:
                    failed += 1
                    print(f"FAIL {source.stem}{' control' if form else ''}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
