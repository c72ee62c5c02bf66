#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is built with --symbolic does what it does otherwise: same.py BUILD [NAMES...]

Each file of same/ is built by the plain compiler and with --symbolic, without and with optimisation, and run by itself,
under `fission run`, one thread at a time, and with a walk: what it prints and how it ends is always the same. The walk has
to be whole: every expression is defined once, before it is used.
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from walks import KIND

HERE = pathlib.Path(__file__).resolve().parent / "same"
FLAGS = ["-std=gnu11", "-pthread", "-w"]
USES = {KIND["WALK_" + k] for k in ("BRANCH", "SWITCH", "SELECT", "CONCRETE", "ADDRESS", "ARGUMENT", "LOAD", "STORE", "RESULT")}


def run(*command, **env):
    done = subprocess.run([str(c) for c in command], capture_output=True, timeout=120, env={**os.environ, **env})
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def check_walk(path):
    """What is wrong with it, or None."""
    data, defined, symbolic = path.read_bytes(), {0}, 0
    for at in range(16, len(data) - 31, 32):
        kind, _, _, _, module, expr, a, b = struct.unpack_from("<BBHIIIQQ", data, at)
        if kind == KIND["WALK_NONE"]:
            break
        if kind in (KIND["WALK_INPUT"], KIND["WALK_CONST"], KIND["WALK_NODE"]):
            if expr in defined:
                return "expression %d is defined twice" % expr
            if kind == KIND["WALK_NODE"] and (a not in defined or module not in defined):
                return "expression %d is of something that is not there" % expr
            defined.add(expr)
        elif kind in USES:
            if expr not in defined:
                return "expression %d is used and not defined" % expr
            symbolic += expr != 0 and kind == KIND["WALK_BRANCH"]
    return None if symbolic else "no branch is symbolic"


class Program:
    def __init__(self, build, source, work):
        self.build, self.source, self.work = build, source, work
        self.wrong = []

    def same(self, what, done):
        if done[:2] != self.expected:
            self.wrong.append("%s, %s: status %d, not %d; printed %r, not %r\n%s" % (
                self.source.name, what, done[0], self.expected[0], done[1], self.expected[1], done[2]))

    def compile(self, *command):
        done = run(*command)
        if done[0]:
            self.wrong.append("%s: cannot be built: %s" % (self.source.name, done[2]))
        return not done[0]

    def try_with(self, option):
        program, walk = self.work / "shadowed", self.work / "walk"
        fission = [self.build / "fission", "run", "-q", "--no-out", "--exitcode=0"]
        if not self.compile(self.build / "fission-cc", "--symbolic", option, *FLAGS, "-o", program, self.source):
            return
        self.same(option, run(program))
        self.same(option + " run", run(*fission, program))
        self.same(option + " controlled", run(*fission, "--chaos", "--seeds=1", program))
        walk.unlink(missing_ok=True)
        walk.touch()
        os.truncate(walk, 1 << 24)
        self.same(option + " walk", run(*fission, "--chaos", "--seeds=1", program, FISSION_WALK=str(walk)))
        wrong = check_walk(walk)
        if wrong:
            self.wrong.append("%s, %s: %s" % (self.source.name, option, wrong))

    def test(self):
        plain = self.work / "plain"
        if self.compile("cc", "-I", self.build / "driver", *FLAGS, "-o", plain, self.source):
            self.expected = run(plain)[:2]
            for option in ("-O0", "-O2"):
                self.try_with(option)
        return self.wrong


def main():
    build, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    passed = failed = 0
    if not (build / "fission-rewrite").exists():
        print("fission-rewrite was not built: LLVM 14 is needed\n0 passed, 1 failed")
        return 1
    for source in sorted(HERE.glob("*.c")):
        if names and source.stem not in names:
            continue
        with tempfile.TemporaryDirectory() as work:
            wrong = Program(build, source, pathlib.Path(work)).test()
        for text in wrong:
            print(text)
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


sys.exit(main())
