#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests of real programs notice what goes wrong: test_run.py

Stands in for `fission run` with scripts that each do one thing wrong, and for apt's files with texts. The last line is
'N passed, N failed'.
"""

import argparse
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True

import run
import session
import sources

EMPTY = json.dumps({"findings": [], "races": [], "counts": {"events": 7}, "traces": [{"complete": True}]})
FAITHFUL = f"""#!/bin/sh
while [ "$1" != -- ]; do [ "$1" != --output ] || report=$2; shift; done
shift
before
"$@"
status=$?
after
[ -z "$report" ] || cat >"$report" <<'end'
{EMPTY}
end
exit $status
"""


class Echo:
    """A program that says what it reads."""

    name = "echo"

    def use(self, one, tree):
        one.call("echo", ["sh", "-c", "cat; echo careful >&2"], stdin=tree / "input")


def harness(before=":", after=":", program=None, runs=2, limit=30.0):
    """Runs a program under a script in place of fission. Returns the tally and what was printed."""
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        (top / "input").write_text("hello\n")
        script = FAITHFUL.replace("\nbefore\n", f"\n{before}\n").replace("\nafter\n", f"\n{after}\n")
        (top / "fission").write_text(script)
        (top / "fission").chmod(0o755)
        bench = run.Bench(argparse.Namespace(build=top, runs=runs, limit=limit, keep=False))
        tally = run.Tally("echo", built=True)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            bench.run(program or Echo(), (top, top), tally)
        return tally, said.getvalue()


def test_faithful():
    tally, said = harness()
    assert (tally.runs, tally.failed, tally.events, said) == (2, 0, 14, ""), (tally, said)
    assert tally.plain > 0 and tally.checked > 0


def test_other_output():
    tally, said = harness(before="echo more")
    assert (tally.different, tally.failed) == (2, 2) and "standard output" in said, said


def test_other_error():
    tally, said = harness(after="echo more >&2")
    assert (tally.different, tally.failed) == (2, 2) and "standard error" in said, said


def test_other_status():
    tally, said = harness(after="status=66")
    assert (tally.different, tally.failed) == (2, 2) and "exit status" in said, said


def test_killed():
    tally, said = harness(after="kill -9 $$")
    assert (tally.different, tally.failed) == (2, 2) and "-9" in said, said


def test_no_report():
    tally, said = harness(after="report=")
    assert (tally.unreported, tally.failed) == (2, 2) and "no report" in said, said


def test_half_a_report():
    tally, said = harness(after="printf '{' >\"$report\"; exit $status")
    assert (tally.unreported, tally.failed) == (2, 2) and "no report" in said, said


def test_hang():
    """Whoever hangs is ended, with what it started, even from a process group of its own."""
    start = time.monotonic()
    tally, said = harness(before="setsid sh -c 'sleep 1000 & wait; :'", runs=1, limit=1.0)
    assert (tally.hangs, tally.failed) == (1, 1) and "sleep: state" in said, said
    assert time.monotonic() - start < 20
    pids = [line.split()[1] for line in said.splitlines() if line.strip().startswith("process ")]
    assert len(pids) >= 3 and not any(session.is_alive(pid) for pid in pids), pids


def test_unfit_reference():
    """A plain program that fails is nothing to compare with."""

    class Broken:
        name = "broken"

        def use(self, one, tree):
            one.call("broken", ["sh", "-c", "exit 3"])

    try:
        harness(program=Broken())
    except run.Unfit as e:
        assert "exit status 3" in str(e)
    else:
        raise AssertionError("nobody noticed")


def test_unsteady_reference():
    class Counting:
        name = "counting"

        def use(self, one, tree):
            one.call("count", ["sh", "-c", f"echo >>{tree}/count; wc -l <{tree}/count"])

    tally, said = harness(program=Counting())
    assert tally.failed == 2 and "plain differs from plain" in said, said


def test_sources_of_lines():
    text = "# deb http://a b c\ndeb [arch=amd64 signed-by=/k] http://a b c\ndeb-src http://a b d\n\n"
    assert sources.lines_to_source(text) == "deb-src [arch=amd64 signed-by=/k] http://a b c\ndeb-src http://a b d\n"


def test_sources_of_stanzas():
    text = ("Types: deb\n# Types: old\nURIs: http://a\nSuites: s\nSigned-By:\n .\n key\n\n"
            "types: deb deb-src\nURIs: http://b\n\nEnabled: no\nTypes: deb\nURIs: http://c\n \n# only this\n")
    assert sources.deb822_to_source(text) == (
        "Types: deb-src\nURIs: http://a\nSuites: s\nSigned-By:\n .\n key\n\nTypes: deb-src\nURIs: http://b\n")


def test_sources_of_the_next_release():
    stanza = "Types: deb-src\nURIs: http://a/bookworm\nSuites: bookworm bookworm-updates\nSigned-By: /k/bookworm.gpg\n"
    later = "Types: deb-src\nURIs: http://a/bookworm\nSuites: trixie trixie-updates\nSigned-By: /k/bookworm.gpg\n"
    assert sources.of_next_release(stanza) == later
    assert sources.of_next_release("deb-src [x=y] http://a bookworm-security/updates main\n") == \
        "deb-src [x=y] http://a trixie-security/updates main\n"
    assert sources.of_next_release("deb-src http://a nodistro main\n") == ""


def main():
    passed = failed = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_"):
            continue
        try:
            test()
            passed += 1
        except Exception:
            failed += 1
            print(f"{name}: {traceback.format_exc()}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
