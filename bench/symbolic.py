#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --symbolic costs: symbolic.py BUILD [--sqlite DIR] [--runs N]

Seconds of processor time, the least of N runs, of a program that computes (symbolic_loop.c) and, with --sqlite, of SQLite with
threads: DIR has its single file sqlite3.c and sqlite3.h. Built by clang as always, and with --symbolic; by itself, under
`fission run`, one thread at a time, and so with a walk, in which one input is symbolic.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SQLITE = HERE.parent / "tests/real/sqlite_threads.c"


def seconds(command, env, walk):
    """Of the command and all its children."""
    if walk:
        walk.write_bytes(b"")
        os.truncate(walk, 1 << 27)
        env = {**env, "FISSION_WALK": str(walk)}
    child = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit("%s ends with status %d" % (" ".join(map(str, command)), os.waitstatus_to_exitcode(status)))
    return usage.ru_utime + usage.ru_stime


def measure(o, program, arguments, walk=None):
    fission = [o.build / "fission", "run", "-q", "--no-out", "--exitcode=0"]
    controlled = [*fission, "--chaos", "--seeds=1"]
    ways = [[], fission, controlled] + ([controlled] if walk else [])
    return [min(seconds([*way, program, *arguments], os.environ, walk if i == 3 else None) for _ in range(o.runs))
            for i, way in enumerate(ways)]


def compile(o, work, form, words):
    program = work / form
    command = [o.build / "fission-cc", *(["--symbolic"] if form == "symbolic" else []), "-O2", "-pthread", "-w", "-o", program, *words]
    subprocess.run([str(c) for c in command], check=True, env={**os.environ, "FISSION_CC": "clang"})
    return program


def show(name, plain, symbolic):
    print("| %s | %s |" % (name, " | ".join("%.2f" % s for s in plain + plain[2:])))
    print("| with --symbolic | %s |" % " | ".join("%.2f" % s for s in symbolic))
    print("| times | %s |" % " | ".join("%.2f" % (s / max(p, 0.001)) for p, s in zip(plain + plain[2:], symbolic)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--sqlite", type=pathlib.Path)
    p.add_argument("--runs", type=int, default=3)
    o = p.parse_args()
    programs = [("computing", [HERE / "symbolic_loop.c"], ["3"])]
    if o.sqlite:
        programs.append(("SQLite", ["-I", o.sqlite, SQLITE, o.sqlite / "sqlite3.c", "-lm"], [".", "20"]))
    print("| | by itself | run | one thread at a time | and a walk |\n|---|---|---|---|---|")
    for name, words, arguments in programs:
        with tempfile.TemporaryDirectory() as work:
            work = pathlib.Path(work)
            plain, symbolic = (compile(o, work, form, words) for form in ("plain", "symbolic"))
            os.chdir(work)
            show(name, measure(o, plain, arguments), measure(o, symbolic, arguments, work / "walk"))


main()
