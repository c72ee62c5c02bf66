#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs and the tables of bench/ are what they say: run.py

Every program of bench/programs builds with both compilers without a warning, does its work at its smallest size, and says
of functions that exist what is wrong with them. Cells are measured once, and again when what they are of has changed. The
papers' numbers are whole tables. The last line is 'N passed, N failed'.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import beside
import cells
import papers
import subjects
import table_sidetrack

FLAGS = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
ENDS = {"raytracer": (0, 1)}  # 1: the bug had its effect


def run(*command):
    return subprocess.run([str(w) for w in command], capture_output=True, text=True, timeout=120)


def check_program(subject):
    with tempfile.TemporaryDirectory() as directory:
        program = pathlib.Path(directory, subject.name)
        for command in (["gcc", "-Wl,--no-as-needed", "-lm", "-o", program], ["clang", "-fsyntax-only"]):
            built = run(*command, *FLAGS, subject.source())
            assert not built.returncode, built.stderr
        done = run(program, *subject.chase)
        assert done.returncode in ENDS.get(subject.name, (0,)), (done.returncode, done.stderr)
        assert re.fullmatch(rf"{subject.name}: .*\n", done.stdout), done.stdout
        assert run(program, "1", "0").returncode == 2, "a size of 0 is taken"


def check_truth(subject):
    text = subject.source().read_text()
    said = re.findall(r"^// (?:BUG|BENIGN)\b.*$", text, re.M)
    assert len(subject.truth()) == len(said), f"{len(said)} lines, {sorted(subject.truth())}"
    for function in subject.truth():
        assert re.search(rf"^\w[\w *]*\b{function}\([^;]*\)$", text, re.M), f"there is no function {function}"


def check_collection(collection):
    text = "".join(path.read_text() for path in collection.sources())
    assert collection.truth(), "nothing is said to be wrong"
    for function in collection.truth():
        assert re.search(rf"\b{collection.library[-1]}_{function}\(", text), function


def store(directory, fresh=False):
    for name in ("fission", "driver/libfission.so"):
        path = pathlib.Path(directory, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return cells.Store(pathlib.Path(directory), "test", fresh)


def fill(directory, of, fresh=False):
    """How often the cell was measured, and its value."""
    measured = []
    s = store(directory, fresh)
    s.fill([cells.Cell("a cell", lambda: measured.append(1) or {"is": 7}, (of,))], lambda text: None)
    return len(measured), s.values["a cell"]


def check_cells():
    with tempfile.TemporaryDirectory() as directory:
        assert fill(directory, "x") == (1, {"is": 7})
        assert fill(directory, "x") == (0, {"is": 7}), "what is known is measured again"
        assert fill(directory, "y") == (1, {"is": 7}), "what has changed is not measured again"
        assert fill(directory, "y", fresh=True)[0] == 1
        kept = next(pathlib.Path(directory, "results", "test").glob("*.json"))
        kept.write_text("{")
        assert fill(directory, "y")[0] == 1, "half a value is taken"
        pathlib.Path(directory, "fission").write_text("another build")
        assert fill(directory, "y")[0] == 1, "a value of another tool is taken"


def check_numbers():
    for name, table in beside.PAPERS.items():
        for part in ("rows", "races", "time"):
            for row, values in table.get(part, {}).items():
                assert values is None or len(values) == len(table["columns"]), (name, part, row)
    assert beside.theirs("000-1", "elevator", "AFTER") == "5" and beside.theirs("002-8", "TOTAL", "CV") == "447"
    assert beside.beside(3, "000-1", "elevator", "IN") == "3 (1)" and beside.beside(3, "000-1", "jigsaw", "IN") == "3 (-)"


def check_sorting():
    truth = {"a": "bug", "b": "benign", "c": "benign"}
    assert beside.sort_out(["a", "b", "x"], truth) == "1-1-1" and beside.sort_out([], truth) == "0-0-0"
    assert beside.sort_out(["a", "x", "y"], {"a": "violation"}) == "1-2"


def check_errors():
    """The columns of 000's Table 1."""
    kinds = {"BEFORE": ["a", "b"], "IN": ["a"], "AFTER": ["a", "c"]}
    assert table_sidetrack.errors_of(kinds) == [3, 2, 1, 2, 1, 1, 2]


def check_papers():
    """Every table of the papers' data is redone."""
    assert set(beside.PAPERS) == set(papers.TABLES), set(beside.PAPERS) ^ set(papers.TABLES)


def check_table():
    table = cells.Table("title", ["command"], ["", "one"])
    table.row("first", 22)
    assert table.text() == "title\n  $ command\n\n       one\nfirst   22\n", table.text()


def tests():
    for s in subjects.SUBJECTS.values():
        yield f"program {s.name}", lambda s=s: check_program(s)
        yield f"truth of {s.name}", lambda s=s: check_truth(s)
    for c in subjects.COLLECTIONS.values():
        yield f"truth of {c.name}", lambda c=c: check_collection(c)
    yield from (("cells", check_cells), ("numbers", check_numbers), ("sorting", check_sorting), ("errors", check_errors),
                ("papers", check_papers), ("table", check_table))


def main():
    passed = failed = 0
    for name, test in tests():
        try:
            test()
            passed += 1
        except Exception:
            failed += 1
            print(f"{name}: {traceback.format_exc(limit=-1)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
