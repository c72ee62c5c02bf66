#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces that become programs are recorded as they were: roundtrip.py BUILD_DIR [--all] [NAME...]

Each trace is made a program (`fission trace program`), built with fission-cc, run under `fission record`, and compared
with what was recorded: same_trace.py says what is the same. The traces are those of tests/traces, those of steps/ and
random ones; a spread of them, or with --all every one.

A trace that no program can perform is refused by `fission trace program`, with one of test_program.py's reasons.
Counts are printed before the last line.
"""

import os
import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
from random_trace import random_trace  # noqa: E402
from same_trace import Different, compare  # noqa: E402
from test_program import HERE, Case, Failure, run, traces_under  # noqa: E402

SPREAD = 30          # of tests/traces
RANDOM_SPREAD = 8
# What has one place in the order.
EXACT = re.compile(r"(r|w|acq|rel|acq_shared|rel_shared|sem_wait|sem_post|atomic_\w+)\(")
RANDOM_ALL = 60


def breakages(recording):
    """
    The recording without one event, and with two synchronisations of two threads in the other order. None are chosen
    where events of the program's own may be among them: at waits and copies.
    """
    lines = recording.split("\n")
    events = [i for i, line in enumerate(lines) if line and not line.startswith("#")]
    main = lines[events[0]].split("|")[0]
    if any(line.startswith(f"{main}|alloc(") or "|wait(" in line or "(relaxed)" in line for line in lines):
        return
    exact = [i for i in events if EXACT.match(lines[i].split("|")[1]) and lines[i].split("|")[0] != main]
    for i in exact[len(exact) // 2:][:1]:
        yield "\n".join(lines[:i] + lines[i + 1:])
    ordered = [i for i in exact if not lines[i].split("|")[1].startswith(("r(", "w("))]
    for i, j in zip(ordered, ordered[1:]):
        if lines[i].split("|")[0] != lines[j].split("|")[0]:
            yield "\n".join(lines[:i] + lines[i + 1:j + 1] + [lines[i]] + lines[j + 1:])
            return


def must_differ(trace, broken, own_file):
    try:
        compare(trace, broken, own_file)
    except Different:
        return
    raise Failure("a recording that was changed passes for the trace's")


class RoundTrip:
    def __init__(self, build, work, number, name, text):
        self.build = build
        self.name = name
        self.compiler, self.level = [("gcc", "-O1"), ("clang", "-O0")][number % 2]
        self.case = Case(str(build / "fission"), work, f"{number} {name}", text)

    def compile(self):
        program = self.case.base.with_suffix(".program")
        source = self.case.base.with_suffix(".c")
        built = run([str(self.build / "fission-cc"), self.level, "-pthread", str(source), "-o", str(program)],
                    env=dict(os.environ, FISSION_CC=self.compiler))
        if built.returncode or built.stderr:
            raise Failure(f"fission-cc: {built.stderr[:2000]}")
        return program

    def record(self, program):
        path = self.case.base.with_suffix(".recorded.std")
        done = run([str(self.build / "fission"), "record", "--values", "--format=text", "-o", str(path), "--",
                    str(program)])
        if done.returncode or done.stdout or done.stderr:
            raise Failure(f"record: {done.returncode} {done.stdout}{done.stderr[-800:]}")
        return path.read_text(errors="surrogateescape")

    def original(self):
        shown = run([str(self.build / "fission"), "trace", "convert", "--to=text", str(self.case.trace)])
        if shown.returncode:
            raise Failure(f"fission trace convert: {shown.stderr}")
        return shown.stdout

    def attempt(self):
        """(outcome, why)"""
        try:
            if not self.case.write_program():
                return "refused", self.why_refused()
            trace, own_file = self.original(), self.case.base.with_suffix(".c").name
            recording = self.record(self.compile())
            values = compare(trace, recording, own_file)
            for broken in breakages(recording):
                must_differ(trace, broken, own_file)
            return "same", values
        except Different as why:
            return "different", str(why)
        except Failure as why:
            return "failed", str(why)

    def why_refused(self):
        if "# expect: error" in self.case.text:
            return "malformed"
        made = run([str(self.build / "fission"), "trace", "program", "-o", os.devnull, str(self.case.trace)])
        return re.sub(r"^.*?:\d+:\d+: ", "", made.stderr.strip())


def all_trips(build, work, everything):
    traces = [*traces_under(HERE.parent / "traces", 10 ** 6 if everything else SPREAD),
              *traces_under(HERE / "steps", 10 ** 6),
              *((f"random {s}", random_trace(s, 10 + s)) for s in range(RANDOM_ALL if everything else RANDOM_SPREAD))]
    for number, (name, text) in enumerate(traces):
        if "# status: " not in text:
            yield RoundTrip(build, work, number, name, text)


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if not arguments:
        sys.exit("usage: roundtrip.py BUILD_DIR [--all] [NAME...]")
    build, names = Path(arguments[0]).resolve(), arguments[1:]
    with tempfile.TemporaryDirectory(prefix="fission-roundtrip-") as work:
        trips = [t for t in all_trips(build, Path(work), "--all" in sys.argv or bool(names))
                 if not names or any(n in t.name for n in names)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(RoundTrip.attempt, trips))
    outcomes = Counter(outcome for outcome, _ in results)
    for trip, (outcome, why) in zip(trips, results):
        if outcome in ("different", "failed"):
            print(f"{trip.name} ({trip.compiler}): {outcome}: {why}")
    for why, count in Counter(why for outcome, why in results if outcome == "refused").most_common():
        print(f"refused: {count}, {why}")
    print(", ".join(f"{n} {outcome}" for outcome, n in sorted(outcomes.items())),
          f"with {sum(why for outcome, why in results if outcome == 'same')} values")
    bad = outcomes["different"] + outcomes["failed"]
    print(f"{len(trips) - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
