#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Suppressions, baselines and what they hide: accept.py FISSION_BINARY [NAMES...]

The tables come first: each line of them is a test. Then each function test_* is one, in a directory of its own. The last
line is 'N passed, M failed'.
"""

import fcntl
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import traceback

CLEAN, USAGE, MALFORMED, FINDINGS, UNFIT, CONFIG = 0, 64, 65, 66, 69, 78
TODAY = "2026-11-16"

# Mistakes in a suppression file: its bytes, the place, what is said.
SUPPRESSIONS = (
    (b"atomcity:f\n", "1:1", "unknown kind 'atomcity'; did you mean 'atomicity'?"),
    (b"atomicity_variable:f\n", "1:1", "unknown kind 'atomicity_variable'; "),
    (b"# fine\n\n  xyzzy:f\n", "3:3", "unknown kind 'xyzzy'; there are atomicity, atomicity_var,"),
    (b"Atomicity:f\n", "1:1", "did you mean 'atomicity'?"),
    (b"withdraw\n", "1:1", "'withdraw' has no colon; write KIND:PATTERN, such as atomicity:withdraw"),
    (b":f\n", "1:1", "unknown kind ''; there are atomicity"),
    (b"atomicity:\n", "1:11", "there is no pattern; write atomicity:withdraw"),
    (b"atomicity: f\n", "1:11", "there is no pattern; write atomicity:withdraw, with no blank behind the colon"),
    (b"atomicity_id:\n", "1:14", "there is no pattern; write atomicity_id:fsn-7c1f0a2b"),
    (b"atomicity:^f$\n", "1:11", "a pattern matches the whole name, without ^ and $"),
    (b"atomicity_id:7c1f\n", "1:14", "'7c1f' is no id; write fsn- and 4 to 8 hexadecimal digits"),
    (b"atomicity_id:fsn-7c1\n", "1:14", "is no id"),
    (b"atomicity_id:fsn-7C1F\n", "1:14", "is no id"),
    (b"atomicity_id:fsn-7c1f0a2b9\n", "1:14", "is no id"),
    (b"race:f\n", "1:1", "'race:' is a line for ThreadSanitizer; Fission does not report data races as findings; write"),
    (b"deadlock:f\n", "1:1", "'deadlock:' is a line for ThreadSanitizer; "),
    (b"called_from_lib:libz.so\n", "1:1", "write 'foreign PATTERN' in a configuration"),
    (b"mutex:f\n", "1:1", "remove the line"),
    (b"signal:f\n", "1:1", "remove the line"),
    (b"thread:f\n", "1:1", "remove the line"),
    (b"race_top:f\n", "1:1", "is a line for ThreadSanitizer"),
    (b"atomicity:f reson=x\n", "1:13", "unknown attribute 'reson'; did you mean 'reason'?"),
    (b"atomicity:f zzz=x\n", "1:13", "unknown attribute 'zzz'; there are reason=, owner= and expires="),
    (b"atomicity:f because\n", "1:13", "unknown attribute 'because'"),
    (b"atomicity:f reason\n", "1:13", 'reason has no value; write reason="see #812"'),
    (b"atomicity:f owner=\n", "1:13", "owner has no value; write owner=ana"),
    (b'atomicity:f reason=""\n', "1:13", "reason has no value"),
    (b"atomicity:f owner=a owner=b\n", "1:21", "owner is given twice; keep one of them"),
    (b'atomicity:f reason="a" reason="a"\n', "1:24", "reason is given twice"),
    (b'atomicity:f reason="see\n', "1:20", "the quote is not closed on this line"),
    (b'atomicity:f reason="see\r\nx"\r\n', "1:20", "the quote is not closed on this line"),
    (b'atomicity:f reason="a\\n"\n', "1:22", "a backslash before something else than a quote or a backslash"),
    (b'atomicity:f reason="a\\', "1:22", "a backslash before something else"),
    (b'atomicity:f reason="a"b\n', "1:23", "something follows the closing quote; write a blank behind it"),
    (b"atomicity:f expires=2027-02-30\n", "1:13", "'2027-02-30' is not a day of the calendar; write YEAR-MONTH-DAY"),
    (b"atomicity:f expires=2027-02-29\n", "1:13", "is not a day of the calendar"),
    (b"atomicity:f expires=2027-00-10\n", "1:13", "is not a day of the calendar"),
    (b"atomicity:f expires=2027-13-10\n", "1:13", "is not a day of the calendar"),
    (b"atomicity:f expires=2027-12-00\n", "1:13", "is not a day of the calendar"),
    (b"atomicity:f expires=1969-12-31\n", "1:13", "is not a day of the calendar"),
    (b"atomicity:f expires=30.6.2027\n", "1:13", "'30.6.2027' is not a date; write YEAR-MONTH-DAY, such as expires=2027-06-30"),
    (b"atomicity:f expires=2027-6-30\n", "1:13", "is not a date"),
    (b"atomicity:f expires=never\n", "1:13", "is not a date"),
    (b"lock:my_lock\n", "1:6", "'my_lock' does not name two functions; write LOCK,UNLOCK"),
    (b"lock:,b\n", "1:6", "does not name two functions"),
    (b"lock:a,\n", "1:6", "does not name two functions"),
    (b"lock:\n", "1:6", "does not name two functions"),
    (b"lock:a,b owner=ana\n", "1:10", "'owner=ana' is one word too many; a lock line is LOCK,UNLOCK and nothing else"),
    (b"atomicity:f\nato\x00micity:f\n", "2:4", "byte 0x00 in a line of text; remove it"),
    (b"atomicity:f\x1b[31m\n", "1:12", "byte 0x1b in a line of text; remove it"),
    (b'atomicity:f reason="\x07"\n', "1:21", "byte 0x07 in a line of text; remove it"),
    (b"\x7fELF\x02\x01\x01\x00\x00", "1:1", "byte 0x7f in a line of text; remove it"),
    (b"\xef\xbb\xbfatomcity:f\r\n", "1:1", "did you mean 'atomicity'?"),
    (b"\xff\xfea\x00t\x00", "1:4", "byte 0x00 in a line of text"),
    (b"\xff\xfe\xfd\n", "1:1", "has no colon"),
    (b"atomicity:f\r\natomcity:f\r\n", "2:1", "did you mean 'atomicity'?"),
    (b"atomicity:f\n" * 5000 + b"x:f", "5001:1", "unknown kind 'x'"),
    (b"a" * 70000 + b":f\n", "1:1", "unknown kind 'aaaa"),
)

# Mistakes in a baseline.
BASELINES = (
    (b"withdraw\n", "1:1", "'withdraw' is no id; write fsn- and 8 hexadecimal digits, such as fsn-7c1f0a2b"),
    (b"fsn-7c1f\n", "1:1", "is no id"),
    (b"fsn-7c1f0a2b9\n", "1:1", "is no id"),
    (b"fsn-7C1F0A2B\n", "1:1", "is no id"),
    (b"fsn-7c1f0a2g\n", "1:1", "is no id"),
    (b"7c1f0a2b\n", "1:1", "is no id"),
    (b"# fine\nfsn-7c1f0a2b withdraw\n", "2:14", "'withdraw' is one word too many; write # before what is for people"),
    (b"<<<<<<< HEAD\nfsn-7c1f0a2b\n", "1:1", "a merge conflict; keep the lines of both sides and remove the marks"),
    (b"fsn-7c1f0a2b\n=======\n", "2:1", "a merge conflict"),
    (b"fsn-7c1f0a2b\n>>>>>>> main\n", "2:1", "a merge conflict"),
    (b'{"version": 2}\n', "1:1", "is no id"),
    (b"fsn-7c1f0a2b # a\x00b\n", "1:17", "byte 0x00 in a line of text; remove it"),
    (b"\x1f\x8b\x08\x00", "1:1", "byte 0x1f in a line of text"),
    (b"fsn-7c1f0a2b\r\nfsn-7c1f\r\n", "2:1", "is no id"),
    (b"\xef\xbb\xbffsn-7c1f\n", "1:1", "is no id"),
)

# Three functions that are split, the first two with one lock and the third without; the third twice.
TRACE = b"""\
T1|enter(withdraw)|bank.c:1
T1|acq(mu)|src/bank.c:2
T1|r(balance)=100|src/bank.c:2
T1|rel(mu)|src/bank.c:2
T2|acq(mu)|src/bank.c:12
T2|w(balance)=20|src/bank.c:12
T2|rel(mu)|src/bank.c:12
T1|acq(mu)|src/bank.c:3
T1|w(balance)=-60|src/bank.c:3
T1|rel(mu)|src/bank.c:3
T1|exit(withdraw)|src/bank.c:4
T1|enter(refill)|cache.c:1
T1|r(slot)=1|src/cache.c:2
T1|r(used)=1|src/cache.c:2
T2|w(slot)=2|src/cache.c:12
T2|w(used)=2|src/cache.c:12
T1|w(slot)=3|src/cache.c:3
T1|w(used)=3|src/cache.c:3
T1|exit(refill)|src/cache.c:4
"""

# A suppression line and the (function, variable) pairs of the findings that it suppresses.
WITHDRAW, SLOT, USED = ("withdraw", "balance"), ("refill", "slot"), ("refill", "used")
ALL = {WITHDRAW, SLOT, USED}
MATCHES = (
    ("atomicity:withdraw", {WITHDRAW}),
    ("atomicity:with", set()),
    ("atomicity:with*", {WITHDRAW}),
    ("atomicity:*", ALL),
    ("atomicity:?ithdraw", {WITHDRAW}),
    ("atomicity:balance", set()),
    ("atomicity_var:balance", {WITHDRAW}),
    ("atomicity_var:b", set()),
    ("atomicity_var:slot", {SLOT}),
    ("atomicity_var:mu", set()),
    ("atomicity_lock:mu", {WITHDRAW}),
    ("atomicity_lock:balance", set()),
    ("atomicity_file:src/bank.c", {WITHDRAW}),
    ("atomicity_file:bank.c", {WITHDRAW}),
    ("atomicity_file:src/cache*.c", {SLOT, USED}),
    ("atomicity_file:cache.h", set()),
    ('atomicity:refill reason="a \\"b\\" # c \\\\" owner="ana b" expires=2026-11-16', {SLOT, USED}),
    ("atomicity:refill expires=2026-11-15", set()),
    ("  atomicity:refill\t owner=ana # and why", {SLOT, USED}),
    ("\ufeffatomicity:refill\r", {SLOT, USED}),
    ("# atomicity:refill", set()),
    ("lock:my_lock,my_unlock", set()),
    ("atomicity_id:fsn-*", ALL),
)

fission = None


def run(*arguments, status=CLEAN, says=None, today=TODAY, **more):
    done = subprocess.run(
        [fission, *arguments], capture_output=True, timeout=120, env={**os.environ, "FISSION_TODAY": today}, **more
    )
    done.err = done.stderr.decode("utf-8", "replace")
    done.out = done.stdout.decode("utf-8", "replace")
    what = f"fission {' '.join(map(str, arguments))}"
    assert done.returncode == status, f"{what}: exit status {done.returncode}, not {status}\n{done.out}{done.err}"
    assert says is None or says in done.err, f"{what}: '{says}' is not in: {done.err}"
    return done


def put(name, data):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return name


def check(*arguments, status=FINDINGS, **more):
    return json.loads(run("check", "--format=json", *arguments, "t.std", status=status, **more).stdout)


def latest(trace=TRACE, to="fission.out", *options):
    """A run's directory."""
    put("t.std", trace)
    subprocess.run([fission, "check", "--suppressions=", f"--out={to}", *options, "t.std"], capture_output=True)
    return json.loads(pathlib.Path(to, "findings.json").read_bytes())


def names(f):
    return f["block"]["function"], f["variables"][0]


def shown(done):
    """The ids of the findings in a text, in their order."""
    return [line.split()[-1] for line in done.out.splitlines() if line.startswith("WARNING: fission: ")]


def ids(report):
    return {names(f): f["id"] for f in report["findings"]}


def suppressed(report):
    return {names(f) for f in report["findings"] if f["suppressed"]}


# ---- Tables.


def mistake(option, data, place, says):
    put("x.y", data)
    done = run("check", f"--{option}=x.y", "t.std", status=CONFIG, says=f"fission: x.y:{place}: ")
    assert says in done.err, f"'{says}' is not in: {done.err}"
    assert ";" in done.err, f"no remedy: {done.err}"
    assert not done.out
    assert all(c >= " " or c == "\n" for c in done.err), "control characters on the terminal"


def match(line, expected):
    put("t.std", TRACE)
    put("fission.supp", line + "\n")
    got = suppressed(check(status=CLEAN if expected == ALL else FINDINGS))
    assert got == expected, f"suppressed {got}, not {expected}"


def table():
    for data, place, says in SUPPRESSIONS:
        yield f"suppression {data[:60]}", lambda d=data, p=place, s=says: mistake("suppressions", d, p, s)
    for data, place, says in BASELINES:
        yield f"baseline {data[:60]}", lambda d=data, p=place, s=says: mistake("baseline", d, p, s)
    for line, expected in MATCHES:
        yield f"match {line}", lambda m=line, e=expected: match(m, e)


# ---- Files that are none.


def test_files_that_are_none():
    put("t.std", TRACE)
    os.mkdir("d")
    put("big", b"")
    os.truncate("big", 100 << 20)
    for option in ("suppressions", "baseline"):
        run("check", f"--{option}=d", "t.std", status=CONFIG, says="d: is a directory, not a file")
        run("check", f"--{option}=none", "t.std", status=CONFIG, says="none: ")
        run("check", f"--{option}=big", "t.std", status=CONFIG, says="big: is longer than 16 MiB; is this the right file?")
        run("check", f"--{option}=/dev/null", "t.std", status=FINDINGS)
    run("check", "--suppressions=/dev/null,d", "t.std", status=CONFIG, says="d: is a directory")


def test_today():
    put("t.std", TRACE)
    put("fission.supp", "atomicity:withdraw expires=2026-11-16\n")
    for today, expected in (("2026-11-16", {WITHDRAW}), ("2026-11-17", set()), ("1999-01-01", {WITHDRAW})):
        assert suppressed(check(today=today)) == expected, today
    run("check", "t.std", today="tomorrow", status=USAGE, says="FISSION_TODAY: 'tomorrow' is not a date; write YEAR-MONTH-DAY")
    run("check", "t.std", today="2026-02-29", status=USAGE, says="is not a day of the calendar")


# ---- What is hidden, counted and told.


def test_default_file():
    put("t.std", TRACE)
    assert suppressed(check()) == set()
    put("fission.supp", "atomicity:withdraw\n")
    assert suppressed(check()) == {WITHDRAW}
    assert suppressed(check("--suppressions=")) == set()
    put("other", "atomicity:refill\n")
    assert suppressed(check("--suppressions=other")) == {SLOT, USED}
    assert suppressed(check("--suppressions=other,fission.supp", status=CLEAN)) == ALL
    assert "fission.supp" not in run("check", "--suppressions=", "t.std", status=FINDINGS).err
    assert run("check", "t.std", status=FINDINGS).err == ""
    assert "fission: fission.supp is read\n" in run("check", "--verbose", "t.std", status=FINDINGS).err


def test_reason_and_place_are_told():
    put("t.std", TRACE)
    put("fission.supp", '# who\n\natomicity:withdraw reason="see \\"#812\\"" owner=ana expires=2027-06-30\n')
    r = check()
    f = next(f for f in r["findings"] if names(f) == WITHDRAW)
    assert (f["suppressed"], f["suppression_reason"]) == ("fission.supp:3", 'see "#812"'), f
    assert r["suppressions"] == [
        {
            "place": "fission.supp:3", "rule": "atomicity:withdraw", "reason": 'see "#812"', "owner": "ana",
            "expires": "2027-06-30", "expired": False, "used": 1,
        }
    ], r["suppressions"]


def test_text_has_neither_the_finding_nor_silence():
    put("t.std", TRACE)
    id = ids(check())[WITHDRAW]
    assert id in shown(run("check", "t.std", status=FINDINGS))
    put("fission.supp", "atomicity:withdraw\n")
    done = run("check", "t.std", status=FINDINGS)
    assert shown(done) and id not in shown(done) and "1 suppressed" in done.out, done.out
    assert id in shown(run("check", "--show-hidden", "t.std", status=FINDINGS))


def test_unused_and_expired():
    put("t.std", TRACE)
    put("fission.supp", "atomicity:nobody\natomicity:withdraw expires=2020-01-01 owner=ana\natomicity:no expires=2020-01-01\n")
    done = run("check", "t.std", status=FINDINGS)
    lines = [line for line in done.out.splitlines() if line.startswith("fission: fission.supp:")]
    assert lines == [
        "fission: fission.supp:1: unused: atomicity:nobody matches no finding of this run",
        "fission: fission.supp:2: expired: atomicity:withdraw held until 2020-01-01, owner ana; it no longer hides 1 finding",
        "fission: fission.supp:3: expired: atomicity:no held until 2020-01-01; it matches nothing any more",
    ], lines
    assert ids(check())[WITHDRAW] in shown(done)
    told = [(s["used"], s["expired"]) for s in check()["suppressions"]]
    assert told == [(0, False), (1, True), (0, True)], told


def test_many_unused():
    put("t.std", TRACE)
    put("fission.supp", "".join(f"atomicity:no{i}\n" for i in range(30)))
    out = run("check", "t.std", status=FINDINGS).out
    assert out.count("unused") == 20 and "and 10 more suppressions that have expired or match nothing" in out


def test_exit_status():
    put("t.std", TRACE)
    run("check", "t.std", status=FINDINGS)
    put("fission.supp", "atomicity:withdraw\natomicity_var:slot\n")
    run("check", "t.std", status=FINDINGS)
    put("fission.supp", "atomicity:withdraw\natomicity_var:slot\natomicity_var:used\n")
    run("check", "t.std", status=CLEAN)
    put("fission.supp", "atomicity:* expires=2026-11-15\n")
    run("check", "t.std", status=FINDINGS)


def test_another_variable_takes_the_place():
    """Of findings in the same code one is shown; if that is suppressed, or known, the next one is."""
    put("t.std", TRACE)
    id = ids(check())
    first, other = [names(f) for f in check()["findings"] if names(f)[0] == "refill"]
    done = run("check", "t.std", status=FINDINGS)
    assert id[first] in shown(done) and id[other] not in shown(done) and "1 more in the same code" in done.out, done.out
    put("fission.supp", f"atomicity_var:{first[1]}\n")
    done = run("check", "t.std", status=FINDINGS)
    assert id[other] in shown(done) and id[first] not in shown(done) and "in the same code" not in done.out, done.out
    hidden = {names(f): f["hidden_by"] for f in check()["findings"]}
    assert hidden == {WITHDRAW: None, first: "suppressed", other: None}, hidden
    os.remove("fission.supp")
    put("b", id[first] + "\n")
    done = run("check", "--baseline=b", "--new-only", "t.std", status=FINDINGS)
    assert id[other] in shown(done) and id[first] not in shown(done), done.out
    hidden = {names(f): f["hidden_by"] for f in check()["findings"]}
    assert hidden == {WITHDRAW: None, first: None, other: "again"}, hidden


# ---- A run that is over.


def test_list_and_report():
    """They go by the files as they are now, not as they were when the program ran."""
    r = latest()
    id = ids(r)[WITHDRAW]
    assert id in run("list").out and id in shown(run("report"))
    run("suppress", id, "--reason=x")
    done = run("report")
    assert id not in run("list").out and id not in shown(done) and "1 suppressed" in done.out
    assert id in run("list", "--show-hidden").out and id in shown(run("report", "--show-hidden"))
    assert id in run("list", "--suppressions=").out
    told = json.loads(run("report", "--format=json").stdout)
    assert suppressed(told) == {WITHDRAW} and [s["used"] for s in told["suppressions"]] == [1]
    put("b", ids(r)[SLOT] + "\n" + ids(r)[USED] + "\n")
    assert shown(run("report", "--baseline=b", "--new-only")) == []
    assert run("list", "--baseline=b", "--new-only").out.splitlines()[0].startswith("fission: 0 findings")
    for command in ("list", "report"):
        run(command, "--suppressions=b", status=CONFIG, says="b:1:1: ")
        run(command, "--baseline=fission.supp", status=CONFIG, says="fission.supp:4:1: ")


def test_what_a_run_has_marked_is_kept():
    put("t.std", TRACE)
    put("fission.supp", "atomicity:withdraw reason=x\n")
    run("check", "--out=fission.out", "t.std", status=FINDINGS)
    os.remove("fission.supp")
    told = json.loads(run("report", "--format=json").stdout)
    assert suppressed(told) == {WITHDRAW} and [s["rule"] for s in told["suppressions"]] == ["atomicity:withdraw"]
    done = run("report")
    assert "1 suppressed" in done.out and len(shown(done)) == 1
    put("b", ids(told)[SLOT] + "\n")
    run("check", "--out=fission.out", "--baseline=b", "t.std", status=FINDINGS)
    assert shown(run("report", "--new-only")) == [ids(told)[WITHDRAW], ids(told)[USED]]


def test_run():
    """`run` reads the files before the program starts."""
    put("bad", "atomcity:f\n")
    run("run", "--no-out", "--suppressions=bad", "touch", "made", status=CONFIG, says="bad:1:1: ")
    run("run", "--no-out", "--baseline=bad", "touch", "made", status=CONFIG, says="bad:1:1: ")
    assert not os.path.exists("made")


# ---- fission suppress


def test_suppress():
    r = latest()
    id = ids(r)[WITHDRAW]
    done = run("suppress", id[:8], "--reason", 'see "#812" \\ ü', "--owner=ana b", "--expires=2027-06-30")
    line = f'atomicity_id:{id} reason="see \\"#812\\" \\\\ ü" owner="ana b" expires=2027-06-30\n'
    text = pathlib.Path("fission.supp").read_text()
    assert text.startswith("# ") and text.endswith("\n\n" + line), text
    assert done.out == "fission.supp: " + line, done.out
    assert suppressed(check()) == {WITHDRAW}
    done = run("suppress", id, "--reason=x")
    assert done.out == f"{id}: already suppressed by fission.supp:4\n", done.out
    assert pathlib.Path("fission.supp").read_text() == text
    run("suppress", ids(r)[SLOT][4:], "--reason=x")
    assert suppressed(check()) == {WITHDRAW, SLOT}
    assert pathlib.Path("fission.supp").read_text().startswith(text)


def test_suppress_by():
    r = latest()
    for by, of, line, more in (
        ("function", SLOT, "atomicity:refill", {SLOT, USED}),
        ("variable", SLOT, "atomicity_var:slot", {SLOT}),
        ("lock", WITHDRAW, "atomicity_lock:mu", {WITHDRAW}),
        ("file", USED, "atomicity_file:src/cache.c", {SLOT, USED}),
        ("id", USED, "atomicity_id:" + ids(r)[USED], {USED}),
    ):
        done = run("suppress", ids(r)[of], "--reason=x", f"--by={by}", "--file=supp/x" if by == "id" else "--file=x",
                   status=UNFIT if by == "id" else CLEAN)
        if by == "id":
            os.mkdir("supp")
            done = run("suppress", ids(r)[of], "--reason=x", f"--by={by}", "--file=supp/x")
            os.rename("supp/x", "x")
        assert pathlib.Path("x").read_text().splitlines()[-1] == line + ' reason="x"'
        assert ("also suppresses 1 other finding" in done.out) == (len(more) > 1), done.out
        assert suppressed(check("--suppressions=x")) == more, by
        os.remove("x")
    run("suppress", ids(r)[SLOT], "--reason=x", "--by=lock", status=USAGE, says="the finding has no lock that is known; use --by=id")
    run("suppress", ids(r)[SLOT], "--reason=x", "--by=varable", status=USAGE, says="did you mean 'variable'?")


def test_suppress_refuses():
    run("suppress", "fsn-00000000", "--reason=x", status=USAGE, says="fission.out: No such file or directory; 'fission run")
    r = latest()
    id = ids(r)[WITHDRAW]
    run("suppress", id, status=USAGE, says="suppress: no reason given")
    run("suppress", id, "--reason=", status=USAGE, says="suppress: no reason given")
    run("suppress", "--reason=x", status=USAGE)
    run("suppress", "fsn-zzzz", "--reason=x", status=USAGE, says="no finding 'fsn-zzzz' in fission.out")
    run("suppress", "fsn-", "--reason=x", status=USAGE, says="'fsn-' begins more than one id of fission.out")
    run("suppress", "", "--reason=x", status=USAGE, says="no finding ''")
    wrong = id[:-1] + ("0" if id[-1] != "0" else "1")
    run("suppress", wrong, "--reason=x", status=USAGE, says=f"did you mean '{id}'?")
    for option in ("reason", "owner"):
        run("suppress", id, "--reason=x", f"--{option}=a\nb", status=USAGE, says=f"--{option} has the control character 0x0a")
        run("suppress", id, "--reason=x", f"--{option}=a\x1bb", status=USAGE, says="control character 0x1b")
    run("suppress", id, "--reason=x", "--expires=2027-02-30", status=USAGE, says="'2027-02-30' is not a day of the calendar")
    run("suppress", id, "--reason=x", "--expires=2026-11-15", status=USAGE, says="2026-11-15 is over")
    assert not os.path.exists("fission.supp")
    put("fission.supp", "atomcity:f\n")
    run("suppress", id, "--reason=x", status=CONFIG, says="fission.supp:1:1: unknown kind 'atomcity'")
    assert pathlib.Path("fission.supp").read_text() == "atomcity:f\n"


def test_suppress_again_after_expiry():
    id = ids(latest())[WITHDRAW]
    put("fission.supp", f"atomicity_id:{id} expires=2020-01-01")
    run("suppress", id, "--reason=x")
    assert pathlib.Path("fission.supp").read_text() == f'atomicity_id:{id} expires=2020-01-01\natomicity_id:{id} reason="x"\n'
    assert suppressed(check()) == {WITHDRAW}


def test_suppress_at_the_same_time():
    r = latest()
    env = {**os.environ, "FISSION_TODAY": TODAY}
    many = [
        subprocess.Popen([fission, "suppress", id, "--reason=x"], env=env, stdout=subprocess.DEVNULL)
        for id in ids(r).values() for _ in range(3)
    ]
    assert [p.wait() for p in many] == [0] * len(many)
    text = pathlib.Path("fission.supp").read_text()
    assert text.count("\natomicity_id:") == 3, text


def test_suppress_waits_for_another_one():
    """Whoever holds the directory is let finish: its line is not lost."""
    id = ids(latest())[WITHDRAW]
    fd = os.open(".", os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    waiting = subprocess.Popen([fission, "suppress", id, "--reason=x"], stdout=subprocess.DEVNULL)
    try:
        waiting.wait(0.5)
        raise AssertionError("it did not wait")
    except subprocess.TimeoutExpired:
        put("fission.supp", "atomicity:other\n")
    os.close(fd)
    assert waiting.wait() == 0
    assert pathlib.Path("fission.supp").read_text() == f'atomicity:other\natomicity_id:{id} reason="x"\n'


def test_suppress_keeps_the_file():
    """The permissions and the link stay; a directory that cannot be written to loses nothing."""
    id = ids(latest())[WITHDRAW]
    put("real.supp", "# mine\r\n")
    os.chmod("real.supp", 0o640)
    os.symlink("real.supp", "fission.supp")
    run("suppress", id, "--reason=x")
    assert os.path.islink("fission.supp") and stat.S_IMODE(os.stat("real.supp").st_mode) == 0o640
    assert pathlib.Path("real.supp").read_bytes().startswith(b"# mine\r\natomicity_id:")


def renamed(function):
    """A run whose finding in withdraw is in a function of another name."""
    r = latest()
    for f in r["findings"]:
        if names(f) == WITHDRAW:
            f["function"] = f["block"]["function"] = function
    put("fission.out/findings.json", json.dumps(r))
    return ids(latest(to="other"))[WITHDRAW]


def test_diff_calls_functions_what_reports_do():
    for name, called in (("withdraw", "withdraw(): "), ("a::{lambda()#1}::operator()", "operator(): "), ("lib.so+0x1f", "+0x1f: ")):
        renamed(name)
        assert called in run("diff", "fission.out", "fission.out").out, name


def test_names_with_anything_in_them():
    """A line made from a hostile name is read back, and suppresses what it was made for."""
    for name in ('operator*<a b, "c">\\?', "\ufffd#x reason=", "^a$", "\x01\x1b[31m\n#", "<script>", "y" * 10000, "#"):
        id = renamed(name)
        run("suppress", id, "--reason=x", "--by=function")
        line = run("diff", "--show-hidden", "fission.out", "fission.out").out
        assert line.count("(suppressed)") == 1 and "\x1b" not in line, (name, line)
        assert pathlib.Path("fission.supp").read_text().count("\n") == 4, name
        os.remove("fission.supp")


# ---- fission baseline


def test_baseline():
    r = latest()
    done = run("baseline")
    assert done.out == "fission.baseline: 3 findings, 3 of them new\n", done.out
    text = pathlib.Path("fission.baseline").read_text()
    lines = [line for line in text.splitlines() if line and line[0] != "#"]
    assert lines == sorted(lines) and [line.split()[0] for line in lines] == sorted(ids(r).values())
    assert f"{ids(r)[WITHDRAW]} # withdraw: balance" in lines, lines
    assert all(f["known"] for f in check("--baseline=fission.baseline")["findings"])
    assert not any(f["known"] for f in check()["findings"])
    run("check", "--baseline=fission.baseline", "t.std", status=FINDINGS)
    done = run("check", "--new-only", "t.std", status=CLEAN)
    assert shown(done) == [] and "3 known" in done.out, done.out
    assert shown(run("check", "--new-only", "--show-hidden", "t.std")) == []
    for words in ((), ("--show-hidden",)):
        assert run("list", "--new-only", *words).out == "fission: 0 findings; 3 known from the baseline\n"
    run("baseline", status=USAGE, says="baseline: fission.baseline exists; add what is new with --update")
    run("baseline", "-o", "again")
    assert pathlib.Path("again").read_text() == text


def test_baseline_of_hidden_ones():
    """What is suppressed or of a bad rank is frozen, too."""
    r = latest()
    put("fission.supp", "atomicity:*\n")
    run("baseline")
    assert pathlib.Path("fission.baseline").read_text().count("\nfsn-") == len(r["findings"]) == 3


def test_baseline_update():
    r = latest()
    keep = ids(r)[WITHDRAW]
    put("b", f"# ours\n\n# talked about on Monday\n{keep} # mine\r\nfsn-00000000\nfsn-00000000\n# the end")
    done = run("baseline", "--update", "-o", "b")
    assert done.out == "b: 4 findings, 2 of them new; 1 were not in this run, and stay\n", done.out
    text = pathlib.Path("b").read_bytes().decode()
    assert text.startswith("# ours\n\nfsn-00000000\n") and text.endswith("# the end\n"), text
    assert f"\n# talked about on Monday\n{keep} # mine\n" in text, text
    run("baseline", "--update", "-o", "b")
    assert pathlib.Path("b").read_bytes().decode() == text
    put("b", "nonsense\n")
    run("baseline", "--update", "-o", "b", status=CONFIG, says="b:1:1: 'nonsense' is no id")
    assert pathlib.Path("b").read_text() == "nonsense\n"


def test_baseline_on_standard_output():
    """Nothing else is written there: what comes out is a baseline."""
    latest()
    put("piped", run("baseline", "-o", "-").out)
    run("baseline", "-o", "kept")
    assert pathlib.Path("piped").read_text() == pathlib.Path("kept").read_text()
    assert run("list", "--baseline=piped", "--new-only").out.count("fsn-") == 0


def test_baseline_of_no_findings():
    latest(b"T1|w(x)|a.c:1\n")
    assert run("baseline").out == "fission.baseline: 0 findings, 0 of them new\n"
    put("t.std", TRACE)
    run("check", "--new-only", "t.std", status=FINDINGS)


def test_new_only():
    put("t.std", TRACE)
    run("check", "--new-only", "t.std", status=USAGE, says="--new-only needs --baseline=FILE, for there is no fission.baseline here")
    r = check()
    put("b", ids(r)[WITHDRAW] + "\r\n" + ids(r)[SLOT])
    done = run("check", "--new-only", "--baseline=b", "t.std", status=FINDINGS)
    assert shown(done) == [ids(r)[USED]] and "2 known" in done.out, done.out
    assert ids(r)[WITHDRAW] in shown(run("check", "--baseline=b", "t.std", status=FINDINGS))


def test_baseline_comments_are_harmless():
    renamed("a\x01\x1b[31m\nfsn-00000000" + "y" * 5000)
    run("baseline")
    text = pathlib.Path("fission.baseline").read_bytes()
    assert b"\x1b" not in text and text.count(b"\nfsn-") == 3 and max(map(len, text.splitlines())) < 200, text
    run("check", "--new-only", "t.std")


# ---- fission diff


def test_diff():
    before = latest(TRACE, "a")
    after = latest(TRACE.replace(b"slot", b"seat").replace(b"withdraw", b"withdraw"), "b")
    new, gone = ids(after)[("refill", "seat")], ids(before)[SLOT]
    done = run("diff", "a", "b", status=FINDINGS)
    words = [line.split()[:2] for line in done.out.splitlines()]
    assert ["new", new] in words and ["gone", gone] in words and words.count(["still", ids(before)[WITHDRAW]]) == 1, done.out
    assert done.out.splitlines()[-1] == "fission: 1 new, 1 gone, 2 still there", done.out
    j = json.loads(run("diff", "--format=json", "a/findings.json", "b", status=FINDINGS).stdout)
    assert j["counts"] == {"new": 1, "gone": 1, "still": 2}
    assert [f["id"] for f in j["new"]] == [new] and [f["id"] for f in j["gone"]] == [gone]
    assert all(not f["changed"] for f in j["still"])
    assert run("diff", "a", "a").out.splitlines()[-1] == "fission: 0 new, 0 gone, 3 still there"


def test_diff_fails_on_what_counts():
    latest(TRACE, "a")
    latest(TRACE.replace(b"slot", b"seat"), "b")
    run("diff", "--fail-on=reproduced", "a", "b")
    run("diff", "--fail-on=suspected,4", "a", "b", status=FINDINGS)
    run("diff", "--fail-on=predicted,2", "b", "b")
    put("fission.supp", "atomicity_var:seat\n")
    done = run("diff", "a", "b", status=CLEAN)
    assert "fission: 0 new, 1 gone, 2 still there; not shown: 1 (--show-hidden)" in done.out, done.out
    assert "(suppressed)" in run("diff", "--show-hidden", "a", "b").out


def test_diff_of_verdict_and_rank():
    latest(TRACE, "a")
    after = latest(TRACE, "b", "--checks=blocks")
    done = run("diff", "a", "b")
    was = {f["id"]: f for f in json.loads(pathlib.Path("a/findings.json").read_text())["findings"]}
    for f in after["findings"]:
        line = next(line for line in done.out.splitlines() if f["id"] in line)
        old = was[f["id"]]
        changed = (old["verdict"], old["rank"]) != (f["verdict"], f["rank"])
        assert (f"(was {old['verdict']}, rank {old['rank']})" in line) == changed, line
    assert " of them changed" in done.out, done.out


def test_diff_refuses():
    latest(TRACE, "a")
    run("diff", "a", status=USAGE)
    run("diff", "a", "none", status=USAGE, says="none")
    put("x.json", "{}")
    run("diff", "a", "x.json", status=MALFORMED, says="x.json")
    put("x.json", b"\x00\xff")
    run("diff", "a", "x.json", status=MALFORMED, says="x.json")
    os.mkdir("empty")
    run("diff", "a", "empty", status=USAGE, says="empty: not a directory that fission has written")
    run("diff", "--format=xml", "a", "a", status=USAGE)


# ---- All of it.


def one(name, test):
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        try:
            test()
            return True
        except Exception:
            print(f"FAILED {name}")
            traceback.print_exc(file=sys.stdout)
            return False
        finally:
            os.chdir("/")


def main():
    global fission
    fission = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:]
    tests = [*table(), *((n, f) for n, f in sorted(globals().items()) if n.startswith("test_"))]
    results = [one(n, f) for n, f in tests if not wanted or any(w in n for w in wanted)]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
