#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make papers: the tables of the papers, redone for the programs of bench/programs, with the papers' numbers beside ours.

usage: papers.py BUILD_DIR [--tables=IDS] [--fresh] [--no-write]

Writes docs/results/papers-ID.txt for each table. A cell is `ours (theirs)`; theirs are read from bench/papers.json. Cells
are kept in BUILD_DIR/results/papers, and a run that was ended goes on where it was; --fresh measures all again.
docs/papers.md says where the numbers differ, and why.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import cells
import ladder
import runtime
import subjects
from cells import Cell, Table

HERE = pathlib.Path(__file__).resolve().parent
PAPERS = json.loads((HERE / "papers.json").read_text())
STRATEGIES = ("pos", "pct", "random", "atomfuzzer")
SEEDS = 20  # executions of each strategy
FREE_RUNS = 5
CHASE_TIME = 20
SUBJECTS, COLLECTIONS = subjects.SUBJECTS, subjects.COLLECTIONS
FISSION = {"collects": True, "statuses": (0, 1, subjects.FINDINGS)}
COLUMNS = {c.name: c for c in (
    runtime.Column("plain", "plain", ("PROGRAM",)),
    runtime.Column("empty", "empty", ("PROGRAM",)),
    runtime.Column("sidetrack", "fission", ("FISSION", "run", "--no-out", "--checks=sidetrack", "--", "PROGRAM"), **FISSION),
    runtime.Column("atomizer", "fission", ("FISSION", "run", "--no-out", "--checks=atomizer", "--atomic=exported+locks",
                                           "EXPORTED", "--", "PROGRAM"), small=True, **FISSION),
    runtime.Column("plain, small", "plain", ("PROGRAM",), small=True),
)}


def theirs(paper, row, column):
    """The paper's cell, or None."""
    table = PAPERS[paper]
    values = table["rows"].get(row)
    return values[table["columns"].index(column)] if values else None


def beside(ours, paper, row, column):
    other = theirs(paper, row, column)
    return f"{ours} ({other})" if other not in (None, "") else f"{ours} (-)"


def left_out(table, paper, ours):
    missing = [r for r in PAPERS[paper]["rows"] if r not in ours and r.lower() not in ("total", "geom. mean", "tsp4")]
    if missing:
        table.note(f"in the paper, not redone: {', '.join(missing)}")


def names_of(findings):
    return sorted({f["block"]["function"] or f["function"] or "?" for f in findings})


def sort_out(names, truth):
    """bug-benign-false; of collections, violations-false."""
    count = {word: sum(truth.get(n) == word for n in names) for word in ("bug", "benign", "violation")}
    false = sum(n not in truth for n in names)
    if "violation" in truth.values():
        return f"{count['violation']}-{false}"
    return f"{count['bug']}-{count['benign']}-{false}"


def three_accesses(finding):
    """The places of first, culprit and second: what a violation goes by in Figure 8 of 002."""
    places = {}
    for a in finding["accesses"]:
        places.setdefault(a["role"], f"{pathlib.Path(a['file'] or '?').name}:{a['line']}")
    return " ".join(places.get(role, "-") for role in ("first", "culprit", "second"))


def geometric(values):
    known = [v for v in values if v]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else None


class Papers:
    """One paper's table is a method that lists its cells, and one that makes the text of them."""

    def __init__(self, store, workshop):
        self.store, self.shop = store, workshop
        self.clock = subjects.clock_of(workshop)

    def value(self, key):
        return self.store.values[key]

    def sources(self, subject):
        return [subject.source()] if isinstance(subject, subjects.Subject) else subject.sources()

    def cell(self, key, subject, measure, *more):
        return Cell(key, measure, (*self.sources(subject), *map(str, vars(subject).values()), *more))

    def everything(self):
        return {**SUBJECTS, **COLLECTIONS}

    # Shared cells.

    def timed(self, name, column, runs=3):
        s = SUBJECTS[name]
        return self.cell(f"time {name} {column}", s, lambda: self.clock.time(s, COLUMNS[column], runs), COLUMNS[column].command)

    def checked(self, name, label, check, *options, policy="public"):
        """Names, kinds and time of one check."""
        s = self.everything()[name]

        def measure():
            chosen = {"public": lambda: self.shop.public(s), "locks": lambda: self.shop.public(s, True), "all": list}[policy]()
            clock = time.monotonic()
            findings, seconds, report = self.shop.checked(s, check, *chosen, *options)
            kinds = {}
            for f in findings:
                for c in f["checks"]:
                    kinds.setdefault(c["kind"], set()).add(f["block"]["function"] or f["function"] or "?")
            variables = {tuple(f["variables"]) for f in findings}
            return {"names": names_of(findings), "kinds": {k: sorted(v) for k, v in kinds.items()}, "seconds": seconds,
                    "one": sum(len(v) == 1 for v in variables), "two": sum(len(v) > 1 for v in variables),
                    "races": len({r for race in report["races"] for r in [race.get("variable") or race.get("object") or str(race)]}),
                    "events": report["counts"]["events"], "whole": time.monotonic() - clock}
        return self.cell(f"check {name} {label}", s, measure, check, options, policy)

    def scanned(self, name):
        s = SUBJECTS[name]
        return self.cell(f"scan {name}", s, lambda: scan(self.shop, s))

    # 000, Table 1.

    TABLE1 = ("elevator", "jbb", "hedc", "barrier", "philo", "tsp", "sync", "jigsaw")

    def cells_000_1(self):
        return [self.checked(n, "sidetrack", "sidetrack,races,deadlocks", policy="all") for n in self.TABLE1]

    def table_000_1(self):
        columns = PAPERS["000-1"]["columns"]
        table = Table("000, Table 1: functions with errors, by where the culprit was; ours (SideTrack's)", [
            f"fission record --values -o NAME.ftr -- NAME ARGUMENTS     # {subjects.SCHEDULES} times",
            "fission check --checks=sidetrack,races,deadlocks NAME*.ftr"], ["", *columns])
        total = [0] * len(columns)
        for n in self.TABLE1:
            kinds = {k: set(v) for k, v in self.value(f"check {n} sidetrack")["kinds"].items()}
            before, inside, after = (kinds.get(k, set()) for k in ("BEFORE", "IN", "AFTER"))
            ours = [len(x) for x in (before | inside | after, before, inside, after, before - inside, after - inside,
                                     (before | after) - inside)]
            total = [a + b for a, b in zip(total, ours)]
            table.row(n, *(beside(o, "000-1", n, c) for o, c in zip(ours, columns)))
        table.row("total", *(beside(o, "000-1", "Total", c) for o, c in zip(total, columns)))
        left_out(table, "000-1", self.TABLE1)
        return table

    # 000, Table 2.

    TABLE2 = ("barrier", "tsp", "sync", "crypt", "moldyn", "forkjoin", "lufact", "montecarlo", "raytracer", "series", "sor")

    def cells_000_2(self):
        return [self.timed(n, c) for n in self.TABLE2 for c in ("plain", "empty", "sidetrack")]

    def slowdown(self, name, column, base="plain"):
        plain, mine = self.value(f"time {name} {base}"), self.value(f"time {name} {column}")
        return None if plain.get("wrong") or mine.get("wrong") else mine["seconds"] / plain["seconds"]

    def seconds(self, name, base="plain"):
        plain = self.value(f"time {name} {base}")
        return plain.get("wrong") or f"{plain['seconds']:.2f}"

    def table_000_2(self):
        table = Table("000, Table 2: slowdown of empty hooks and of sidetrack; ours (SideTrack's)", [
            "NAME ARGUMENTS", "fission run --no-out --checks=sidetrack -- NAME ARGUMENTS"],
            ["", "arguments", "lines", "plain s", "EMPTY", "SIDETRACK"])
        ratios = {"empty": [], "sidetrack": []}
        for n in self.TABLE2:
            for column, values in ratios.items():
                values.append(self.slowdown(n, column))
            table.row(n, " ".join(SUBJECTS[n].size), beside(SUBJECTS[n].lines(), "000-2", n, "lines"),
                      beside(self.seconds(n), "000-2", n, "plain s"),
                      beside(cells.shown(ratios["empty"][-1]), "000-2", n, "EMPTY"),
                      beside(cells.shown(ratios["sidetrack"][-1]), "000-2", n, "SIDETRACK"))
        paper = {c: geometric(float(theirs("000-2", n, c)) for n in self.TABLE2) for c in ("EMPTY", "SIDETRACK")}
        table.row("geometric mean", "", "", "", *(f"{cells.shown(geometric(ratios[a]))} ({cells.shown(paper[b])})"
                                                  for a, b in (("empty", "EMPTY"), ("sidetrack", "SIDETRACK"))))
        left_out(table, "000-2", self.TABLE2)
        return table

    # 003, Figures 16 to 18.

    FIGURE16 = ("elevator", "hedc", "tsp", "sor", "moldyn", "montecarlo", "raytracer", "jigsaw", "jbb")

    def cells_003_16(self):
        return [c for n in self.FIGURE16 for c in (self.scanned(n), self.timed(n, "plain, small"), self.timed(n, "atomizer", 1))]

    def table_003_16(self):
        table = Table("003, Figure 16: programs, their locks, and the slowdown of atomizer with Export+Synch; ours (Atomizer's)", [
            "fission trace dump NAME.ftr      # threads, locks, how many are held at once",
            "fission run --no-out --checks=atomizer --atomic=exported+locks --config=NAME.conf -- NAME ARGUMENTS"],
            ["", "arguments", "lines", "threads", "locks", "most held", "plain s", "slowdown"])
        for n in self.FIGURE16:
            seen = self.value(f"scan {n}")
            table.row(n, " ".join(SUBJECTS[n].small), beside(SUBJECTS[n].lines(), "003-16", n, "lines"),
                      *(beside(seen[k], "003-16", n, c) for k, c in (("threads", "threads"), ("locks", "locks"), ("held", "most held"))),
                      beside(self.seconds(n, "plain, small"), "003-16", n, "plain s"),
                      beside(self.value(f"time {n} atomizer").get("wrong") or
                             cells.shown(self.slowdown(n, "atomizer", "plain, small"), ".1f"), "003-16", n, "slowdown"))
        table.note("threads, locks: of the run that is recorded, which is smaller than the one that is timed")
        table.note("not compared: lock set pairs (ours are numbers in a table for the whole run, not pairs a variable)")
        left_out(table, "003-16", self.FIGURE16)
        return table

    def cells_003_17(self):
        return [self.checked(n, f"atomizer {p}", "atomizer", policy=p) for n in self.FIGURE16 for p in ("public", "locks")]

    def table_003_17(self):
        table = Table("003, Figure 17: functions that atomizer warns of, and those of them that are bugs; ours (Atomizer's)", [
            "fission check --checks=atomizer --atomic=exported+locks --config=NAME.conf NAME*.ftr     # Export+Synch",
            "fission check --checks=atomizer --atomic=locks NAME*.ftr                                 # Synch"],
            ["", *PAPERS["003-17"]["columns"], "warned of, not declared"])
        for n in self.FIGURE16:
            truth, row = SUBJECTS[n].truth(), []
            for policy in ("public", "locks"):
                names = self.value(f"check {n} atomizer {policy}")["names"]
                row += [len(names), sum(truth.get(x) == "bug" for x in names)]
            unknown = [x for x in self.value(f"check {n} atomizer public")["names"] if x not in truth]
            table.row(n, *(beside(o, "003-17", n, c) for o, c in zip(row, PAPERS["003-17"]["columns"])), ", ".join(unknown) or "-")
        left_out(table, "003-17", self.FIGURE16)
        return table

    STEPS = {check: columns for _, check, _, columns in ladder.LADDERS}

    def cells_003_18(self):
        return [self.checked(n, f"atomizer {words}", "atomizer", f"--atomizer={words}")
                for n in self.FIGURE16 for _, words in self.STEPS["atomizer"]]

    def table_003_18(self):
        steps = self.STEPS["atomizer"]
        table = Table("003, Figure 18: functions that atomizer warns of, with each refinement on top of the others; ours (Atomizer's)", [
            f"fission check --checks=atomizer --atomizer={steps[-1][1]} --atomic=exported+locks --config=NAME.conf NAME*.ftr"],
            ["", *(name for name, _ in steps)])
        totals = [0] * len(steps)
        for n in self.FIGURE16:
            counts = [len(self.value(f"check {n} atomizer {words}")["names"]) for _, words in steps]
            totals = [a + b for a, b in zip(totals, counts)]
            table.row(n, *counts)
        basic, least = PAPERS["003-18"]["rows"]["total"]
        table.row("total", f"{totals[0]} ({basic})", *totals[1:-1], f"{totals[-1]} ({least})")
        table.note("the paper's numbers by program are in a drawing that we do not have; its text has the two totals, of twelve programs")
        return table

    # 004, Tables 1 to 4.

    TABLE4 = ("elevator", "tsp", "sor", "hedc", "moldyn", "montecarlo", "raytracer", "jigsaw")
    ALL4 = (*TABLE4, *COLLECTIONS)
    ALGORITHMS = (("on-line", "atomizer", "--atomizer=basic"), ("off-line", "reduction", "--reduction=acqrel"),
                  ("blocks", "blocks", "--blocks=2v,happen-before"))

    def cells_004_1(self):
        return [self.checked(n, option, check, option) for n in self.ALL4 for _, check, option in self.ALGORITHMS]

    def missed(self, name):
        """Declared, reported off-line and not on-line."""
        truth = self.everything()[name].truth()
        found = {label: set(self.value(f"check {name} {option}")["names"]) for label, _, option in self.ALGORITHMS}
        return sum(n in truth for n in found["off-line"] - found["on-line"])

    def table_004_1(self):
        columns = PAPERS["004-1"]["columns"]
        table = Table("004, Table 1: time, and reports as bug-benign-false (on-line: -missed); ours (Wang and Stoller's)", [
            f"fission check --checks={check} {option} --atomic=exported+locks --config=NAME.conf NAME*.ftr"
            for _, check, option in self.ALGORITHMS], ["", *columns[2:], "events"])
        for n in self.ALL4:
            truth, row = self.everything()[n].truth(), []
            for label, _, option in self.ALGORITHMS:
                value = self.value(f"check {n} {option}")
                report = sort_out(value["names"], truth) + (f"-{self.missed(n)}" if label == "on-line" else "")
                row += [f"{value['seconds']:.2f}s", report]
            table.row(n, *(beside(o, "004-1", n, c) for o, c in zip(row, columns[2:])), value["events"])
        table.note("collections: violations-false, since what is benign there is for their users to say; operations are declared blocks")
        table.note("tsp: the paper's map14. The paper's times are those of program and check together, ours of the check of recorded traces")
        return table

    def cells_004_2(self):
        return [c for n in self.ALL4 for c in (
            self.checked(n, "races", "races"),
            *(self.checked(n, f"--reduction={w}", "reduction", f"--reduction={w}") for _, w in self.STEPS["reduction"]))]

    def table_004_2(self):
        steps = self.STEPS["reduction"]
        table = Table("004, Table 2: reduction, each improvement on top of the others: reports as bug-benign-false, and time; ours (theirs)", [
            "fission check --checks=reduction --reduction=STEP --atomic=exported+locks --config=NAME.conf NAME*.ftr",
            "fission check --checks=races NAME*.ftr"], ["", *(name for name, _ in steps), "time, first", "time, last", "races"])
        for n in self.ALL4:
            truth = self.everything()[n].truth()
            values = [self.value(f"check {n} --reduction={w}") for _, w in steps]
            row = [f"{sort_out(v['names'], truth)} ({t})" for v, t in zip(values, PAPERS["004-2"]["rows"][n])]
            times, races = PAPERS["004-2"]["time"].get(n), PAPERS["004-2"]["races"][n][-1]
            table.row(n, *row, f"{values[0]['seconds']:.2f}s ({times[0] if times else '-'})",
                      f"{values[-1]['seconds']:.2f}s ({times[-1] if times else '-'})", f"{self.value(f'check {n} races')['races']} ({races})")
        table.note("races: ours are variables with a race by happens-before, one number; theirs bug-benign-false by lock sets, a number a step")
        return table

    def cells_004_3(self):
        return [self.checked(n, f"--blocks={w}", "blocks", f"--blocks={w}") for n in self.ALL4 for _, w in self.STEPS["blocks"]]

    def table_004_3(self):
        steps, columns = self.STEPS["blocks"], PAPERS["004-3"]["columns"]
        table = Table("004, Table 3: blocks, each improvement on top of the others: methods, fields (of one variable-of two), time; ours (theirs)", [
            "fission check --checks=blocks --blocks=2v,STEP --atomic=exported+locks --config=NAME.conf NAME*.ftr"], ["", *columns])
        for n in self.ALL4:
            truth, row = self.everything()[n].truth(), []
            for _, w in steps:
                v = self.value(f"check {n} --blocks={w}")
                row += [sort_out(v["names"], truth), f"{v['one']}-{v['two']}", f"{v['seconds']:.2f}s"]
            table.row(n, *(beside(o, "004-3", n, c) for o, c in zip(row, columns)))
        return table

    def cells_004_4(self):
        return [c for n in self.TABLE4 for c in (self.scanned(n), *(self.storage(n, k) for k in ("none", "reduction", "blocks")))]

    def storage(self, name, check):
        s = SUBJECTS[name]

        def measure():
            words = {"none": ["trace", "stat"], "reduction": ["check", "--checks=reduction"], "blocks": ["check", "--checks=blocks"]}[check]
            options = [] if check == "none" else [*self.shop.public(s), "--exitcode=0", "--quiet"]
            done = self.clock.execute([str(w) for w in (self.shop.fission, *words, *options, self.shop.traces(s)[0])], watch=True)
            return max(done.peaks.values(), default=0)
        return self.cell(f"memory {name} {check}", s, measure)

    def table_004_4(self):
        table = Table("004, Table 4: events, how many of the accesses are to memory of one thread so far, and storage; ours (theirs)", [
            "fission trace dump NAME.ftr", "fission check --checks=reduction NAME.ftr      # peak of resident memory",
            "fission check --checks=blocks NAME.ftr"], ["", "events", "unescaped", "reduction, MB", "blocks, MB", "reading, MB"])
        for n in self.TABLE4:
            seen = self.value(f"scan {n}")
            memory = [f"{self.value(f'memory {n} {c}') / 1e6:.1f}" for c in ("reduction", "blocks", "none")]
            table.row(n, beside(seen["events"], "004-4", n, "events"), beside(f"{seen['unescaped']:.2f}", "004-4", n, "unescaped"), *memory)
        table.note("not compared: the paper counts entries of its own tables (sets, blocks); ours are bytes of the whole process")
        return table

    # 002, Figures 8 and 9, and the lengths.

    FIGURE8 = ("sor", "tsp", "hedc", "elevator", "vector", "raytracer", "moldyn", "montecarlo", "philo", "sync", "jigsaw", "jbb")

    def small(self, name):
        """A subject, and what it is searched with."""
        if name in COLLECTIONS:
            return COLLECTIONS[name], ("crossed", "new_from", "remove_all_elements")
        return SUBJECTS[name], SUBJECTS[name].chase

    def found(self, name, how, measure):
        s, words = self.small(name)

        def timed():
            start = time.monotonic()
            triples = measure(s, words)
            return {"seconds": time.monotonic() - start, **triples}
        return self.cell(f"search {name} {how}", s, timed, words, SEEDS, FREE_RUNS, CHASE_TIME)

    def live(self, s, words, *options):
        """Three-access violations that one run shows."""
        path = self.shop.directory / "live.json"
        path.unlink(missing_ok=True)
        subjects.check_command([self.shop.fission, "run", "--no-out", "--checks=causal", "--exitcode=0", "--format=json",
                                "-o", path, *options, "--", self.shop.program(s), *words],
                               statuses=range(0, 256), timeout=subjects.PATIENCE, cwd=self.shop.directory)
        report = json.loads(path.read_text())
        return {three_accesses(f) for f in report["findings"] if f["verdict"] == "observed"}

    def observe(self, s, words):
        return {"triples": sorted(set().union(*(self.live(s, words) for _ in range(FREE_RUNS))))}

    def by_strategy(self, strategy):
        def measure(s, words):
            found = set()
            for seed in range(1, SEEDS + 1):
                found |= self.live(s, words, "--chaos", f"--strategy={strategy}", f"--first-seed={seed}", "--seeds=1")
            return {"triples": sorted(found)}
        return measure

    def predict(self, s, words):
        trace = self.shop.directory / "predict.ftr"
        self.shop.record(trace, s, words)
        report, _ = self.shop.report("predict", "--tier=B", "--quiet", "--format=json", trace)
        return {"triples": sorted({three_accesses(f) for f in report["findings"] if f["verdict"] in ("predicted", "observed")})}

    def chase(self, s, words):
        out = self.shop.directory / "chase.out"
        done = subjects.check_command([self.shop.fission, "chase", "--verbose", f"--time={CHASE_TIME}s", f"--out={out}",
                                       "--exitcode=0", "--", self.shop.program(s), *words],
                                      statuses=range(0, 256), timeout=subjects.PATIENCE + CHASE_TIME, cwd=self.shop.directory)
        report = json.loads((out / "findings.json").read_text())
        sure = [f for f in report["findings"] if f["verdict"] == "reproduced"]
        split = sum(map(int, re.findall(r"split: (\d+)", done.stderr)))
        counts = sum(map(int, re.findall(r"counts: (\d+)", done.stderr)))
        fast = sum(map(int, re.findall(r"by conditions: (\d+)", done.stderr)))
        said = re.search(r"executions: (\d+)", done.stderr)
        return {"triples": sorted({three_accesses(f) for f in sure}), "split": split, "counts": counts, "fast": fast,
                "lengths": [c["event"] for f in sure for c in f["checks"] if c["name"] == "chase"],
                "executions": int(said[1]) if said else None}

    SEARCHES = ("observed", *STRATEGIES, "prediction", "chase")

    def cells_002_8(self):
        how = {"observed": self.observe, "prediction": self.predict, "chase": self.chase,
               **{name: self.by_strategy(name) for name in STRATEGIES}}
        return [self.found(n, label, how[label]) for n in self.FIGURE8 for label in self.SEARCHES]

    def table_002_8(self):
        table = Table("002, Figure 8: three-access violations, by what found them; ours (AtomChase's)", [
            f"fission run --checks=causal -- NAME ARGUMENTS                                   # observed: {FREE_RUNS} free runs",
            f"fission run --checks=causal --chaos --strategy=S --first-seed=N --seeds=1 ...   # N from 1 to {SEEDS}",
            "fission record --values -o NAME.ftr ... && fission predict --tier=B NAME.ftr     # prediction",
            f"fission chase --time={CHASE_TIME}s -- NAME ARGUMENTS"],
            ["", *self.SEARCHES, "new", "split", "EV", "CV"])
        totals, splits = [0] * (len(self.SEARCHES) + 1), [0, 0, 0]
        names = [None, None, None, None, "AtomFuzzer", "Penelope", "AtomChase", "new"]
        for n in self.FIGURE8:
            found = {label: set(self.value(f"search {n} {label}")["triples"]) for label in self.SEARCHES}
            others = set().union(*(found[label] for label in self.SEARCHES[:-1]))
            row = [*(len(found[label]) for label in self.SEARCHES), len(found["chase"] - others)]
            split = [self.value(f"search {n} chase")[k] for k in ("split", "counts", "fast")]
            totals, splits = [a + b for a, b in zip(totals, row)], [a + b for a, b in zip(splits, split)]
            table.row(n, *(beside(o, "002-8", n, c) if c else o for o, c in zip(row, names)), *self.validated(n, split))
        table.row("total", *totals, *self.validated("TOTAL", splits))
        table.note("identity: the places of first, culprit and second; prediction stands beside Penelope, which predicts from one run, too")
        table.note("split: blocks that chase's executions split, each execution by itself. EV: the share of them that no serial order explains.")
        table.note("CV: the share that the fast conditions alone recognise. Theirs: of the violations that AtomChase reports, in all its programs.")
        left_out(table, "002-8", self.FIGURE8)
        return table

    def validated(self, row, split):
        """How many blocks were split, and the shares of them that count, by everything and by conditions; ours (theirs)."""
        paper = [theirs("002-8", row, c) for c in ("AtomChase", "EV", "CV")]
        shares = [f"{100 * x / split[0]:.0f} %" if split[0] else "-" for x in split[1:]]
        other = [f"{100 * int(x) / int(paper[0]):.0f} %" if paper[0] and int(paper[0]) else "-" for x in paper[1:]]
        return [split[0], *(f"{a} ({b})" for a, b in zip(shares, other))]

    cells_002_9 = cells_002_8

    def table_002_9(self):
        table = Table("002, Figure 9: seconds of each search; ours (AtomChase's)", ["as Figure 8"],
                      ["", *self.SEARCHES, "executions of chase"])
        for n in self.FIGURE8:
            row = [self.value(f"search {n} {label}") for label in self.SEARCHES]
            names = [None, None, None, None, "AtomFuzzer", "Penelope", "AtomChase"]
            table.row(n, *(beside(f"{v['seconds']:.1f}", "002-9", n, c) if c else f"{v['seconds']:.1f}" for v, c in zip(row, names)),
                      row[-1]["executions"])
        table.row("geometric mean", *(cells.shown(geometric(self.value(f"search {n} {label}")["seconds"] for n in self.FIGURE8), ".1f")
                                      for label in self.SEARCHES))
        table.note("AtomChase's seconds are of whole benchmarks without a limit; ours of small arguments, chase with a limit")
        table.note("not compared: EV and CV, hours and seconds there; here they are part of chase")
        left_out(table, "002-9", self.FIGURE8)
        return table

    cells_002_lengths = cells_002_8

    def table_002_lengths(self):
        table = Table("002, section V-C: events of an execution up to the violation; ours (AtomChase's)", ["as Figure 8"], ["", "violations"])
        lengths = [x for n in self.FIGURE8 for x in self.value(f"search {n} chase")["lengths"]]
        for power in range(1, 9):
            row = f"10^{power} - 10^{power + 1}"
            table.row(row, beside(sum(10 ** power <= x < 10 ** (power + 1) for x in lengths), "002-lengths", row, "total"))
        return table


TABLES = ("000-1", "000-2", "003-16", "003-17", "003-18", "004-1", "004-2", "004-3", "004-4", "002-8", "002-9", "002-lengths")


def scan(shop, subject):
    """Counts what the tool does not: of a trace as text, locks held at once, and accesses before anybody else's."""
    dump = subprocess.Popen([shop.fission, "trace", "dump", shop.traces(subject)[0]], stdout=subprocess.PIPE, text=True, errors="replace")
    events, accesses, alone, most, threads, locks, held, first, shared = 0, 0, 0, 0, set(), set(), {}, {}, set()
    for line in dump.stdout:
        if line.startswith("#"):
            continue
        thread, operation, *_ = line.split("|", 2)
        kind, _, rest = operation.partition("(")
        name = rest.partition(")")[0]
        events += 1
        threads.add(thread)
        if kind in ("r", "w"):
            accesses += 1
            if first.setdefault(name, thread) != thread:
                shared.add(name)
            alone += name not in shared
        elif kind == "acq":
            locks.add(name)
            held[thread] = held.get(thread, 0) + 1
            most = max(most, held[thread])
        elif kind == "rel":
            held[thread] = held.get(thread, 0) - 1
    if dump.wait():
        raise RuntimeError(f"fission trace dump: status {dump.returncode}")
    return {"events": events, "threads": len(threads), "locks": len(locks), "held": most, "unescaped": alone / max(accesses, 1)}


def parse(argv):
    p = argparse.ArgumentParser(description="The papers' tables, redone.")
    p.add_argument("build", type=pathlib.Path, metavar="BUILD_DIR")
    p.add_argument("--tables", default=",".join(TABLES), help=f"which, with commas: {', '.join(TABLES)}")
    p.add_argument("--fresh", action="store_true", help="forget what is known from before")
    p.add_argument("--no-write", action="store_true", help="print the tables, and leave docs/results as it is")
    options = p.parse_args(argv)
    options.tables = options.tables.split(",")
    if set(options.tables) - set(TABLES):
        p.error(f"there are {', '.join(TABLES)}")
    return options


def main(argv):
    options = parse(argv)
    where = cells.machine()
    store = cells.Store(options.build, "papers", options.fresh)
    papers = Papers(store, subjects.Workshop(options.build, options.build / "results" / "papers.work"))
    members = {t: t.replace("-", "_") for t in options.tables}
    wanted = {c.key: c for t in members.values() for c in getattr(papers, f"cells_{t}")()}
    store.fill(list(wanted.values()), cells.say_as("papers"))
    for t, member in members.items():
        table = getattr(papers, f"table_{member}")()
        print(f"\n{table.text()}")
        if not options.no_write:
            cells.write(cells.RESULTS / f"papers-{t}.txt", f"make papers   (bench/papers.py build --tables={t})", where, [table])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
