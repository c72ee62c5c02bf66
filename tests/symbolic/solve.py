#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fission-solve before walks written by hand: answers, how near they are, and walks that make no sense.

usage: solve.py BUILD

The last line is 'N passed, M failed'.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from walks import KIND, Walk  # noqa: E402

build = pathlib.Path(sys.argv[1])
scratch = tempfile.TemporaryDirectory()
passed = failed = 0


def solve(walk, *questions, limit=10000):
    path = pathlib.Path(scratch.name) / "walk"
    path.write_bytes(walk if isinstance(walk, bytes) else walk.bytes())
    done = subprocess.run(
        [build / "fission-solve", path, str(limit), *map(str, questions)], capture_output=True, text=True, timeout=500
    )
    answers = []
    for line in done.stdout.splitlines():
        words = line.split()
        values = list(map(int, words[2:]))
        answers.append((words[1], dict(zip(values[::2], values[1::2]))))
    return done.returncode, answers


def expect(name, good, *about):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAILED:", name, *about)


def bank():
    """Figure 2 of 002: alice 10, bob 10, and 20 - alice < bob + 5 has refused bob."""
    w = Walk()
    alice, bob = w.input("alice", 10), w.input("bob", 10)
    left = w.node("SUB", w.const(20), alice)
    w.branch(w.node("SGE", alice, w.const(0)), True)
    return w, alice, bob, w.branch(w.node("SLE", w.node("ADD", bob, w.const(5)), left), False)


w, alice, bob, record = bank()
status, answers = solve(w, record)
word, new = answers[0]
expect("bank is solved", word == "sat", answers)
a, b = new.get(alice, 10), new.get(bob, 10)
expect("bank's answer holds", b + 5 <= 20 - a, new)
expect("bank's answer is near", max(abs(a - 10), abs(b - 10)) == 3, new)

w = Walk()
x = w.input("x", 5)
first = w.branch(w.node("SGT", x, w.const(0)), True)
second = w.branch(w.node("SLT", x, w.const(0)), False)
status, answers = solve(w, second, first)
expect("what was decided before stays decided", answers[0] == ("unsat", {}), answers)
expect("the nearest value", answers[1] == ("sat", {x: 0}), answers)

w = Walk()
x, y = w.input("x", 7), w.input("y", 1)
w.branch(w.node("EQ", y, w.const(2)), False)
record = w.branch(w.node("EQ", w.node("MUL", x, w.const(3)), w.const(0xDEADBEEF * 3)), False)
status, answers = solve(w, record)
expect("a magic number, and nothing else changed", answers[0][1] == {x: 0xDEADBEEF}, answers)

w = Walk()
old, same = {}, w.const(1, 1)
for i, (have, want) in enumerate(zip(b"slow", b"fast")):
    part = w.byte("ARGV", 1, i, have)
    old[part] = have
    same = w.node("AND", same, w.node("EQ", part, w.const(want, 8)))
status, answers = solve(w, w.branch(same, False))
expect("a word", bytes({**old, **answers[0][1]}.values()) == b"fast", answers)

w = Walk()
x = w.input("x", 3)
record = w.add("SWITCH", expr=x, a=3)
status, answers = solve(w, f"{record}=77", record)
expect("a case that is named", answers[0] == ("sat", {x: 77}), answers)
expect("any other case", answers[1][0] == "sat" and answers[1][1].get(x) in (2, 4), answers)

w = Walk()
x = w.input("x", 100)
record = w.branch(w.node("EQ", w.node("UDIV", w.const(1000), x), w.const(0xFFFFFFFF)), False)
status, answers = solve(w, record)
expect("no program divides by zero and goes on", answers[0][0] == "unsat", answers)

w = Walk()
x = w.input("x", 2)
w.add("CONCRETE", expr=x, a=2)
record = w.branch(w.node("EQ", x, w.const(9)), False)
status, answers = solve(w, record)
expect("what was made concrete changes if nothing else helps", answers[0] == ("sat", {x: 9}), answers)

# A hard one, with a short limit: two factors of a number of 62 bits. No answer is an answer, and the next one comes.
w = Walk()
p, q = w.input("p", 3, 64), w.input("q", 5, 64)
for v in (p, q):
    w.branch(w.node("ULT", v, w.const(1 << 31, 64)), True)
hard = w.branch(w.node("EQ", w.node("MUL", p, q), w.const(2147483647 * 2147483629, 64)), False)
easy = w.branch(w.node("EQ", p, w.const(4, 64)), False)
status, answers = solve(w, hard, easy, limit=200)
expect("out of time goes on", status == 0 and len(answers) == 2 and answers[1] == ("sat", {p: 4}), answers)

# Whatever the file holds, the solver ends, and by itself.
rng = random.Random(7)
good = bank()[0].bytes()
for i in range(60):
    bad = bytearray(good)
    for _ in range(rng.randint(1, 12)):
        bad[rng.randrange(16, len(bad))] = rng.choice((0, 1, 255, rng.randrange(256)))
    status, answers = solve(bytes(bad[: rng.choice((len(bad), rng.randrange(len(bad))))]), 5, 9, "x", 1 << 40)
    expect(f"hostile walk {i}", status in (0, 65), status)
many = Walk()
for i in range(300):
    many.add(rng.choice(list(KIND))[5:], rng.randrange(256), ordinal=rng.randrange(30), module=rng.randrange(40),
             expr=rng.randrange(40), a=rng.choice((0, 1, rng.randrange(40), 1 << 63)), b=rng.randrange(40))
status, answers = solve(many, *range(300), limit=50)
expect("random records", status == 0, status)

# A chain as long as a walk is no recursion of ours; z3 may give up.
w = Walk()
x = w.input("x", 1)
one, total = w.const(1), x
for i in range(20000):
    total = w.node("ADD", total, one)
record = w.branch(w.node("EQ", total, w.const(0)), False)
status, answers = solve(w, record, limit=3000)
expect("a long chain", status == 0 and answers[0][0] in ("sat", "unknown"), status, answers)

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
