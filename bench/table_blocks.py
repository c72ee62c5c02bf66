# SPDX-License-Identifier: MIT
"""004, Wang and Stoller: Table 1, three algorithms; Tables 2 and 3, their improvements; Table 4, storage."""

import ladder
from beside import PAPERS, beside, columns, row_beside, sort_out
from cells import Table, shown
from measures import EVERYTHING
from subjects import COLLECTIONS

PROGRAMS = ("elevator", "tsp", "sor", "hedc", "moldyn", "montecarlo", "raytracer", "jigsaw")
EVERY = (*PROGRAMS, *COLLECTIONS)
STEPS = {check: steps for _, check, _, steps in ladder.LADDERS}
ALGORITHMS = {"on-line": ("atomizer", "--atomizer=standard"), "off-line": ("reduction", "--reduction=acqrel"),
              "blocks": ("blocks", "--blocks=2v,happen-before")}
PUBLIC = "--atomic=exported+locks --config=NAME.conf NAME*.ftr"


def algorithms_cells(m):
    return [m.checked(n, option, check, option) for n in EVERY for check, option in ALGORITHMS.values()]


def missed(m, name, truth):
    """Declared, reported off-line and not on-line."""
    online, offline = (set(m.value(f"check {name} {ALGORITHMS[a][1]}")["names"]) for a in ("on-line", "off-line"))
    return sum(n in truth for n in offline - online)


def algorithms_table(m):
    names = columns("004-1")[2:]
    table = Table("004, Table 1: time, and reports as bug-benign-false (on-line: -missed); ours (Wang and Stoller's)", [
        f"fission check --checks={check} {option} {PUBLIC}" for check, option in ALGORITHMS.values()], ["", *names, "events"])
    for n in EVERY:
        truth, row = EVERYTHING[n].truth(), []
        for label, (_, option) in ALGORITHMS.items():
            value = m.value(f"check {n} {option}")
            more = f"-{missed(m, n, truth)}" if label == "on-line" else ""
            row += [f"{value['seconds']:.2f}s", sort_out(value["names"], truth) + more]
        table.row(n, *row_beside(row, "004-1", n, names), value["events"])
    table.note("collections: violations-false, since what is benign there is for their users to say; operations are declared blocks")
    table.note("tsp: the paper's map14. The paper's times are those of program and check together, ours of the check of recorded traces")
    return table


def reduction_cells(m):
    steps = [(f"--reduction={w}", "reduction", f"--reduction={w}") for _, w in STEPS["reduction"]]
    return [c for n in EVERY for c in (m.checked(n, "races", "races"), *(m.checked(n, *step) for step in steps))]


def reduction_table(m):
    names, paper = [name for name, _ in STEPS["reduction"]], PAPERS["004-2"]
    table = Table("004, Table 2: reduction, each improvement on top of the others: bug-benign-false, and time; ours (theirs)", [
        f"fission check --checks=reduction --reduction=STEP {PUBLIC}", "fission check --checks=races NAME*.ftr"],
        ["", *names, "time, first", "time, last", "races"])
    for n in EVERY:
        truth, values = EVERYTHING[n].truth(), [m.value(f"check {n} --reduction={w}") for _, w in STEPS["reduction"]]
        reports = [f"{sort_out(v['names'], truth)} ({t})" for v, t in zip(values, paper["rows"][n])]
        theirs = paper["time"].get(n) or ["-"]
        times = [f"{values[i]['seconds']:.2f}s ({theirs[i]})" for i in (0, -1)]
        table.row(n, *reports, *times, f"{m.value(f'check {n} races')['races']} ({paper['races'][n][-1]})")
    table.note("races: ours are variables with a race by happens-before, one number; theirs bug-benign-false by lock sets, a number a step")
    return table


def blocks_cells(m):
    return [m.checked(n, f"--blocks={w}", "blocks", f"--blocks={w}") for n in EVERY for _, w in STEPS["blocks"]]


def blocks_table(m):
    names = columns("004-3")
    table = Table("004, Table 3: blocks, each improvement on top of the others: methods, fields (one-two), time; ours (theirs)", [
        f"fission check --checks=blocks --blocks=2v,STEP {PUBLIC}"], ["", *names])
    for n in EVERY:
        truth, row = EVERYTHING[n].truth(), []
        for _, w in STEPS["blocks"]:
            v = m.value(f"check {n} --blocks={w}")
            row += [sort_out(v["names"], truth), f"{v['one']}-{v['two']}", f"{v['seconds']:.2f}s"]
        table.row(n, *row_beside(row, "004-3", n, names))
    return table


def storage_cells(m):
    return [c for n in PROGRAMS for c in (m.scanned(n), *(m.memory(n, k) for k in ("reduction", "blocks")))]


def storage_table(m):
    table = Table("004, Table 4: events, the share of accesses to memory of one thread so far, and storage; ours (theirs)", [
        "fission trace dump NAME.ftr", "fission check --checks=reduction NAME.ftr      # peak of resident memory",
        "fission check --checks=blocks NAME.ftr"], ["", "events", "unescaped", "reduction, MB", "blocks, MB"])
    for n in PROGRAMS:
        seen = m.value(f"scan {n}")
        memory = [shown(m.value(f"memory {n} {c}") / 1e6 or None, ".1f") for c in ("reduction", "blocks")]
        table.row(n, beside(seen["events"], "004-4", n, "events"), beside(f"{seen['unescaped']:.2f}", "004-4", n, "unescaped"), *memory)
    table.note("not compared: the paper counts entries of its own tables (sets, blocks); ours are bytes of the whole process")
    table.note("-: over before it could be looked at")
    return table


TABLES = {"004-1": (algorithms_cells, algorithms_table), "004-2": (reduction_cells, reduction_table),
          "004-3": (blocks_cells, blocks_table), "004-4": (storage_cells, storage_table)}
