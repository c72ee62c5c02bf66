#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Search, replay and chaos, from source to exit status: run.py BUILD [NAMES...]

Each function test_* is a test; NAMES pick some of them. The programs are built with BUILD/fission-cc. The last line is
'N passed, M failed'.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent / "programs"
CLEAN, NOT, DIVERGED, USAGE, MALFORMED, FINDINGS, UNFIT = 0, 1, 2, 64, 65, 66, 69

build = None


class Skip(Exception):
    pass


def run(*words, status=CLEAN, says=None, stdin=b"", **more):
    """Runs the tool. Its status must be the given one, and `says` must be in what it writes to standard error."""
    done = subprocess.run([build / "fission", *words], input=stdin, capture_output=True, timeout=120, **more)
    done.err = done.stderr.decode("utf-8", "replace")
    what = f"fission {' '.join(map(str, words))}"
    assert done.returncode == status, f"{what}: exit status {done.returncode}, not {status}\n{done.err}"
    assert says is None or says in done.err, f"{what}: '{says}' is not in: {done.err}"
    return done


def compile_to(name, to=None, *flags):
    """The program in the current directory."""
    to = Path(to or name)
    to.parent.mkdir(exist_ok=True)
    command = [build / "fission-cc", "-O1", "-g", "-pthread", *flags, HERE / f"{name}.c", "-o", to]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return f"./{to}"


def chase(*words, status=FINDINGS, **more):
    """The findings as JSON, and what was said at the end."""
    done = run("chase", "--format=json", "--output=found.json", "--time=30s", *words, status=status, **more)
    found = json.loads(Path("found.json").read_text())
    found["said"] = done.err
    return found


def number(found, what):
    return int(re.search(rf"{what}: (\d+)", found["said"])[1])


def reproduced_bank():
    """The bank's one finding."""
    found = chase(compile_to("bank"), "10", "5")
    (finding,) = found["findings"]
    return found, finding


# The search.


def test_figure_2():
    found, finding = reproduced_bank()
    assert finding["verdict"] == "reproduced" and finding["replay"], finding
    assert finding["function"] == "withdraw" and finding["variables"] == ["account.balance"], finding
    roles = {a["role"]: (a["kind"], a["value"]) for a in finding["accesses"]}
    assert roles["first"] == ("read", 20) and roles["culprit"][0] == roles["second"][0] == "write", roles
    outcomes = {o["order"]: (o["serial"], o["value"]) for o in finding["outcomes"]}
    assert sorted(outcomes.values()) == [(False, 10), (True, 0), (True, 0)], outcomes
    assert "wrote what it writes in neither serial order: balance 10" in finding["then"], finding["then"]
    assert any(c["name"] == "nonatomic" and c["kind"] in ("value", "final") for c in finding["checks"]), finding["checks"]


def test_figure_2_takes_at_most_three_executions():
    """The first run, the plan, and the replay that makes sure."""
    program = compile_to("bank")
    said = run("chase", "--verbose", "--seeds=0", "--no-out", "--output=report", program, "10", "5", status=FINDINGS).err
    lines = [line for line in said.splitlines() if re.match(r"fission: execution \d+:", line)]
    counts = next(i for i, line in enumerate(lines) if "counts: 1" in line)
    assert counts <= 1 and re.match(r"fission: execution [23]:", lines[counts]), said


def test_input_is_given_to_every_execution():
    found = chase(compile_to("bank"), stdin=b"10 5\n")
    (finding,) = found["findings"]
    assert finding["verdict"] == "reproduced", finding
    replay = next(Path("fission.out/replays").iterdir()).read_text()
    assert 'stdin "10 5\\n"\n' in replay, replay
    run("replay", finding["id"])


def test_fixed_twin():
    start = time.monotonic()
    found = chase(compile_to("bank", None, "-DFIXED"), "10", "5", status=CLEAN)
    assert found["findings"] == [] and found["failures"] == [], found
    assert "nothing is left to try" in found["said"] and time.monotonic() - start < 20, found["said"]


def test_crash_is_what_the_program_did_then():
    found = chase(compile_to("crash"))
    (finding,) = found["findings"]
    assert finding["function"] == "look" and finding["verdict"] == "reproduced", finding
    assert "signal 11" in finding["then"] and "exit status 0" in finding["then"], finding["then"]
    assert found["failures"] == [], found["failures"]
    run("replay", finding["id"], "--count=5", says="reproduced 5 of 5 times")


def test_deadlock_is_kept():
    found = chase(compile_to("deadlock"))
    (failure,) = found["failures"]
    assert failure["what"] == "deadlock" and found["findings"] == [], found
    assert sum("waits at lock" in line for line in failure["lines"]) == 2, failure
    run("replay", failure["id"], "--count=3", says="reproduced 3 of 3 times")
    assert f"Reproduce: fission replay {failure['id']}" in Path("fission.out/report.txt").read_text()


def test_report_says_how_to_reproduce():
    _, finding = reproduced_bank()
    assert f"Reproduce: fission replay {finding['id']}" in Path("fission.out/report.txt").read_text()
    shown = run("show", finding["id"]).stdout.decode()
    assert "REPRODUCED" in shown and "Then: " in shown, shown


def test_one_finding():
    """From a finding of `run`, whose schedule did not show it, to one that happens."""
    program = compile_to("bank")
    run("run", "--exitcode=0", program, "10", "5")
    before = json.loads(Path("fission.out/findings.json").read_text())["findings"][0]["id"]
    found = chase(before)
    assert [f["id"] for f in found["findings"]] == [before] and found["findings"][0]["verdict"] == "reproduced", found
    run("chase", "fsn-00000000", status=USAGE, says="no finding")


def test_save():
    program = compile_to("bank")
    found = chase("--save=tests", program, "10", "5")
    name = found["findings"][0]["id"]
    assert f"fission replay --expect absent ${{CMAKE_CURRENT_LIST_DIR}}/{name}.replay" in Path("tests/replays.cmake").read_text()
    Path("Makefile").write_text("include tests/replays.mk\n")
    path = {**os.environ, "PATH": f"{build}:{os.environ['PATH']}"}
    done = subprocess.run(["make", "check-replays"], capture_output=True, text=True, env=path)
    assert done.returncode != 0 and name in done.stdout, done
    compile_to("bank", None, "-DFIXED")
    done = subprocess.run(["make", "check-replays"], capture_output=True, text=True, env=path)
    assert done.returncode == 0, done


def test_hang_is_kept():
    """It runs for ever, and makes no step."""
    Path("spin.c").write_text("int main(void) { for (volatile int i = 0;; i++) ; }\n")
    subprocess.run([build / "fission-cc", "spin.c", "-o", "spin"], check=True)
    start = time.monotonic()
    found = chase("--time=4s", "./spin")
    assert [f["what"] for f in found["failures"]] == ["hang"] and time.monotonic() - start < 20, found


def test_mistakes():
    run("chase", "--time=2s", "/bin/true", status=UNFIT, says="not built with fission-cc")
    run("chase", "./nothing", status=USAGE, says="./nothing")
    run("chase", "--time=soon", "./nothing", status=USAGE, says="takes seconds")


# Replay.


def test_replay_100_times():
    _, finding = reproduced_bank()
    done = run("replay", finding["id"], "--count", "100", says="reproduced 100 of 100 times")
    assert done.stdout == b"", done
    assert run("replay", finding["id"][:8]).stdout == b"balance 10\n"
    run("replay", finding["id"], "--expect", "absent", status=NOT)
    run("replay", finding["id"], "--expect", "present")


def test_replay_of_a_fixed_build():
    _, finding = reproduced_bank()
    compile_to("bank", None, "-DFIXED")
    run("replay", finding["id"], status=UNFIT, says="another build")
    run("replay", finding["id"], "--expect=absent", says="it is not there")
    run("replay", finding["id"], "--expect=present", status=NOT, says="it is not there")
    Path("unrelated.c").write_text("int main(void) { return 0; }\n")
    subprocess.run([build / "fission-cc", "unrelated.c", "-o", "bank"], check=True)
    run("replay", finding["id"], "--expect=absent", status=DIVERGED, says="withdraw() was never called")


def test_replay_of_another_build_with_the_bug():
    _, finding = reproduced_bank()
    compile_to("bank", None, "-O2", "-DUNUSED=1")
    run("replay", finding["id"], "--expect=absent", status=NOT, says="it is there")
    run("replay", finding["id"], "--expect=present", says="it is there")


def test_replay_of_another_program():
    _, finding = reproduced_bank()
    other = compile_to("crash")
    run("replay", finding["id"], "--", other, status=UNFIT, says="another program")


def test_replay_with_other_arguments_diverges():
    """Bob cannot pay, so his write never comes: the order cannot be followed, and where is said."""
    _, finding = reproduced_bank()
    run("replay", finding["id"], "--", "./bank", "10", "50", status=DIVERGED, says="bank.c:")


def test_bad_replay_files():
    reproduced_bank()
    whole = next(Path("fission.out/replays").iterdir()).read_text()
    half = Path("half.replay")
    lines = whole.splitlines(keepends=True)
    for n in range(0, len(lines), 3):
        half.write_text("".join(lines[:n]))
        run("replay", half, status=MALFORMED, says="half.replay:")
    half.write_text(whole.replace(" rel ", " rell ", 1))
    run("replay", half, status=MALFORMED, says="did you mean 'rel'?")
    half.write_bytes(os.urandom(5000))
    run("replay", half, status=MALFORMED, says="not a replay file")
    run("replay", "missing.replay", status=USAGE)
    run("replay", "fsn-00000000", status=USAGE, says="no replay of")


def test_edited_steps_diverge_and_end():
    """Whatever an edited file asks for, the run comes to an end."""
    reproduced_bank()
    path = next(Path("fission.out/replays").iterdir())
    lines = path.read_text().splitlines(keepends=True)
    steps = next(i for i, line in enumerate(lines) if line.startswith("steps")) + 2
    edited = Path("edited.replay")
    for change in (lambda l: re.sub(r"^\d+", "9", l), lambda l: re.sub(r"^(\d+) \d+", r"\1 1", l),
                   lambda l: re.sub(r"\+0x[0-9a-f]+", "+0x1", l)):
        edited.write_text("".join(lines[: steps + 1] + [change(lines[steps + 1])] + lines[steps + 2 :]))
        done = subprocess.run([build / "fission", "replay", edited], capture_output=True, timeout=60)
        assert done.returncode in (NOT, DIVERGED), done


def test_gdb():
    if not shutil.which("gdb"):
        raise Skip("no gdb")
    _, finding = reproduced_bank()
    done = run("replay", finding["id"], "--gdb", stdin=b"bt\nkill\nquit\n")
    out = done.stdout.decode()
    assert "SIGTRAP" in out and "in set_balance" in out and "in withdraw" in out, out


# Chaos.


def test_chaos():
    program = compile_to("bank")
    done = run("run", "--chaos", "--seeds=50", program, stdin=b"10 5\n", status=FINDINGS, says="OBSERVED")
    seed = re.search(r"pos, seed (\d+) of 1 to 50", done.err)[1]
    assert done.stdout.endswith(b"balance 10\n") and done.stdout.count(b"balance") == int(seed), done
    fixed = compile_to("bank", "fixed/bank", "-DFIXED")
    for strategy in ("pos", "pct", "random", "atomfuzzer"):
        run("run", "--chaos", f"--strategy={strategy}", "--seeds=3", fixed, "10", "5", says=f"{strategy}, seed 3 of 1 to 3")
    run("run", "--chaos", "--strategy=luck", program, status=USAGE, says="unknown value 'luck'")


def main():
    global build
    build = Path(sys.argv[1]).resolve()
    tests = {k[5:]: v for k, v in globals().items() if k.startswith("test_")}
    failed = passed = 0
    for name, test in tests.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory(prefix="fission-chase-") as here:
            os.chdir(here)
            try:
                test()
                passed += 1
            except Skip as why:
                print(f"{name}: skipped: {why}")
            except Exception:
                failed += 1
                print(f"{name}: FAILED")
                traceback.print_exc(file=sys.stdout)
            os.chdir("/")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
