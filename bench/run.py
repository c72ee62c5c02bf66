#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench: how fast traces are read and checked, how much memory that takes, and how that compares to the targets.

Usage: bench/run.py BUILD_DIR [--long]

Traces are made by bench_gen, measured by bench_check, one process a measurement, and removed again. Of two to five
repetitions the one with the least CPU time counts. Nothing here fails because of a number.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

FORMS = ("text", "binary")
CHECKS = ("causal", "aerodrome", "velodrome")
MODES = ("read", "parse") + CHECKS
PEAKS = ("parse",) + CHECKS  # the modes whose memory is printed
SHAPES = ("2pl", "late", "open")
CALLS = ("calls", "service")  # functions only: for causal, with 8 threads
FINDINGS = {"2pl": 0, "late": 1, "open": 0, "calls": 0}  # of every check; `service` may have any number

MILLION = 1_000_000
FEW, MANY = MILLION, 10 * MILLION
LONG = 100 * MILLION  # its text would not be worth the disk: binary only
FLAT = 1.2  # costs per event that differ by less count as the same


@dataclass(frozen=True)
class Trace:
    """A trace to be made: what bench_gen is asked for."""

    shape: str
    threads: int = 8
    events: int = FEW
    variables: int = 1000

    def __str__(self):
        return f"{self.shape:8}{self.threads:>7}{self.events // MILLION:6}M{self.variables:>10}"


HEAD = f"{'trace':8}{'threads':>7}{'events':>7}{'variables':>10}"


@dataclass
class Cost:
    """The cheapest repetition of one mode over one trace in one form."""

    seconds: float
    events: int
    peak: int  # bytes

    def per_event(self):
        return self.seconds / self.events

    def speed(self):
        return self.events / self.seconds / MILLION if self.seconds else float("inf")


@dataclass
class Bench:
    build: Path
    directory: Path
    pin: list  # the command in front of a measurement
    costs: dict = field(default_factory=dict)  # (trace, form, mode) -> Cost
    wrong: list = field(default_factory=list)  # verdicts that are not as they must be

    def generate(self, trace, forms):
        """Makes the trace in all forms, side by side; returns {form: path} and the number of events."""
        jobs = {}
        for form in forms:
            path = self.directory / f"trace.{form}"
            command = [self.build / "bench" / "bench_gen", f"--shape={trace.shape}", f"--threads={trace.threads}",
                       f"--events={trace.events}", f"--variables={trace.variables}", f"--to={form}", "-o", path]
            jobs[form] = path, subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        made = {form: json.loads(job.communicate()[0] or "null") for form, (_, job) in jobs.items()}
        if any(job.returncode for _, job in jobs.values()):
            sys.exit("bench: bench_gen failed")
        return {form: path for form, (path, _) in jobs.items()}, made[forms[0]]["events"]

    def once(self, mode, path):
        command = self.pin + [self.build / "bench" / "bench_check", mode, path]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"bench: bench_check {mode} failed on {path.name}")
        return json.loads(done.stdout)

    def repeat(self, paths, modes):
        """Runs every mode over every form, in turns, so that a busy moment does not hit all runs of one of them."""
        runs = {(form, mode): [] for form in paths for mode in modes}
        for _ in range(5):
            for (form, mode), done in runs.items():
                if len(done) < 2 or sum(run["wall"] for run in done) < 3:
                    done.append(self.once(mode, paths[form]))
        return runs

    def judge(self, trace, form, run):
        expected = FINDINGS.get(trace.shape, run["findings"])
        if run["findings"] != expected:
            self.wrong.append(f"{trace} {form}, {run['mode']}: {run['findings']} findings, not {expected}")

    def measure(self, trace, forms=FORMS, modes=MODES):
        """Measures one trace and prints a line for each form."""
        paths, events = self.generate(trace, forms)
        for (form, mode), runs in self.repeat(paths, modes).items():
            self.costs[trace, form, mode] = Cost(
                min(run["user"] + run["system"] for run in runs), events, min(run["peak"] for run in runs))
            if mode in CHECKS:
                self.judge(trace, form, runs[0])
        for form in forms:
            print_line(trace, form, {mode: self.costs[trace, form, mode] for mode in modes})
            paths[form].unlink()


def print_head():
    speeds, peaks = "million events per second of CPU time", "peak memory, MB"
    print(f"{HEAD}  {'form':6}" + f"{speeds:>{10 * len(MODES)}}  {peaks:>{10 * len(PEAKS)}}")
    print(f"{'':{len(HEAD)}}  {'':6}" + "".join(f"{mode:>10}" for mode in MODES) + "  "
          + "".join(f"{mode:>10}" for mode in PEAKS))


def print_line(trace, form, costs):
    speeds = "".join(f"{costs[mode].speed():10.1f}" if mode in costs else f"{'-':>10}" for mode in MODES)
    peaks = "".join(f"{costs[mode].peak / MILLION:10.1f}" if mode in costs else f"{'-':>10}" for mode in PEAKS)
    print(f"{trace}  {form:6}{speeds}  {peaks}", flush=True)


@dataclass
class Target:
    """One line of the second table: a ratio for each shape, or for one alone, and what it should be."""

    what: str
    limit: float
    values: dict  # shape -> ratio
    at_least: bool = False

    def met(self):
        return all(v >= self.limit if self.at_least else v <= self.limit for v in self.values.values())

    def __str__(self):
        values = "".join(f"{self.values[s]:8.2f}" if s in self.values else f"{'':8}" for s in SHAPES + CALLS)
        target = f"{'>=' if self.at_least else '<='}{self.limit:4g}"
        return f"{self.what:60}{target}{values}  {'ok' if self.met() else 'missed'}"


def each(check, ratio):
    """The ratio for every shape that the check is measured on with 8 threads."""
    return {shape: ratio(shape) for shape in SHAPES + (CALLS if check == "causal" else ())}


def targets(costs, longest):
    """All targets, from {(trace, form, mode): Cost}."""

    def cpu(shape, form, mode, threads=8, events=MANY, variables=1000):
        return costs[Trace(shape, threads, events, variables), form, mode].per_event()

    def growth(shape, mode, threads):
        few, many = Trace(shape, threads, FEW), Trace(shape, threads, MANY)
        return max(costs[many, f, mode].peak / costs[few, f, mode].peak for f in FORMS)

    for c in ("causal", "aerodrome"):
        yield Target(f"{c} / parse, from text", 3,
                     each(c, lambda s: cpu(s, "text", c) / cpu(s, "text", "parse")))
    for c in CHECKS:
        yield Target(f"{c}, text / binary", 2,
                     each(c, lambda s: cpu(s, "text", c) / cpu(s, "binary", c)), at_least=True)
    for f in FORMS:
        yield Target(f"velodrome / aerodrome, from {f}", 4,
                     each("velodrome", lambda s: cpu(s, f, "velodrome") / cpu(s, f, "aerodrome")))
    for c in CHECKS:
        for f in FORMS:
            yield Target(f"{c} from {f}, a million variables / a thousand", 4,
                         {"2pl": cpu("2pl", f, c, variables=MILLION) / cpu("2pl", f, c)})
    for c in CHECKS:
        for f in FORMS:
            yield Target(f"{c} from {f}, 64 threads / 8", 3,
                         {s: cpu(s, f, c, threads=64) / cpu(s, f, c) for s in SHAPES})
    for c in CHECKS:
        for f in FORMS:
            yield Target(f"{c} from {f}, cost of an event at 10M / 1M events", FLAT,
                         each(c, lambda s: cpu(s, f, c) / cpu(s, f, c, events=FEW)))
    for c in CHECKS if longest == LONG else ():
        yield Target(f"{c} from binary, cost of an event at 100M / 1M events", FLAT,
                     {"2pl": cpu("2pl", "binary", c, events=LONG) / cpu("2pl", "binary", c, events=FEW)})
    for c in CHECKS:
        yield Target(f"{c}, 8 threads, memory at 10M / 1M events", 1.2, each(c, lambda s: growth(s, c, 8)))
        yield Target(f"{c}, 64 threads, memory at 10M / 1M events", 1.2, {s: growth(s, c, 64) for s in SHAPES})


def print_targets(costs, longest):
    print("\nTargets, by CPU time of whole processes; 10M events, 8 threads, 1000 variables where nothing else is said")
    print(f"{'ratio':60}{'target':6}" + "".join(f"{shape:>8}" for shape in SHAPES + CALLS))
    for target in targets(costs, longest):
        print(target)


def pin_command():
    """What keeps a measurement on one processor: the last of those that we may use."""
    if not shutil.which("taskset"):
        return []
    return ["taskset", "-c", str(max(os.sched_getaffinity(0)))]


def traces():
    for shape in SHAPES:
        for threads in (8, 64):
            for events in (FEW, MANY):
                yield Trace(shape, threads, events)
    yield Trace("2pl", variables=MILLION, events=MANY)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("build", type=Path, help="the build directory")
    parser.add_argument("--long", action="store_true", help="also a trace of 100 million events")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fission-bench-") as directory:
        bench = Bench(args.build, Path(directory), pin_command())
        print_head()
        for trace in traces():
            bench.measure(trace)
        for shape in CALLS:
            for events in (FEW, MANY):
                bench.measure(Trace(shape, events=events), modes=("read", "parse", "causal"))
        if args.long:
            bench.measure(Trace("2pl", events=LONG), forms=("binary",))
        print_targets(bench.costs, LONG if args.long else MANY)
    for line in bench.wrong:
        print(f"WRONG VERDICT: {line}")


if __name__ == "__main__":
    main()
