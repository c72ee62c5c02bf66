#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make papers: the tables of the papers, redone for the programs of bench/programs, with the papers' numbers beside ours.

usage: papers.py BUILD_DIR [--tables=IDS] [--fresh] [--no-write]

Writes docs/results/papers-ID.txt for each table. A cell is `ours (theirs)`; theirs are read from bench/papers.json. Cells
are kept in BUILD_DIR/results/papers, and a run that was ended goes on where it was; --fresh measures all again.
docs/papers.md says where the numbers differ, and why. A paper's tables are in one file, table_*.py; what they are made of
is in measures.py, the programs in subjects.py.
"""

import sys

sys.dont_write_bytecode = True

import cells
import measures
import subjects
import table_atomchase
import table_atomizer
import table_blocks
import table_sidetrack

# id: (lists its cells, makes the table of them)
TABLES = {**table_sidetrack.TABLES, **table_atomizer.TABLES, **table_blocks.TABLES, **table_atomchase.TABLES}


def main(argv):
    options = cells.options(argv, "The papers' tables, redone.", "tables", TABLES)
    where = cells.machine()
    store = cells.Store(options.build, "papers", options.fresh)
    m = measures.Measures(store, subjects.Workshop(options.build, options.build / "results" / "papers.work"))
    wanted = {c.key: c for t in options.chosen for c in TABLES[t][0](m)}
    store.fill(list(wanted.values()), cells.say_as("papers"))
    for t in options.chosen:
        table = TABLES[t][1](m)
        print(f"\n{table.text()}")
        if not options.no_write:
            cells.write(cells.RESULTS / f"papers-{t}.txt", f"make papers   (bench/papers.py build --tables={t})", where, [table])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
