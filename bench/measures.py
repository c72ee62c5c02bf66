# SPDX-License-Identifier: MIT
"""What the tables of the papers are made of: cells about the programs of subjects.py. Several tables may ask for one cell."""

import subprocess
import time

import runtime
import subjects
from cells import Cell
from subjects import COLLECTIONS, SUBJECTS

FISSION = {"collects": True, "statuses": (0, 1, subjects.FINDINGS)}
RUN = ("FISSION", "run", "--no-out")
COLUMNS = {c.name: c for c in (
    runtime.Column("plain", "plain", ("PROGRAM",)),
    runtime.Column("plain, small", "plain", ("PROGRAM",), small=True),
    runtime.Column("empty", "empty", ("PROGRAM",)),
    runtime.Column("sidetrack", "fission", (*RUN, "--checks=sidetrack", "--", "PROGRAM"), **FISSION),
    runtime.Column("atomizer", "fission", (*RUN, "--checks=atomizer", "--atomic=exported+locks", "EXPORTED", "--", "PROGRAM"),
                   small=True, **FISSION),
)}
WATCHED = 8  # runs
EVERYTHING = {**SUBJECTS, **COLLECTIONS}


def block_of(finding):
    return finding["block"]["function"] or finding["function"] or "?"


def told_by(findings, report, seconds):
    """A report of a check as a cell: functions, by the kind of evidence, too; variables; races."""
    kinds = {}
    for f in findings:
        for c in f["checks"]:
            kinds.setdefault(c["kind"], set()).add(block_of(f))
    variables = {tuple(f["variables"]) for f in findings}
    racy = {race.get("variable") or race.get("object") or str(race) for race in report["races"]}
    return {"names": sorted(set(map(block_of, findings))), "kinds": {k: sorted(v) for k, v in kinds.items()},
            "one": sum(len(v) == 1 for v in variables), "two": sum(len(v) > 1 for v in variables),
            "races": len(racy), "events": report["counts"]["events"], "seconds": seconds}


class Measures:
    """Makes cells, and has their values once they are known."""

    def __init__(self, store, workshop):
        self.store, self.shop = store, workshop
        self.clock = subjects.clock_of(workshop)

    def value(self, key):
        return self.store.values[key]

    def cell(self, key, subject, measure, *more):
        sources = [subject.source()] if isinstance(subject, subjects.Subject) else subject.sources()
        return Cell(key, measure, (*sources, *map(str, vars(subject).values()), *more))

    def timed(self, name, column, runs=3):
        s = SUBJECTS[name]
        return self.cell(f"time {name} {column}", s, lambda: self.clock.time(s, COLUMNS[column], runs), COLUMNS[column].command)

    def slowdown(self, name, column, base="plain"):
        plain, mine = self.value(f"time {name} {base}"), self.value(f"time {name} {column}")
        return None if plain.get("wrong") or mine.get("wrong") else mine["seconds"] / plain["seconds"]

    def seconds(self, name, base="plain"):
        plain = self.value(f"time {name} {base}")
        return plain.get("wrong") or f"{plain['seconds']:.2f}"

    def checked(self, name, label, check, *options, policy="public"):
        """What a check says of the traces. Policies: Export+Synch (public), Synch (locks), every function (all)."""
        s = EVERYTHING[name]

        def measure():
            chosen = [] if policy == "all" else self.shop.public(s, policy == "locks")
            findings, seconds, report = self.shop.checked(s, check, *chosen, *options)
            return told_by(findings, report, seconds)
        return self.cell(f"check {name} {label}", s, measure, check, options, policy)

    def memory(self, name, check):
        """The peak of resident memory of a check of one trace. It is looked at every 10 ms: the highest of a few runs."""
        s = SUBJECTS[name]

        def measure():
            words = [self.shop.fission, "check", f"--checks={check}", *self.shop.public(s), "--exitcode=0", "--quiet", self.shop.traces(s)[0]]
            runs = [self.clock.execute([str(w) for w in words], watch=True) for _ in range(WATCHED)]
            return max((peak for done in runs for peak in done.peaks.values()), default=0)
        return self.cell(f"memory {name} {check}", s, measure, WATCHED)

    def scanned(self, name):
        return self.cell(f"scan {name}", SUBJECTS[name], lambda: scan(self.shop, SUBJECTS[name]))

    def timed_search(self, key, subject, search, *more):
        """A search returns what it found; how long it took is added."""
        def measure():
            start = time.monotonic()
            found = search()
            return {"seconds": time.monotonic() - start, **found}
        return self.cell(key, subject, measure, *more)


class Scan:
    """Counts what the tool does not, line by line of a trace as text: locks held at once, accesses before anybody else's."""

    def __init__(self):
        self.events = self.accesses = self.alone = self.most = 0
        self.threads, self.locks, self.held, self.first, self.shared = set(), set(), {}, {}, set()

    def take(self, thread, kind, name):
        self.events += 1
        self.threads.add(thread)
        if kind in ("r", "w"):
            self.accesses += 1
            if self.first.setdefault(name, thread) != thread:
                self.shared.add(name)
            self.alone += name not in self.shared
        elif kind in ("acq", "rel"):
            self.locks.add(name)
            self.held[thread] = self.held.get(thread, 0) + (1 if kind == "acq" else -1)
            self.most = max(self.most, self.held[thread])

    def value(self):
        return {"events": self.events, "threads": len(self.threads), "locks": len(self.locks), "held": self.most,
                "unescaped": self.alone / max(self.accesses, 1)}


def scan(shop, subject):
    dump = subprocess.Popen([shop.fission, "trace", "dump", shop.traces(subject)[0]], stdout=subprocess.PIPE, text=True, errors="replace")
    found = Scan()
    for line in dump.stdout:
        if not line.startswith("#"):
            thread, operation, *_ = line.split("|", 2)
            kind, _, rest = operation.partition("(")
            found.take(thread, kind, rest.partition(")")[0])
    if dump.wait():
        raise RuntimeError(f"fission trace dump: status {dump.returncode}")
    return found.value()
