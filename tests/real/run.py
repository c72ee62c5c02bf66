#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make test-real: real programs, rebuilt from Debian's source packages with nothing but another compiler.

usage: run.py BUILD_DIR [--programs=NAMES] [--runs=N] [--limit=SECONDS] [--keep]

Each program is built twice from one source, plain and with BUILD_DIR/fission-cc, and used in the same way: plain, then
under `fission run`, in turns. Every run must end in time, and every byte of what it says and its exit status must be
those of the first plain run. Whatever is found is printed by verdict and rank; findings fail nothing here.

Sources, builds and data are kept in BUILD_DIR/real. The last line is 'N passed, N failed': each build and each run
counts.
"""

import argparse
import collections
import dataclasses
import hashlib
import inspect
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

import compressors
import memcached
import session
import sources
import sqlite

PROGRAMS = (memcached.Memcached(), compressors.Pigz(), compressors.Zstd(), compressors.Xz(), compressors.Pbzip2(),
            sqlite.Sqlite())
VERDICTS = ("reproduced", "observed", "predicted", "suspected")
RANKS = (1, 2, 3, 4)
SHOWN = 2  # the last rank that is shown
RUN = ("--no-out", "--format=json", "--fail-on=reproduced,1")  # a run reproduces nothing: the exit status is the program's own


class Unfit(Exception):
    """There is no plain program to compare with, or none with our compiler; says why."""


@dataclasses.dataclass
class Tally:
    """What came of one program."""

    program: str
    version: str = "-"
    built: bool = False
    runs: int = 0
    hangs: int = 0
    different: int = 0
    unreported: int = 0  # runs whose report is not there, or is none
    incomplete: int = 0  # reports that say that something was lost
    failed: int = 0
    plain: float = 0.0  # seconds
    checked: float = 0.0
    events: int = 0
    races: int = 0
    findings: dict = dataclasses.field(default_factory=dict)  # id: the finding as it was seen first
    seen: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # id: runs


# Building.

def compiler_identity(cc):
    """What decides whether a build is still good: what the compiler does, or failing that what it is."""
    asked = subprocess.run([cc, "--show", "-O2", "-g", "x.c", "-o", "x", "-pthread"], capture_output=True,
                           stdin=subprocess.DEVNULL)
    if asked.returncode == 0:  # and what it includes in every file
        headers = sorted((pathlib.Path(cc).resolve().parent / "driver" / "fission").glob("*.h"))
        return asked.stdout + b"".join(header.read_bytes() for header in headers)
    return pathlib.Path(shutil.which(cc)).read_bytes()


def stamp_of(program, version, cc):
    digest = hashlib.sha256(version.encode() + compiler_identity(cc) + inspect.getsource(type(program).build).encode())
    for path in getattr(program, "inputs", list)():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def build(program, dsc, tree, cc, cxx):
    """Builds into the directory, unless what is there is what would come out."""
    stamp = stamp_of(program, sources.version(dsc), cc)
    mark = tree / ".built"
    if mark.exists() and mark.read_text() == stamp:
        return
    shutil.rmtree(tree, ignore_errors=True)
    sources.unpack(dsc, tree)
    log = tree / ".log"

    def make(*argv):
        with open(log, "ab") as out:
            done = subprocess.run(argv, cwd=tree, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        if done.returncode:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
            raise Unfit(f"{' '.join(map(str, argv))}: status {done.returncode}\n{tail}")

    program.build(make, str(cc), str(cxx))
    mark.write_text(stamp)


# Running.

def read_report(path):
    with open(path) as f:
        report = json.load(f)
    return report["findings"], report["races"], report["counts"]["events"], report["traces"]


def take_reports(tally, one):
    """Adds what the reports of one session say. Returns what is wrong with them, or None."""
    ids = set()
    for path in one.reports:
        try:
            findings, races, events, traces = read_report(path)
        except (OSError, ValueError, KeyError, TypeError) as e:
            tally.unreported += 1
            return f"no report: {type(e).__name__}: {e}"
        tally.events += events
        tally.races = max(tally.races, len(races))
        tally.incomplete += any(not t["complete"] for t in traces)
        for f in findings:
            tally.findings.setdefault(f["id"], f)
            ids.add(f["id"])
    tally.seen.update(ids)
    return None


def use(program, tree, directory, limit, runner=None):
    """One session. Returns it, and how it hung, or None."""
    shutil.rmtree(directory, ignore_errors=True)
    one = session.Session(directory.resolve(), limit, runner)
    try:
        program.use(one, tree.resolve())
    except session.Hang as e:
        return one, str(e)
    finally:
        one.close()
    return one, None


class Bench:
    def __init__(self, options):
        self.options = options
        self.build = options.build
        self.real = options.build / "real"
        self.apt = sources.Apt(self.real / "apt")
        self.plain_cc = os.environ.get("FISSION_CC", "cc")
        self.plain_cxx = os.environ.get("FISSION_CXX", "c++")
        self.runner = [(self.build / "fission").resolve(), "run", *RUN]

    def say(self, text):
        print(text, flush=True)

    def make(self, program, tally):
        """Both builds. Returns the two trees."""
        home = self.real / program.name
        dsc = sources.fetch(self.apt, program.package, home / "package")
        tally.version = sources.version(dsc)
        trees = home / "plain", home / "fission"
        start = time.monotonic()
        build(program, dsc, trees[0], self.plain_cc, self.plain_cxx)
        build(program, dsc, trees[1], (self.build / "fission-cc").absolute(), (self.build / "fission-c++").absolute())
        data = self.real / "data"
        data.mkdir(exist_ok=True)
        program.prepare(data.resolve())
        self.say(f"{program.name} {tally.version}: built ({time.monotonic() - start:.0f} s)")
        return trees

    def fail(self, tally, number, why):
        tally.failed += 1
        self.say(f"{tally.program}, run {number}: FAILED: {why}")

    def plain_run(self, program, tree, number):
        one, hung = use(program, tree, self.real / "runs" / program.name / f"plain-{number}", self.options.limit)
        if hung:
            raise Unfit(f"the plain program hangs: {hung}")
        if one.complaints:
            raise Unfit(f"the plain program does not do its work: {'; '.join(one.complaints)}")
        return one

    def judge(self, tally, number, expected, plain, checked, hung):
        """What is wrong with one pair of runs, each counted."""
        wrong = [] if hung is None else [f"a hang: {hung}"]
        tally.hangs += bool(hung)
        if not hung:
            wrong += [*checked.complaints, *session.differences(expected, checked.outcome)]
            tally.different += bool(wrong)
            wrong += filter(None, [take_reports(tally, checked)])
            tally.plain += plain.seconds
            tally.checked += checked.seconds
        wrong += [f"plain differs from plain: {d}" for d in session.differences(expected, plain.outcome)]
        if wrong:
            self.fail(tally, number, "\n    ".join(wrong))

    def run(self, program, trees, tally):
        expected = None
        for number in range(1, self.options.runs + 1):
            where = self.real / "runs" / program.name / f"fission-{number}"
            plain = self.plain_run(program, trees[0], number)
            expected = expected or plain.outcome
            checked, hung = use(program, trees[1], where, self.options.limit, self.runner)
            tally.runs += 1
            self.judge(tally, number, expected, plain, checked, hung)
            if not self.options.keep:
                shutil.rmtree(self.real / "runs" / program.name)

    def measure(self, program):
        tally = Tally(program.name)
        try:
            trees = self.make(program, tally)
            tally.built = True
            self.run(program, trees, tally)
        except (sources.Unavailable, Unfit) as e:
            tally.failed += 1
            self.say(f"{program.name}: FAILED: {e}")
        return tally


# Printing.

def by_rank(tally):
    """observed 0/1/2/3 ...: how many findings of each verdict, by rank."""
    count = collections.Counter((f["verdict"], f["rank"]) for f in tally.findings.values() if not f["hidden"])
    hidden = sum(f["hidden"] for f in tally.findings.values())
    verdicts = sorted({v for v, _ in count}, key=lambda v: VERDICTS.index(v) if v in VERDICTS else len(VERDICTS))
    words = [f"{v} {'/'.join(str(count[v, r]) for r in RANKS)}" for v in verdicts]
    return "; ".join([*words, f"hidden {hidden}"])


def print_table(tallies):
    print(f"\n{'program':11}{'version':20}{'runs':>5}{'hangs':>6}{'differ':>7}{'no report':>10}{'lost':>5}"
          f"{'plain s':>8}{'slowdown':>9}{'M events':>9}{'races':>6}  findings by verdict, rank 1/2/3/4")
    for t in tallies:
        runs = t.runs or 1
        slowdown = f"{t.checked / t.plain:.1f}" if t.plain else "-"
        print(f"{t.program:11}{t.version:20}{t.runs:5}{t.hangs:6}{t.different:7}{t.unreported:10}{t.incomplete:5}"
              f"{t.plain / runs:8.2f}{slowdown:>9}{t.events / runs / 1e6:9.1f}{t.races:6}  {by_rank(t)}")


def place(p):
    return f"{p['function'] or '?'} ({p['file'] or '?'}:{p['line'] or '?'})"


def print_findings(tally):
    shown = [f for f in tally.findings.values() if f["rank"] <= SHOWN and not f["hidden"] and not f["again"]]
    for f in sorted(shown, key=lambda f: (f["rank"], -tally.seen[f["id"]], f["id"])):
        foreign = [a for a in f["accesses"] if a["stack"] and a["thread"] != f["block"]["thread"]]
        culprits = sorted({a["stack"][0]["function"] or "?" for a in foreign})
        print(f"  {tally.program}: rank {f['rank']} {f['verdict']} {place(f['block'])}:"
              f" {', '.join(f['variables']) or '-'}; split by {', '.join(culprits) or '?'};"
              f" {', '.join(f['rules'])}; in {tally.seen[f['id']]} of {tally.runs} runs")


def parse(argv):
    names = ",".join(p.name for p in PROGRAMS)
    p = argparse.ArgumentParser(description="Real programs under fission run.")
    p.add_argument("build", type=pathlib.Path, metavar="BUILD_DIR")
    p.add_argument("--programs", default=names, help=f"which, with commas (default: {names})")
    p.add_argument("--runs", type=int, default=20, help="of each program (default: 20)")
    p.add_argument("--limit", type=float, default=120, help="seconds after which a run counts as a hang (default: 120)")
    p.add_argument("--keep", action="store_true", help="leave what the runs wrote in BUILD_DIR/real/runs")
    options = p.parse_args(argv)
    options.programs = options.programs.split(",")
    unknown = set(options.programs) - {p.name for p in PROGRAMS}
    if unknown or options.runs < 1:
        p.error(f"unknown program {', '.join(sorted(unknown))}; there are {names}" if unknown else "at least one run")
    return options


def main(argv):
    options = parse(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nobody whom we started outlives us
    bench = Bench(options)
    bench.apt.directory.mkdir(parents=True, exist_ok=True)
    tallies = [bench.measure(p) for p in PROGRAMS if p.name in options.programs]
    print_table(tallies)
    print("\nShown (rank 1 and 2):")
    for t in tallies:
        print_findings(t)
    failed = sum(t.failed for t in tallies)
    passed = sum(t.built + t.runs for t in tallies) - sum(t.failed for t in tallies if t.built)
    print(f"\n{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
