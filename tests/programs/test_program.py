#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs that `fission trace program` makes do what their traces say: test_program.py FISSION

For each trace: the program compiles without a warning, ends with status 0, and with TRACE_ECHO=1 writes the events
of the trace in their order. The traces are those of tests/traces, those beside this file in steps/, and random ones.

Comments in a trace of steps/ say what else is expected:
  # refused: TEXT    `fission trace program` ends with status 65 and a message that has this text
  # status: N        the program ends with this status, having performed the trace up to there
  # tsan: race       built with -fsanitize=thread the program reports a data race
  # tsan: none       ... and here it does not
So the order that the program keeps is none that a race detector takes for synchronisation.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
from random_trace import random_trace  # noqa: E402

HERE = Path(__file__).resolve().parent
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pthread"]
BUILDS = [["gcc", "-O0"], ["gcc", "-O2"], ["clang", "-O0"], ["clang", "-O2"], ["gcc", "-DPLACES=0"]]
RANDOM_TRACES = 40
OTHER_TRACES = 40      # of tests/traces, spread evenly, if there are more
REPEATED = ["wait_many", "wait_each_other", "wait_notified_early", "wait_notified_bare", "barrier_rounds", "names"]
REPETITIONS = 20
TIMEOUT = 60           # seconds, for what takes one on a machine that has nothing else to do

# A trace of tests/traces that is well-formed may still be one that no program can perform.
REFUSALS = ["no lock of pthreads does both", "C has no atomic_", "bytes only", "multiple of its size",
            "partly inside", "address space", "too large", "too many pages", "no barrier has", "is joined, but waits"]


class Failure(Exception):
    pass


def run(command, **options):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT, **options)
    except subprocess.TimeoutExpired as late:
        told = (late.stderr or b"").decode(errors="replace")
        raise Failure(f"{Path(command[0]).name} does not end; the last it said is {told[-200:]!r}") from late


def has(compiler):
    return shutil.which(compiler[0]) is not None


class Case:
    """One trace on its way to a program that was run."""

    def __init__(self, fission, work, name, text):
        self.fission = fission
        self.name = name
        self.text = text
        self.base = work / re.sub(r"\W", "_", name)
        self.trace = self.base.with_suffix(".std")
        self.trace.write_text(text, newline="")

    def says(self, word):
        found = re.search(rf"^# {word}: (.*?)\s*$", self.text, re.MULTILINE)
        return found.group(1) if found else None

    def write_program(self):
        """Whether there is one; it is fine that there is none if the trace or a known limit says so."""
        source = self.base.with_suffix(".c")
        made = run([self.fission, "trace", "program", "-o", str(source), str(self.trace)])
        error = re.search(r"^# expect: error (\d+:\d+)", self.text, re.MULTILINE)
        refused = f":{error.group(1)}: " if error else self.says("refused")
        if refused:
            if made.returncode != 65 or refused not in made.stderr:
                raise Failure(f"not refused with status 65 and {refused!r}: {made.returncode} {made.stderr}")
            if source.exists():
                raise Failure("refused, but there is a program")
            return False
        if made.returncode == 65 and any(text in made.stderr for text in REFUSALS):
            return False
        if made.returncode or made.stderr:
            raise Failure(f"fission trace program: {made.returncode} {made.stderr}")
        return True

    def compile(self, compiler, *flags):
        program = self.base.with_suffix("." + "".join(c for c in compiler[0] + "".join(flags) if c.isalnum()))
        built = run([*compiler, *WARNINGS, *flags, str(self.base.with_suffix(".c")), "-o", str(program)])
        if built.returncode or built.stderr:
            raise Failure(f"{' '.join(compiler)}: {built.stderr[:2000]}")
        return program

    def expected(self):
        shown = run([self.fission, "trace", "convert", "--to=text", str(self.trace)])
        if shown.returncode:
            raise Failure(f"fission trace convert: {shown.stderr}")
        events = [line for line in shown.stdout.split("\n") if line and not line.startswith("#")]
        return ["|".join(line.split("|")[:3]) for line in events]

    def perform(self, program):
        done = run([str(program)], env=dict(os.environ, TRACE_ECHO="1"))
        steps, expected = done.stderr.split("\n")[:-1], self.expected()
        status = int(self.says("status") or 0)
        if done.returncode != status:
            raise Failure(f"the program ended with status {done.returncode}: {done.stderr[-500:]}")
        if status:
            steps, expected = steps[:-1], expected[:len(steps) - 1]
        if steps != expected:
            at = next((i for i, (a, b) in enumerate(zip(steps, expected)) if a != b), min(len(steps), len(expected)))
            raise Failure(f"step {at + 1} of {len(expected)} is {steps[at:at + 1]} and should be {expected[at:at + 1]}")
        if done.stdout:
            raise Failure(f"the program printed {done.stdout!r}")

    def stay_silent(self, program):
        done = run([str(program)])
        if not self.says("status") and (done.returncode or done.stdout or done.stderr):
            raise Failure(f"without TRACE_ECHO: {done.returncode} {done.stdout}{done.stderr}")


def test_performs(case, build):
    if case.write_program():
        program = case.compile(build)
        case.perform(program)
        case.stay_silent(program)


def test_repeats(case, _):
    case.write_program()
    program = case.compile(BUILDS[0])
    for _ in range(REPETITIONS):
        case.perform(program)


def test_race(case, compiler):
    case.write_program()
    program = case.compile(compiler, "-g", "-fsanitize=thread")
    done = run([str(program)], env=dict(os.environ, TSAN_OPTIONS="exitcode=66"))
    races = done.stderr.count("WARNING: ThreadSanitizer: data race")
    if case.says("tsan") == "race":
        places = re.findall(r"#0 .*?([\w.]+:\d+)", done.stderr)
        sites = {line.split("|")[2] for line in case.expected()}
        if races == 0 or not set(places[:2]) <= sites:
            raise Failure(f"{races} races at {places}, expected one between places of the trace: {done.stderr[:800]}")
    elif races or done.returncode:
        raise Failure(f"{races} races, status {done.returncode}: {done.stderr[:2000]}")


def test_taken_names(case, build):
    """Everything that the program's own text and its headers call something, as a function or as a variable."""
    compiler, operations = build
    case.write_program()
    source = case.base.with_suffix(".c")
    seen = run(["gcc", "-E", str(source)]).stdout + run(["gcc", "-E", "-dM", str(source)]).stdout
    names = set(re.findall(r"\b[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", seen)))
    few = {n for n in names if re.match("__|SYS_", n)}
    names = sorted(names - few | set(sorted(few)[::40]))
    case.trace.write_text("".join(f"T|{operation}({name})|\n" for name in names for operation in operations))
    test_performs(case, [compiler])


def traces_under(folder, most):
    paths = sorted(folder.glob("**/*.std"))
    step = max(1, -(-len(paths) // most))
    for path in paths[::step]:
        text = path.read_bytes().decode(errors="surrogateescape")
        try:
            text.encode()
        except UnicodeEncodeError:
            continue
        yield f"{folder.name}/{path.relative_to(folder)}", text


def all_tests(fission, work):
    """(what, test, its case, build)"""
    builds = [b for b in BUILDS if has(b)]
    number = 0
    for name, text in [*traces_under(HERE / "steps", 10 ** 6), *traces_under(HERE.parent / "traces", OTHER_TRACES),
                       *((f"random {s}", random_trace(s, 10 + s)) for s in range(RANDOM_TRACES))]:
        number += 1
        yield name, test_performs, Case(fission, work, f"{number} {name}", text), builds[number % len(builds)]
    for name, text in traces_under(HERE / "steps", 10 ** 6):
        if Path(name).stem in REPEATED:
            yield f"{name} repeated", test_repeats, Case(fission, work, f"repeated {name}", text), None
        for compiler in (["gcc"], ["clang"]):
            if "# tsan: " in text and has(compiler):
                case = Case(fission, work, f"tsan {compiler[0]} {name}", text)
                yield f"{name} with {compiler[0]}'s TSan", test_race, case, compiler
    for compiler in ("gcc", "clang"):
        for operations in (["enter", "exit"], ["w"]):
            name = f"taken names {operations[0]} {compiler}"
            if has([compiler]):
                yield name, test_taken_names, Case(fission, work, name, "T|w(x)|\n"), (compiler, operations)


def attempt(item):
    name, test, case, build = item
    try:
        test(case, build)
    except Failure as failure:
        return f"{name}: {failure}"
    return None


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: test_program.py FISSION")
    fission = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="fission-programs-") as work:
        tests = list(all_tests(fission, Path(work)))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            failures = [f for f in pool.map(attempt, tests) if f]
    for failure in failures:
        print(failure)
    print(f"{len(tests) - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
