#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench-pairs: the four collections under `fission pairs`, every pair of their operations: 004 Figure 6.

usage: pairs.py BUILD_DIR [--collections=NAMES] [--fresh] [--no-write]

Writes the matrices to docs/results/pairs.txt. A collection is a cell, kept in BUILD_DIR/results/pairs, so that a run that
was ended goes on where it was. As many run at a time as there are cores: what is found does not depend on it.
"""

import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True

import cells
from cells import Cell

SOURCES = cells.ROOT / "bench" / "programs" / "collections"
COLLECTIONS = {
    "string_buffer": ["string_buffer_pairs.c", "string_buffer.c"],
    "vector": ["vector_pairs.c", "vector.c"],
    "hashtable": ["hashtable_pairs.c", "hashtable.c"],
    "stack": ["stack_pairs.c", "stack.c", "vector.c"],
}
FLAGS = ("-O1", "-g", "-pthread")
FINDINGS = 66


def matrix(build, room, name):
    """What `fission pairs` prints. The page beside it stays in NAME.out."""
    program = room / f"{name}_pairs"
    subprocess.run([build / "fission-cc", *FLAGS, *(SOURCES / s for s in COLLECTIONS[name]), "-o", program], check=True)
    done = subprocess.run([build / "fission", "pairs", f"--out={room / name}.out", f"./{program.name}"], cwd=room,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != FINDINGS:
        sys.exit(f"pairs: {name}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def cell_of(build, room, name):
    return Cell(name, lambda: matrix(build, room, name), (*sorted(SOURCES.glob("*.[ch]")), FLAGS))


def text_of(name, value):
    sources = " ".join(f"bench/programs/collections/{s}" for s in COLLECTIONS[name])
    return f"  $ fission-cc {' '.join(FLAGS)} {sources} -o {name}_pairs\n  $ fission pairs ./{name}_pairs\n\n{value}"


def main(argv):
    options = cells.options(argv, "Every pair of operations of the four collections.", "collections", COLLECTIONS)
    where, build = cells.machine(), options.build.resolve()
    store = cells.Store(build, "pairs", options.fresh)
    room = build / "results" / "pairs.work"
    room.mkdir(exist_ok=True)
    store.fill([cell_of(build, room, name) for name in options.chosen], cells.say_as("pairs"), os.cpu_count())
    text = "\n\n".join(text_of(name, store.values[name]) for name in options.chosen)
    print(text)
    if not options.no_write:
        head = "\n".join(["made by: make bench-pairs   (bench/pairs.py build)", *where])
        (cells.RESULTS / "pairs.txt").write_text(f"{head}\n\n\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
