#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fission pairs: run.py BUILD [--long] [NAMES...]

A file in tables/ is a table of operations that says in its comments which matrix and which exit status it has. Each
function test_* is a test of what is around that; NAMES pick some, and --long adds what the papers say of the four
collections. The last line is 'N passed, M failed'.
"""

import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLEAN, USAGE, FINDINGS, UNFIT = 0, 64, 66, 69
SIGNS = {"split": "#", "deadlock": "D", "failed": "!"}

build = None


def compile_to(source, to, *flags):
    done = subprocess.run([build / "fission-cc", "-O1", "-g", "-pthread", *flags, source, "-o", to],
                          capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return f"./{to}"


def table(name):
    """The program of a table, built once."""
    return f"./{name}" if Path(name).exists() else compile_to(HERE / "tables" / f"{name}.c", name, "-Wall", "-Wextra")


def pairs(*words, status=FINDINGS):
    done = subprocess.run([build / "fission", "pairs", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == status, f"exit status {done.returncode}, not {status}\n{done.stdout}{done.stderr}"
    return done


def matrix(*words, status=FINDINGS):
    """The matrix as JSON, and its rows in signs."""
    found = json.loads(pairs("--format=json", "--no-out", *words, status=status).stdout)
    names = [o["name"] for o in found["operations"]]
    cells = {(c["operation"], c["with"]): c for c in found["cells"]}
    rows = {}
    for row in names:
        rows[row] = "".join(sign(cells.get((row, column))) for column in names)
    return found, rows


def sign(cell):
    if cell is None:
        return " "
    for state, mark in SIGNS.items():
        if state in cell["state"]:
            return "o" if "accepted" in cell["state"] and state == "split" else mark
    return "."


def check_table(source):
    text = source.read_text()
    status = int(re.search(r"^// status: (\d+)$", text, re.M)[1])
    wanted = dict(re.findall(r"^//   (\S+) +([#D!.]+)$", text, re.M))
    found, rows = matrix(table(source.stem), status=status)
    assert rows == wanted, "\n".join(f"{name:12} {rows[name]} wanted: {wanted.get(name)}" for name in rows)
    assert found["tried"] == found["pairs"] == len(rows) * (len(rows) + 1) // 2, found


def test_words():
    """The matrix in words, and what is kept of it."""
    done = pairs("--only=twice/inner", table("locks"))
    assert re.search(r"^  4 twice     +#$", done.stdout, re.M), done.stdout
    finding = re.search(r"^twice with\n  # (fsn-[0-9a-f]{8})  t->x: inner$", done.stdout, re.M)
    assert finding, done.stdout
    show = subprocess.run([build / "fission", "show", finding[1]], capture_output=True, text=True)
    assert show.returncode == 0 and "twice" in show.stdout and "t->x" in show.stdout, show
    replay = subprocess.run([build / "fission", "replay", "--atomic=annotated", finding[1]], capture_output=True, text=True)
    assert replay.returncode == 0, replay


class Page(html.parser.HTMLParser):
    """What is open, what is linked, and what is there."""

    def __init__(self):
        super().__init__()
        self.open, self.links, self.ids, self.tags = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [v for k, v in attributes if k in ("href", "src")]
        self.ids += [v for k, v in attributes if k == "id"]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


def test_page():
    pairs("--no-out", "--format=html", "-o", "page.html", "--only=up", table("locks"))
    text = Path("page.html").read_text()
    page = Page()
    page.feed(text)
    assert not page.open and "script" not in page.tags, page.open
    assert len(page.links) == 2 and {link[1:] for link in page.links} == set(page.ids), (page.links, page.ids)
    assert all(link.startswith("#") for link in page.links) and "http:" not in text and "https:" not in text


def test_accepted():
    """A suppressed pair is marked as such, and is no reason to fail."""
    Path("some.supp").write_text("atomicity:twice reason=\"known\"\n")
    _, rows = matrix("--suppressions=some.supp", "--only=twice", table("locks"), status=CLEAN)
    assert rows["twice"] == ".o..o" and rows["inner"][3] == ".", rows
    _, rows = matrix("--suppressions=some.supp", "--only=inner", table("locks"))
    assert rows["twice"][4] == "o" and rows["inner"] == ".#..#", rows


def test_shards():
    """Shards have each pair once."""
    whole = set()
    for shard in ("1/3", "2/3", "3/3"):
        found = json.loads(subprocess.run([build / "fission", "pairs", "--format=json", "--no-out", f"--shard={shard}",
                                           "--only=right", table("locks")], capture_output=True, text=True).stdout)
        mine = {frozenset((c["operation"], c["with"])) for c in found["cells"]}
        assert len(mine) == found["tried"] and not whole & mine, (shard, mine)
        whole |= mine
    assert len(whole) == 5, whole


def test_mistakes():
    assert "no table of operations" in pairs(table_from("puts(\"hello\");"), status=USAGE).stderr
    assert "did you mean 'twice'" in pairs("--only=twise", table("locks"), status=USAGE).stderr
    assert "--shard" in pairs("--shard=4/3", table("locks"), status=USAGE).stderr
    plain = subprocess.run(["cc", "-pthread", "-I", build / "driver", HERE / "tables" / "locks.c", "-o", "plain"])
    assert plain.returncode == 0
    assert "fission-cc" in pairs("./plain", status=UNFIT).stderr


LISTS = {
    "fission-pairs 1\nobject x\n": "cut off",
    "fission-pairs 1\nobject x\nend\n": "is empty",
    "fission-pairs 1\nend\n": "name is missing",
    "fission-pairs 1\nobject x\noperation a alone\noperation a alone\nend\n": "the same name",
    "fission-pairs 1\nobject x\noperation ../a alone\nend\n": "letters, digits",
    "fission-pairs 1\nobject x\noperation -a alone\nend\n": "letters, digits",
    "fission-pairs 1\nobject x\noperation a both\nend\n": "letters, digits",
    "fission-pairs 1\nobject x\noperation a": "letters, digits",
    "fission-pairs 1\nobject x\n" + "operation " + "a" * 64 + " alone\nend\n": "63 at most",
    "fission-pairs 2\nobject x\noperation a alone\nend\n": "no table of operations",
}


def table_from(body):
    Path("made.c").write_text("#include <stdio.h>\nint main(int argc, char **argv)\n{\n\t(void)argc, (void)argv;\n"
                              f"\t{body}\n}}\n")
    return compile_to("made.c", "made")


def test_hostile_lists():
    """A program can print anything."""
    program = table_from('char t[4096]; size_t n; FILE *f = fopen("list", "r"); n = f ? fread(t, 1, sizeof t, f) : 0; '
                         "fwrite(t, 1, n, stdout);")
    for text, why in LISTS.items():
        Path("list").write_text(text)
        assert why in pairs(program, status=USAGE).stderr, text
    Path("list").write_bytes(b"fission-pairs 1\nobject \x1b[2J\noperation a alone\nend\n")
    assert "\x1b" not in pairs("--no-out", program, status=CLEAN).stdout
    assert "\x1b" not in pairs("--no-out", "--format=html", program, status=CLEAN).stdout


def test_languages():
    """The header is C89 and C++98, and needs no library."""
    Path("few.c").write_text("#include <fission/pairs.h>\nstatic int x;\nstatic void *make(void) { return &x; }\n"
                             "static void one(void *a, void *b, const void *c) { (void)b; (void)c; *(int *)a = 1; }\n"
                             "static const struct fission_operation all[] = {{\"one\", one, 0, 0}, {0, 0, 0, 0}};\n"
                             "FISSION_PAIRS(\"few\", make, 0, all)\n")
    strict = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-pthread", "-I", build / "driver", "few.c", "-o", "few"]
    for compiler in (["gcc", "-std=c89"], ["clang", "-std=c89"], ["g++", "-x", "c++", "-std=c++98"],
                     ["clang++", "-x", "c++", "-std=c++98"]):
        done = subprocess.run([*compiler, "-D_POSIX_C_SOURCE=200809L", *strict], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert subprocess.run(["./few", "list"], capture_output=True, text=True).stdout.endswith("operation one alone\nend\n")
        assert subprocess.run(["./few", "same", "one", "one"]).returncode == 0
        assert subprocess.run(["./few", "same", "one", "two"], capture_output=True).returncode == USAGE


COLLECTIONS = HERE.parents[1] / "bench" / "programs" / "collections"

# What the papers say of the collections, in one pair each: split or not.
CLAIMS = {
    "string_buffer": {"append_buffer/set_length": "#", "append/reverse": "."},  # 003 Figure 1
    "vector": {"new_from/remove_all_elements": "#", "add_all/clear": "."},  # 004 Figure 1
}


def test_collections():
    """In one thread they do what they should."""
    sources = [COLLECTIONS / f"{name}.c" for name in ("string_buffer", "vector", "stack", "hashtable")]
    command = ["gcc", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address", "-pthread", "-I", COLLECTIONS,
               HERE / "collections.c", *sources, "-o", "collections"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["./collections"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def long_claims():
    for name, claims in CLAIMS.items():
        program = compile_to(COLLECTIONS / f"{name}_pairs.c", name, COLLECTIONS / f"{name}.c")
        for pair, wanted in claims.items():
            _, rows = matrix(f"--only={pair}", program, status=FINDINGS if wanted == "#" else CLEAN)
            cells = "".join(rows[pair.split("/")[0]].split())
            assert cells == wanted, f"{name}, {pair}: {cells}"


def all_tests():
    tests = {f"table {s.stem}": lambda s=s: check_table(s) for s in sorted((HERE / "tables").glob("*.c"))}
    tests |= {name[5:]: f for name, f in globals().items() if name.startswith(("test_", "long_"))}
    return tests


def is_chosen(name, words):
    """Long ones are chosen by their name, or all by --long."""
    return name in words or "--long" in words or (not words and f"long_{name}" not in globals())


def main():
    global build
    build = Path(sys.argv[1]).resolve()
    failed, tests = 0, {n: f for n, f in all_tests().items() if is_chosen(n, sys.argv[2:])}
    with tempfile.TemporaryDirectory() as room:
        os.chdir(room)
        for name, test in tests.items():
            try:
                test()
            except Exception:
                failed += 1
                print(f"{name}: FAILED")
                traceback.print_exc(file=sys.stdout)
        os.chdir("/")
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
