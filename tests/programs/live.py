#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs from source to report: live.py BUILD

Each program of live/ is built with fission-cc for gcc and for clang and run under `fission run`, and under `fission
record` with `fission check` of the trace. Its output and status are those of the plain program, and what is found is
what its comment says. With locks only, where functions are told in fewer words, both ways find the same at the same
places. What the comments mean:

  /* expect: violation KEY=VALUE... */   one finding is shown, with these: block, variable, verdict, rank, declared, enclosing,
                                         first and second, which are the functions around these accesses
  /* expect: none */                     nothing was found at all
  /* expect: none-shown */               whatever was found is of a worse rank than people are shown
  /* expect: race */                     a data race, and no finding that rests on it is sure
  /* config: LINE */                     what a configuration file says, if there is one

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

HERE = Path(__file__).resolve().parent / "live"
TIMEOUT = 60
FINDINGS = 66


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=TIMEOUT, **options)


def functions_of(finding, role):
    """Around the access, from the innermost on."""
    return ",".join(frame["function"] for a in finding["accesses"] if a["role"] == role for frame in a["stack"])


def facts_of(finding):
    return {
        "block": finding["block"]["function"],
        "variable": ",".join(finding["variables"]),
        "verdict": finding["verdict"],
        "rank": str(finding["rank"]),
        "enclosing": ",".join(finding["enclosing"]) or "none",
        "declared": "yes" if finding["block"]["declared"] else "no",
        "first": functions_of(finding, "first"),
        "second": functions_of(finding, "second"),
    }


def shown(report):
    return [f for f in report["findings"] if f["rank"] <= 2 and not f["hidden"] and not f["again"]]


def judge(wanted, report):
    """What is wrong with the report, or nothing."""
    what, *pairs = wanted.split()
    races = report["counts"]["races"]
    if what == "none":
        return f"{len(report['findings'])} findings, {races} races" if report["findings"] or races else None
    if what == "none-shown":
        return f"shown: {[facts_of(f) for f in shown(report)]}" if shown(report) or races else None
    if what == "race":
        sure = [f for f in report["findings"] if f["verdict"] != "suspected"]
        return None if races and not sure else f"{races} races, sure of {len(sure)} findings"
    if len(shown(report)) != 1:
        return f"{len(shown(report))} are shown instead of 1: {[facts_of(f) for f in shown(report)]}"
    facts = facts_of(shown(report)[0])
    for key, value in (pair.split("=", 1) for pair in pairs):
        if facts[key] != value:
            return f"{key} is {facts[key]} instead of {value}"
    return None


def places(path):
    """The findings of a report without what may differ: numbers of events, names of locks on the heap."""
    found = json.loads(Path(path).read_text())["findings"]
    return [(f["verdict"], f["rank"], f["function"], f["block"]["stack"],
             [(a["role"], a["kind"], a["thread"], a["line"], a["stack"]) for a in f["accesses"]]) for f in found]


class Case:
    def __init__(self, build, source, compiler, directory):
        self.build, self.source, self.compiler = build, source, compiler
        self.name = f"{source.stem}, {compiler}"
        self.program = directory / f"{source.stem}-{compiler}"
        self.wanted = re.search(r"expect: (.*?) \*/", source.read_text())[1]
        self.options = self.configure(re.search(r"config: (.*?) \*/", source.read_text()))

    def configure(self, said):
        if not said:
            return []
        config = Path(f"{self.program}.conf")
        config.write_text(said[1] + "\n")
        return [f"--config={config}"]

    def check(self, way, report, result, plain):
        if result.stdout != plain.stdout:
            return f"{way}: the program says {result.stdout!r} instead of {plain.stdout!r}"
        wrong = judge(self.wanted, json.loads(Path(report).read_text()))
        return f"{way}: {wrong}" if wrong else None

    def live(self, plain):
        report = f"{self.program}.json"
        result = run(self.build / "fission", "run", "--no-out", *self.options, "--format=json", "-o", report, "--", self.program)
        wanted = FINDINGS if self.wanted.startswith("violation") else plain.returncode
        if result.returncode != wanted or result.stderr != plain.stderr:
            return f"run: status {result.returncode} instead of {wanted}; {result.stderr!r}"
        return self.check("run", report, result, plain)

    def recorded(self, plain):
        trace, report = f"{self.program}.ftr", f"{self.program}.check.json"
        result = run(self.build / "fission", "record", *self.options, "-o", trace, "--", self.program)
        if result.returncode != plain.returncode or result.stderr != plain.stderr:
            return f"record: status {result.returncode}; {result.stderr!r}"
        checked = run(self.build / "fission", "check", "--format=json", trace)
        Path(report).write_text(checked.stdout)
        return self.check("record and check", report, result, plain)

    def locks(self):
        trace, live, recorded = (f"{self.program}{end}" for end in (".ftr", ".locks.json", ".recorded.json"))
        only = [*self.options, "--checks=sidetrack", "--format=json", "-o"]
        run(self.build / "fission", "run", "--no-out", *only, live, "--", self.program)
        run(self.build / "fission", "check", *only, recorded, trace)
        a, b = places(live), places(recorded)
        return None if a == b else f"locks only: {a} live, {b} recorded"

    def fault(self):
        driver = "fission-c++" if self.source.suffix == ".cc" else "fission-cc"
        choice = {"gcc": {"FISSION_CC": "gcc", "FISSION_CXX": "g++"}, "clang": {"FISSION_CC": "clang", "FISSION_CXX": "clang++"}}
        built = run(self.build / driver, "-O1", "-Wall", "-Werror", "-pthread", self.source, "-o", self.program,
                    env=os.environ | choice[self.compiler])
        if built.returncode:
            return built.stderr
        plain = run(self.program)
        return self.live(plain) or self.recorded(plain) or self.locks()


def attempt(case):
    try:
        return case.fault()
    except (subprocess.TimeoutExpired, OSError, ValueError, KeyError, TypeError) as error:
        return repr(error)


def main():
    build = Path(sys.argv[1]).absolute()
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        sources = sorted(HERE.glob("*.c")) + sorted(HERE.glob("*.cc"))
        cases = [Case(build, s, c, Path(directory)) for s in sources for c in ("gcc", "clang")]
        with ThreadPoolExecutor(2) as pool:
            for case, wrong in zip(cases, pool.map(attempt, cases)):
                failed += bool(wrong)
                if wrong:
                    print(f"{case.name}: {wrong}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
