#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models of libc's functions, held to libc: models.py BUILD [--count=N] [--seed=N]

programs/models.c calls each of them on inputs and branches on what it says. It is run with many inputs, each run with a
walk. What a branch of one walk says about its inputs is worked out, by Python, for the inputs of every other run, and must
be what that run has done. Fewer branches that know their inputs than there are is a failure as well.
The last line is 'N passed, M failed'.
"""

import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from walks import SOURCE, Read  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "programs"
SOURCES = {i: n[5:] for n, i in SOURCE.items()}
WALK_BYTES = 4 << 20
FOLLOWED = 40  # branches of the program that depend on inputs


class Inputs:
    """What one run is given. Numbers and the texts around them have the same places in all of them."""

    def __init__(self, rng):
        def some(letters, least, most):
            return "".join(rng.choice(letters) for _ in range(rng.randint(least, most)))

        number = rng.choice((7, 77, -9, 101, 200, 4096, -70, 12345))
        self.argv = [
            "./models", "-" + rng.choice("abcx"), some("abAB", 0, 4) if rng.random() < 0.6 else "abc", some("abAB", 1, 4),
            str(rng.choice((5, 99, 100, 101, 102, -3, 5000))), str(number),
            f"{rng.choice((101, 107, 200, 112))}:{rng.choice((5, 0, 3))} {rng.choice(('x', 'y', 'xz'))}", "data",
            rng.choice(("--all", "--big", "--bi", "-a", "-b")),
        ]
        self.env = {"LEVEL": rng.choice(("up", "down", "u", "upper"))}
        self.data = f"{some('kz', 2, 2)}ze\n{some('ef', 3, 3)}\n{rng.choice('xy')} {rng.choice((3, 10, 55))}\n"
        self.stdin = some("67", 8, 8)

    def text(self, source, index, name):
        return {"ARGV": lambda: self.argv[index] if index < len(self.argv) else "", "ENV": lambda: self.env.get(name, ""),
                "FILE": lambda: self.data, "STDIN": lambda: self.stdin}[source]()

    def value(self, walk, record):
        """Of an input of some walk, in this run; None if that is not the same thing here."""
        _, width, _, _, _, _, a, b = record
        source, offset, length = SOURCES[a >> 56], b & 0xFFFFFFFF, b >> 32
        text = self.text(source, a & ((1 << 56) - 1), walk.name_of(a))
        if not length:
            return ord(text[offset]) if offset < len(text) else 0
        found = re.match(r"[-+]?\d+", text[offset:])
        return int(found.group()) if found else None


def run(build, where, inputs):
    (where / "data").write_text(inputs.data)
    walk = where / "walk"
    walk.write_bytes(b"")
    os.truncate(walk, WALK_BYTES)
    subprocess.run(
        [build / "fission", "record", "--strategy=plan", "--seed=0", "-o", "trace", *inputs.argv], input=inputs.stdin,
        text=True, cwd=where, check=True, capture_output=True, timeout=300,
        env={**os.environ, **inputs.env, "FISSION_WALK": str(walk)},
    )
    return Read(walk.read_bytes())


def same_place(walk, record, one, other):
    """Numbers can only be moved to another run if all before them in their text is as long there."""
    a, b = record[6], record[7]
    texts = [i.text(SOURCES[a >> 56], a & ((1 << 56) - 1), walk.name_of(a)) for i in (one, other)]
    starts = [[m.start() for m in re.finditer(r"[-+]?\d+", t)] for t in texts]
    offset = b & 0xFFFFFFFF
    return not b >> 32 or (offset in starts[0] and offset in starts[1])


def compare(walk, inputs, others):
    """(right, wrong, messages): every branch of the walk for every other run that came to it as often."""
    right, wrong, said = 0, 0, []
    for other_inputs, done in others:
        known = {}
        bad = [e for e, r in walk.nodes.items() if r[0] == "INPUT" and (
            not same_place(walk, r, inputs, other_inputs) or other_inputs.value(walk, r) is None)]
        if bad:
            continue
        for ordinal, expr, _ in walk.branches():
            if ordinal not in done:
                continue
            value = walk.evaluate(expr, lambda r: other_inputs.value(walk, r), known)
            right += value == done[ordinal]
            wrong += value != done[ordinal]
            if value != done[ordinal]:
                said.append(f"branch {ordinal}: by {inputs.argv} {inputs.stdin} it is {value}, not {done[ordinal]}, "
                            f"for {other_inputs.argv} {other_inputs.env} {other_inputs.data!r} {other_inputs.stdin}")
    return right, wrong, said


def all_branches(walk):
    """What each branch that was come to once has done."""
    seen = {}
    for r in walk.records:
        if r[0] == "BRANCH":
            seen[r[3]] = None if r[3] in seen else r[6]
    return {o: v for o, v in seen.items() if v is not None}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    build, rng = options.build.resolve(), random.Random(options.seed)
    passed = failed = 0
    runs = []
    with tempfile.TemporaryDirectory() as scratch:
        where = pathlib.Path(scratch)
        subprocess.run([build / "fission-cc", "--symbolic", "-g", "-o", where / "models", HERE / "models.c"], check=True)
        for _ in range(options.count):
            inputs = Inputs(rng)
            runs.append((inputs, run(build, where, inputs)))
    others = [(inputs, all_branches(walk)) for inputs, walk in runs]
    for inputs, walk in runs:
        right, wrong, said = compare(walk, inputs, others)
        passed += right
        failed += wrong
        print(*said[:3], sep="\n", end="\n" if said else "")
    followed = {o for _, walk in runs for o, _, _ in walk.branches()}
    blind = set().union(*(done for _, done in others)) - followed
    print(f"{len(followed)} branches know their inputs; these do not: {sorted(blind)}")
    failed += len(followed) < FOLLOWED
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
