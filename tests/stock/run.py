#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs as they are, under `fission run`: run.py BUILD [NAME...]

Each program of programs/ is built by the plain compiler, and with fission-cc. As it is, under `fission run`, its output
and status are those of the program alone, and what is found is what its comment says:

  blame: FUNCTION...   a finding is about each of them
  never: FUNCTION...   no finding is, not even a hidden one: two calls in a row are not one
  flags: WORDS         for the compiler
  with: FILE WORDS as NAME; ...   a library beside the program
  alone                fission-cc's findings are others, as the comment says

Unless it is `alone`, the lock-level findings of both builds blame the same functions. `fission record` has a trace of it
that can be checked. Programs into which no library can be brought are refused. `fission chase` drives one at its locks.

The last line is 'N passed, M failed'.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent / "programs"
TIMEOUT = 60
UNFIT = 69
SAID = "was not built with fission-cc"


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=TIMEOUT, **options)


def words_after(what, comment):
    found = re.search(rf"\b{what}: ([^:]*?)(?=\s*(?:\b\w+:|\balone\b|$))", comment)
    return found.group(1).split() if found else []


def build(compiler, source, comment, to):
    to.mkdir()
    done = run(*compiler, "-O2", "-g", "-pthread", "-fno-ipa-icf", *words_after("flags", comment), "-I", HERE, source, "-o", to / "program")
    if done.returncode:
        return f"does not build: {done.stderr[:400]}"
    with_ = re.search(r"with: (.*?)$", comment)
    for part in with_.group(1).split(";") if with_ else []:
        words, name = part.split(" as ")
        file, *flags = words.split()
        done = run("gcc", "-O2", "-g", "-shared", "-fPIC", *flags, HERE / file, "-o", to / name.strip())
        if done.returncode:
            return f"{file} does not build: {done.stderr[:400]}"
    return None


def findings_of(fission, program, *options):
    """The report, what the run printed, its status."""
    out = program.parent / "report.json"
    done = run(fission, "run", "--no-out", "--format=json", f"--output={out}", "--exitcode=0", *options, program)
    return json.loads(out.read_text()) if out.exists() else None, done


def blocks(report):
    return {f["block"]["function"].split("(")[0] for f in report["findings"]}


def same_as_plain(done, plain):
    if done.returncode != plain.returncode:
        return f"status {done.returncode}, plain {plain.returncode}: {done.stderr[-300:]}"
    if done.stdout != plain.stdout:
        return f"output {done.stdout!r}, plain {plain.stdout!r}"
    return None


def judge_blame(comment, found):
    missing = set(words_after("blame", comment)) - found
    wrong = set(words_after("never", comment)) & found
    if missing or wrong:
        return f"not blamed: {sorted(missing)}; blamed wrongly: {sorted(wrong)}; blamed: {sorted(found)}"
    return None


def judge_trace(fission, program):
    trace = program.parent / "trace.ftr"
    done = run(fission, "record", "-o", trace, program)
    if not trace.exists():
        return f"record: {done.stderr[-300:]}"
    done = run(fission, "check", "--checks=sidetrack", "--format=json", "--exitcode=0", trace)
    if done.returncode:
        return f"check of the trace: status {done.returncode} {done.stderr[-300:]}"
    return None


def judge(build_dir, source, scratch):
    fission, comment = build_dir / "fission", source.read_text().split("*/", 2)[1].replace("\n *", " ")
    plus = source.suffix == ".cc"
    wrong = build(["g++" if plus else "gcc"], source, comment, scratch / "plain")
    if wrong:
        return wrong
    program = scratch / "plain" / "program"
    plain = run(program)
    report, done = findings_of(fission, program)
    if not report or SAID not in done.stderr:
        return f"not run as it is: {done.stderr[-300:]}"
    wrong = same_as_plain(done, plain) or judge_blame(comment, blocks(report)) or judge_trace(fission, program)
    if wrong or "alone" in comment:
        return wrong
    wrong = build([build_dir / ("fission-c++" if plus else "fission-cc")], source, comment, scratch / "rebuilt")
    if wrong:
        return wrong
    rebuilt, done = findings_of(fission, scratch / "rebuilt" / "program", "--checks=sidetrack")
    if SAID in done.stderr:
        return "the rebuilt program is taken for one that is not"
    if blocks(rebuilt) != blocks(report):
        return f"as it is {sorted(blocks(report))}, rebuilt {sorted(blocks(rebuilt))}"
    return None


def judge_shell(fission, scratch):
    """Its accesses are seen: the shell can make no threads, and stands back."""
    program, trace = scratch / "hooks", scratch / "shell.txt"
    (scratch / "hooks.c").write_text("int x; int main(void) { x = 1; return 7; }\n")
    run(fission.parent / "fission-cc", "-O0", scratch / "hooks.c", "-o", program)
    done = run(fission, "record", "-o", trace, "sh", "-c", f"{program}; exit $?")
    if done.returncode != 7 or SAID in done.stderr:
        return f"status {done.returncode}: {done.stderr[-300:]}"
    return None if "|w(" in trace.read_text() else "no write is in the trace"


def refusals(fission, scratch):
    """(name, what is wrong)"""
    source = scratch / "empty.c"
    source.write_text("int main(void) { return 5; }\n")
    script = scratch / "script"
    builds = {"static": ["gcc", "-static"], "static-pie": ["gcc", "-static-pie"], "musl": ["musl-gcc"], "setuid": ["gcc"]}
    for name, compiler in builds.items():
        program = scratch / name
        try:
            done = run(*compiler, source, "-o", program)
        except FileNotFoundError:
            continue
        if name == "setuid":
            if os.getuid():
                continue
            os.chown(program, 12345, 12345)
            program.chmod(0o4755)
        done = run(fission, "run", "--no-out", program)
        good = done.returncode == UNFIT and "without rebuilding" in done.stderr
        yield f"refused: {name}", None if good else f"status {done.returncode}: {done.stderr[-300:]}"
    source.write_text("#include <pthread.h>\nint main(int n, char **v) { pthread_t t; if (n > 9) pthread_create(&t, 0, 0, v); return 5; }\n")
    run("gcc", source, "-o", scratch / "empty")
    script.write_text(f"#!{scratch}/empty\n")
    script.chmod(0o755)
    done = run(fission, "run", "--no-out", script)
    good = done.returncode == 5 and SAID in done.stderr
    yield "a script", None if good else f"status {done.returncode}: {done.stderr[-300:]}"
    yield "a shell that starts a program with hooks", judge_shell(fission, scratch)


def at_lock_level(fission, scratch):
    """(name, what is wrong): a search that drives a program at its locks, and traces of locks."""
    programs = HERE.parent.parent.parent
    bank, correct = scratch / "bank", scratch / "correct"
    run("gcc", "-O0", "-g", "-pthread", programs / "examples/bank.c", "-o", bank)
    run("gcc", "-O0", "-g", "-pthread", programs / "tests/programs/live/bank_correct.c", "-o", correct)
    done = run(fission, "chase", "--format=json", "--output=chased.json", bank, cwd=scratch)
    report = json.loads((scratch / "chased.json").read_text())
    found = [(f["verdict"], f["block"]["function"]) for f in report["findings"] if not f["hidden"]]
    yield "chase", None if found == [("reproduced", "withdraw")] and "driven at its locks" in done.stderr else f"{found} {done.stderr}"
    done = run(fission, "replay", "--count=5", report["findings"][0]["id"], cwd=scratch)
    yield "replay", None if done.returncode == 0 and "5 of 5 times" in done.stderr else done.stderr
    done = run(fission, "chase", "--no-out", correct, cwd=scratch)
    yield "chase, nothing to find", None if done.returncode == 0 and "reproduced: 0" in done.stderr else done.stderr
    done = run(fission, "chase", "--no-out", "--quiet", "--exitcode=3", bank, cwd=scratch)
    yield "chase, how it ends", None if done.returncode == 3 and "was split, at lock level" in done.stderr else done.stderr
    (scratch / "waits.c").write_text(WAITS)
    run("gcc", "-pthread", scratch / "waits.c", "-o", scratch / "waits")
    for trace in ("waits.ftr", "waits.std"):
        done = run(fission, "record", "-o", trace, scratch / "waits", cwd=scratch)
        yield f"record {trace}", None if done.returncode == 0 else done.stderr
        for command in ("check", "predict"):
            done = run(fission, command, trace, cwd=scratch)
            good = done.returncode == 0 and "no accesses to memory are in this trace" in done.stderr
            yield f"{command} {trace}", None if good else done.stderr


WAITS = """#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static void *run(void *p) { pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return p; }
int main(void)
{
	pthread_t t;
	pthread_mutex_lock(&m);
	pthread_create(&t, 0, run, 0);
	while (!ready)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	return pthread_join(t, 0);
}
"""


def main():
    build_dir, names = Path(sys.argv[1]).resolve(), sys.argv[2:]
    sources = [s for s in sorted(HERE.iterdir()) if s.suffix in (".c", ".cc") and "A part of" not in s.read_text()[:200]]
    sources = [s for s in sources if not names or s.stem in names]
    failed = passed = 0
    with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(2) as pool:
        places = [Path(top) / s.name for s in sources]
        for place in places:
            place.mkdir()
        results = list(zip((s.name for s in sources), pool.map(judge, [build_dir] * len(sources), sources, places)))
        if not names:
            results += refusals(build_dir / "fission", Path(top))
            results += at_lock_level(build_dir / "fission", Path(top))
        for name, wrong in results:
            passed += not wrong
            failed += bool(wrong)
            if wrong:
                print(f"{name}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
