# SPDX-License-Identifier: MIT
"""000, SideTrack: Table 1, functions with errors; Table 2, slowdown."""

import subjects
from beside import beside, columns, geometric, left_out, row_beside, theirs
from cells import Table, shown
from subjects import SUBJECTS

WITH_ERRORS = ("elevator", "jbb", "hedc", "barrier", "philo", "tsp", "sync", "jigsaw")
TIMED = ("barrier", "tsp", "sync", "crypt", "moldyn", "forkjoin", "lufact", "montecarlo", "raytracer", "series", "sor")
SLOWDOWNS = {"empty": "EMPTY", "sidetrack": "SIDETRACK"}


def errors_cells(m):
    return [m.checked(n, "sidetrack", "sidetrack,races,deadlocks", policy="all") for n in WITH_ERRORS]


def errors_of(kinds):
    """In the order of the paper's columns."""
    before, inside, after = (set(kinds.get(k, ())) for k in ("BEFORE", "IN", "AFTER"))
    sets = (before | inside | after, before, inside, after, before - inside, after - inside, (before | after) - inside)
    return [len(s) for s in sets]


def errors_table(m):
    names = columns("000-1")
    table = Table("000, Table 1: functions with errors, by where the culprit was; ours (SideTrack's)", [
        f"fission record --values -o NAME.ftr -- NAME ARGUMENTS     # {subjects.SCHEDULES} times",
        "fission check --checks=sidetrack,races,deadlocks NAME*.ftr"], ["", *names])
    total = [0] * len(names)
    for n in WITH_ERRORS:
        ours = errors_of(m.value(f"check {n} sidetrack")["kinds"])
        total = [a + b for a, b in zip(total, ours)]
        table.row(n, *row_beside(ours, "000-1", n, names))
    table.row("total", *row_beside(total, "000-1", "Total", names))
    left_out(table, "000-1", WITH_ERRORS)
    return table


def slowdown_cells(m):
    return [m.timed(n, c) for n in TIMED for c in ("plain", *SLOWDOWNS)]


def slowdown_table(m):
    table = Table("000, Table 2: slowdown of empty hooks and of sidetrack; ours (SideTrack's)", [
        "NAME ARGUMENTS", "fission run --no-out --checks=sidetrack -- NAME ARGUMENTS"],
        ["", "arguments", "lines", "plain s", *SLOWDOWNS.values()])
    for n in TIMED:
        ratios = [beside(shown(m.slowdown(n, ours)), "000-2", n, paper) for ours, paper in SLOWDOWNS.items()]
        table.row(n, " ".join(SUBJECTS[n].size), beside(SUBJECTS[n].lines(), "000-2", n, "lines"),
                  beside(m.seconds(n), "000-2", n, "plain s"), *ratios)
    means = []
    for ours, paper in SLOWDOWNS.items():
        other = geometric(float(theirs("000-2", n, paper)) for n in TIMED)
        means.append(f"{shown(geometric(m.slowdown(n, ours) for n in TIMED))} ({shown(other)})")
    table.row("geometric mean", "", "", "", *means)
    left_out(table, "000-2", TIMED)
    return table


TABLES = {"000-1": (errors_cells, errors_table), "000-2": (slowdown_cells, slowdown_table)}
