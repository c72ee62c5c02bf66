#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the papers' checks cost, as ratios to parsing alone: checks.py BUILD_DIR [EVENTS]

Text traces with 8 threads and 1000 variables. Of three repetitions the one with the least CPU time counts; a ratio is
made of two measurements of one run of this script, on one processor. Nothing here fails because of a number.
"""

import pathlib
import sys
import tempfile

from run import Bench, Cost, Trace, pin_command

SHAPES = ("2pl", "open", "calls", "service")
ALL = "sidetrack,races,deadlocks,atomizer,reduction,blocks=2v,views"
# (mode, name, target or None)
MODES = (
    ("sidetrack", "sidetrack", 1.5),
    ("races", "races", 3),
    ("deadlocks", "deadlocks", None),
    ("atomizer", "atomizer", 3),
    ("reduction", "reduction", 4),
    ("blocks=1v", "blocks=1v", 5),
    ("blocks=2v", "blocks=2v", 10),
    ("views", "views", None),
    ("causal,aerodrome,sidetrack,races,deadlocks", "default", None),
    (ALL, "all together", 12),
)
REPETITIONS = 3


def cheapest(bench, mode, path):
    runs = [bench.once(mode, path) for _ in range(REPETITIONS)]
    best = min(runs, key=lambda run: run["user"] + run["system"])
    return Cost(best["user"] + best["system"], best["events"], best["peak"]), best["findings"]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: checks.py BUILD_DIR [EVENTS]")
    events = int(sys.argv[2]) if len(sys.argv) == 3 else 10_000_000
    print(f"CPU time / CPU time of parsing; text, {events // 1_000_000}M events, 8 threads   (peak memory, MB; findings)")
    print(f"{'':14}{'target':>8}" + "".join(f"{shape:>24}" for shape in SHAPES))
    rows = {name: [] for _, name, _ in MODES}
    with tempfile.TemporaryDirectory(prefix="fission-bench-") as directory:
        bench = Bench(pathlib.Path(sys.argv[1]), pathlib.Path(directory), pin_command())
        for shape in SHAPES:
            paths, _ = bench.generate(Trace(shape, events=events), ("text",))
            parse, _ = cheapest(bench, "parse", paths["text"])
            for mode, name, _ in MODES:
                cost, findings = cheapest(bench, mode, paths["text"])
                rows[name].append((cost.seconds / parse.seconds, cost.peak / 1e6, findings))
            paths["text"].unlink()
    for _, name, target in MODES:
        cells = "".join(f"{ratio:10.2f} ({peak:5.0f}; {found:4})" for ratio, peak, found in rows[name])
        missed = target and any(ratio > target for ratio, _, _ in rows[name])
        print(f"{name:14}{f'<= {target:g}' if target else '':>8}{cells}{'  missed' if missed else ''}")


if __name__ == "__main__":
    main()
