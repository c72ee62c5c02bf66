# SPDX-License-Identifier: MIT
"""002, AtomChase: Figure 8, what each search finds; Figure 9, how long it takes; the lengths of schedules."""

import json
import pathlib
import re

import subjects
from beside import geometric, left_out, row_beside, beside, theirs
from cells import Table, shown
from subjects import COLLECTIONS, SUBJECTS, check_command

PROGRAMS = ("sor", "tsp", "hedc", "elevator", "vector", "raytracer", "moldyn", "montecarlo", "philo", "sync", "jigsaw", "jbb")
STRATEGIES = ("pos", "pct", "random", "atomfuzzer")
SEEDS = 20  # executions of each strategy
FREE_RUNS = 5
CHASE_TIME = 20
ANY_STATUS = range(256)
SEARCHES = ("observed", *STRATEGIES, "prediction", "chase")
BESIDE = (None, None, None, None, "AtomFuzzer", "Penelope", "AtomChase")  # what each is compared with


def searched(name):
    """A subject, and the arguments that it is searched with."""
    if name in COLLECTIONS:
        return COLLECTIONS[name], ("crossed", "new_from", "remove_all_elements")
    return SUBJECTS[name], SUBJECTS[name].chase


def three_accesses(finding):
    """The places of first, culprit and second: what a violation goes by in the paper."""
    places = {}
    for a in finding["accesses"]:
        places.setdefault(a["role"], f"{pathlib.Path(a['file'] or '?').name}:{a['line']}")
    return " ".join(places.get(role, "-") for role in ("first", "culprit", "second"))


def triples(findings, verdicts):
    return {three_accesses(f) for f in findings if f["verdict"] in verdicts}


class Search:
    """The ways to look for violations; each returns {"triples": [...]} and what else is known."""

    def __init__(self, shop, subject, words):
        self.shop, self.subject, self.words = shop, subject, words
        self.file = shop.directory / "search"

    def live(self, *options):
        """What one run shows."""
        report = self.file.with_suffix(".json")
        report.unlink(missing_ok=True)
        check_command([self.shop.fission, "run", "--no-out", "--checks=causal", "--exitcode=0", "--format=json", "-o", report, *options,
                       "--", self.shop.program(self.subject), *self.words], ANY_STATUS, timeout=subjects.PATIENCE, cwd=self.shop.directory)
        return triples(json.loads(report.read_text())["findings"], ("observed",))

    def observed(self):
        return {"triples": sorted(set().union(*(self.live() for _ in range(FREE_RUNS))))}

    def by_strategy(self, name):
        runs = [self.live("--chaos", f"--strategy={name}", f"--first-seed={seed}", "--seeds=1") for seed in range(1, SEEDS + 1)]
        return {"triples": sorted(set().union(*runs))}

    def prediction(self):
        trace = self.file.with_suffix(".ftr")
        self.shop.record(trace, self.subject, self.words)
        report, _ = self.shop.report("predict", "--tier=B", "--quiet", "--format=json", trace)
        return {"triples": sorted(triples(report["findings"], ("predicted", "observed")))}

    def chase(self):
        out = self.file.with_suffix(".out")
        done = check_command([self.shop.fission, "chase", "--verbose", f"--time={CHASE_TIME}s", f"--out={out}", "--exitcode=0", "--",
                              self.shop.program(self.subject), *self.words], ANY_STATUS, timeout=subjects.PATIENCE + CHASE_TIME,
                             cwd=self.shop.directory)
        sure = [f for f in json.loads((out / "findings.json").read_text())["findings"] if f["verdict"] == "reproduced"]
        said = {word: sum(map(int, re.findall(rf"{word}: (\d+)", done.stderr))) for word in ("counts", "by conditions", "executions")}
        return {"triples": sorted(triples(sure, ("reproduced",))), "counts": said["counts"], "fast": said["by conditions"],
                "executions": said["executions"],
                "lengths": [c["event"] for f in sure for c in f["checks"] if c["name"] == "chase"]}

    def by(self, label):
        return self.by_strategy(label) if label in STRATEGIES else getattr(self, label)()


def searches_cells(m):
    def one(name, label):
        subject, words = searched(name)
        return m.timed_search(f"search {name} {label}", subject, lambda: Search(m.shop, subject, words).by(label),
                              words, SEEDS, FREE_RUNS, CHASE_TIME)
    return [one(n, label) for n in PROGRAMS for label in SEARCHES]


def share(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def validated(row, counts, fast):
    """What counts by all serial orders, and the share of it that conditions alone recognise; ours (theirs)."""
    paper = [int(theirs("002-8", row, c) or 0) for c in ("EV", "CV")]
    return [f"{counts}", f"{share(min(fast, counts), counts)} ({share(paper[1], paper[0])})"]


def found_table(m):
    table = Table("002, Figure 8: three-access violations, by what found them; ours (AtomChase's)", [
        f"fission run --checks=causal -- NAME ARGUMENTS                                   # observed: {FREE_RUNS} free runs",
        f"fission run --checks=causal --chaos --strategy=S --first-seed=N --seeds=1 ...   # N from 1 to {SEEDS}",
        "fission record --values -o NAME.ftr ... && fission predict --tier=B NAME.ftr     # prediction",
        f"fission chase --time={CHASE_TIME}s -- NAME ARGUMENTS"], ["", "arguments", *SEARCHES, "new", "not serial", "CV / EV"])
    totals, splits = [0] * (len(SEARCHES) + 1), [0, 0]
    for n in PROGRAMS:
        found = {label: set(m.value(f"search {n} {label}")["triples"]) for label in SEARCHES}
        others = set().union(*(found[label] for label in SEARCHES[:-1]))
        row = [*(len(found[label]) for label in SEARCHES), len(found["chase"] - others)]
        split = [m.value(f"search {n} chase")[k] for k in ("counts", "fast")]
        totals, splits = [a + b for a, b in zip(totals, row)], [a + b for a, b in zip(splits, split)]
        table.row(n, " ".join(searched(n)[1]), *row_beside(row, "002-8", n, (*BESIDE, "new")), *validated(n, *split))
    table.row("total", "", *totals, *validated("TOTAL", *splits))
    table.note("identity: the places of first, culprit and second; prediction stands beside Penelope, which predicts from one run, too")
    table.note("every violation of chase has been held against all serial orders (EV). not serial: how often none explained a split,")
    table.note("in all executions; CV / EV: the share of these that the fast conditions alone recognise; theirs, in total, of all 22")
    left_out(table, "002-8", PROGRAMS)
    return table


def time_table(m):
    table = Table("002, Figure 9: seconds of each search; ours (AtomChase's)", ["as Figure 8"], ["", *SEARCHES, "executions of chase"])
    for n in PROGRAMS:
        row = [f"{m.value(f'search {n} {label}')['seconds']:.1f}" for label in SEARCHES]
        table.row(n, *row_beside(row, "002-9", n, BESIDE), m.value(f"search {n} chase")["executions"])
    means = [geometric(m.value(f"search {n} {label}")["seconds"] for n in PROGRAMS) for label in SEARCHES]
    table.row("geometric mean", *(shown(mean, ".1f") for mean in means))
    table.note("AtomChase's seconds are of whole benchmarks without a limit; ours of small arguments, chase with a limit")
    table.note("not compared: EV and CV, hours and seconds there; here they are part of chase")
    left_out(table, "002-9", PROGRAMS)
    return table


def lengths_table(m):
    table = Table("002, section V-C: events of an execution up to the violation; ours (AtomChase's)", ["as Figure 8"], ["", "violations"])
    lengths = [x for n in PROGRAMS for x in m.value(f"search {n} chase")["lengths"]]
    for power in range(1, 9):
        row = f"10^{power} - 10^{power + 1}"
        table.row(row, beside(sum(10 ** power <= x < 10 ** (power + 1) for x in lengths), "002-lengths", row, "total"))
    return table


TABLES = {"002-8": (searches_cells, found_table), "002-9": (searches_cells, time_table), "002-lengths": (searches_cells, lengths_table)}
