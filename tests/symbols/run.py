#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of addresses, against what the programs themselves and binutils say.

usage: run.py SYMBOLS_QUERY... BINARY

The fixtures are compiled here, in every way that changes debug information; they print questions and the answers, by
their own source. BINARY, any big one with debug information, is asked about at thousands of addresses, and addr2line
and nm about the same. Of several SYMBOLS_QUERY, builds of one program, each is asked everything, and each test is one of
each. The last line is 'N passed, M failed'.
"""

import functools
import itertools
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COMPILERS = {"c": ("gcc", "clang"), "cc": ("g++", "clang++")}
ENDLESS = "0xffffffffffffffff"


def run(*command, **more):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, **more).stdout


class Tests:
    def __init__(self, queries, top):
        self.queries, self.top = queries, top
        self.passed = self.failed = 0
        self.differ = []

    def expect(self, name, wrong):
        wrong, self.differ = wrong + self.differ, []
        self.passed += len(self.queries) * (not wrong)
        self.failed += len(self.queries) * bool(wrong)
        for line in wrong[:8]:
            print(f"{name}: {line}")

    def ask(self, path, questions, bias=0, build_id="", root=None):
        text = "".join(q + "\n" for q in questions)
        root = root or self.top / "none"
        said = [run(q, path, bias, 0, ENDLESS, build_id, root, input=text).split("\n") for q in self.queries]
        self.differ += [f"{q} does not say what {self.queries[0]} does" for q, s in zip(self.queries, said) if s != said[0]]
        return said[0][:-1]


def compile_fixture(t, compiler, source, flags, out):
    # As a build would, from a directory beside the sources.
    run(compiler, *flags, "-I.", source, "-o", out, cwd=t.top / "project")
    return out


def questions_of(program):
    """What the fixture prints, as (question, answer)."""
    lines = run(program).splitlines()
    return [line.split("\t") for line in lines if "\t" in line]


def symbol_value(path, name):
    for line in run("nm", path).splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[2] == name:
            return int(fields[0], 16)
    raise SystemExit(f"{path}: no symbol {name}")


def bias_of(pairs, unstripped):
    """What was added to the addresses in the file when it was loaded."""
    for question, answer in pairs:
        if question == "bias":
            return int(answer, 16) - symbol_value(unstripped, "here")
    raise SystemExit("a fixture that does not say where it is")


def wrong_answers(t, path, pairs, **more):
    pairs = [p for p in pairs if p[0] != "bias"]
    got = t.ask(path, [q for q, _ in pairs], **more)
    if len(got) != len(pairs):
        return [f"{len(got)} answers to {len(pairs)} questions"]
    return [f"{q}: expected '{a}', got '{g}'" for (q, a), g in zip(pairs, got) if a != g]


def check_fixture(t, name, compiler, source, flags):
    out = compile_fixture(t, compiler, source, flags, t.top / "fixture")
    pairs = questions_of(out)
    wrong = wrong_answers(t, out, pairs, bias=bias_of(pairs, out))
    t.expect(name, wrong if len(pairs) > 10 else ["hardly any question"])


def fixtures(t):
    """Each compiler, version of DWARF, and way to load, optimised and not."""
    for language, compilers in COMPILERS.items():
        for compiler, dwarf, how in itertools.product(compilers, (4, 5), ("-O0 -no-pie", "-O2 -fPIE -pie")):
            flags = ["-g", f"-gdwarf-{dwarf}", *how.split()] + (["-std=c++17"] if language == "cc" else [])
            for source in (f"bank.{language}", f"heap.{language}"):
                check_fixture(t, f"{compiler} {' '.join(flags)} {source}", compiler, source, flags)
    check_fixture(t, "gcc -g -fdebug-types-section", "gcc", "bank.c", "-g -fdebug-types-section".split())
    for flags, source in itertools.product(("-g -gz", "-g -gsplit-dwarf", "-g -static-pie"), ("bank.c", "heap.c")):
        check_fixture(t, f"gcc {flags} {source}", "gcc", source, flags.split())
    check_fixture(t, "by an absolute path", "gcc", t.top / "project" / "bank.c", ["-g"])
    check_fixture(t, "by a longer path", "gcc", "./../project/./bank.c", ["-g"])
    check_fixture(t, "g++ with types apart", "g++", "bank.cc", "-g -fdebug-types-section".split())


def stale(t):
    """Nothing is read from a source that is younger than the program, or gone."""
    out = compile_fixture(t, "gcc", "heap.c", ["-g"], t.top / "stale")
    pairs = only(questions_of(out), "h")
    source = t.top / "project" / "heap.c"
    old = source.stat()
    nothing = [(q, "") for q, _ in pairs]
    os.utime(source, ns=(old.st_atime_ns, out.stat().st_mtime_ns + 1))
    t.expect("a source that is younger", wrong_answers(t, out, nothing))
    os.utime(source, ns=(old.st_atime_ns, old.st_mtime_ns))
    source.rename(t.top / "away")
    t.expect("a source that is gone", wrong_answers(t, out, nothing))
    source.mkdir()
    t.expect("a directory for a source", wrong_answers(t, out, nothing))
    source.rmdir()
    (t.top / "away").rename(source)
    t.expect("the source again", wrong_answers(t, out, pairs) if len(pairs) > 30 else ["hardly any question"])


def only(pairs, kinds):
    return [p for p in pairs if p[0][0] in kinds]


def stripped(t):
    """Debug files by link and by build id; without them the dynamic symbols, and then offsets."""
    out = compile_fixture(t, "gcc", "bank.c", ["-g", "-rdynamic", "-Wl,--build-id"], t.top / "whole")
    small, debug = t.top / "small", t.top / "small.debug"
    run("objcopy", "--only-keep-debug", out, debug)
    run("objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", out, small)
    pairs = questions_of(small)
    bias = bias_of(pairs, out)
    t.expect("debug file by its link", wrong_answers(t, small, pairs, bias=bias))

    build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", out))[1]
    below = t.top / "root" / ".build-id" / build_id[:2]
    below.mkdir(parents=True)
    shutil.move(debug, below / f"{build_id[2:]}.debug")
    named = {"bias": bias, "root": t.top / "root", "build_id": build_id}
    t.expect("debug file by build id", wrong_answers(t, small, pairs, **named))
    t.expect("another build", [
        f"{q}: {a}" for q, a in zip("fpv", t.ask(small, ["f 0x1200", "p 0x1200", "v 0x4040 4"], build_id="00ff"))
        if a != ("" if q == "v" else "small+0x1200")
    ] + ([] if "not the file that ran" in t.ask(small, ["c"], build_id="00ff")[0] else ["no complaint"]))

    exported = [p for p in only(pairs, "fx") if p[1] in ("deposit", "transfer", "1")]
    exported += [p for p in only(pairs, "v") if p[1] in ("balance", "accounts", "favourite")]
    t.expect("dynamic symbols", wrong_answers(t, small, exported, bias=bias))
    address = symbol_value(out, "accounts") + 16
    hidden = [(f"v {symbol_value(out, n):#x} 4", f"small+{symbol_value(out, n):#x} ({where})")
              for n, where in (("hidden", ".data"), ("tree", ".bss"))]
    code = symbol_value(out, "deposit")
    t.expect("sections", wrong_answers(t, small, hidden + [(f"v {code:#x} 4", "")]))
    t.expect("an offset in a symbol", wrong_answers(t, small, [(f"v {address:#x} 4", "accounts+16")]))
    address = symbol_value(out, "withdraw")
    t.expect("an offset in the module", wrong_answers(
        t, small, [(f"{k} {address:#x}", f"small+{address:#x}") for k in "fp"] + [(f"x {address:#x}", "0")] +
        [(f"f {address + 9:#x}", f"small+{address:#x}"), (f"p {address + 9:#x}", f"small+{address + 9:#x}")]))

    # The same code from a source that is a line longer.
    longer = t.top / "project" / "longer" / "bank.c"
    longer.parent.mkdir()
    longer.write_text("\n" + (HERE / "bank.c").read_text())
    flags = ["-g", "-rdynamic", f"-fdebug-prefix-map={longer.parent}={t.top / 'project'}"]
    compile_fixture(t, "gcc", longer, [*flags, "-Wl,--build-id"], t.top / "other")
    run("objcopy", "--only-keep-debug", t.top / "other", debug)
    places = [(q, f"small+{int(q.split()[1], 16) - bias:#x}") for q, _ in only(pairs, "p")]
    t.expect("a debug file with another build id", wrong_answers(t, small, places, bias=bias))
    nameless = t.top / "nameless"
    compile_fixture(t, "gcc", longer, [*flags, "-Wl,--build-id=none"], t.top / "other")
    compile_fixture(t, "gcc", "bank.c", ["-g", "-rdynamic", "-Wl,--build-id=none"], out)
    run("objcopy", "--only-keep-debug", out, debug)
    run("objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", out, nameless)
    pairs = questions_of(nameless)
    bias = bias_of(pairs, out)
    t.expect("a debug file by its checksum", wrong_answers(t, nameless, pairs, bias=bias))
    run("objcopy", "--only-keep-debug", t.top / "other", debug)
    places = [(q, f"nameless+{int(q.split()[1], 16) - bias:#x}") for q, _ in only(pairs, "p")]
    t.expect("a debug file with another checksum", wrong_answers(t, nameless, places, bias=bias))


def damaged(t):
    """Whatever is in the file: an answer to every question, and no crash."""
    for compiler, source, rounds in (("gcc", "bank.c", 30), ("gcc", "heap.c", 30), ("clang++", "heap.cc", 20)):
        damage(t, compiler, source, rounds)
    os.mkfifo(t.top / "pipe")
    for what, path in (("nothing", t.top / "missing"), ("a directory", t.top), ("a pipe", t.top / "pipe"),
                       ("text", HERE / "run.py")):
        got = t.ask(path, ["f 0x1234", "v 0x1234 4", "c"])
        t.expect(f"{what} instead of a file", [] if got[:2] == [f"{path.name}+0x1234", ""] and "not" in got[2] else got)


def damage(t, compiler, source, rounds):
    out = compile_fixture(t, compiler, source, ["-g"], t.top / "whole")
    data = out.read_bytes()
    pairs = questions_of(out)
    bias = bias_of(pairs, out)
    r = random.Random(7)
    victim = t.top / "victim"
    asked = [q for q, _ in pairs if q != "bias"]
    wrong = []
    for i in range(rounds):
        if i < rounds // 3:
            bad = data[: r.randrange(len(data))]
        else:
            bad = bytearray(data)
            for _ in range(r.choice((1, 10, 100, 1000))):
                bad[r.randrange(len(bad))] = r.choice((0, 1, 0x7F, 0x80, 0xFF, r.randrange(256)))
        victim.write_bytes(bad)
        try:
            got = t.ask(victim, asked, bias=bias)
        except subprocess.CalledProcessError as e:
            wrong.append(f"round {i}: status {e.returncode}: {e.stderr[:600]}")
            continue
        if len(got) != len(asked):
            wrong.append(f"round {i}: {len(got)} answers")
    t.expect(f"damaged files, {source}", wrong)


def text_addresses(path, n):
    for line in run("objdump", "-h", path).splitlines():
        fields = line.split()
        if len(fields) > 3 and fields[1] == ".text":
            start, size = int(fields[3], 16), int(fields[2], 16)
            r = random.Random(1)
            return sorted(start + r.randrange(size) for _ in range(n))
    raise SystemExit(f"{path}: no .text")


def nm_functions(path):
    """Sorted (start, end, names) of all sized functions of C, by nm."""
    by_start = {}
    for line in run("nm", "-S", path).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tTwW" and not fields[3].startswith("_Z"):
            start = int(fields[0], 16)
            names, end = by_start.get(start, (set(), 0))
            names.add(re.sub(r"\.(cold|part|isra|constprop)(\.\d+)?$", "", fields[3]))
            by_start[start] = names, max(end, start + int(fields[1], 16))
    return sorted((s, e, n) for s, (n, e) in by_start.items())


def like_nm(t, path, addresses):
    functions = nm_functions(path)
    got = t.ask(path, [f"f {a:#x}" for a in addresses])
    wrong, known, i = [], 0, 0
    for address, name in zip(addresses, got):
        while i + 1 < len(functions) and functions[i + 1][0] <= address:
            i += 1
        start, end, names = functions[i]
        if start <= address < end:
            known += 1
            if not any(n.startswith(name) for n in names):
                wrong.append(f"{address:#x}: {name}, by nm {names}")
    t.expect("functions as nm has them", wrong if known > len(addresses) / 2 else ["hardly any function"])


@functools.cache
def length_of(file):
    return pathlib.Path(file).read_bytes().count(b"\n") if os.path.exists(file) else 0


def like_addr2line(t, path, addresses):
    got = t.ask(path, [f"p {a:#x}" for a in addresses])
    told = run("addr2line", "-e", path, input="".join(f"{a:#x}\n" for a in addresses)).splitlines()
    wrong, known = [], 0
    for address, place, other in zip(addresses, got, told):
        other = re.sub(r" \(discriminator \d+\)$", "", other)
        file, _, line = other.rpartition(":")
        if not line.isdigit() or not 0 < int(line) <= length_of(file):
            continue  # it knows none, or gives the line of an inlined function's file with another file
        known += 1
        ours, _, our_line = place.rpartition(":")
        if not os.path.normpath(file).endswith("/" + ours.lstrip("/")) or our_line != line:
            wrong.append(f"{address:#x}: {place}, by addr2line {other}")
    t.expect("places as addr2line has them", wrong if known > len(addresses) / 2 else ["hardly any place"])


def main():
    *queries, binary = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    with tempfile.TemporaryDirectory() as top:
        t = Tests(queries, pathlib.Path(top).resolve())
        (t.top / "project").mkdir()
        for name in ("bank.c", "bank.cc", "heap.c", "heap.cc", "fixture.h"):
            shutil.copy(HERE / name, t.top / "project" / name)
        fixtures(t)
        stale(t)
        stripped(t)
        damaged(t)
        addresses = text_addresses(binary, 5000)
        like_nm(t, binary, addresses)
        like_addr2line(t, binary, addresses)
    print(f"{t.passed} passed, {t.failed} failed")
    return 1 if t.failed else 0


if __name__ == "__main__":
    sys.exit(main())
