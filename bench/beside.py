# SPDX-License-Identifier: MIT
"""The papers' numbers (papers.json), and cells that have them beside ours: `ours (theirs)`."""

import json
import math
import pathlib

PAPERS = json.loads((pathlib.Path(__file__).resolve().parent / "papers.json").read_text())
NO_PROGRAMS = ("total", "geom. mean", "tsp4")  # rows of tables; tsp4 is tsp with other data


def columns(paper):
    return PAPERS[paper]["columns"]


def theirs(paper, row, column):
    """The paper's cell, or None."""
    values = PAPERS[paper]["rows"].get(row)
    return values[columns(paper).index(column)] if values else None


def beside(ours, paper, row, column):
    return f"{ours} ({theirs(paper, row, column) or '-'})"


def row_beside(ours, paper, row, names):
    """A row of such cells; where there is no name, there is nothing in the paper to compare with."""
    return [beside(o, paper, row, c) if c else str(o) for o, c in zip(ours, names)]


def left_out(table, paper, ours):
    missing = [r for r in PAPERS[paper]["rows"] if r not in ours and r.lower() not in NO_PROGRAMS]
    if missing:
        table.note(f"in the paper, not redone: {', '.join(missing)}")


def sort_out(names, truth):
    """Functions that were reported, as bug-benign-false; of collections, violations-false."""
    count = {word: sum(truth.get(n) == word for n in names) for word in ("bug", "benign", "violation")}
    false = sum(n not in truth for n in names)
    if "violation" in truth.values():
        return f"{count['violation']}-{false}"
    return f"{count['bug']}-{count['benign']}-{false}"


def geometric(values):
    known = [v for v in values if v]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else None
