#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Expressions mean what the program computes: random straight-line integer functions, built with --symbolic, run once
with a walk; the expression of each result, computed here for those and for other inputs, is what the same program, built by
the plain compiler, gives for them. A result that is concrete in the walk must be the same for all inputs.

    semantics.py BUILD [--count N] [--seed N] [--keep]
"""

import argparse
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

from walks import KIND, OP

INPUTS = [("signed char", 8), ("unsigned char", 8), ("short", 16), ("unsigned short", 16), ("int", 32), ("unsigned", 32),
          ("long", 64), ("unsigned long", 64)]
TYPES = [t for t, _ in INPUTS] + ["_Bool"]
WIDTH = dict(INPUTS, _Bool=1)
OPS = {number: name[5:] for name, number in OP.items()}
VECTORS = 4  # inputs that each function is tried with
TOGETHER = 20

HEAD = """#include <fission.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct mixed { char c; short s; int i; long l; };
struct bits { unsigned a : 3; int b : 11; unsigned long c : 37; };
union any { unsigned char b[8]; unsigned short s[4]; unsigned i[2]; unsigned long l; };
static unsigned long out[COUNT];
static unsigned long state;
static unsigned long draw(void)
{
	static const unsigned long odd[] = {0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65535, 2147483647, 2147483648,
		4294967295, 9223372036854775807, 9223372036854775808u, 18446744073709551615u};
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 60 < 6 ? odd[state >> 40 & 15] : (state >> 33) * 0x9E3779B97F4A7C15u;
}
"""


class Maker:
    """One function: variables v0..; each statement makes one more."""

    def __init__(self, rng, number):
        self.rng, self.number, self.lines, self.types = rng, number, [], []

    def pick(self):
        i = self.rng.randrange(max(0, len(self.types) - 4) if self.rng.random() < 0.7 else 0, len(self.types))
        return "v%d" % i, self.types[i]

    def add(self, kind, text):
        self.lines.append("\t%s v%d = %s;" % (kind, len(self.types), text))
        self.types.append(kind)

    def before(self, text):
        self.lines.append("\t" + text)

    def operand(self):
        if self.rng.random() < 0.25:
            return self.rng.choice(["3", "-7", "255", "65537", "0x80000000u", "1000000007", "4294967297", "-1l", "'a'"])
        return self.pick()[0]

    def arithmetic(self, kind):
        op = self.rng.choice(["+", "-", "*", "&", "|", "^", "+", "-"])
        self.add(kind, "%s %s %s" % (self.pick()[0], op, self.operand()))

    def divide(self, kind):
        by = self.rng.choice(["((%s & 255) - 300)", "((%s & 1023) + 1)", "((unsigned)%s | 1u)", "((unsigned long)%s | 1)"])
        self.add(kind, "%s %s %s" % (self.pick()[0], self.rng.choice("/%"), by % self.pick()[0]))

    def shift(self, kind):
        name, of = self.pick()
        bits = 63 if WIDTH[of] == 64 else 31
        self.add(kind, "%s %s (%s & %d)" % (name, self.rng.choice(["<<", ">>"]), self.operand(), bits))

    def compare(self, kind):
        self.add(kind, "%s %s %s" % (self.pick()[0], self.rng.choice(["<", "<=", ">", ">=", "==", "!="]), self.operand()))

    def cast(self, kind):
        self.add(kind, "(%s)%s%s" % (self.rng.choice(TYPES), self.rng.choice(["", "-", "~"]), self.pick()[0]))

    def union(self, kind):
        n = len(self.types)
        self.before("union any u%d = {.l = (unsigned long)%s};" % (n, self.pick()[0]))
        if self.rng.random() < 0.5:
            self.before("u%d.b[%d] = (unsigned char)%s;" % (n, self.rng.randrange(8), self.pick()[0]))
        part = self.rng.choice(["b[%d]" % self.rng.randrange(8), "s[%d]" % self.rng.randrange(4), "i[%d]" % self.rng.randrange(2), "l"])
        self.add(kind, "u%d.%s" % (n, part))

    def struct(self, kind):
        n = len(self.types)
        values = ", ".join(self.pick()[0] for _ in range(4))
        self.before("struct mixed m%d = mix(%s), n%d = m%d;" % (n, values, n, n))
        self.add(kind, "n%d.%s" % (n, self.rng.choice("csil")))

    def bits(self, kind):
        n = len(self.types)
        self.before("struct bits b%d = {0}; b%d.%s = (unsigned)%s; b%d.%s = (int)%s;" % (
            n, n, self.rng.choice("abc"), self.pick()[0], n, self.rng.choice("abc"), self.pick()[0]))
        self.add(kind, "b%d.%s" % (n, self.rng.choice("abc")))

    def copy(self, kind):
        n = len(self.types)
        at = self.rng.randrange(4)
        self.before("unsigned char c%d[16]; unsigned long d%d = (unsigned long)%s; unsigned e%d;" % (n, n, self.pick()[0], n))
        self.before("memset(c%d, 0, 16); memcpy(c%d + %d, &d%d, 8); memmove(c%d + 2, c%d, 9); memcpy(&e%d, c%d + %d, 4);" % (
            n, n, at, n, n, n, n, n, self.rng.randrange(8)))
        self.add(kind, "e%d" % n)

    def overflow(self, kind):
        n = len(self.types)
        of = self.rng.choice(["int", "unsigned", "short", "unsigned char"])
        self.before("%s o%d; _Bool p%d = __builtin_%s_overflow((%s)%s, (%s)%s, &o%d);" % (
            of, n, n, self.rng.choice(["add", "sub", "mul"]), of, self.pick()[0], of, self.pick()[0], n))
        self.add(kind, self.rng.choice("op") + str(n))

    def atomic(self, kind):
        n = len(self.types)
        of = self.rng.choice(["int", "unsigned char", "long"])
        self.before("%s a%d = (%s)%s; %s g%d = __atomic_fetch_%s(&a%d, (%s)%s, __ATOMIC_SEQ_CST);" % (
            of, n, of, self.pick()[0], of, n, self.rng.choice(["add", "sub", "and", "or", "xor"]), n, of, self.pick()[0]))
        self.add(kind, "__atomic_load_n(&a%d, __ATOMIC_RELAXED)" % n if self.rng.random() < 0.7 else "g%d" % n)

    def call(self, kind):
        if self.number:
            arguments = ", ".join("(%s)%s" % (t, self.pick()[0]) for t, _ in INPUTS)
            self.add(kind, "(%s)f%d(%s)" % (self.rng.choice(TYPES), self.rng.randrange(max(0, self.number - 20), self.number), arguments))
        else:
            self.arithmetic(kind)

    def make(self):
        for t, _ in INPUTS:
            self.types.append(t)
        steps = [self.arithmetic] * 6 + [self.divide, self.shift, self.shift, self.compare, self.cast, self.cast, self.union,
                 self.struct, self.bits, self.copy, self.overflow, self.atomic]
        for _ in range(self.rng.randrange(3, 9)):
            self.rng.choice(steps)(self.rng.choice(TYPES))
        if self.rng.random() < 0.1:
            self.call("unsigned long")
        parameters = ", ".join("%s v%d" % (t, i) for i, (t, _) in enumerate(INPUTS))
        return "static unsigned long f%d(%s)\n{\n%s\n\treturn (unsigned long)v%d;\n}\n" % (
            self.number, parameters, "\n".join(self.lines), len(self.types) - 1)


def program(rng, count):
    parts = [HEAD.replace("COUNT", str(count)),
             "static struct mixed mix(long a, long b, long c, long d)\n"
             "{\n\tstruct mixed m = {(char)a, (short)b, (int)c, d};\n\treturn m;\n}\n"]
    parts += [Maker(rng, n).make() for n in range(count)]
    names = ", ".join("i%d" % i for i in range(len(INPUTS)))
    parameters = ", ".join("%s i%d" % (t, i) for i, (t, _) in enumerate(INPUTS))
    for at in range(0, count, TOGETHER):  # one long function would be the longest to compile of all
        calls = "".join("\tout[%d] = f%d(%s);\n" % (n, n, names) for n in range(at, min(at + TOGETHER, count)))
        parts.append("static void call%d(%s)\n{\n%s}\n" % (at, parameters, calls))
    parts.append("int main(int argc, char **argv)\n{\n\tstate = argc > 1 ? strtoul(argv[1], 0, 10) : 1;")
    for i, (t, _) in enumerate(INPUTS):
        parts.append("\t%s i%d = (%s)draw(); fission_input(&i%d, sizeof i%d, \"i%d\");" % (t, i, t, i, i, i))
    parts.append("\tprintf(\"%p\\n\", (void *)out);")
    parts += ["\tprintf(\"%%lu\\n\", (unsigned long)i%d & %du);" % (i, (1 << w) - 1) for i, (_, w) in enumerate(INPUTS)]
    parts += ["\tcall%d(%s);" % (at, names) for at in range(0, count, TOGETHER)]
    parts.append("\tfor (int i = 0; i < %d; i++)\n\t\tprintf(\"%%lu\\n\", out[i]);\n\treturn 0;\n}\n" % count)
    return "\n".join(parts)


def signed(x, width):
    return x - (1 << width) if x >> (width - 1) & 1 else x


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY = {
    "ADD": lambda a, b, w: a + b, "SUB": lambda a, b, w: a - b, "MUL": lambda a, b, w: a * b,
    "AND": lambda a, b, w: a & b, "OR": lambda a, b, w: a | b, "XOR": lambda a, b, w: a ^ b,
    "UDIV": lambda a, b, w: a // b, "UREM": lambda a, b, w: a % b,
    "SDIV": lambda a, b, w: quotient(signed(a, w), signed(b, w)),
    "SREM": lambda a, b, w: signed(a, w) - quotient(signed(a, w), signed(b, w)) * signed(b, w),
    "SHL": lambda a, b, w: a << b, "LSHR": lambda a, b, w: a >> b, "ASHR": lambda a, b, w: signed(a, w) >> b,
    "EQ": lambda a, b, w: a == b, "NE": lambda a, b, w: a != b,
    "UGT": lambda a, b, w: a > b, "UGE": lambda a, b, w: a >= b, "ULT": lambda a, b, w: a < b, "ULE": lambda a, b, w: a <= b,
    "SGT": lambda a, b, w: signed(a, w) > signed(b, w), "SGE": lambda a, b, w: signed(a, w) >= signed(b, w),
    "SLT": lambda a, b, w: signed(a, w) < signed(b, w), "SLE": lambda a, b, w: signed(a, w) <= signed(b, w),
}


class Reading:
    """The expressions of a walk, and what was stored where."""

    def __init__(self, path):
        data = path.read_bytes()
        self.define, self.width, self.stored, self.conditions = {}, {}, {}, 0
        for at in range(16, len(data) - 31, 32):
            kind, width, _, ordinal, module, expr, a, b = struct.unpack_from("<BBHIIIQQ", data, at)
            if kind == KIND["WALK_NONE"]:
                break
            if kind in (KIND["WALK_INPUT"], KIND["WALK_CONST"], KIND["WALK_NODE"]):
                assert expr not in self.define, "expression %d is defined twice" % expr
                self.define[expr], self.width[expr] = (kind, OPS.get(ordinal), module, a, b), width
            elif kind == KIND["WALK_STORE"]:
                self.stored[a] = expr, b
            elif kind in (KIND["WALK_BRANCH"], KIND["WALK_SELECT"], KIND["WALK_ADDRESS"]) and expr:
                self.conditions += 1

    def values(self, inputs):
        """Of all expressions, for these inputs. They are defined before they are used."""
        value, count = {}, 0
        for e, (kind, op, third, a, b) in self.define.items():
            if kind == KIND["WALK_INPUT"]:
                v, count = inputs[count], count + 1
            elif kind == KIND["WALK_CONST"]:
                v = a
            elif op in BINARY:
                v = int(BINARY[op](value[a], value[b], self.width[a]))
            elif op == "SEXT":
                v = signed(value[a], self.width[a])
            elif op in ("ZEXT", "TRUNC"):
                v = value[a]
            elif op == "CONCAT":
                v = value[a] << self.width[b] | value[b]
            elif op == "BYTE":
                v = value[a] >> 8 * b
            else:
                v = value[b] if value[a] else value[third]
            value[e] = v & ((1 << self.width[e]) - 1)
        return value


def run(command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, **more)
    if done.returncode:
        sys.exit("%s: status %d\n%s" % (" ".join(str(c) for c in command), done.returncode, done.stderr[:2000]))
    return done.stdout


def numbers(text):
    lines = text.split()
    n = len(INPUTS)
    return int(lines[0], 16), [int(x) for x in lines[1 : n + 1]], [int(x) for x in lines[n + 1 :]]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep", action="store_true")
    o = p.parse_args()
    if not (o.build / "fission-rewrite").exists():
        print("fission-rewrite was not built: LLVM 14 is needed\n0 passed, 1 failed")
        return 1
    work = pathlib.Path(tempfile.mkdtemp())
    source, walk = work / "functions.c", work / "walk"
    source.write_text(program(random.Random(o.seed), o.count))
    options = ["-fwrapv", "-fno-strict-aliasing", "-w"]
    run([o.build / "fission-cc", "--symbolic", "-O0", "-g0", *options, "-o", work / "shadowed", source])
    run(["cc", "-O1", *options, "-I", o.build / "driver", "-o", work / "plain", source])
    walk.touch()
    with walk.open("r+b") as f:
        f.truncate(1 << 26)
    told = run([o.build / "fission", "run", "--no-out", "-q", "--chaos", "--seeds=1", work / "shadowed"],
               env={"PATH": "/usr/bin:/bin", "FISSION_WALK": str(walk)})
    address, inputs, results = numbers(told)
    reading = Reading(walk)
    passed, wrong = 0, []
    if reading.conditions:
        wrong.append("the functions have %d conditions, and are meant to have none" % reading.conditions)
    for vector in range(1, VECTORS + 1):
        _, given, expected = numbers(run([work / "plain", vector]))
        if vector == 1 and (given, expected) != (inputs, results):
            wrong.append("the plain program computes something else")
        value = reading.values(given)
        for n in range(o.count):
            expr, concrete = reading.stored[address + 8 * n]
            got = value[expr] if expr else concrete
            if got == expected[n]:
                passed += 1
            else:
                wrong.append("f%d, inputs %d: %s gives %d, the program %d" % (
                    n, vector, "expression %d" % expr if expr else "a concrete value", got, expected[n]))
    for text in wrong[:20]:
        print(text)
    if o.keep or wrong:
        print("kept: %s" % work)
    else:
        shutil.rmtree(work)
    print("%d passed, %d failed" % (passed, len(wrong)))
    return 1 if wrong else 0


sys.exit(main())
