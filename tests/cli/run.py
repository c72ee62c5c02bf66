#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line and bad input: run.py FISSION_BINARY [--cheap] [NAMES...]

Each function test_* is a test; NAMES pick some of them. --cheap leaves out those that take seconds or gigabytes, for
builds that are slow. The last line is 'N passed, M failed'.
"""

import contextlib
import json
import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback

CLEAN, USAGE, MALFORMED, FINDINGS, UNFIT, CONFIG = 0, 64, 65, 66, 69, 78
COMMANDS = (["check"], ["trace", "convert"], ["trace", "dump"], ["trace", "stat"], ["trace", "program"])
NOBODY = 65534

SPLIT = b"T1|begin(f)|a.c:1\nT1|r(x)=1|a.c:2\nT2|w(x)=2|b.c:1\nT1|w(x)=3|a.c:3\nT1|end(f)|a.c:4\n"
WHOLE = b"T1|begin(f)|a.c:1\nT1|r(x)|a.c:2\nT1|w(x)|a.c:3\nT1|end(f)|a.c:4\nT2|w(x)|b.c:1\n"
WRONG = b"T1|begin(f)|a.c:1\nT1|rel(m)|a.c:2\n"

KINDS = {  # of the evidence of each check
    **dict.fromkeys(("causal", "aerodrome", "velodrome", "oracle"), ("split", "cycle")),
    "sidetrack": ("BEFORE", "IN", "AFTER"),
    "nonatomic": ("value", "final", "cycle"),
}

fission = None
here = None  # an empty directory for each test, which is the current one


class Skip(Exception):
    pass


def heavy(test):
    test.heavy = True
    return test


def run(*arguments, stdin=b"", status=CLEAN, says=None, **more):
    """Runs the tool. Its status must be the given one, and `says` must be in what it writes to standard error."""
    done = subprocess.run([fission, *arguments], input=stdin, capture_output=True, timeout=120, **more)
    done.err = done.stderr.decode("utf-8", "replace")
    what = f"fission {' '.join(map(str, arguments))}"
    assert done.returncode == status, f"{what}: exit status {done.returncode}, not {status}\n{done.err}"
    assert says is None or says in done.err, f"{what}: '{says}' is not in: {done.err}"
    if status in (USAGE, MALFORMED, UNFIT):
        assert done.err.startswith("fission: "), f"{what}: not a message: {done.err}"
    return done


def put(name, data):
    pathlib.Path(name).write_bytes(data)
    return name


def report(*arguments, stdin=b"", status=CLEAN, **more):
    """The JSON of a check, which must be as the issue says."""
    done = run("check", "--format=json", *arguments, stdin=stdin, status=status, **more)
    r = json.loads(done.stdout.decode("utf-8", "strict"))
    assert isinstance(r["version"], int)
    assert r["counts"]["findings"] == len(r["findings"])
    for f in r["findings"]:
        valid_finding(f)
    return r


def is_a(value, *types):
    return any(value is None if t is None else isinstance(value, t) for t in types)


def valid_finding(f):
    assert f["id"].startswith("fsn-") and len(f["id"]) > 4
    assert f["verdict"] in ("suspected", "predicted", "observed", "reproduced")
    assert f["rank"] in (1, 2, 3, 4)
    assert f["hidden"] in (True, False) and not (f["hidden"] and f["rank"] < 4)
    assert f["rules"] and all(is_a(v, str) for v in f["rules"] + f["reasons"])
    assert is_a(f["block"]["function"], str, None) and is_a(f["block"]["thread"], str)
    assert is_a(f["block"]["file"], str, None) and is_a(f["block"]["line"], int, None)
    assert all(is_a(v, str) for v in f["variables"])
    assert len(f["accesses"]) >= 3
    for a in f["accesses"]:
        assert is_a(a["thread"], str) and is_a(a["kind"], str)
        assert is_a(a["variable"], str, None) and is_a(a["value"], int, None)
        assert is_a(a["file"], str, None) and is_a(a["line"], int, None)
        for frame in a["stack"]:
            assert is_a(frame["function"], str, None) and is_a(frame["line"], int, None)
    assert f["checks"]
    for c in f["checks"]:
        assert c["kind"] in KINDS[c["name"]], c


def files():
    return sorted(os.listdir("."))


# ---- Usage.


def test_no_command():
    done = subprocess.run([fission], capture_output=True)
    assert done.returncode == USAGE and b"usage: fission" in done.stdout + done.stderr


def test_help():
    for word in ("--help", "-h", "help"):
        assert b"usage: fission" in run(word).stdout
    assert run("--version").stdout.startswith(b"fission ")
    for command in ("run", "record", "check", "trace", "cc"):
        assert run("help", command).stdout == run(command, "--help").stdout
    run("help", "chekc", status=USAGE, says="did you mean 'check'?")


def test_help_of_each_command():
    for command in COMMANDS:
        for word in ("--help", "-h"):
            text = run(*command, word).stdout.decode()
            assert text.startswith("usage: fission " + " ".join(command)), command
            examples = text.partition("Examples:\n")[2].splitlines()
            shown = [line for line in examples if "fission " + " ".join(command) in line]
            assert len(shown) >= 3, f"{command} --help has {len(shown)} examples"
    assert run("trace", "--help").stdout.count(b"\n  fission trace ") >= 3


def test_help_of_help():
    whole = run("--help").stdout
    assert run("help", "--help").stdout == run("help", "-h").stdout == run("help").stdout == whole
    run("help", "run", "fast", status=USAGE, says="'fast' is one word too many")


def test_the_word_that_is_missing_is_named():
    run("diff", status=USAGE, says="diff: no A given")
    run("diff", "a", status=USAGE, says="diff: no B given")
    run("check", status=USAGE, says="check: no FILE given")


def test_unknown_command():
    run("chekc", status=USAGE, says="did you mean 'check'?")
    run("trace", "convrt", status=USAGE, says="did you mean 'convert'?")
    assert "did you mean" not in run("xyzzyxyzzy", status=USAGE, says="--help").err
    run("--versoin", status=USAGE, says="unknown option '--versoin'; did you mean '--version'?")
    assert "did you mean" not in run("trace", "xyzzyxyzzy", status=USAGE, says="--help").err
    run("trace", status=USAGE, says="--help")


def test_unknown_option():
    for command in COMMANDS:
        run(*command, "--lenint", "-", status=USAGE, says="did you mean --lenient?")
        run(*command, "--xyzzyxyzzy", "-", status=USAGE, says="--help")
        run(*command, "-z", "-", status=USAGE, says="-z")
    run("check", "--chekcs=causal", "-", status=USAGE, says="did you mean --checks?")


def test_option_values():
    run("check", "--format", status=USAGE, says="--format")
    run("check", "--lenient=yes", "-", status=USAGE, says="--lenient")
    run("check", "--format=xml", "-", status=USAGE, says="'xml'")
    run("trace", "stat", "--format=xml", "-", status=USAGE, says="'xml'")
    run("trace", "convert", "--to=xml", "-", status=USAGE, says="'xml'")
    run("trace", "convert", "-o", status=USAGE, says="output")


def test_unknown_check():
    run("check", "--checks=velodrom", "-", status=USAGE, says="did you mean 'velodrome'?")
    run("check", "--checks=causal,aerodome", "-", status=USAGE, says="did you mean 'aerodrome'?")
    run("check", "--checks=xyzzyxyzzy", "-", status=USAGE, says="--help")
    run("check", "--checks=", "-", status=USAGE)
    run("check", "--checks=causal,", "-", status=USAGE)


def test_checks_each_once():
    r = report("--checks=causal,causal,velodrome,causal", "-", stdin=SPLIT, status=FINDINGS)
    assert [c["name"] for c in r["findings"][0]["checks"]] == ["causal", "velodrome"]


def test_policy_words():
    put("a.std", WHOLE)
    run("check", "--atomic=function", "a.std", status=USAGE, says="functions")
    run("check", "--atomic=exported", "a.std", status=USAGE, says="--config")
    run("check", "--atomic=file:missing", "a.std", status=USAGE, says="missing")
    run("check", "--atomic=exported+locks", "a.std", status=USAGE, says="exported NAME")
    put("e.conf", b"exported *\n")
    run("check", "--atomic=exported+locks", "--config=e.conf", "a.std")


def test_configuration_mistakes():
    put("a.std", WHOLE)
    for text, place in ((b"atomic f\natomc g\n", "c.conf:2:1: "), (b"no_warn a.c\n", "c.conf:1:9: "),
                        (b"\n\narray_cutoff x\n", "c.conf:3:14: "), (b"ignore thing x\n", "c.conf:1:8: ")):
        put("c.conf", text)
        done = run("check", "--config=c.conf", "a.std", status=CONFIG, says=place)
        assert not done.stdout, "a report in spite of a configuration that was not understood"
    put("c.conf", b"atomic f\n")
    put("d.conf", b"watch\n")
    run("check", "--config=c.conf,d.conf", "a.std", status=CONFIG, says="d.conf:1:")
    run("check", "--config=c.conf,e.conf", "a.std", status=USAGE, says="e.conf")


def test_comments_in_sources():
    put("a.std", SPLIT.replace(b"begin", b"enter").replace(b"end", b"exit"))
    put("a.c", b"/*# atomic */ int f(void)\n{\n\treturn 1;\n}\n")
    assert report("--atomic=annotated", "a.std")["findings"] == []
    assert len(report("--atomic=annotated", "--source=a.c", "a.std", status=FINDINGS)["findings"]) == 1
    put("b.c", b"/*# atomical */ int f(void);\n")
    run("check", "--source=b.c", "a.std", status=CONFIG, says="b.c:1:5: ")


def test_refinement():
    """A cycle through two blocks: one is blamed; when it has left, the other is not split by itself."""
    put("a.std", b"T1|begin(f)\nT1|r(x)\nT2|begin(g)\nT2|w(x)\nT2|r(y)\nT1|w(y)\nT1|end\nT3|r(z)\nT2|w(x)\nT2|end\n")
    once = report("--checks=aerodrome", "--no-refine", "a.std", status=FINDINGS)["findings"]
    more = report("--checks=aerodrome", "a.std", status=FINDINGS)["findings"]
    assert [f["block"]["function"] for f in once] == ["f"], once
    assert [f["block"]["function"] for f in more] == ["f"], more
    run("check", "--checks=aerodrome", "-", stdin=SPLIT, status=FINDINGS)


def test_values():
    """Evidence of its own that changes nothing else; without values, or from a pipe, it says why there is none."""
    put("a.std", b"T1|begin(f)\nT1|r(x)=0\nT2|w(x)=1\nT1|r(x)=1\nT1|end\n")
    plain, valued = (report(*options, "a.std", status=FINDINGS)["findings"] for options in ([], ["--values"]))
    evidence = [c for f in valued for c in f["checks"] if c["name"] == "nonatomic"]
    assert evidence == [{"name": "nonatomic", "kind": "value", "event": 4}], evidence
    for finding in valued:
        finding["checks"] = [c for c in finding["checks"] if c["name"] != "nonatomic"]
    assert plain == valued
    says = run("check", "--values", "a.std", status=FINDINGS).stdout
    assert b"Values: no serial order of the blocks explains what was read in this run." in says, says
    run("check", "--values", "-", stdin=SPLIT, status=FINDINGS, says="cannot be read again")
    put("a.std", b"T1|begin(f)\nT1|r(x)\nT2|w(x)\nT1|r(x)\nT1|end\n")
    run("check", "--values", "a.std", status=FINDINGS, says="record --values")
    put("a.std", SPLIT + b"T1|rel(m)\n")
    run("check", "--values", "--lenient", "a.std", status=FINDINGS, says="events were repaired or left out")


def test_trace_from_a_pipe():
    """It can be read once only: no refinement, and nothing waits for a second writer."""
    os.mkfifo("pipe")
    writer = subprocess.Popen(["sh", "-c", "cat >pipe"], stdin=subprocess.PIPE)
    writer.stdin.write(SPLIT)
    writer.stdin.close()
    counts = report("--checks=aerodrome", "pipe", status=FINDINGS)["counts"]
    writer.wait()
    assert counts["events"] == 5, counts


def test_configuration_is_read_once():
    put("a.std", SPLIT)
    put("b.std", SPLIT)
    assert report("--config=/dev/stdin", "a.std", "b.std", stdin=b"ignore variable x\n")["findings"] == []


def test_operands():
    for command in COMMANDS:
        run(*command, status=USAGE, says="--help")
    put("a.std", WHOLE)
    for command in COMMANDS[1:]:
        run(*command, "a.std", "a.std", status=USAGE)


def test_options_anywhere():
    put("--odd.std", SPLIT)
    run("check", "--", "--odd.std", status=FINDINGS)
    put("a.std", SPLIT)
    for words in (["--checks=oracle", "a.std"], ["a.std", "--checks", "oracle"]):
        assert report(*words, status=FINDINGS)["findings"][0]["checks"][0]["name"] == "oracle"


# ---- Input.


def test_standard_input():
    run("check", "-", stdin=SPLIT, status=FINDINGS)
    run("check", "-", stdin=WHOLE)
    run("check", "-", stdin=WRONG, status=MALFORMED, says="standard input:2:8: ")
    assert run("trace", "dump", "-", stdin=SPLIT).stdout == SPLIT
    assert json.loads(run("trace", "stat", "--format=json", "-", stdin=SPLIT).stdout)["events"] == 5
    binary = run("trace", "convert", "-", stdin=SPLIT).stdout
    assert run("trace", "convert", "-", stdin=binary).stdout == SPLIT


def test_standard_input_closed():
    run("check", "-", stdin=None, status=USAGE, says="standard input", preexec_fn=lambda: os.close(0))


def test_several_files():
    put("split.std", SPLIT), put("whole.std", WHOLE), put("wrong.std", WRONG)
    r = report("whole.std", "split.std", "whole.std", status=FINDINGS)
    assert [t["path"] for t in r["traces"]] == ["whole.std", "split.std", "whole.std"]
    assert {f["trace"] for f in r["findings"]} == {"split.std"}
    assert r["counts"]["events"] == 15 and r["counts"]["traces"] == 3
    r = report("wrong.std", "split.std", status=MALFORMED, says="wrong.std:2:8: ")
    assert len(r["findings"]) == 1 and r["traces"][0]["error"] and not r["traces"][1]["error"]
    r = report("split.std", "missing.std", status=USAGE, says="missing.std")
    assert len(r["findings"]) == 1


def test_told_apart_by_content():
    put("text.ftr", SPLIT)
    run("trace", "convert", "--to=binary", "-o", "binary.std", "text.ftr")
    assert pathlib.Path("binary.std").read_bytes()[:4] == b"\x89FTR"
    assert report("text.ftr", status=FINDINGS)["findings"]
    assert report("binary.std", status=FINDINGS)["findings"]
    assert b"binary" in run("trace", "stat", "binary.std").stdout
    assert b"text" in run("trace", "stat", "text.ftr").stdout


def test_empty():
    put("empty.std", b"")
    for path in ("empty.std", "/dev/null"):
        assert b"no violation in 0 events" in run("check", path).stdout
        r = report("--checks=causal,aerodrome,velodrome,oracle", path)
        assert r["counts"]["events"] == 0 and r["findings"] == []
        run("trace", "stat", path)
        run("trace", "dump", path)
    run("trace", "convert", "-o", "empty.ftr", "empty.std")
    run("check", "empty.ftr")
    assert run("trace", "dump", "empty.ftr").stdout == b""


def test_line_ends():
    for data in (SPLIT, SPLIT[:-1], SPLIT.replace(b"\n", b"\r\n"), SPLIT.replace(b"\n", b"\r\n")[:-2]):
        assert len(report("-", stdin=data, status=FINDINGS)["findings"]) == 1
        assert run("trace", "dump", "-", stdin=data).stdout == SPLIT


def test_nul_bytes():
    run("check", "-", stdin=b"T1|r(x)|a\0b\n", status=MALFORMED, says=":1:10: ")
    run("check", "-", stdin=b"\0" * 1000, status=MALFORMED, says=":1:1: ")
    run("trace", "convert", "-o", "out", "-", stdin=SPLIT + b"\0\n", status=MALFORMED, says=":6:1: ")
    assert files() == []


def test_not_a_trace():
    for data in (b"\x7fELF\x02\x01\x01", b"hello world\n", b"\x89PNG\r\n\x1a\n", b"\xff" * 100, b"|" * 100):
        run("check", "-", stdin=data, status=MALFORMED, says=":1:")


def test_line_of_a_megabyte():
    name = b"n" * (1 << 20)
    data = SPLIT.replace(b"(x)", b"(" + name + b")")
    f = report("-", stdin=data, status=FINDINGS)["findings"][0]
    assert f["variables"] == [name.decode()]
    binary = run("trace", "convert", "-", stdin=data).stdout
    assert run("trace", "convert", "-", stdin=binary).stdout == data
    run("check", "-", stdin=data, status=FINDINGS)
    run("check", "-", stdin=b"# " + name + b"\n" + WHOLE)
    run("check", "-", stdin=name, status=MALFORMED, says=f":1:{len(name) + 1}: ")
    run("check", "-", stdin=b"T1|" + name + b"(x)\n", status=MALFORMED, says=":1:4: ")


@heavy
def test_line_without_an_end():
    run("check", "-", stdin=WHOLE + b"n" * (1 << 25), status=MALFORMED, says=":6:1: the line is longer than")


def test_directory():
    os.mkdir("d")
    for command in COMMANDS:
        run(*command, "d", status=USAGE, says="d: is a directory")
    run("trace", "convert", "-o", "d", "--to=text", "-", stdin=SPLIT, status=UNFIT, says="d: ")
    assert files() == ["d"] and os.listdir("d") == []


def test_missing_file():
    for command in COMMANDS:
        run(*command, "missing.std", status=USAGE, says="missing.std: No such file")
    assert files() == []


def test_no_permission():
    put("secret.std", SPLIT)
    os.chmod("secret.std", 0)
    os.mkdir("closed", 0o755)
    who = {}
    if os.geteuid() == 0:  # root may read everything: be somebody else, with a copy of the tool within reach
        os.chmod(here, 0o755)
        shutil.copy(fission, "tool")
        os.chmod("tool", 0o755)
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "executable": os.path.abspath("tool")}
    else:
        os.chmod("closed", 0o555)
    try:
        subprocess.run(["true"], **{**who, "executable": None})
    except PermissionError:
        raise Skip("root, but without the right to be somebody else") from None
    run("check", "secret.std", status=USAGE, says="secret.std: Permission denied", **who)
    run("trace", "convert", "-o", "closed/a", "-", stdin=SPLIT, status=UNFIT, says="closed/a: Permission", **who)
    assert os.listdir("closed") == []


def test_long_path():
    directory = "/".join(["d" * 200] * 5)
    os.makedirs(directory)
    put(directory + "/a.std", WRONG)
    run("check", directory + "/a.std", status=MALFORMED, says="/a.std:2:8: ")
    put(directory + "/b.std", b"T1|what(x)\n")
    run("check", directory + "/b.std", status=MALFORMED, says="/b.std:1:4: unknown operation")
    run("trace", "dump", directory + "/missing.std", status=USAGE, says="/missing.std: No such file")


def test_names_that_are_not_utf8():
    name = os.fsdecode(b"\xff\xfe.std")
    put(name, SPLIT.replace(b"(x)", b"(\xff\x80)").replace(b"a.c", b"\xc3\x28.c").replace(b"T2", b"\xed\xa0\x80"))
    for path in (name, "-"):
        r = report(path, stdin=pathlib.Path(name).read_bytes(), status=FINDINGS)
        assert r["findings"][0]["variables"] == ["\ufffd\ufffd"]
    assert run("trace", "dump", name).stdout == pathlib.Path(name).read_bytes()
    json.loads(run("trace", "stat", "--format=json", name).stdout.decode("utf-8", "strict"))


def test_json_escapes():
    data = SPLIT.replace(b"(x)", b'("\\%09\xe2\x82\xac\xf0\x9f\x92\xa5)')
    assert report("-", stdin=data, status=FINDINGS)["findings"][0]["variables"] == ['"\\\t\u20ac\U0001f4a5']


def test_json_numbers():
    values = (-(1 << 63), (1 << 64) - 1, 0)
    data = SPLIT
    for old, new in zip((b"=1", b"=2", b"=3"), values):
        data = data.replace(old, b"=%d" % new)
    accesses = report("-", stdin=data, status=FINDINGS)["findings"][0]["accesses"]
    assert [a["value"] for a in accesses] == list(values)


def test_json_counts():
    data = SPLIT + b"T3|enter(g)\nT3|acq(m)\nT3|rel(m)\nT2|acq(m)\nT2|rel(m)\nT3|acq(m)\nT3|rel(m)\nT3|exit(g)\n"
    r = report("-", stdin=data, status=FINDINGS)
    counts = r["counts"]
    assert (counts["findings"], counts["declared"], counts["observed"], counts["suspected"]) == (2, 1, 1, 1), counts
    assert [f["rank"] for f in r["findings"]] == sorted(f["rank"] for f in r["findings"])
    assert len({f["id"] for f in r["findings"]}) == 2
    assert r["traces"][0]["threads"] == 3


def test_ids_are_stable():
    """A fingerprint has no line numbers, threads or event numbers in it."""
    moved = b"T9|r(other)\n" + SPLIT.replace(b"T1", b"T8").replace(b"a.c:", b"a.c:10").replace(b"=1", b"=7")
    first, second = (report("-", stdin=s, status=FINDINGS)["findings"][0]["id"] for s in (SPLIT, moved))
    assert first == second
    other = report("-", stdin=SPLIT.replace(b"(x)", b"(y)"), status=FINDINGS)["findings"][0]["id"]
    assert first != other


def test_ids_without_names_of_threads_and_columns():
    traces = (b"T1|begin(f)|%s\nT1|w(x)|%s\nT1|fork(%s)|%s\n%s|r(x)|%s\nT1|join(%s)|%s\nT1|end(f)|%s\n" %
              tuple((place % n).encode() if "%" in place else thread.encode()
                    for n, (place, thread) in enumerate([(p, t)] * 2 + [("", t), (p, t), ("", t), (p, t), ("", t)] + [(p, t)] * 2))
              for p, t in (("f.c:%d:5", "T2"), ("f.c:1%d:77", "other")))
    ids = {report("-", stdin=t, status=FINDINGS)["findings"][0]["id"] for t in traces}
    assert len(ids) == 1, ids
    numbers = (b"T1|begin(f)|%d\nT1|r(x)|%d\nT2|w(x)|%d\nT1|r(x)|%d\n" % tuple(range(n, n + 4)) for n in (10, 70))
    assert len({report("-", stdin=t, status=FINDINGS)["findings"][0]["id"] for t in numbers}) == 1


def test_counts_of_activations():
    """However many checks see them, two activations are two."""
    once = SPLIT + SPLIT
    for checks in ("causal", "causal,aerodrome,velodrome"):
        assert [f["count"] for f in report(f"--checks={checks}", "-", stdin=once, status=FINDINGS)["findings"]] == [2]
    assert b"split 2 times" in run("check", "-", stdin=once, status=FINDINGS).stdout


def test_text_report():
    text = run("check", "-", stdin=SPLIT, status=FINDINGS).stdout.decode()
    for part in ("WARNING: fission: atomicity violation (OBSERVED", "fsn-", "a.c:2", "b.c:1", "a.c:3", "SUMMARY: fission"):
        assert part in text, f"'{part}' is not in the report"
    assert text.endswith("fission: 1 observed in 5 events; 1 data race\n")
    assert "  data race on 'x': read a.c:2 in thread T1, write b.c:1 in thread T2\n" in text, text
    suspected = SPLIT.replace(b"r(x)=1", b"sem_post(s)").replace(b"w(x)=2", b"sem_wait(s)")
    assert "WARNING" not in run("check", "-", stdin=suspected).stdout.decode()


def test_text_report_of_any_bytes():
    """Names that are no text at all neither break a line nor reach the terminal."""
    data = SPLIT.replace(b"(x)", b"(x\xff\xc2\x9b)").replace(b"T1", b"T\xe2\x80\xae").replace(b"a.c", b"\xc2\x85.c")
    for locale, form in (("C", "text"), ("C.UTF-8", "text"), ("C", "gcc"), ("C.UTF-8", "gcc")):
        made = run("check", f"--format={form}", "-", stdin=data, status=FINDINGS, env={**os.environ, "LC_ALL": locale}).stdout
        for name in (rb"x\xff\xc2\x9b", rb"T\xe2\x80\xae", rb"\xc2\x85.c:2"):
            assert name in made, made
        bad = set(made.decode()) & {chr(c) for c in (*range(10), *range(11, 32), *range(127, 160), 0x202E)}
        assert not bad, (bad, made)


# ---- Rank and exit status.

# Split by data; by a lock only; and from one round of a loop to the next.
FUNCTION = SPLIT.replace(b"begin", b"enter").replace(b"end", b"exit")
LOCKED = b"T1|begin(g)\nT1|acq(m)\nT1|rel(m)\nT2|acq(m)\nT2|rel(m)\nT1|acq(m)\nT1|rel(m)\nT1|end(g)\n"
LOOP = (b"T1|enter(h)\nT1|acq(m)|h.c:1\nT1|w(y)|h.c:2\nT1|rel(m)|h.c:3\n"
        b"T2|acq(m)\nT2|w(y)\nT2|rel(m)\nT1|acq(m)|h.c:1\nT1|w(y)|h.c:2\nT1|rel(m)|h.c:3\nT1|exit(h)\n")


def test_fail_on():
    """The verdict and the rank both count; a block that was declared and split by locks only is a suspicion."""
    assert b"WARNING" in run("check", "-", stdin=FUNCTION, status=FINDINGS).stdout
    assert b"(SUSPECTED, rank 1: declared)" in run("check", "-", stdin=LOCKED).stdout
    for words, status in (("suspected", FINDINGS), ("suspected,1", FINDINGS), ("predicted,4", CLEAN), ("observed", CLEAN)):
        run("check", f"--fail-on={words}", "-", stdin=LOCKED, status=status)
    for words, status in (("observed,1", FINDINGS), ("reproduced", CLEAN), ("reproduced,4", CLEAN)):
        run("check", f"--fail-on={words}", "-", stdin=FUNCTION, status=status)
    run("check", "--fail-on=suspected,4", "-", stdin=LOOP)


def test_fail_on_words():
    run("check", "--fail-on=obseved", "-", status=USAGE, says="did you mean 'observed'?")
    run("check", "--fail-on=xyzzyxyzzy", "-", status=USAGE, says="--help")
    for words in ("", ",2", "2"):
        run("check", f"--fail-on={words}", "-", status=USAGE)
    for rank in ("", "0", "5", "12", "x", "2,"):
        run("check", f"--fail-on=observed,{rank}", "-", status=USAGE, says="--fail-on takes a verdict and a rank from 1 to 4")
        run("check", f"--rank={rank}", "-", status=USAGE, says="--rank: unknown value")


def test_rank_decides_what_is_shown():
    put("a.std", FUNCTION), put("b.std", LOCKED.replace(b"begin", b"enter").replace(b"end", b"exit")), put("c.std", LOOP)
    names = ("a.std", "b.std", "c.std")
    for words, shown, last in (
        ((), 1, "1 observed in 24 events; not shown: 2 by rank: 1 same-site, 1 both-direct (--show-hidden); 1 data race"),
        (("--rank=4",), 2, "1 observed, 1 suspected in 24 events; not shown: 1 by rank: 1 same-site (--show-hidden); 1 data race"),
        (("--show-hidden",), 3, "2 observed, 1 suspected in 24 events; 1 data race"),
        (("--show-hidden", "--rank=1"), 3, "2 observed, 1 suspected in 24 events; 1 data race"),
    ):
        text = run("check", *words, *names, status=FINDINGS).stdout.decode()
        assert text.count("WARNING") == shown and text.endswith(f"fission: {last}\n"), text
        assert report(*words, *names, status=FINDINGS)["counts"]["hidden"] == 1
    text = run("check", "c.std").stdout.decode()
    assert text == "fission: nothing to show in 11 events; not shown: 1 by rank: 1 same-site (--show-hidden)\n", text
    text = run("check", "--show-hidden", "c.std").stdout.decode()
    assert "rank 4: same site, hidden)" in text and "  Rank: 4, the second section begins at the same place" in text, text


def test_reasons():
    f = report("-", stdin=FUNCTION, status=FINDINGS)["findings"][0]
    assert f["rules"][0] == "lost-update" and len(f["rules"]) == len(f["reasons"]) and not f["hidden"]
    text = run("check", "-", stdin=FUNCTION, status=FINDINGS).stdout.decode()
    assert "(OBSERVED, rank 1: lost update)" in text and f" Rank: 1, {f['reasons'][0]}" in " ".join(text.split()), text


# ---- Size.


def measure(lines, *arguments):
    """Streams lines into the tool; its result, peak memory in bytes, and seconds."""
    start = time.monotonic()
    child = subprocess.Popen([fission, *arguments, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with contextlib.suppress(BrokenPipeError), child.stdin:
        for piece in lines:
            child.stdin.write(piece)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == CLEAN, f"exit status {child.returncode}"
    return json.loads(out), usage.ru_maxrss * 1024, time.monotonic() - start


def threads_at_once(n):
    yield b"".join(b"main|fork(T%d)\n" % i for i in range(n))
    yield b"".join(b"T%d|enter(f)\nT%d|acq(m)\nT%d|w(x)\nT%d|rel(m)\nT%d|exit(f)\n" % (i, i, i, i, i) for i in range(n))
    yield b"".join(b"main|join(T%d)\n" % i for i in range(n))


def threads_in_turn(n):
    for i in range(n):
        yield b"main|fork(T%d)\nT%d|enter(f)\nT%d|w(x)\nT%d|exit(f)\nmain|join(T%d)\n" % (i, i, i, i, i)


@heavy
def test_ten_thousand_threads():
    r, memory, _ = measure(threads_at_once(10000), "check", "--format=json")
    assert r["traces"][0]["threads"] == 10001 and not r["findings"]
    assert memory < 2 << 30, f"{memory >> 20} MiB for threads at once"


def test_threads_in_turn():
    r, memory, _ = measure(threads_in_turn(10000), "check", "--checks=causal,aerodrome,velodrome", "--format=json")
    assert r["traces"][0]["threads"] == 10001 and not r["findings"]
    assert memory < 1 << 30, f"{memory >> 20} MiB for threads that take over from one another"


def variables(n, step=100000):
    for i in range(0, n, step):
        yield b"".join([b"T1|w(v%d)\n" % k for k in range(i, i + step)])


def memory_free():
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))


@heavy
def test_ten_million_variables():
    if memory_free() < 5 << 30:
        raise Skip("less than 5 GiB of memory are free")
    r, memory, seconds = measure(variables(10_000_000), "check", "--format=json")
    assert r["traces"][0]["variables"] == 10_000_000 and not r["findings"]
    assert memory < 4 << 30, f"{memory >> 20} MiB"
    assert seconds < 120, f"{seconds:.0f} s"


# ---- Output.


def many(n=200000):
    return b"".join(b"T%d|w(v%d)|file.c:%d\n" % (i % 7, i % 1009, i % 4001) for i in range(n))


def test_full_device():
    run("trace", "convert", "-o", "/dev/full", "-", stdin=SPLIT, status=UNFIT, says="/dev/full: No space left")
    with open("/dev/full", "wb") as full:
        for command in (["check"], ["trace", "dump"], ["trace", "stat"], ["trace", "program"]):
            done = subprocess.run([fission, *command, "-"], input=SPLIT, stdout=full, stderr=subprocess.PIPE)
            assert done.returncode == UNFIT, f"{command}: exit status {done.returncode}"
            assert b"standard output: No space left" in done.stderr, done.stderr


def test_full_disk():
    os.mkdir("small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", "small"], stderr=subprocess.DEVNULL).returncode:
        raise Skip("tmpfs cannot be mounted here")
    try:
        put("small/old.std", b"old\n")
        for name in ("small/new.std", "small/old.std"):
            run("trace", "convert", "--to=text", "-o", name, "-", stdin=many(), status=UNFIT, says="No space left")
        assert os.listdir("small") == ["old.std"]
        assert pathlib.Path("small/old.std").read_bytes() == b"old\n"
    finally:
        subprocess.run(["umount", "small"], check=True)


def test_file_size_limit():
    """As a full disk, and a signal that nobody asked for on top."""
    put("old.std", b"old\n")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
    for name in ("new.std", "old.std"):
        command = ("trace", "convert", "--to=text", "-o", name, "-")
        run(*command, stdin=many(), status=UNFIT, says="File too large", preexec_fn=limit)
    assert files() == ["old.std"]
    assert pathlib.Path("old.std").read_bytes() == b"old\n"


def test_broken_pipe():
    put("many.std", many())
    put("wide.std", b"".join(SPLIT.replace(b"(f)", b"(f%d)" % i) for i in range(500)))
    for command in (["trace", "dump", "many.std"], ["check", "wide.std"], ["trace", "convert", "--to=text", "many.std"]):
        child = subprocess.Popen([fission, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert len(child.stdout.read(1)) == 1
        child.stdout.close()
        message = child.stderr.read()
        assert child.wait() == UNFIT, f"{command}: exit status {child.returncode}"
        assert b"standard output: Broken pipe" in message, message


def test_closed_output():
    for command in (["check"], ["trace", "dump"], ["trace", "stat"]):
        done = subprocess.run(
            [fission, *command, "-"], input=SPLIT, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1)
        )
        assert done.returncode == UNFIT, f"{command}: exit status {done.returncode}"


def test_nothing_left_of_bad_input():
    for command in (["trace", "convert", "--to=text"], ["trace", "convert", "--to=binary"], ["trace", "program"]):
        run(*command, "-o", "out", "-", stdin=many(1000) + b"T1|r(x\n", status=MALFORMED, says=":1001:7: ")
        assert files() == [], f"{command} left {files()}"


def test_existing_file_is_kept():
    put("out", b"precious\n")
    for command in (["trace", "convert", "--to=text"], ["trace", "convert", "--to=binary"], ["trace", "program"]):
        run(*command, "-o", "out", "-", stdin=many(1000) + b"T1|r(x\n", status=MALFORMED)
        run(*command, "-o", "out", "missing.std", status=USAGE)
        assert files() == ["out"] and pathlib.Path("out").read_bytes() == b"precious\n"


def test_existing_file_is_replaced():
    put("out", b"old\n" * 1000)
    before = os.stat("out").st_ino
    with open("out", "rb") as reader:  # who has the old one open keeps all of it
        run("trace", "convert", "--to=text", "-o", "out", "-", stdin=SPLIT)
        assert reader.read() == b"old\n" * 1000
    assert pathlib.Path("out").read_bytes() == SPLIT and os.stat("out").st_ino != before
    assert files() == ["out"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(os.stat("out").st_mode) == 0o666 & ~mask


def test_output_through_a_link():
    """The file that a link leads to is replaced, not the link; it keeps its permissions."""
    for name, data in (("in.std", SPLIT), ("real.ftr", b"old")):
        with open(name, "wb") as f:
            f.write(data)
    os.chmod("real.ftr", 0o640)
    os.symlink("real.ftr", "link.ftr")
    run("trace", "convert", "-o", "link.ftr", "in.std")
    assert os.path.islink("link.ftr") and os.stat("real.ftr").st_mode & 0o777 == 0o640
    assert report("real.ftr", status=FINDINGS)["findings"]


def test_output_onto_input():
    put("a.std", SPLIT)
    run("trace", "convert", "--to=binary", "-o", "a.std", "a.std")
    assert run("trace", "dump", "a.std").stdout == SPLIT and files() == ["a.std"]


def test_output_beside_nothing():
    run("trace", "convert", "-o", "no/such/place", "-", stdin=SPLIT, status=UNFIT, says="no/such/place: No such file")
    assert files() == []


def test_signals():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        put("out", b"precious\n")
        child = subprocess.Popen(
            [fission, "trace", "convert", "--to=text", "-o", "out", "-"],
            stdin=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # a shell's background has SIGINT ignored
        )
        child.stdin.write(many(100000))
        child.stdin.flush()
        wait_for(lambda: len(files()) > 1)
        child.send_signal(number)
        assert child.wait(60) == -number, f"exit status {child.returncode}"
        child.stdin.close()
        assert files() == ["out"], f"{number!r} left {files()}"
        assert pathlib.Path("out").read_bytes() == b"precious\n"


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "waited for a minute"
        time.sleep(0.01)


def test_ignored_signals_stay_ignored():
    """As under nohup."""
    child = subprocess.Popen(
        [fission, "trace", "convert", "--to=text", "-o", "out", "-"],
        stdin=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    child.stdin.write(many(100000))
    child.stdin.flush()
    wait_for(files)
    child.send_signal(signal.SIGHUP)
    child.stdin.close()
    assert child.wait(60) == CLEAN and files() == ["out"]


# ---- Binary traces.


def binary(data):
    return run("trace", "convert", "--to=binary", "-", stdin=data).stdout


def test_form_of_output():
    put("a.std", SPLIT)
    for words, magic in (
        (["-o", "b.ftr"], b"\x89FTR"),
        (["-o", "b.std"], b"T1|b"),
        (["-o", "b.txt"], b"T1|b"),
        (["-o", "b.any"], b"\x89FTR"),
        (["-o", "b.ftr", "--to=text"], b"T1|b"),
        (["-o", "b.std", "--to=binary"], b"\x89FTR"),
    ):
        run("trace", "convert", *words, "a.std")
        assert pathlib.Path(words[1]).read_bytes()[:4] == magic, words


def test_truncated():
    data = binary(SPLIT)
    for cut in range(1, len(data) // 4):
        put("cut.ftr", data[:-cut])
        done = subprocess.run([fission, "check", "--format=json", "cut.ftr"], capture_output=True)
        assert done.returncode in (CLEAN, FINDINGS), f"{cut} bytes cut: exit status {done.returncode}"
        trace = json.loads(done.stdout)["traces"][0]
        assert trace["complete"] is False and f"byte {len(data) - cut}" in trace["cut"], trace
    text = run("check", "cut.ftr", status=done.returncode).stdout
    assert b"cut off at byte" in text, text
    run("trace", "convert", "--to=text", "-o", "prefix.std", "cut.ftr", says="cut off at byte")
    assert SPLIT.startswith(pathlib.Path("prefix.std").read_bytes())


def test_truncated_prefix_is_checked():
    data = binary(SPLIT + many())
    put("cut.ftr", data[: len(data) * 3 // 4])
    r = report("cut.ftr", status=FINDINGS)
    assert 5 < r["counts"]["events"] < 200005 and len(r["findings"]) == 1
    assert run("trace", "dump", "cut.ftr", says="cut off").stdout.startswith(SPLIT)


@heavy
def test_flipped_bytes():
    data = binary(SPLIT)
    for i in range(len(data)):
        for bit in (0x01, 0x80):
            put("flip.ftr", data[:i] + bytes([data[i] ^ bit]) + data[i + 1 :])
            done = subprocess.run([fission, "check", "flip.ftr"], capture_output=True)
            assert done.returncode == MALFORMED, f"byte {i} ^ {bit:#x}: exit status {done.returncode}"
            assert done.stderr.startswith(b"fission: flip.ftr:"), done.stderr
    run("trace", "convert", "-o", "out.std", "flip.ftr", status=MALFORMED)
    assert files() == ["flip.ftr"]




# ---- --lenient.

REPAIRS = {
    "acquires of a held lock": b"T1|acq(a)\nT2|acq(a)\nT2|acq_shared(a)\nT1|acq_shared(a)\n",
    "releases of a lock that was not held": b"T2|rel(a)\nT2|rel_shared(b)\nT2|wait(c,a)\n",
    "forks of a running thread": b"T2|r(x)\nT1|fork(T2)\n",
    "double forks": b"T1|fork(T3)\nT1|fork(T3)\nT1|fork(T1)\n",
    "joins with open blocks or functions": b"T3|begin\nT3|enter(f)\nT1|join(T3)\n",
    "events after join": b"T3|r(x)\nT3|end\n",
    "double joins": b"T1|join(T3)\nT1|join(T1)\n",
    "ends without begin": b"T1|end\n",
    "exits without enter": b"T1|exit(f)\nT1|enter(f)\nT1|enter(g)\nT1|exit(f)\n",
    "barriers left early": b"T1|barrier(b,3)\nT1|r(x)\n",
    "lines that could not be parsed": b"T1|r(x\nwhat\nT1|frob(x)\n\0\n",
}
COUNTS = (3, 3, 1, 2, 1, 2, 2, 1, 2, 1, 4)


def test_lenient():
    data = b"".join(REPAIRS.values())
    run("check", "-", stdin=data, status=MALFORMED)
    text = run("check", "--lenient", "-", stdin=data).stdout.decode()
    for what, count in zip(REPAIRS, COUNTS):
        assert f"{count} {what}" in text, f"'{count} {what}' is not in:\n{text}"
    trace = report("--lenient", "-", stdin=data)["traces"][0]
    assert trace["repaired"] == sum(COUNTS[:-1]) and trace["skipped"] == COUNTS[-1]
    assert trace["complete"] is True


def test_lenient_goes_on():
    """What is repaired hides nothing."""
    broken = SPLIT.replace(b"T2|w", b"garbage\nT2|rel(m)\nT1|end\nT2|end\nT2|w").replace(b"T1|end\n", b"", 1)
    for checks in ("causal", "aerodrome", "velodrome", "oracle"):
        assert len(report("--lenient", f"--checks={checks}", "-", stdin=broken, status=FINDINGS)["findings"]) == 1


def test_lenient_dropped_event_ends_a_wait():
    """The thread has gone on, whatever is wrong with what it did then."""
    data = (b"T1|begin\nT1|acq(m)\nT1|wait(c,m)\nT2|acq(m)\nT2|rel(m)\nT1|rel(zz)\nT1|r(y)\nT1|rel(m)\nT1|end\n")
    for checks in ("causal", "aerodrome", "velodrome", "oracle"):
        assert len(report("--lenient", f"--checks={checks}", "-", stdin=data)["findings"]) == 1


def test_lenient_dropped_event_is_no_start():
    trace = report("--lenient", "-", stdin=b"T1|rel(m)\nT0|fork(T1)\nT1|r(x)\n")["traces"][0]
    assert trace["repaired"] == 1


def test_lenient_joins_close():
    """A block that is closed by the join of its thread is a block up to there, for every check."""
    data = SPLIT.replace(b"T1|end(f)|a.c:4\n", b"T0|join(T1)\n")
    for checks in ("causal", "aerodrome", "velodrome", "oracle"):
        r = report("--lenient", f"--checks={checks}", "-", stdin=data, status=FINDINGS)
        assert len(r["findings"]) == 1 and r["traces"][0]["repaired"] == 1


def test_lenient_on_good_input():
    trace = report("--lenient", "-", stdin=SPLIT, status=FINDINGS)["traces"][0]
    assert trace["repaired"] == 0 and trace["skipped"] == 0
    assert b"repaired" not in run("check", "--lenient", "-", stdin=SPLIT, status=FINDINGS).stdout


def test_lenient_conversion():
    bad = SPLIT + b"T1|r(x\n\0\n"
    run("trace", "convert", "--to=text", "-o", "a.std", "-", stdin=bad, status=MALFORMED)
    run("trace", "convert", "--to=text", "--lenient", "-o", "a.std", "-", stdin=bad, says="2 lines")
    assert pathlib.Path("a.std").read_bytes() == SPLIT


# ---- The oracle.


def test_oracle_refuses():
    events = lambda n: b"".join(b"T%d|r(x)\n" % (i % 3) for i in range(n))
    blocks = lambda n: b"".join(b"T%d|begin\nT%d|w(x)\nT%d|end\n" % (i % 3, i % 3, i % 3) for i in range(n))
    for trace in (events, blocks):
        run("check", "--checks=oracle", "-", stdin=trace(64))
        run("check", "--checks=oracle", "-", stdin=trace(65), status=USAGE, says="more than 64 transactions")
        run("check", "-", stdin=trace(65))
    run("check", "--checks=oracle", "-", stdin=b"T1|begin\n" + b"T1|r(x)\n" * 3000, status=USAGE)


# ---- Others.


def test_stat():
    put("a.std", SPLIT)
    s = json.loads(run("trace", "stat", "--format=json", "a.std").stdout)
    assert (s["events"], s["threads"], s["variables"], s["blocks"]) == (5, 2, 1, 1), s
    assert s["kinds"] == {"r": 1, "w": 2, "begin": 1, "end": 1} and s["complete"] is True
    assert b"events" in run("trace", "stat", "a.std").stdout


def test_program():
    text = run("trace", "program", "-", stdin=SPLIT).stdout.decode()
    assert "pthread_create" in text and "int main(" in text
    run("trace", "program", "-o", "a.c", "-", stdin=SPLIT)
    assert files() == ["a.c"]


# ---- The runner.


def tests(cheap, names):
    for name, test in list(globals().items()):
        if not name.startswith("test_") or (names and name not in names):
            continue
        if cheap and hasattr(test, "heavy"):
            continue
        yield name, test


def run_test(name, test):
    """Whether it passed; says so otherwise."""
    global here
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as here:
        os.chdir(here)
        try:
            test()
            return True
        except Skip as reason:
            print(f"{name}: skipped: {reason}")
            return None
        except Exception:
            print(f"{name}:\n{traceback.format_exc()}")
            return False
        finally:
            os.chdir(home)


def main():
    global fission
    words = [w for w in sys.argv[1:] if w != "--cheap"]
    if not words:
        sys.exit("usage: run.py FISSION_BINARY [--cheap] [NAMES...]")
    fission = os.path.abspath(words[0])
    results = [run_test(*t) for t in tests("--cheap" in sys.argv, words[1:])]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results.count(True) and not results.count(False) else 1


if __name__ == "__main__":
    sys.exit(main())
