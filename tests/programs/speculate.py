#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Candidates from branches that were not taken: speculate.py BUILD [--only NAMES] [--seeds N] [--broken N]

Each file of speculate/ is a program whose run does not go where the bug is, or where it only looks as if there were one.
Its branch is the line with // COLD.

  // EXPECT kind=K rank=R variable=V   that candidate is told, the best one of its branch
  // NEVER why                         nothing is told
  // HIDDEN why                        nothing but the lowest rank is
  // CONTROL ...                       the same of the program that is built with -DCONTROL: 'kind=...' or 'NEVER'
  // RUN ARGUMENTS                     what the program is started with
  // CHASE                             `fission chase` makes the branch go that way, and reproduces the bug

--seeds (1) is how many orders of the threads are tried: what is told must not depend on who came first. --broken (15) is
how many broken walks.

So every NEVER has a control that is told: what is kept silent is not silent for another reason. The last line is
'N passed, M failed'.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent / "speculate"
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]
TIMEOUT = 120
CLEAN, USAGE, MALFORMED, FINDINGS, UNFIT = 0, 64, 65, 66, 69
LOWEST = 4  # rank


class Wrong(Exception):
    """What is told that should not be, or is not."""


def run(*command, status=0, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=TIMEOUT, errors="replace",
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode != status:
        raise Wrong(f"{Path(command[0]).name}: status {done.returncode}: {done.stderr}")
    return done.stderr if status else done.stdout


def speculate(build, command, seed, directory):
    return json.loads(run(build / "fission", "speculate", "--format=json", f"--seed={seed}", *command, cwd=directory))


def chase(build, command, directory):
    said = run(build / "fission", "chase", "--no-out", "--time=100s", *command, cwd=directory, status=FINDINGS)
    if "1 branches that were not taken have a candidate" not in said or "reproduced: 1" not in said:
        raise Wrong(f"chase: {said}")


def check(told, wanted, cold):
    if wanted.startswith("HIDDEN"):
        told = [c for c in told if c["rank"] < LOWEST]
    if wanted.startswith(("NEVER", "HIDDEN")):
        if told:
            raise Wrong(f"told, and should not be: {json.dumps(told[0])}")
        return
    want = dict(pair.split("=") for pair in wanted.split())
    here = [c for c in told if c["needs"]["where"].endswith(f":{cold}")]
    right = [c for c in here if c["kind"] == want["kind"] and str(c["rank"]) == want["rank"] and c["variable"] == want["variable"]]
    if not right:
        raise Wrong(f"{wanted}: not told; but {json.dumps(told)}")


def try_form(options, source, form, directory):
    build = options.build
    text = source.read_text()
    plain = re.search(r"^// (?:EXPECT (.*)|((?:NEVER|HIDDEN) .*))$", text, re.M)
    control = re.search(r"^// CONTROL (.*)$", text, re.M)
    wanted = control[1] if form else plain[1] or plain[2]
    cold = 1 + next(i for i, line in enumerate(text.splitlines()) if "// COLD" in line)
    program = Path(directory) / f"{source.stem}{'-control' if form else ''}"
    run(build / "fission-cc", "--symbolic", *FLAGS, *(["-DCONTROL"] if form else []), source, "-o", program)
    arguments = re.search(r"^// RUN (.*)$", text, re.M)
    command = [program, *(arguments[1].split() if arguments else [])]
    for seed in range(1, options.seeds + 1):
        check(speculate(build, command, seed, directory)["candidates"], wanted, cold)
    if re.search(r"^// CHASE$", text, re.M):
        chase(build, command, directory)


def hostile(options, directory):
    """A walk is not trusted: cut, flipped and empty ones end with an answer or a message, never with a signal."""
    build = options.build
    program, walk, broken = (Path(directory) / name for name in ("hostile", "walk", "broken"))
    helper = build / "fission-speculate"
    run(build / "fission-cc", "--symbolic", *FLAGS, HERE / "callee.c", "-o", program)
    walk.write_bytes(bytes(1 << 20))
    run(build / "fission", "record", "--strategy=pos", "-o", "/dev/null", program,
        env=os.environ | {"FISSION_WALK": str(walk)})
    whole = walk.read_bytes()
    used = len(whole.rstrip(b"\0"))
    if len(json.loads(run(helper, program, walk))["candidates"]) != 1:
        raise Wrong("the walk as it is has no candidate")
    r = random.Random(1)
    for _ in range(options.broken):
        data = bytearray(whole[: used if r.random() < 0.7 else r.randrange(used)])
        for _ in range(r.randrange(1, 30)):
            data[r.randrange(16, len(data)) if len(data) > 16 else 0] = r.choice((0, 1, 2, 255, r.randrange(256)))
        broken.write_bytes(data)
        done = subprocess.run([helper, program, broken], capture_output=True, timeout=TIMEOUT)
        if done.returncode not in (CLEAN, MALFORMED):
            raise Wrong(f"a broken walk: status {done.returncode}: {done.stderr}")
    if "--symbolic" not in run(helper, helper, walk, status=USAGE):
        raise Wrong("a program without bitcode: the remedy is not named")
    if "is no walk" not in run(helper, program, program, status=MALFORMED):
        raise Wrong("a file that is no walk")
    plain = Path(directory) / "plain"
    run(build / "fission-cc", *FLAGS, HERE / "before.c", "-o", plain)
    if "--symbolic" not in run(build / "fission", "speculate", plain, cwd=directory, status=UNFIT):
        raise Wrong("fission speculate of a plain program: the remedy is not named")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--broken", type=int, default=15)
    options = parser.parse_args()
    options.build = options.build.resolve()
    passed = failed = 0
    only = options.only.split(",") if options.only else []
    with tempfile.TemporaryDirectory() as directory:
        for source in sorted(HERE.glob("*.c")):
            forms = [False] + ([True] if "// CONTROL" in source.read_text() else [])
            for form in forms if not only or source.stem in only else []:
                try:
                    try_form(options, source, form, directory)
                    passed += 1
                except (Wrong, subprocess.TimeoutExpired) as wrong:
                    failed += 1
                    print(f"FAIL {source.stem}{' control' if form else ''}: {wrong}")
        try:
            if not only or "hostile" in only:
                hostile(options, directory)
                passed += 1
        except (Wrong, subprocess.TimeoutExpired) as wrong:
            failed += 1
            print(f"FAIL hostile: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
