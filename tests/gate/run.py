#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Controlled runs: every program of programs/ under every strategy, by gcc and clang.

usage: run.py BUILD [NAME...]

A program's output and status are those that it has without us, whatever the order. The same seed gives the same trace,
and an executed order, run again, does. What nobody can go on from is a deadlock, what stands still is ended; a file that
is no order is refused. The last line is 'N passed, M failed'.
"""

import concurrent.futures
import itertools
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STRATEGIES = ("random", "pos", "pct", "atomfuzzer")
LIMIT = 60  # seconds: nothing here takes more than one

# program: what it prints in every order, and its status. None: it depends on the order.
SAME = {
    "barrier": ("0 0\n", 0),
    "c11": ("timed out 1\nbusy 1\n30 1 21\n", 0),
    "cancels": ("1\n1\n1\n1\n1\n0\nlock 0\n", 0),
    "cond": ("110\n", 0),
    "exits": ("last\n", 5),
    "forks": ("20 10 3\n", 0),
    "join": ("busy 1\ntimed 1\njoin 0 1\njoin 0 1\nself 1\n", 0),
    "leaves": ("all\n", 0),
    "many": ("600\n", 0),
    "mutex": (
        "counter 80\ntwice 1\ntry 1\npast 1\nsoon 1\nwrong 1\nnot mine 1\n"
        "owner died 1\nconsistent 0\nunlock 0\ndestroy 0\n",
        0,
    ),
    "once": ("1 0\n", 0),
    "pipe": ("k\nlarge 1\n", 0),
    "rwlock": ("0 20 1\n1 1\n", 0),
    "sem": ("1 0 -1\n", 0),
    "handled": ("woken\n", 0),
    "signals": ("sigwait 1\n2\n", 0),
    "spin": ("1\n", 0),
    "talk": ("k\n", 0),
    "timed": ("semaphore 1\ncondition 1\nrwlock 1\ncame 1 0\n", 0),
}

# The trace is the same for the same seed: all that wait for nothing outside.
EXACT = ("barrier", "c11", "cond", "counter", "leaves", "many", "mutex", "once", "rwlock", "sem", "spin", "talk", "timed")

ADDRESS = re.compile(r"0x[0-9a-f]+")
POINTER = re.compile(r"=(\d{10,})")


def canonical(text):
    """The trace without what depends on where things are loaded: addresses by their first appearance."""
    seen = {}
    lines = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        line = ADDRESS.sub(lambda m: "@%d" % seen.setdefault(m[0], len(seen)), line)
        lines.append(POINTER.sub("=pointer", line))
    return "\n".join(lines)


# As in src/sched/order.h.
HEAD, MODULE, STEP = struct.Struct("<QI20sQQIIII"), struct.Struct("<64s48s"), struct.Struct("<IIIIQQII")
MAGIC, READ, WRITE, CULPRIT = 0x726472306E737366, 1, 2, 2


def read_order(data):
    """Modules, and steps: thread, kind, module, occurrence, offset, ..."""
    modules, steps = HEAD.unpack_from(data)[7:9]
    first = HEAD.size + modules * MODULE.size
    return (
        [MODULE.unpack_from(data, HEAD.size + i * MODULE.size) for i in range(modules)],
        [STEP.unpack_from(data, first + i * STEP.size) for i in range(steps)],
    )


def plan_of(module, steps, stop=0):
    """A plan of (thread, kind, offset, occurrence), of which the last is the culprit."""
    head = HEAD.pack(MAGIC, 1, b"plan", 1, 0, 0, stop, 1, len(steps))
    flags = [0] * (len(steps) - 1) + [CULPRIT]
    return head + MODULE.pack(*module) + b"".join(
        STEP.pack(t, k, 0, n, at, 0, f, 0) for (t, k, at, n), f in zip(steps, flags)
    )


class Gate:
    def __init__(self, build, wanted):
        self.build = pathlib.Path(build).resolve()
        self.wanted = wanted
        self.passed = self.failed = 0
        self.runs = itertools.count()
        self.pool = concurrent.futures.ThreadPoolExecutor(4)
        self.here = pathlib.Path(tempfile.mkdtemp(prefix="gate"))

    def check(self, name, good, what=""):
        if self.wanted and not any(w in name for w in self.wanted):
            return
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"{name}: {what}")

    def compile(self, name, compiler, *flags):
        to = self.here / f"{name}-{compiler}"
        if not to.exists():
            command = [self.build / "fission-cc", "-g", "-O1", "-o", to, HERE / "programs" / f"{name}.c", *flags]
            subprocess.run(command, check=True, env={**os.environ, "FISSION_CC": compiler})
        return to

    def run(self, program, *options):
        """Output, status, what the tool said, the trace."""
        trace = self.here / f"trace{next(self.runs)}.std"
        command = [self.build / "fission", "record", "-o", trace, *options, "--", program]
        try:
            r = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return "", "hangs", "", ""
        text = trace.read_text() if trace.exists() else ""
        trace.unlink(missing_ok=True)
        return r.stdout, r.returncode, r.stderr, text

    def wants(self, name):
        return not self.wanted or any(w in name for w in self.wanted)

    def outputs(self):
        for program, (output, status) in SAME.items():
            for compiler in ("gcc", "clang"):
                name = f"{program} by {compiler}"
                if not self.wants(name):
                    continue
                file = self.compile(program, compiler)
                kinds = STRATEGIES if compiler == "gcc" else ("random", "pos")
                runs = self.pool.map(lambda s: self.run(file, f"--strategy={s}", "--seed=1"), kinds)
                for strategy, got in zip(kinds, runs):
                    self.check(f"{name}, {strategy}", got[:2] == (output, status), got[:3])

    def seeds(self):
        for program in EXACT:
            name = f"{program}, same seed, same trace"
            if not self.wants(name):
                continue
            file = self.compile(program, "gcc")
            for strategy in ("random", "pos"):
                runs = self.pool.map(lambda s: self.run(file, f"--strategy={s}", "--seed=5"), [strategy] * 3)
                traces = {canonical(r[3]) for r in runs}
                self.check(f"{name}, {strategy}", len(traces) == 1 and traces != {""}, f"{len(traces)} traces")

    def same_twenty_times(self):
        file = self.compile("counter", "clang")
        runs = self.pool.map(lambda s: self.run(file, "--strategy=random", s), ["--seed=9"] * 20)
        traces = {canonical(r[3]) for r in runs}
        self.check("counter, 20 times", len(traces) == 1, f"{len(traces)} traces")

    def different_seeds(self):
        for program, most in (("counter", "15"), ("once_each", "2")):
            file = self.compile(program, "gcc")
            for strategy in ("random", "pos", "pct"):
                found = set()
                for seed in range(50):
                    found.add(self.run(file, f"--strategy={strategy}", f"--seed={seed}")[0].strip())
                    if most in found and len(found) > 1:
                        break
                good = most in found and len(found) > 1
                self.check(f"{program}, an update is lost by some seed, {strategy}", good, found)

    def replays(self):
        for program, times in (("counter", 100), ("cond", 5), ("many", 2), ("mutex", 5), ("timed", 5), ("talk", 5), ("c11", 5)):
            name = f"{program}, replayed"
            if not self.wants(name):
                continue
            file, order = self.compile(program, "gcc"), self.here / "executed"
            first = self.run(file, "--strategy=random", "--seed=4", f"--executed={order}")
            trace = canonical(first[3])
            for again in self.pool.map(lambda o: self.run(file, f"--order={o}"), [order] * times):
                good = again[:3] == first[:3] and canonical(again[3]) == trace
                self.check(name, good, (first[:3], again[:3]))

    def plans(self):
        """Every order of two threads that read and write once each, by milestones; and one that cannot be."""
        file, order = self.compile("once_each", "gcc"), self.here / "plan"
        module, places = self.places(file, {READ, WRITE})
        for name, steps, lost in (
            ("both read first", [(2, READ), (3, READ), (2, WRITE), (3, WRITE)], True),
            ("the other way", [(3, READ), (2, READ), (3, WRITE), (2, WRITE)], True),
            ("one inside", [(2, READ), (3, READ), (3, WRITE), (2, WRITE)], True),
            ("one after the other", [(2, READ), (2, WRITE), (3, READ), (3, WRITE)], False),
            ("the second first", [(3, READ), (3, WRITE), (2, READ), (2, WRITE)], False),
        ):
            order.write_bytes(plan_of(module, [(t, k, places[k], 1) for t, k in steps]))
            output, status, said, _ = self.run(file, f"--order={order}")
            self.check(f"plan, {name}", (output, status, said) == ("1\n" if lost else "2\n", 0, ""), (output, status, said))
        order.write_bytes(plan_of(module, [(2, READ, places[READ], 1)], stop=1))
        _, status, _, trace = self.run(file, f"--order={order}")
        self.check("plan, stops before the culprit", status == 128 + 5 and "T2|r(" not in trace, (status, trace))
        order.write_bytes(plan_of(module, [(2, READ, places[READ], 2)]))
        output, status, said, _ = self.run(file, f"--order={order}")
        good = (output, status) == ("2\n", 0) or output == "1\n"
        self.check("plan, a second time that never comes", good and "could not be followed" in said, (output, said))

    def places(self, file, kinds):
        """Where the threads of a program read and write: from orders that were executed."""
        found, order = {}, self.here / "executed"
        for seed in range(50):
            self.run(file, "--strategy=random", f"--seed={seed}", f"--executed={order}")
            modules, steps = read_order(order.read_bytes())
            found.update({s[1]: s[4] for s in steps if s[0] > 1 and s[1] in kinds})
            if set(found) == kinds:
                return modules[0], found
        return None, found

    def deadlocks(self):
        file, order = self.compile("deadlock", "gcc"), self.here / "executed"
        for strategy in STRATEGIES:
            _, status, said, _ = self.run(file, f"--strategy={strategy}", "--seed=1", f"--executed={order}")
            good = status == 86 and "T2 waits at lock second for T3" in said and "T3 waits at lock first for T2" in said
            self.check(f"deadlock, {strategy}", good, (status, said))
        _, status, said, _ = self.run(file, f"--order={order}")
        self.check("deadlock, replayed", status == 86 and "could not be followed" not in said, (status, said))
        file = self.compile("lost", "gcc")
        statuses = {self.run(file, "--strategy=random", f"--seed={s}")[1] for s in range(20)}
        self.check("lost signal, in some orders a deadlock", statuses == {0, 86}, statuses)

    def watchdog(self):
        file = self.compile("stuck", "gcc")
        _, status, said, _ = self.run(file, "--strategy=pos", "--patience=1")
        good = status == 137 and "T2 runs" in said and "T1 waits at join for T2" in said
        self.check("watchdog", good, (status, said))

    def orders(self):
        """Files that are no orders, or another program's: a clear word, and no hang."""
        file, order = self.compile("counter", "gcc"), self.here / "executed"
        self.run(file, "--strategy=random", "--seed=4", f"--executed={order}")
        whole = order.read_bytes()
        broken = self.here / "broken"
        for what, data in (
            ("empty", b""),
            ("cut", whole[:-8]),
            ("cut short", whole[:40]),
            ("longer", whole + b"\0" * 8),
            ("text", b"this is no order\n" * 20),
            ("strategy", whole[:12] + b"x" + whole[13:]),
            ("steps", whole[:60] + struct.pack("<I", 1 << 31) + whole[64:]),
        ):
            broken.write_bytes(data)
            _, status, said, _ = self.run(file, f"--order={broken}")
            self.check(f"order, {what}", status == 65 and "no order to run by" in said, (status, said))
        other = self.compile("cond", "gcc")
        output, status, said, _ = self.run(other, f"--order={order}")
        good = (output, status) == ("110\n", 0) and "could not be followed from step" in said
        self.check("order, of another program", good, (output, status, said))


def main():
    gate = Gate(sys.argv[1], sys.argv[2:])
    for part in (
        gate.outputs,
        gate.seeds,
        gate.same_twenty_times,
        gate.different_seeds,
        gate.replays,
        gate.plans,
        gate.deadlocks,
        gate.watchdog,
        gate.orders,
    ):
        part()
    subprocess.run(["rm", "-rf", gate.here], check=False)
    print(f"{gate.passed} passed, {gate.failed} failed")
    return 1 if gate.failed else 0


if __name__ == "__main__":
    sys.exit(main())
