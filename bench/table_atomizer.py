# SPDX-License-Identifier: MIT
"""003, Atomizer: Figure 16, programs and slowdown; Figure 17, warnings; Figure 18, refinements."""

import ladder
from beside import PAPERS, beside, columns, left_out, row_beside
from cells import Table, shown
from subjects import SUBJECTS

PROGRAMS = ("elevator", "hedc", "tsp", "sor", "moldyn", "montecarlo", "raytracer", "jigsaw", "jbb")
STEPS = next(steps for _, check, _, steps in ladder.LADDERS if check == "atomizer")
SCANNED = {"threads": "threads", "locks": "locks", "held": "most held"}
PUBLIC = "--atomic=exported+locks --config=NAME.conf NAME*.ftr"


def slowdown_cells(m):
    return [c for n in PROGRAMS for c in (m.scanned(n), m.timed(n, "plain, small"), m.timed(n, "atomizer", 1))]


def slowdown_table(m):
    table = Table("003, Figure 16: programs, their locks, and the slowdown of atomizer with Export+Synch; ours (Atomizer's)", [
        "fission trace dump NAME.ftr      # threads, locks, how many are held at once",
        "fission run --no-out --checks=atomizer --atomic=exported+locks --config=NAME.conf -- NAME ARGUMENTS"],
        ["", "arguments", "lines", *SCANNED.values(), "plain s", "slowdown"])
    for n in PROGRAMS:
        seen, wrong = m.value(f"scan {n}"), m.value(f"time {n} atomizer").get("wrong")
        slower = wrong or shown(m.slowdown(n, "atomizer", "plain, small"), ".1f")
        table.row(n, " ".join(SUBJECTS[n].small), beside(SUBJECTS[n].lines(), "003-16", n, "lines"),
                  *row_beside([seen[k] for k in SCANNED], "003-16", n, SCANNED.values()),
                  beside(m.seconds(n, "plain, small"), "003-16", n, "plain s"), beside(slower, "003-16", n, "slowdown"))
    table.note("threads, locks: of the run that is recorded, which is smaller than the one that is timed")
    table.note("not compared: lock set pairs (ours are numbers in a table for the whole run, not pairs a variable)")
    left_out(table, "003-16", PROGRAMS)
    return table


def warnings_cells(m):
    return [m.checked(n, f"atomizer {p}", "atomizer", policy=p) for n in PROGRAMS for p in ("public", "locks")]


def warnings_table(m):
    names = columns("003-17")
    table = Table("003, Figure 17: functions that atomizer warns of, and those of them that are bugs; ours (Atomizer's)", [
        f"fission check --checks=atomizer {PUBLIC}     # Export+Synch",
        "fission check --checks=atomizer --atomic=locks NAME*.ftr                                 # Synch"],
        ["", *names, "warned of by Export+Synch, not declared"])
    for n in PROGRAMS:
        truth = SUBJECTS[n].truth()
        public, locks = (m.value(f"check {n} atomizer {p}")["names"] for p in ("public", "locks"))
        row = [x for found in (public, locks) for x in (len(found), sum(truth.get(f) == "bug" for f in found))]
        table.row(n, *row_beside(row, "003-17", n, names), ", ".join(f for f in public if f not in truth) or "-")
    left_out(table, "003-17", PROGRAMS)
    return table


def refinements_cells(m):
    return [m.checked(n, f"atomizer {words}", "atomizer", f"--atomizer={words}") for n in PROGRAMS for _, words in STEPS]


def refinements_table(m):
    table = Table("003, Figure 18: functions that atomizer warns of, with each refinement on top of the others; ours (Atomizer's)", [
        f"fission check --checks=atomizer --atomizer={STEPS[-1][1]} {PUBLIC}"], ["", *(name for name, _ in STEPS)])
    totals = [0] * len(STEPS)
    for n in PROGRAMS:
        counts = [len(m.value(f"check {n} atomizer {words}")["names"]) for _, words in STEPS]
        totals = [a + b for a, b in zip(totals, counts)]
        table.row(n, *counts)
    basic, least = PAPERS["003-18"]["rows"]["total"]
    table.row("total", f"{totals[0]} ({basic})", *totals[1:-1], f"{totals[-1]} ({least})")
    table.note("the paper's numbers by program are in a drawing that we do not have; its text has the two totals, of twelve programs")
    return table


TABLES = {"003-16": (slowdown_cells, slowdown_table), "003-17": (warnings_cells, warnings_table),
          "003-18": (refinements_cells, refinements_table)}
