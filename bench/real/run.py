#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench-real: real programs, fetched with `apt-get source`, built with nothing but CC=fission-cc, used, and what was found.

usage: run.py BUILD_DIR [--programs=NAMES] [--runs=N] [--fresh] [--no-write]

Fetching, building, using and comparing are those of tests/real; the table is for reading. Each program is a cell, kept in
BUILD_DIR/results/real, so that a run that was ended goes on where it was. Writes docs/results/real.txt: the table, and
each finding of rank 1 and 2; docs/real-programs.md judges them, and what it does not speak of is said at the end. Nothing
of the programs is kept in the repository.
"""

import argparse
import collections
import pathlib
import re
import sys
import types

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def load_harness():
    """tests/real/run.py, whose name is ours, too."""
    import importlib.util
    spec = importlib.util.spec_from_file_location("real_programs", ROOT / "tests" / "real" / "run.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["real_programs"] = module
    spec.loader.exec_module(module)
    return module


sys.path[1:1] = [str(ROOT / "tests" / "real"), str(ROOT / "bench")]

import cells
import servers
import video
from cells import Cell, Table

harness = load_harness()
PROGRAMS = (*harness.PROGRAMS, servers.Redis(), servers.Nginx(), video.X264())
SHOWN = 2


def brief(finding, tally):
    """A finding as the table and the list need it."""
    foreign = [a for a in finding["accesses"] if a["stack"] and a["thread"] != finding["block"]["thread"]]
    own = [a for a in finding["accesses"] if a["role"] in ("first", "second")]
    return {"id": finding["id"], "verdict": finding["verdict"], "rank": finding["rank"], "hidden": finding["hidden"],
            "again": finding["again"], "function": finding["block"]["function"] or "?", "variables": finding["variables"],
            "rules": finding["rules"], "place": place(finding["block"]), "accesses": [place(a) for a in own],
            "culprit": sorted({f"{a['stack'][0]['function'] or '?'} {place(a)}" for a in foreign})[:3], "seen": tally.seen[finding["id"]]}


def place(p):
    """With the directory that tells files of one name apart, and nothing of where the tree lies."""
    return f"{'/'.join(pathlib.PurePath(p['file']).parts[-2:]) if p['file'] else '?'}:{p['line'] or '?'}"


def reason(text):
    """The line of a failure that says why. Of a run it is the first; of a build not the last, where make only waits."""
    first, *rest = text.strip().splitlines()
    if ", run " in first or not rest:
        return first[:200]
    return next((line for line in rest if re.search(r"\berror\b|\bKilled\b", line, re.I)), rest[-1]).strip()[:200]


def measure(build, program, runs):
    bench = harness.Bench(types.SimpleNamespace(build=build, runs=runs, limit=300.0, keep=False))
    said = []
    bench.say = said.append
    bench.apt.directory.mkdir(parents=True, exist_ok=True)
    t = bench.measure(program)
    return {"version": t.version, "built": t.built, "runs": t.runs, "failed": t.failed, "plain": t.plain, "checked": t.checked,
            "events": t.events, "races": t.races, "incomplete": t.incomplete, "said": [reason(s) for s in said if "FAILED" in s],
            "findings": [brief(f, t) for f in t.findings.values()]}


def cell_of(program, options):
    """Measured again when the module that uses the program has changed, or the number of runs."""
    module = pathlib.Path(sys.modules[type(program).__module__].__file__)
    return Cell(program.name, lambda: measure(options.build, program, options.runs), (module, options.runs))


def by_rank(findings):
    count = collections.Counter((f["verdict"], f["rank"]) for f in findings if not f["hidden"])
    verdicts = [v for v in harness.VERDICTS if any(key[0] == v for key in count)]
    return "; ".join(f"{v} {'/'.join(str(count[v, r]) for r in harness.RANKS)}" for v in verdicts) or "none"


def table_of(values):
    table = Table("Real programs built with CC=fission-cc and used as they are", [
        "apt-get source PACKAGE; CC=fission-cc ./configure && make, or make CC=fission-cc",
        "fission run --no-out --format=json --fail-on=reproduced,1 -- PROGRAM ..."],
        ["", "version", "builds", "runs", "as plain", "plain s", "slowdown", "M events", "races", "hidden",
         "findings, rank 1/2/3/4"])
    for name, v in values.items():
        runs = v["runs"] or 1
        good = v["runs"] - v["failed"] if v["built"] else 0
        table.row(name, v["version"], "yes" if v["built"] else "no", v["runs"], good, f"{v['plain'] / runs:.2f}",
                  f"{v['checked'] / v['plain']:.1f}" if v["plain"] else "-", f"{v['events'] / runs / 1e6:.1f}", v["races"],
                  sum(f["hidden"] for f in v["findings"]), by_rank(v["findings"]))
    table.note("as plain: runs with the same output and exit status as the plain program. races: variables, of the worst run.")
    for name, v in values.items():
        for text in v["said"]:
            table.note(f"{name}: {text}")
    return table


def shown(findings):
    return [f for f in findings if f["rank"] <= SHOWN and not f["hidden"] and not f["again"]]


def unjudged(values):
    """What is shown and not spoken of in docs/real-programs.md: functions with their programs."""
    page = (ROOT / "docs" / "real-programs.md").read_text()
    return sorted({f"{name}: {f['function']}" for name, v in values.items() for f in shown(v["findings"])
                   if not re.search(rf"\b{re.escape(f['function'])}\b", page)})


def list_of(values):
    table = Table("Findings of rank 1 and 2", [], ["", "id", "rank", "verdict", "runs", "function", "block", "first, second",
                                                   "variables", "culprit"])
    for name, v in values.items():
        for f in sorted(shown(v["findings"]), key=lambda f: (f["rank"], f["function"], f["id"])):
            table.row(name, f["id"], f["rank"], f["verdict"], f"{f['seen']}/{v['runs']}", f["function"], f["place"],
                      ", ".join(dict.fromkeys(f["accesses"])) or "-", ", ".join(f["variables"]) or "-", "; ".join(f["culprit"]) or "-")
    return table


def parse(argv):
    names = ",".join(p.name for p in PROGRAMS)
    p = argparse.ArgumentParser(description="Real programs, and what is found in them.")
    p.add_argument("build", type=pathlib.Path, metavar="BUILD_DIR")
    p.add_argument("--programs", default=names, help=f"which, with commas (default: {names})")
    p.add_argument("--runs", type=int, default=3, help="of each program (default: 3)")
    p.add_argument("--fresh", action="store_true", help="forget what is known from before")
    p.add_argument("--no-write", action="store_true", help="print the tables, and leave docs/results as it is")
    options = p.parse_args(argv)
    options.programs = options.programs.split(",")
    if set(options.programs) - {p.name for p in PROGRAMS}:
        p.error(f"there are {names}")
    return options


def main(argv):
    options = parse(argv)
    where = cells.machine()
    store = cells.Store(options.build, "real", options.fresh)
    chosen = [p for p in PROGRAMS if p.name in options.programs]
    store.fill([cell_of(p, options) for p in chosen], cells.say_as("real"))
    values = {p.name: store.values[p.name] for p in chosen}
    tables = [table_of(values), list_of(values)]
    print("\n".join("\n" + t.text() for t in tables))
    for one in unjudged(values):
        print(f"real: docs/real-programs.md does not speak of {one}", file=sys.stderr)
    if not options.no_write:
        cells.write(cells.RESULTS / "real.txt", f"make bench-real   (bench/real/run.py build {' '.join(argv[1:])})", where, tables)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
