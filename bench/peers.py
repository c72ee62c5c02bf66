#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench-peers: Fission beside the tools people have: what they cost, and what they say of programs with a bug.

usage: peers.py BUILD_DIR [--tables=cost,words] [--programs=NAMES] [--fresh] [--no-write]

`cost` runs the programs of bench/runtime in every way, all at one size: wall time as a multiple of the plain program's, and
peak memory. `words` runs the programs of tests/programs/bugs, each with one atomicity bug and no data race, under every
tool: silent, race, or the violation. Both are written to docs/results. Cells are kept in BUILD_DIR/results/peers, and a run
that was ended goes on where it was.
"""

import argparse
import collections
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "programs"))

import bugs
import cells
import runtime
from cells import Cell, Table

PATIENCE = 100  # seconds for a run
WORDS_PATIENCE = 60
TRIES = 3  # runs of a bug program under a tool whose answer depends on the schedule
RUN = ("FISSION", "run", "--no-out")
FISSION = {"collects": True, "statuses": (0, runtime.FINDINGS)}
CHECKS = ("sidetrack", "causal,races", "aerodrome,races", "velodrome,races", "atomizer", "reduction", "blocks", "views", "races,deadlocks")

COLUMNS = (
    runtime.Column("plain", "plain", ("PROGRAM",)),
    runtime.Column("gcc-tsan", "gcc-tsan", ("PROGRAM",)),
    runtime.Column("clang-tsan", "clang-tsan", ("PROGRAM",)),
    runtime.Column("helgrind", "plain", ("valgrind", "-q", "--tool=helgrind", "PROGRAM")),
    runtime.Column("drd", "plain", ("valgrind", "-q", "--tool=drd", "PROGRAM")),
    runtime.Column("record", "fission", ("FISSION", "record", "-o", "TRACE", "--", "PROGRAM"), **FISSION),
    runtime.Column("run", "fission", (*RUN, "--", "PROGRAM"), **FISSION),
    *(runtime.Column(c, "fission", (*RUN, f"--checks={c}", "--", "PROGRAM"), **FISSION) for c in CHECKS),
    runtime.Column("not rebuilt", "plain", (*RUN, "--", "PROGRAM"), **FISSION),
)
SLOW = ("helgrind", "drd", "record", "velodrome,races", "atomizer", "reduction", "blocks", "views")  # measured once

# What takes about a tenth of a second.
PROGRAMS = (
    runtime.Program("matrix", 300, 300), runtime.Program("hashtable", 400000, 400000), runtime.Program("queue", 100000, 100000),
    runtime.Program("tsp", 13, 13), runtime.Program("sort", 800000, 800000), runtime.Program("montecarlo", 2000, 2000),
    runtime.Program("rbtree", 300000, 300000),
)


# How what is run in the columns was built, as one would type it.
BUILT = {"plain": "gcc -O2", "gcc-tsan": "gcc -O2 -g -fsanitize=thread", "clang-tsan": "clang -O2 -g -fsanitize=thread",
         "fission": "fission-cc -O2"}
TYPED = {"FISSION": "fission", "PROGRAM": "./NAME ARGUMENTS", "TRACE": "NAME.ftr"}


def as_typed(column):
    words = " ".join(TYPED.get(w, w) for w in column.command)
    return f"{BUILT[column.build]} -pthread bench/runtime/NAME.c -lm -o NAME; {words}      # {column.name}"


class Clock(runtime.Bench):
    def limit(self, program, size):
        return PATIENCE

    def time(self, program, column):
        """{wrong, seconds, program, collector}"""
        if not self.usable(column, program):
            return {"wrong": "not there"}
        wrong, done = self.once(column, program, program.size, watch=True)
        mine, other = self.peaks(column, program, done)
        if not mine:  # valgrind is the executable, not the program
            mine = max(done.peaks.values(), default=0)
        value = {"wrong": wrong, "seconds": done.seconds, "program": mine, "collector": other}
        for _ in range(0 if wrong or column.name in SLOW else 3):
            value["wrong"], done = self.once(column, program, program.size)
            value["seconds"] = min(value["seconds"], done.seconds)
            if value["wrong"]:
                break
        return value


class Cost:
    def __init__(self, store, build, directory):
        self.store = store
        self.clock = Clock(runtime.Builds(build, directory), (build / "fission").resolve(), directory, threads=2)

    def cells(self, names):
        def one(p, c):
            return Cell(f"cost {p.name} {c.name}", lambda: self.clock.time(p, c), (runtime.SOURCES / f"{p.name}.c", p.size, c.command))
        return [one(p, c) for p in PROGRAMS if not names or p.name in names for c in COLUMNS]

    def value(self, program, column):
        return self.store.values.get(f"cost {program} {column}", {"wrong": "-"})

    def ratio(self, program, column):
        plain, mine = self.value(program, "plain"), self.value(program, column)
        return None if plain["wrong"] or mine["wrong"] else mine["seconds"] / plain["seconds"]

    def tables(self, names):
        programs = [p for p in PROGRAMS if not names or p.name in names]
        head = ["", *(p.name for p in programs), "mean"]
        commands = [as_typed(c) for c in COLUMNS]
        slow = Table("Wall time / that of the plain program (plain: seconds), at one size for all; two threads", commands, head)
        slow.row("arguments", *(f"2 {p.size}" for p in programs))
        memory = Table("Peak of resident memory in MB; + that of the process that collects", [], head[:-1])
        for c in COLUMNS:
            ratios = [self.ratio(p.name, c.name) for p in programs]
            known = [r for r in ratios if r]
            if c.name == "plain":
                slow.row("plain, s", *(cells.shown(self.value(p.name, "plain").get("seconds"), ".3f") for p in programs), "")
            else:
                mean = math.exp(sum(map(math.log, known)) / len(known)) if known else None
                slow.row(c.name, *(self.value(p.name, c.name)["wrong"] or cells.shown(r, ".1f") for p, r in zip(programs, ratios)),
                         cells.shown(mean, ".1f") + ("" if len(known) == len(ratios) else " *"))
            memory.row(c.name, *(self.megabytes(p.name, c.name) for p in programs))
        slow.note(f"* not of all programs. 'too long' is more than {PATIENCE} s.")
        slow.note(f"measured once: {', '.join(SLOW)}; others the best of four.")
        return [slow, memory]

    def megabytes(self, program, column):
        v = self.value(program, column)
        if v["wrong"]:
            return v["wrong"]
        return f"{v['program'] / 1e6:.0f}" + (f"+{v['collector'] / 1e6:.0f}" if v["collector"] else "")


# What they say.

def tool_says(text, patterns):
    return next((word for pattern, word in patterns if re.search(pattern, text)), "silent")


TSAN = ((r"WARNING: ThreadSanitizer: data race", "race"), (r"WARNING: ThreadSanitizer", "other"),
        (r"FATAL: ThreadSanitizer|ThreadSanitizer:DEADLYSIGNAL", "crash"))
HELGRIND = ((r"Possible data race", "race"), (r"^==\d+== (?!\s*$)", "other"))
DRD = ((r"Conflicting (load|store)", "race"), (r"^==\d+== (?!\s*$)", "other"))


class Words:
    """One bug program under one tool is a cell: a word, and for Fission what exactly."""

    def __init__(self, store, build, directory, names):
        self.store, self.build, self.directory, self.names = store, build.absolute(), directory, names
        self.tools = {"gcc-tsan": self.tsan("gcc"), "clang-tsan": self.tsan("clang"), "helgrind": self.valgrind("helgrind", HELGRIND),
                      "drd": self.valgrind("drd", DRD), "run": self.run, "run, blocks": self.run_blocks,
                      "not rebuilt": self.stock, "not rebuilt, -O0": self.stock_plain, "chase": self.chase}

    def programs(self):
        return [bugs.Program(source, False, "gcc", self.directory) for source in sorted(bugs.HERE.glob("*.c"))
                if not self.names or source.stem in self.names]

    def cells(self):
        return [Cell(f"words {p.source.stem} {name}", lambda p=p, measure=measure: self.guarded(measure, p), (p.source, TRIES))
                for p in self.programs() for name, measure in self.tools.items()]

    def guarded(self, measure, program):
        try:
            return measure(program)
        except subprocess.TimeoutExpired:
            return "too long"
        except bugs.Wrong as wrong:
            return f"failed: {str(wrong)[:60]}"

    def compile(self, program, compiler, *flags):
        """Built once, without us; flags tell builds apart, and the first word those of bugs.Program."""
        words = ("theirs", program.source.stem, compiler, *(f.strip("-").replace("=", "-") for f in flags))
        out = self.directory / "-".join(words)
        if not out.exists():
            built = bugs.run(compiler, *bugs.FLAGS, *flags, program.source, "-o", out)
            if built.returncode:
                raise bugs.Wrong(built.stderr)
        return [out, *program.command[1:]]

    def tsan(self, compiler):
        def measure(program):
            command = self.compile(program, compiler, "-fsanitize=thread")
            said = [bugs.run("setarch", "-R", *command, timeout=WORDS_PATIENCE) for _ in range(TRIES)]
            words = {tool_says(d.stderr, TSAN) if d.returncode != -11 else "crash" for d in said}
            return " or ".join(sorted(words))
        return measure

    def valgrind(self, tool, patterns):
        def measure(program):
            command = self.compile(program, "gcc")
            said = bugs.run("valgrind", "-q", f"--tool={tool}", *command, timeout=WORDS_PATIENCE)
            return tool_says(said.stderr, ((re.compile(p, re.M), w) for p, w in patterns))
        return measure

    def fission(self, program, command, *options):
        """The best verdict about the function that has the bug, of a few runs."""
        path = self.directory / "words.json"
        best = "silent"
        for _ in range(TRIES):
            path.unlink(missing_ok=True)
            bugs.run(self.build / "fission", "run", "--no-out", "--exitcode=0", "--format=json", "-o", path, *options, "--", *command,
                     timeout=WORDS_PATIENCE)
            for f in json.loads(path.read_text())["findings"]:
                if f["block"]["function"] == program.function:
                    best = min(best, f["verdict"], key=("reproduced", "observed", "predicted", "suspected", "silent").index)
        return best

    def run(self, program):
        program.build(self.build)
        return self.fission(program, program.command)

    def run_blocks(self, program):
        program.build(self.build)
        return self.fission(program, program.command, *bugs.BLOCKS)

    def stock(self, program):
        return self.fission(program, self.compile(program, "gcc"))

    def stock_plain(self, program):
        """Without inlining: with it, most of these small functions are no functions any more."""
        return self.fission(program, self.compile(program, "gcc", "-O0"))

    def chase(self, program):
        program.build(self.build)
        options = argparse.Namespace(build=self.build, time=20)
        report, *_ = bugs.search(options, program, "chase", "--time=20s")
        return "reproduced" if any(f["verdict"] == "reproduced" and program.is_expected(f) for f in report["findings"]) else "silent"

    def table(self):
        table = Table("What is said of programs with an atomicity bug and without a data race (tests/programs/bugs)", [
            "gcc -O1 -g -pthread -fsanitize=thread NAME.c && setarch -R ./a.out      # gcc-tsan; clang-tsan likewise",
            "valgrind -q --tool=helgrind ./a.out                                      # drd likewise",
            "fission-cc -O1 -g -pthread NAME.c && fission run ./a.out",
            f"fission run {' '.join(bugs.BLOCKS)} ./a.out", "gcc -O1 -g -pthread NAME.c && fission run ./a.out       # not rebuilt; likewise with -O0",
            "fission chase --time=20s ./a.out"], ["", *self.tools])
        count = {name: collections.Counter() for name in self.tools}
        for p in self.programs():
            row = [self.store.values[f"words {p.source.stem} {name}"] for name in self.tools]
            for name, word in zip(self.tools, row):
                count[name][word] += 1
            table.row(p.source.stem, *row)
        table.row("the bug, named", *(sum(n for w, n in count[name].items() if w in bugs_found) for name in self.tools))
        table.note(f"observed, predicted, suspected, reproduced: the function with the bug is named, with that verdict; the best of {TRIES} runs")
        table.note("not rebuilt, -O1: most of the functions are inlined; debug information tells of them")
        table.note("race, other: something else is said. crash: the tool crashes (volume uses C11 threads)")
        return table


bugs_found = ("reproduced", "observed", "predicted", "suspected")


def parse(argv):
    p = argparse.ArgumentParser(description="Fission beside other tools.")
    p.add_argument("build", type=pathlib.Path, metavar="BUILD_DIR")
    p.add_argument("--tables", default="cost,words")
    p.add_argument("--programs", help="only these, with commas")
    p.add_argument("--fresh", action="store_true", help="forget what is known from before")
    p.add_argument("--no-write", action="store_true", help="print the tables, and leave docs/results as it is")
    options = p.parse_args(argv)
    if set(options.tables.split(",")) - {"cost", "words"}:
        p.error("there are cost and words")
    return options


def main(argv):
    options = parse(argv)
    where, say = cells.machine(), cells.say_as("peers")
    store = cells.Store(options.build, "peers", options.fresh)
    work = (options.build / "results" / "peers.work").absolute()
    shutil.rmtree(work, ignore_errors=True)  # programs are cheap to build, and old ones are wrong
    work.mkdir(parents=True)
    names = options.programs.split(",") if options.programs else None
    cost, words = Cost(store, options.build, work), Words(store, options.build, work, names)
    wanted = {"cost": lambda: cost.cells(names), "words": words.cells}
    make = {"cost": lambda: cost.tables(names), "words": lambda: [words.table()]}
    for t in options.tables.split(","):
        store.fill(wanted[t](), say)
        tables = make[t]()
        print("\n".join("\n" + table.text() for table in tables))
        if not options.no_write:
            cells.write(cells.RESULTS / f"peers-{t}.txt", f"make bench-peers   (bench/peers.py build --tables={t})", where, tables)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
