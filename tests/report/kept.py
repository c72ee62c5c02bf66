#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fission.out and the commands that read it: kept.py FISSION_BINARY [NAMES...]

Each function test_* is a test, in an empty directory of its own. The last line is 'N passed, M failed'.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import traceback

CLEAN, USAGE, MALFORMED, FINDINGS, UNFIT = 0, 64, 65, 66, 69

ONE = "T1|begin(f)|a.c:1\nT1|r(x)=1|a.c:2\nT2|w(x)=2|b.c:1\nT1|w(x)=3|a.c:3\nT1|end(f)|a.c:4\n"
TWO = ONE + ONE.replace("(f)", "(g)").replace("(x)", "(y)").replace("T1", "T3").replace("T2", "T4")
RACE = "main|fork(T1)|a.c:1\nmain|fork(T2)|a.c:2\nT1|w(x)|a.c:3\nT2|w(x)|a.c:4\n"
MEMBERS = ["findings.json", "report.txt", "version"]

fission = None


def run(*words, status=CLEAN, says="", stdin=None):
    done = subprocess.run([fission, *words], input=stdin, capture_output=True, text=True, timeout=60,
                          env={**os.environ, "LC_ALL": "C", "COLUMNS": "100"}, **({} if stdin else {"stdin": subprocess.DEVNULL}))
    assert done.returncode == status, f"{words}: status {done.returncode}, not {status}\n{done.stderr}"
    assert says in done.stderr, f"{words}: '{says}' is not in: {done.stderr}"
    return done.stdout


def keep(trace, *words, status=FINDINGS, **more):
    return run("check", "--out=fission.out", *words, "-", stdin=trace, status=status, **more)


def read(path="fission.out"):
    return json.loads(pathlib.Path(path, "findings.json").read_text())


def ids():
    return [f["id"] for f in read()["findings"]]


def files(path="."):
    return sorted(os.listdir(path))


def test_written():
    said = keep(ONE)
    assert files() == ["fission.out"] and files("fission.out") == MEMBERS
    assert pathlib.Path("fission.out/version").read_text() == "fission.out 1\n"
    assert pathlib.Path("fission.out/report.txt").read_text() == said
    assert read()["version"] == 2 and read()["status"] == FINDINGS and read()["command"] == "check"


def test_only_if_asked_for():
    run("check", "-", stdin=ONE, status=FINDINGS)
    assert files() == []


def test_run_keeps_and_can_be_told_not_to():
    run("run", "--no-out", "/bin/echo", "hello")
    assert files() == []
    run("run", "/bin/echo", "hello world")
    assert files() == ["fission.out"] and read()["findings"] == [] and read()["program"] == "/bin/echo 'hello world'"
    assert run("list") == "fission: 0 findings\n"
    run("run", "--out=other", "/bin/echo", "hello")
    assert files() == ["fission.out", "other"] and files("other") == MEMBERS


def test_the_former_one_is_kept():
    keep(ONE)
    former = ids()
    keep(TWO)
    keep(TWO)
    assert files() == ["fission.out", "fission.out.old"] and len(ids()) == 2
    keep(ONE)
    assert ids() == former and len(read("fission.out.old")["findings"]) == 2


def test_through_a_link():
    os.mkdir("there")
    os.symlink("there", "fission.out")
    keep(ONE)
    assert os.path.islink("fission.out") and files("there") == MEMBERS


def test_what_is_not_ours_stays():
    os.mkdir("fission.out")
    pathlib.Path("fission.out/precious").write_text("x")
    keep(ONE, status=UNFIT, says="was not written by fission")
    run("run", "/bin/echo", "hello", status=UNFIT, says="--no-out")
    assert files("fission.out") == ["precious"] and files() == ["fission.out"]
    os.rename("fission.out/precious", "precious")
    os.rmdir("fission.out")
    os.rename("precious", "fission.out")
    keep(ONE, status=UNFIT, says="was not written by fission")
    assert pathlib.Path("fission.out").read_text() == "x"


def test_what_was_put_into_ours_stays():
    keep(ONE)
    pathlib.Path("fission.out/notes").write_text("x")
    keep(ONE)
    keep(TWO, says="the findings are not kept: ")
    keep(TWO, says="holds files that are not fission's")
    assert len(ids()) == 1 and files("fission.out.old") == sorted([*MEMBERS, "notes"])
    assert files() == ["fission.out", "fission.out.old"], "a temporary directory is left"


def test_runs_that_end_at_the_same_time():
    """Each takes its turn: the last two are kept, and nothing else is left."""
    for _ in range(3):
        all_of_them = [subprocess.Popen([fission, "check", "--out=fission.out", "-"], stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(12)]
        for one in all_of_them:
            one.stdin.write(TWO)
            one.stdin.close()
        said = "".join(one.stderr.read() for one in all_of_them)
        assert [one.wait() for one in all_of_them] == 12 * [FINDINGS] and said == "", said
    assert files() == ["fission.out", "fission.out.old"]
    assert files("fission.out") == files("fission.out.old") == MEMBERS


def test_interrupted_nothing_is_left():
    many = "".join(ONE.replace("(f)", f"(f{i})").replace("(x)", f"(x{i})") for i in range(700))
    pathlib.Path("many.std").write_text(many)
    began = time.monotonic()
    run("check", "--out=fission.out", "many.std", status=FINDINGS)
    took = time.monotonic() - began
    for i in range(12):
        one = subprocess.Popen([fission, "check", "--out=fission.out", "many.std"], stdout=subprocess.DEVNULL)
        time.sleep(took * (i + 1) / 12)
        one.send_signal(signal.SIGINT)
        one.wait()
        assert set(files()) <= {"fission.out", "fission.out.old", "many.std"}, files()


def test_kept_though_nobody_reads_the_report():
    done = subprocess.run(f"exec {fission} check --out=fission.out - >/dev/full", shell=True, input=ONE, text=True,
                          capture_output=True)
    assert done.returncode == UNFIT and len(ids()) == 1, done


def test_check_into_a_file():
    assert keep(ONE, "-o", "report") == ""
    assert pathlib.Path("report").read_text() == pathlib.Path("fission.out/report.txt").read_text()
    run("check", "-o", "no/such/place", "-", stdin=ONE, status=UNFIT, says="no/such/place")


def test_hazards_in_every_form():
    keep(RACE, status=CLEAN)
    for form in ("text", "json", "sarif", "html"):
        assert "a.c" in run("report", "--races", "--format=" + form), form
    for kind in ("races", "deadlocks"):
        run("report", "--" + kind, "--format=gcc", status=USAGE, says=f"no {kind} as --format=gcc")


def test_the_report_survives_a_directory_that_cannot_be_made():
    said = run("check", "--out=no/such/place", "-", stdin=ONE, status=FINDINGS, says="the findings are not kept: ")
    assert "atomicity violation" in said


def test_output_is_tried_before_the_program_runs():
    for path in ("no/such/place", "."):
        said = run("run", "--no-out", "-o", path, "/bin/echo", "hello", status=UNFIT, says=path)
        assert said == "", "the program has run"


def test_columns_that_make_no_sense():
    keep(TWO.replace("(x)", f"({'x' * 90})"))  # so long that the columns matter
    for columns in ("0", "-5", "", "wide"):
        said = subprocess.run([fission, "report"], capture_output=True, text=True, check=True,
                              env={**os.environ, "LC_ALL": "C", "COLUMNS": columns}).stdout
        assert said == run("report"), columns


def test_list():
    keep(TWO)
    lines = run("list").splitlines()
    assert lines[-1] == "fission: 2 findings" and [line.split()[0] for line in lines[:-1]] == ids()
    assert lines[0].split()[1:] == ["observed", "1", "f", "x", "a.c:3", "1"]
    run("list", "word", status=USAGE, says="too many words")


def page_shows():
    """The ids of the findings that the page shows at first, in order."""
    page = run("report", "--format=html")
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    return [data["texts"][f["id"]] for f in data["findings"] if "unshown" not in f]


def test_the_page_shows_what_the_list_does():
    """Of two findings about one function the better one is shown; if that is suppressed, the other."""
    keep("T1|enter(f)|a.c:1\nT1|r(x)|a.c:2\nT1|r(y)|a.c:3\nT2|w(x)|b.c:1\nT2|w(y)|b.c:2\n"
         "T1|w(x)|a.c:4\nT1|w(y)|a.c:5\nT1|exit(f)|a.c:6\n")
    better, other = ids()
    assert run("list", "--ids").split() == page_shows() == [better]
    run("suppress", better, "--reason=x")
    assert run("list", "--ids").split() == page_shows() == [other]
    run("suppress", other, "--reason=x")
    assert run("list", "--ids").split() == page_shows() == []


def test_a_fix_on_one_line():
    keep(ONE.replace("a.c:3", "a.c:2").replace("begin", "enter").replace("end", "exit"))
    for form in ("text", "sarif"):
        assert "ikely fix: hold one lock around a.c:2." in run("report", "--format=" + form), form


def test_list_cannot_be_forged():
    keep(ONE.replace("(x)", "(x%0afsn-00000000)"))
    assert len(run("list").splitlines()) == 2


def test_hidden_ones_are_counted():
    hidden = "T1|enter(f)|a.c:1\n" + 3 * "T1|acq(m)|a.c:2\nT1|w(x)|a.c:3\nT1|rel(m)|a.c:4\nT2|acq(m)|b.c:1\nT2|w(x)|b.c:2\nT2|rel(m)|b.c:3\n" + "T1|exit(f)|a.c:5\n"
    keep(hidden, status=CLEAN)
    assert "not shown (--show-hidden)" in run("list")
    assert len(run("list", "--show-hidden").splitlines()) == 1 + len(ids())


def test_show():
    keep(TWO)
    first, second = ids()
    for word in (first, first[4:], first[:9], first[4:9]):
        said = run("show", word)
        assert first in said and second not in said
    said = run("show", first, second)
    assert said.index(first) < said.index(second)
    run("show", "fsn-", status=USAGE, says="begins more than one id")
    run("show", "fsn-zz", status=USAGE, says="no finding 'fsn-zz' in fission.out")
    run("show", status=USAGE, says="no ID given")


def test_report():
    said = keep(TWO)
    assert run("report") == said
    assert run("report", "--format=json") == pathlib.Path("fission.out/findings.json").read_text()
    run("report", "--format=json", "-o", "again.json")
    for from_ in ("again.json", "fission.out", "fission.out/"):
        assert run("report", f"--from={from_}") == said
    assert run("report", "--from=-", stdin=pathlib.Path("again.json").read_text()) == said
    run("report", "-o", "no/such/place", status=UNFIT, says="no/such/place")


def test_races():
    keep(RACE, status=CLEAN)
    said = run("report", "--races")
    assert "data race on 'x'" in said and "a.c:3" in said and "a.c:4" in said and said.endswith("0 potential deadlocks\n")
    assert "data race on" not in run("report", "--deadlocks")
    assert len(json.loads(run("report", "--races", "--format=json"))["races"]) == 1


def test_there_is_none():
    for command in (["list"], ["report"], ["show", "7c"]):
        run(*command, status=USAGE, says="'fission run PROGRAM' writes fission.out")
    os.mkdir("fission.out")
    run("list", status=USAGE, says="not a directory that fission has written")
    run("list", "--from=none", status=USAGE, says="none: No such file")


def test_newer_ones_are_refused():
    keep(ONE)
    path = pathlib.Path("fission.out/findings.json")
    text = path.read_text()
    path.write_text(text.replace('"version": 2', '"version": 3'))
    run("list", status=MALFORMED, says="version 3 of the report is newer than this fission")
    path.write_text(text)
    pathlib.Path("fission.out/version").write_text("fission.out 2\n")
    run("list", status=MALFORMED, says="written by a newer fission")


def test_what_is_not_known_is_ignored():
    keep(ONE)
    before = run("report", "--format=json")
    path = pathlib.Path("fission.out/findings.json")
    story = json.loads(path.read_text())
    story["later"] = {"a": [1.5]}
    story["findings"][0]["later"] = story["findings"][0]["events"][0]["later"] = "?"
    path.write_text(json.dumps(story))
    assert run("report", "--format=json") == before


# where, what is put there, what is said of it
MISTAKES = (
    ("findings.0.events.1.thread", 99, "findings[0].events[1].thread: there is nothing of that number"),
    ("findings.0.events.1.stack", -1, "findings[0].events[1].stack: not a whole number"),
    ("findings.0.events.1.thread", "T1", "findings[0].events[1].thread: not a whole number"),
    ("findings.0.events.1", [], "findings[0].events[1]: not an object"),
    ("findings.0.events", {}, "findings[0].events: not a list"),
    ("findings.0.events.0.role", "third", "findings[0].events[0].role: not one of the words"),
    ("findings.0.verdict", "sure", "findings[0].verdict: not one of the words"),
    ("findings.0.verdict", None, "findings[0].verdict: not one of the words"),
    ("findings.0.rank", 9, "findings[0].rank: the number is too large"),
    ("findings.0.hidden", 1, "findings[0].hidden: neither true nor false"),
    ("findings.0.window", {"from": 2, "to": 1}, "findings[0].window: not from an event to one behind it"),
    ("findings.0.window", {"from": 1, "to": 99}, "findings[0].window.to: there is nothing of that number"),
    ("findings.0.rules", [], "findings[0].reasons: not as many as there are rules"),
    ("findings.0.hazard", 99, "findings[0].hazard: there is nothing of that number"),
    ("findings.0.block.thread_number", 99, "findings[0].block.thread_number: there is nothing of that number"),
    ("threads.0.creator", 99, "threads[0].creator: there is nothing of that number"),
    ("threads.0.creation", 99, "threads[0].creation: there is nothing of that number"),
    ("sources", [{"file": "a", "lines": [{"number": 2}, {"number": 1}]}], "sources[0].lines: the numbers do not rise"),
    ("stacks", [3], "stacks[0]: not a list"),
    ("version", None, "it has no version"),
    ("version", "2", "it has no version"),
    ("version", 1, "version 1 of the report"),
)


def put(value, where, what):
    *path, last = [int(w) if w.isdigit() else w for w in where.split(".")]
    for step in path:
        value = value[step]
    value[last] = what


def test_mistakes():
    keep(ONE)
    for where, what, says in MISTAKES:
        story = read()
        put(story, where, what)
        pathlib.Path("bad.json").write_text(json.dumps(story))
        run("list", "--from=bad.json", status=MALFORMED, says=f"bad.json: {says}" if "." in where else says)


def test_no_json():
    for text, says in (("", "bad.json:1:0: "), ("{}", "it has no version"), ("[]", "it has no version"), ("{\n  nonsense", "bad.json:2:"),
                       ('{"version": 2, "version": 2}', "duplicate"), ("[" * 100000, "bad.json:1:")):
        pathlib.Path("bad.json").write_text(text)
        run("list", "--from=bad.json", status=MALFORMED, says=says)
    run("list", "--from=/dev/null", status=MALFORMED, says="/dev/null:1:0")


def run_test(name, test):
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as here:
        os.chdir(here)
        try:
            test()
            return True
        except Exception:
            print(f"{name}:\n{traceback.format_exc()}")
            return False
        finally:
            os.chdir(home)


def main():
    global fission
    fission = os.path.abspath(sys.argv[1])
    tests = [(n, t) for n, t in globals().items() if n.startswith("test_") and n in (sys.argv[2:] or [n])]
    results = [run_test(*t) for t in tests]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results.count(True) and not results.count(False) else 1


if __name__ == "__main__":
    sys.exit(main())
