#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fission predict as a command: run.py BUILD_DIR

Its options, statuses and what it writes; and the way from a recording to a plan to an execution. What is predicted when
is in tests/traces/predict. The last line is 'N passed, M failed'.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
TRACES = HERE.parent / "traces"
CLEAN, USAGE, MALFORMED, FINDINGS = 0, 64, 65, 66


def run(*words, status=CLEAN):
    done = subprocess.run([BUILD / "fission", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, f"{words}: exit status {done.returncode}, not {status}: {done.stderr}"
    return done


def predict(*words, status=CLEAN):
    return json.loads(run("predict", "--format=json", *words, status=status).stdout)


def evidence(report):
    return [(f["verdict"], c["kind"]) for f in report["findings"] for c in f["checks"] if c["name"] == "predict"]


def test_jobs_do_not_matter(directory):
    files = sorted(TRACES.glob("*/*.std"))[::7]
    good = [f for f in files if "# expect: error" not in f.read_text("latin-1")]
    outputs = [subprocess.run([BUILD / "fission", "predict", "--format=json", "-j", n, *good], capture_output=True).stdout
               for n in ("1", "2", "5")]
    assert outputs[0] == outputs[1] == outputs[2]
    assert evidence(json.loads(outputs[0])), "nothing was predicted at all"


def test_tiers(directory):
    trace = TRACES / "predict" / "read-value.report.std"
    assert evidence(predict("--tier=A", "--checks=races", trace)) == []
    assert evidence(predict("--tier=B", "--checks=races", trace, status=FINDINGS)) == [("predicted", "B")]
    assert "--tier" in run("predict", "--tier=D", trace, status=USAGE).stderr


def test_window(directory):
    """A write between would have to come before something that is outside of a small window."""
    trace = directory / "window.std"
    trace.write_text("T2|r(y)|b.c:1\n" + "T3|r(z)|c.c:1\nT2|r(z)|c.c:2\nT3|w(z)|c.c:3\n" * 30 +
                     "T1|begin(f)|a.c:1\nT1|r(x)|a.c:2\nT1|w(x)|a.c:3\nT1|end(f)|a.c:4\nT2|w(x)|b.c:2\n")
    for window in ("0", "1", "5", "60"):
        found = predict("--checks=races", f"--window={window}", trace, status=FINDINGS)
        assert evidence(found) == [("predicted", "A")], window


def test_merged_with_checks(directory):
    """One block and variable is one finding, whoever has found it."""
    report = predict(TRACES / "predict" / "lock-released.report.std", status=FINDINGS)
    assert len(report["findings"]) == 1
    names = {c["name"] for c in report["findings"][0]["checks"]}
    assert {"sidetrack", "predict"} <= names, names


def test_counts_are_told(directory):
    held = run("predict", TRACES / "predict" / "lock-held.silent.std").stderr
    assert "0 candidates" in held and "1 never tried: a lock that is held throughout" in held, held
    forked = run("predict", TRACES / "predict" / "fork-before.silent.std").stderr
    assert "1 never tried: fork, join or a barrier" in forked, forked
    assert run("predict", "--quiet", TRACES / "predict" / "lock-held.silent.std").stderr == ""


def test_wrong_traces(directory):
    bad = directory / "bad.std"
    bad.write_text("T1|acq(m)|a.c:1\nT2|acq(m)|a.c:2\n")
    assert "bad.std:2:" in run("predict", bad, status=MALFORMED).stderr
    run("predict", directory / "missing.std", status=USAGE)
    empty = directory / "empty.std"
    empty.write_text("")
    assert predict(empty)["findings"] == []
    assert predict("--lenient", bad)["findings"] == []


def test_plans_need_addresses(directory):
    said = run("predict", f"--plans={directory}/plans", TRACES / "predict" / "lock-released.report.std", status=USAGE).stderr
    assert "fission record" in said, said


def test_from_recording_to_execution(directory):
    """Recorded, predicted, and executed: what Bob has set is lost."""
    program, trace, plans = directory / "bank", directory / "bank.ftr", directory / "plans"
    subprocess.run([BUILD / "fission-cc", "-g", "-pthread", HERE / "bank.c", "-o", program], check=True)
    # Without steps, as few changes of threads as there can be: Alice first, then Bob.
    assert run("record", "--strategy=plan", "--values", "-o", trace, program).stdout == "7\n"
    report = predict(f"--plans={plans}", trace, status=FINDINGS)
    assert ("predicted", "A") in evidence(report), evidence(report)
    assert report["findings"][0]["block"]["function"] == "withdraw"
    for _ in range(10):
        done = run("record", f"--order={plans}/1.order", "-o", directory / "again.ftr", program)
        assert done.stdout == "10\n", done.stdout
    split = json.loads(run("check", "--format=json", "--checks=causal,races", directory / "again.ftr", status=FINDINGS).stdout)
    assert [f["verdict"] for f in split["findings"]] == ["observed"]


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    failed = 0
    for name, test in tests:
        with tempfile.TemporaryDirectory() as directory:
            try:
                test(pathlib.Path(directory))
            except (AssertionError, OSError, ValueError, LookupError, subprocess.SubprocessError) as failure:
                failed += 1
                print(f"{name}: {failure!r}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
