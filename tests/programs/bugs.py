#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs with an atomicity bug, and their fixed twins: bugs.py BUILD [options]

Each file of bugs/ is a program with one bug; with -DFIXED it is its twin without. None has a data race, and all are
deterministic apart from the schedule. Exit status 1, or a failed assertion, says that the bug had an effect. Twins are
atomic, not only correct: a block that looks again, or a compare and swap that starts again, is split all the same.

  // EXPECT function=F variable=V[,V...] live=default,blocks|none   what is to be found: the block, and one of the variables
  // RUN ARGUMENTS                                                  what the program is started with

Without options every program is built and run under `fission run`. In the twin nothing is found that is more than suspected.
The bug is found, if only as suspected, in every run by those that the file names: its function by the default checks, its
function and variable by `blocks`. Where one is not named, some schedule of the program does not reach what it needs.

  --runs N       so many runs of each
  --chase        `fission chase` on each: every bug is reproduced, nothing in the twins; prints the executions needed
  --time S       how long a chase may take (20)
  --replays N    and every replay of what was reproduced does the same, N times
  --strategies   the executions that pos, pct and random need beside it: medians of --seeds (20) searches of at most
                 --limit (200) executions each, until the run itself is not serializable
  --only NAMES   these programs, with commas
  --tsan         what gcc's ThreadSanitizer says of them: nothing

The last line is 'N passed, M failed'.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent / "bugs"
BLOCKS = ["--checks=blocks,races", "--blocks=all"]
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]
STRATEGIES = ("pos", "pct", "random")
FAILED_ASSERTION = 134
CLANG_EVERY = 4
TIMEOUT = 120


def run(*command, **options):
    options = {"timeout": TIMEOUT} | options
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", **options)


class Wrong(Exception):
    """What a program or a report does that it should not do."""


class Program:
    """One form of a file: with its bug or fixed, by one compiler."""

    def __init__(self, source, fixed, compiler, directory):
        text = source.read_text()
        said = dict(pair.split("=") for pair in re.search(r"^// EXPECT (.*)$", text, re.M)[1].split())
        arguments = re.search(r"^// RUN (.*)$", text, re.M)
        self.source, self.fixed, self.compiler = source, fixed, compiler
        self.function, self.variables, self.live = said["function"], said["variable"].split(","), said["live"].split(",")
        self.name = f"{source.stem}{' fixed' if fixed else ''}, {compiler}"
        self.binary = directory / f"{source.stem}-{compiler}{'-fixed' if fixed else ''}"
        self.command = [self.binary, *(arguments[1].split() if arguments else [])]
        self.define = ["-DFIXED"] if fixed else []

    def build(self, build):
        built = run(build / "fission-cc", *FLAGS, *self.define, self.source, "-o", self.binary,
                    env=os.environ | {"FISSION_CC": self.compiler})
        if built.returncode:
            raise Wrong(built.stderr)

    def is_expected(self, finding):
        return finding["block"]["function"] == self.function and any(
            same_variable(told, wanted) for told in finding["variables"] for wanted in self.variables)


def same_variable(told, wanted):
    """Elements go by their array. Compilers may take a struct apart; then its own name is all that is left."""
    told = re.sub(r"\[\d*\]", "", told)
    return told == wanted or wanted.startswith((told + ".", told + "->"))


def brief(finding):
    return f"{finding['block']['function']}({','.join(finding['variables'])}) {finding['verdict']}, rank {finding['rank']}"


def report_of(build, program, command, *options, **more):
    """What the tool says, and how the program ended."""
    path = Path(f"{program.binary}.json")
    path.unlink(missing_ok=True)
    ended = run(build / "fission", command, *options, "--exitcode=0", "--format=json", "-o", path, "--", *program.command, **more)
    if not path.exists():
        raise Wrong(f"{command}: no report, status {ended.returncode}: {ended.stderr.strip()}")
    return json.loads(path.read_text()), ended


def live_report(build, program, *options):
    report, ended = report_of(build, program, "run", "--no-out", *options)
    if ended.returncode not in ((0,) if program.fixed else (0, 1, FAILED_ASSERTION)):
        raise Wrong(f"the program ends with status {ended.returncode}: {ended.stderr.strip()}")
    if report["counts"]["races"]:
        raise Wrong("a data race")
    return report["findings"]


def check_live(build, program):
    found = live_report(build, program)
    if program.fixed:
        sure = [brief(f) for f in found if f["verdict"] != "suspected"]
        if sure:
            raise Wrong(f"false: {'; '.join(sure)}")
        return
    if "default" in program.live and not any(f["block"]["function"] == program.function for f in found):
        raise Wrong(f"not found: {[brief(f) for f in found]}")
    found = live_report(build, program, *BLOCKS)
    if "blocks" in program.live and not any(program.is_expected(f) for f in found):
        raise Wrong(f"not found by blocks: {[brief(f) for f in found]}")


def check_tsan(program):
    binary = f"{program.binary}-tsan"
    built = run("gcc", *FLAGS, *program.define, "-fsanitize=thread", program.source, "-o", binary)
    if built.returncode:
        raise Wrong(built.stderr)
    said = run("setarch", "-R", binary, *program.command[1:]).stderr
    if "WARNING: ThreadSanitizer" in said:  # it crashes in C11 threads, which it does not know
        raise Wrong(said)


def attempt(what, *arguments):
    """Why it went wrong, or None."""
    try:
        what(*arguments)
    except (Wrong, subprocess.TimeoutExpired, OSError, ValueError, KeyError, TypeError) as error:
        return str(error) if isinstance(error, Wrong) else repr(error)
    return None


def programs(options, directory):
    sources = sorted(HERE.glob("*.c"))
    if options.only:
        sources = [HERE / f"{name}.c" for name in options.only.split(",")]
    for i, source in enumerate(sources):
        compilers = ("gcc", "clang") if options.both or i % CLANG_EVERY == 0 else ("gcc",)
        for compiler in compilers:
            for fixed in (False, True):
                yield Program(source, fixed, compiler, directory)


def live_fault(options, program):
    wrong = attempt(program.build, options.build)
    for _ in range(options.runs):
        wrong = wrong or attempt(check_live, options.build, program)
    if options.tsan:
        wrong = wrong or attempt(check_tsan, program)
    return wrong


def live(options, directory):
    """How many went well, and how many did not."""
    every = list(programs(options, directory))
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for program, wrong in zip(every, pool.map(lambda p: live_fault(options, p), every)):
            failed += bool(wrong)
            if wrong:
                print(f"{program.name}: {wrong}", flush=True)
    return len(every) - failed, failed


def search(options, program, command, *more):
    """The report of a search, what it says on standard error, its seconds, and its directory."""
    out = Path(f"{program.binary}.out")
    start = time.monotonic()
    ended = run(options.build / "fission", command, *more, f"--out={out}", "--exitcode=0", "--format=json",
                "-o", f"{out}.json", "--", *program.command, timeout=options.time + TIMEOUT)
    if not (out / "findings.json").exists():
        raise Wrong(f"{command}: status {ended.returncode}: {ended.stderr.strip()}")
    return json.loads((out / "findings.json").read_text()), ended.stderr, time.monotonic() - start, out


def said_number(pattern, text):
    said = re.search(pattern, text)
    return int(said[1]) if said else None


def check_replays(options, out, finding):
    """Every replay ends as the first: status 0 says that it did."""
    again = run(options.build / "fission", "replay", f"--count={options.replays}", "--expect=present",
                out / "replays" / f"{finding['id']}.replay", timeout=TIMEOUT + options.replays)
    if again.returncode:
        raise Wrong(f"replay of {brief(finding)}: status {again.returncode}: {again.stderr.strip()}")


def check_chase(options, program, row):
    """Executions are those up to the first one with the expected finding; of a twin, or in vain, all."""
    report, said, seconds, out = search(options, program, "chase", "--verbose", f"--time={options.time}s")
    reproduced = [f for f in report["findings"] if f["verdict"] == "reproduced"]
    wanted = [f for f in reproduced if program.is_expected(f)]
    took = [said_number(rf"{f['id']}: reproduced in execution (\d+)", said) for f in wanted]
    row |= {"executions": min(took) if took else said_number(r"executions: (\d+)", said), "seconds": seconds}
    if program.fixed:
        if reproduced or report.get("failures"):
            raise Wrong(f"false: {[brief(f) for f in reproduced]} {report.get('failures')}")
        return
    if not wanted:
        raise Wrong(f"not reproduced: {[brief(f) for f in reproduced]} {report.get('failures')}")
    for finding in reproduced if options.replays else []:
        check_replays(options, out, finding)


def executions_by(options, program, strategy, first):
    """How many seeds it takes until the block is split for all to see; more than the limit if they do not do."""
    seed, last = first, first + options.limit - 1
    while seed <= last:
        report, said, _, _ = search(options, program, "run", "--chaos", f"--strategy={strategy}", f"--first-seed={seed}",
                                    f"--seeds={last - seed + 1}", "--checks=causal", "--fail-on=observed,4")
        seed = said_number(r"seed (\d+) of", said)
        if any(f["block"]["function"] == program.function and f["verdict"] == "observed" for f in report["findings"]):
            return seed - first + 1
        seed += 1
    return options.limit + 1


def median_of(options, program, strategy):
    """None: more than the limit."""
    middle = statistics.median(executions_by(options, program, strategy, 1 + i * options.limit) for i in range(options.seeds))
    return middle if middle <= options.limit else None


def table_line(name, *cells):
    return f"{name:<20}" + "".join(f"{str(cell):>10}" for cell in cells)


def cells_of(options, program, row):
    cells = [row.get("executions", "-"), f"{row['seconds']:.1f}" if "seconds" in row else "-"]
    for strategy in STRATEGIES if options.strategies and not program.fixed else ():
        median = median_of(options, program, strategy)
        cells.append("never" if median is None else f"{median:g}")
    return cells


def chase(options, directory):
    passed, failed = 0, 0
    print(table_line("program", "chase", "seconds", *(STRATEGIES if options.strategies else ())))
    for program in programs(options, directory):
        if program.compiler != "gcc":
            continue
        row = {}
        wrong = attempt(program.build, options.build) or attempt(check_chase, options, program, row)
        print(table_line(program.name.split(",")[0], *cells_of(options, program, row)), flush=True)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"{program.name}: {wrong}", flush=True)
    return passed, failed


def parsed(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda path: Path(path).absolute())
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--chase", action="store_true")
    parser.add_argument("--time", type=int, default=20)
    parser.add_argument("--replays", type=int, default=0)
    parser.add_argument("--strategies", action="store_true")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--only")
    parser.add_argument("--both", action="store_true", help="every program with gcc and with clang")
    parser.add_argument("--tsan", action="store_true")
    return parser.parse_args(words)


def main():
    options = parsed(sys.argv[1:])
    with tempfile.TemporaryDirectory() as directory:
        passed, failed = (chase if options.chase or options.strategies else live)(options, Path(directory))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
