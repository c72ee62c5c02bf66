#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each refinement of the papers' checks removes, on the programs of bench/programs.py: ladder.py BUILD_DIR [SEED...]

A number is how many functions are reported; the second table of each check names them where they differ. A refinement
is expected only to remove: what it adds is printed as such, with the function's name.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import programs

# (title, check, its option, [(column, refinements)])
LADDERS = (
    ("atomizer, each refinement of Flanagan and Freund's Figure 18 on top of the others", "atomizer", "--atomizer", (
        ("basic", "states"),
        ("re-entrant", "states,reentrant"),
        ("local", "states,reentrant,local"),
        ("local (2)", "states,reentrant,local,local2"),
        ("protected", "states,reentrant,local,local2,protected"),
        ("write-prot.", "states,reentrant,local,local2,protected,write-protected"),
    )),
    ("reduction, the ladder of Wang and Stoller's Table 2", "reduction", "--reduction", (
        ("none", "none"), ("escape", "escape"), ("hb", "happen-before"), ("multilockset", "multilockset"),
        ("AcqA*Rel", "acqrel"),
    )),
    ("blocks, the ladder of Wang and Stoller's Table 3", "blocks", "--blocks", (
        ("none", "2v,none"), ("escape", "2v,escape"), ("hb", "2v,happen-before"),
    )),
)


def reported(fission, trace, check, options):
    """The functions and labels that the check reports."""
    command = [fission, "check", f"--checks={check}", *options, "--format=json", trace]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 66):
        sys.exit(f"ladder: {' '.join(map(str, command))}: exit status {done.returncode}")
    return {f["block"]["function"] or "?" for f in json.loads(done.stdout)["findings"]}


def ladder(fission, traces, title, check, option, columns):
    """Prints the table; returns what a step has added: (program, column, functions)."""
    added = []
    print(f"\n{title}\n{'':14}" + "".join(f"{name:>14}" for name, _ in columns))
    for program, paths in traces.items():
        found = [set().union(*(reported(fission, p, check, [f"{option}={words}"]) for p in paths)) for _, words in columns]
        print(f"{program:14}" + "".join(f"{len(f):14}" for f in found))
        for (name, _), before, after in zip(columns[1:], found, found[1:]):
            if after - before:
                added.append((program, name, ", ".join(sorted(after - before))))
    return added


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: ladder.py BUILD_DIR [SEED...]")
    fission, seeds = pathlib.Path(sys.argv[1], "fission"), sys.argv[2:] or ["1", "2", "3"]
    with tempfile.TemporaryDirectory(prefix="fission-ladder-") as directory:
        made = {}
        for seed in seeds:
            pathlib.Path(directory, seed).mkdir()
            for name, path in programs.make(pathlib.Path(directory, seed), seed).items():
                made.setdefault(name, []).append(path)
        print(f"Functions reported, {len(seeds)} schedules of each program together")
        for one in LADDERS:
            for program, column, names in ladder(fission, made, *one):
                print(f"  {program}: '{column}' adds {names}")


if __name__ == "__main__":
    main()
