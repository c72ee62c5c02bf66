#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bugs that need other inputs than the program was given: inputs.py BUILD [--table] [--replays=N] [NAMES...]

Each program of tests/programs/inputs is built with fission-cc --symbolic and chased with inputs that do not show its
bug: it must be reproduced, and its replay must do it again, N times. Its twin, built with -DFIXED, must stay silent.
--table also chases with one half alone, plans or inputs, and prints what each finds: whether, executions up to the first
time and in all, seconds in all. --chance=N also tries N random inputs, which must not come to the bug, unless the program
says so ('// CHANCE: found'). NAMES pick some.

Lines of a program that begin so say what it is given: '// ARGS: words', '// STDIN: text', '// ENV: NAME=value',
'// FILE: name text', with \\n for a newline. The last line is 'N passed, M failed'.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent / "inputs"
CLEAN, FINDINGS = 0, 66


class Program:
    def __init__(self, path):
        self.path = path
        self.name = path.stem
        text = path.read_text()
        self.about = text.splitlines()[1].removeprefix("// ").rstrip(".")
        self.args = " ".join(self.lines(text, "ARGS")).split()
        self.stdin = "".join(self.lines(text, "STDIN")).replace("\\n", "\n")
        self.env = dict(line.split("=", 1) for line in self.lines(text, "ENV"))
        self.found_by_chance = bool(self.lines(text, "CHANCE"))
        self.files = dict(line.split(" ", 1) for line in self.lines(text, "FILE"))

    @staticmethod
    def lines(text, word):
        return re.findall(rf"^// {word}: (.*)$", text, re.M)


def chase(build, program, binary, where, *more):
    """(status, standard error, executions up to the first hit and in all, seconds in all)"""
    for name, text in program.files.items():
        (where / name).write_text(text.replace("\\n", "\n"))
    shutil.rmtree(where / "fission.out", ignore_errors=True)
    start = time.monotonic()
    done = subprocess.run(
        [build / "fission", "chase", "--verbose", "--time=300s", *more, "--", binary, *program.args],
        input=program.stdin, capture_output=True, text=True, cwd=where, env={**os.environ, **program.env}, timeout=600,
    )
    everything = re.search(r"executions: (\d+)", done.stderr)
    first = re.search(r"reproduced in execution (\d+)", done.stderr)
    executions = f"{first.group(1) if first else '-'}/{everything.group(1) if everything else '-'}"
    return done.returncode, done.stderr, executions, time.monotonic() - start


def compile_to(build, program, binary, *flags):
    subprocess.run([build / "fission-cc", "--symbolic", "-g", *flags, "-o", binary, program.path, "-lpthread"], check=True)


def try_by_chance(program, where, tries):
    """How many of so many random inputs bring both threads to the code of the bug."""
    least = 3 if program.name == "bank" else 2
    subprocess.run(["gcc", "-O1", f'-DPROGRAM="{program.path}"', "-I", HERE.parents[2] / "include", "-include",
                    HERE / "chance.h", "-o", where / "chance", "-x", "c", "/dev/null", "-lpthread"], check=True)
    done = subprocess.run([where / "chance", str(tries), str(least), *program.args], capture_output=True, text=True,
                          cwd=where, check=True, timeout=1200)
    return int(done.stdout)


def replay(build, where, times):
    """Whether every replay of the run does it again, all of the times."""
    files = sorted((where / "fission.out" / "replays").glob("*.replay"))
    return bool(files) and all(
        subprocess.run([build / "fission", "replay", f"--count={times}", f], capture_output=True, cwd=where,
                       timeout=600, stdin=subprocess.DEVNULL).returncode == 0
        for f in files
    )


def starts_by_itself(build, where):
    """Whether what a person is handed, files and a script, starts the program, and it ends well."""
    for file in (where / "fission.out" / "replays").glob("*.replay"):
        subprocess.run([build / "fission", "replay", f"--inputs={where / 'handed'}", file], check=True, cwd=where,
                       capture_output=True, timeout=600)
        done = subprocess.run([where / "handed" / "run.sh"], cwd=where, capture_output=True, text=True, timeout=600,
                              stdin=subprocess.DEVNULL)
        if done.returncode or not done.stdout.strip().isdigit():
            return False
    return True


def judge(build, program, where, options):
    """What is wrong, and a row of the table."""
    compile_to(build, program, where / "program")
    compile_to(build, program, where / "fixed", "-DFIXED")
    status, said, executions, seconds = chase(build, program, "./program", where)
    row = {"both": (status == FINDINGS, executions, seconds)}
    if status != FINDINGS or "REPRODUCED" not in said:
        return f"not reproduced, exit status {status}\n{said}", row
    if not replay(build, where, options.replays):
        return "its replay does something else", row
    if not starts_by_itself(build, where):
        return "its inputs cannot be had as files", row
    if options.table:
        for half, without in (("plans", "inputs"), ("inputs", "plans")):
            status, _, executions, seconds = chase(build, program, "./program", where, f"--without={without}")
            row[half] = (status == FINDINGS, executions, seconds)
    status, said, executions, seconds = chase(build, program, "./fixed", where)
    if options.chance:
        row["chance"] = try_by_chance(program, where, options.chance)
        if row["chance"] and not program.found_by_chance:
            return f"{row['chance']} of {options.chance} random inputs do it, too", row
    row["twin"] = (status != CLEAN, executions, seconds)
    return None if status == CLEAN else f"the twin is not silent, exit status {status}\n{said}", row


def show(row, half):
    if half not in row:
        return "-".rjust(22)
    found, executions, seconds = row[half]
    return f"{'found' if found else 'no':>6} {executions:>7} {seconds:>7.1f} s".rjust(22)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--chance", type=int, default=0)
    parser.add_argument("--replays", type=int, default=3)
    options = parser.parse_intermixed_args()
    build, passed, failed = options.build.resolve(), 0, 0
    programs = [Program(p) for p in sorted(HERE.glob("*.c"))]
    programs = [p for p in programs if not options.names or p.name in options.names]
    if not (build / "fission-rewrite").exists() or not (build / "fission-solve").exists():
        print("fission-rewrite or fission-solve was not built: LLVM 14 and z3 are needed")
        programs, failed = [], 1
    if options.table:
        print(f"{'':12}{'plans alone':>22}{'inputs alone':>22}{'both':>22}{'the fixed twin':>22}{'by chance':>12}")
    for program in programs:
        with tempfile.TemporaryDirectory() as where:
            wrong, row = judge(build, program, pathlib.Path(where), options)
        passed += wrong is None
        failed += wrong is not None
        if options.table:
            print(program.name.ljust(12) + "".join(show(row, half) for half in ("plans", "inputs", "both", "twin")) +
                  str(row.get("chance", "-")).rjust(12))
        if wrong:
            print(f"FAILED: {program.name}: {wrong}")
        sys.stdout.flush()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
