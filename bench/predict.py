#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast candidates are decided: predict.py BUILD_DIR [EVENTS]

Makes a trace of a made-up server (threads that get, set and update accounts under locks, with a few flags between
them), and has bench_predict try candidates by each tier: in windows of 1,000 events, and at the end of the trace
with all of it before them: a prefix of 100,000 events. One thread; the witness's walk is counted in for A and B.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

THREADS, ACCOUNTS = 8, 40


def trace(events, seed, values):
    """Each thread does one operation after another; the threads' steps are mixed, as far as locks let them."""
    rng = random.Random(seed)
    held, memory, lines = {}, {}, []
    left = {t: [] for t in range(THREADS)}

    def operation(t):
        x, kind = rng.randrange(ACCOUNTS), rng.random()
        late = "late" if len(lines) > 0.95 * events else "soon"  # so that some code is only there at the end
        m, site = f"m{x % 8}", f"{late}{x % 10}_{t % 4}"
        if kind < 0.45:  # get, then set
            body = [("acq", m, 1), ("r", f"x{x}", 2), ("rel", m, 3), ("acq", m, 4), ("w", f"x{x}", 5), ("rel", m, 6)]
        elif kind < 0.9:  # both in one section
            body = [("acq", m, 11), ("r", f"x{x}", 12), ("w", f"x{x}", 13), ("rel", m, 14)]
        else:  # a flag without a lock
            body = [("r", f"f{x % 4}", 21)] if rng.random() < 0.8 else [("w", f"f{x % 4}", 22)]
        return [("enter", site, 0), *body, ("exit", site, 0)]

    while len(lines) < events:
        t = rng.randrange(THREADS)
        for _ in range(rng.randrange(1, 12)):
            if not left[t]:
                left[t] = operation(t)
            op, name, line = left[t][0]
            if op == "acq" and held.get(name, t) != t:
                break
            left[t].pop(0)
            if op == "acq":
                held[name] = t
            elif op == "rel":
                del held[name]
            elif op == "w":
                memory[name] = rng.randrange(values)
            value = f"={memory.get(name, 0)}" if op in "rw" else ""
            lines.append(f"T{t}|{op}({name}){value}|server.c:{line}")
    return "\n".join(lines) + "\n"


def measure(program, path, tier, window, most):
    command = [program, path, tier, str(window), str(most)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    tried, found, undecided, seconds, nodes = out.split()
    return int(tried), int(found), int(undecided), float(seconds), int(nodes)


def main():
    build = pathlib.Path(sys.argv[1])
    events = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    program = build / "bench" / "bench_predict"
    rows = [("A", 1000, 2000), ("B", 1000, 300), ("C", 1000, 2000), ("A", 0, 20), ("C", 0, 20)]
    heads = ("window", 9), ("tried", 8), ("plans", 8), ("undecided", 11), ("largest", 9), ("ms each", 9), ("a second", 10)
    print("tier ", *(f"{name:>{width}}" for name, width in heads), sep="")
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "server.std")
        path.write_text(trace(events, 1, 50))
        for tier, window, most in rows:
            tried, found, undecided, seconds, nodes = measure(program, path, tier, window, most)
            each = seconds / tried if tried else 0
            print(f"{tier:5}{window or events:>9,}{tried:>8}{found:>8}{undecided:>11}{nodes:>9,}{each * 1e3:>9.2f}"
                  f"{1 / each if each else 0:>10,.0f}")


if __name__ == "__main__":
    main()
