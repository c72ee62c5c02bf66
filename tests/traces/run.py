#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces as tests: run.py FISSION_BINARY [FILES...]

Each file says in '# expect:' lines what the checks find in it (docs/traces.md, "Tests in traces"). A file with N
checks named in it is N + 2 tests: each check alone; the way to binary and back; all of them again from binary.
Without FILES, every *.std below this directory is a test. The last line is 'N passed, M failed'.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

KEYS = ("block", "thread", "variable", "at", "verdict", "sites", "kind", "rank", "rule", "hidden", "again", "enclosing", "values")
HAZARDS = {"race": "races", "deadlock": "deadlocks"}  # what to expect of a check: what the JSON has it under
VALUES = "nonatomic"  # whose evidence --values adds
CLEAN, MALFORMED, FINDINGS = 0, 65, 66


class Failure(Exception):
    pass


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    done.stderr = done.stderr.decode("utf-8", "replace")
    return done


# The file, as far as its tests must know it. This is a reader of its own, so that the tool's is not its own judge.


class Trace:
    def __init__(self, path):
        self.path = path
        self.lines = path.read_bytes().decode("latin-1").split("\n")
        self.event_lines = [i for i, line in enumerate(self.lines, 1) if line.strip() and not line.startswith("#")]
        self.error = None
        self.done = {}  # check: what the tool did with the text, which two tests ask for
        self.checks = {}  # (checks, options...): list of expected findings, each a dict
        for line in self.lines:
            if line.startswith("# expect:"):
                self.expectation(line.removeprefix("# expect:").split())
        if not self.error and not self.checks:
            raise Failure("no '# expect:' line")
        if self.error and self.checks:
            raise Failure("an error and a finding cannot both be expected")

    def expectation(self, words):
        if len(words) == 2 and words[0] == "error" and re.fullmatch(r"\d+:\d+", words[1]) and not self.error:
            self.error = words[1]
            return
        options = [word.replace("@/", f"{self.path.parent}/") for word in words[1:] if word.startswith("--")]
        check, words = (words[0], *options), [word for word in words[1:] if not word.startswith("--")]
        if words == ["none"] and check not in self.checks:
            self.checks[check] = []
        elif words and words[0] in ("violation", *HAZARDS) and self.checks.get(check, True):
            pairs = [word.partition("=") for word in words[1:]]
            wrong = [key for key, equals, _ in pairs if key not in KEYS or not equals]
            if wrong:
                raise Failure(f"unknown property '{wrong[0]}'; there are {' '.join(KEYS)}")
            want = {key: unescape(value) for key, _, value in pairs}
            if words[0] in HAZARDS:
                want["hazard"] = words[0]
            self.checks.setdefault(check, []).append(want)
        else:
            raise Failure(f"cannot make sense of '# expect: {' '.join((*check, *words))}'")

    def line_of(self, event):
        return self.event_lines[event - 1] if 0 < event <= len(self.event_lines) else None


NUMBER = re.compile(r"\d+|0[xX][0-9a-fA-F]+")
ESCAPE = re.compile("%([0-9a-fA-F]{2})")
ESCAPED = set("|()=,%-#x \t")
SIZED = {"r": 1, "w": 1, "atomic_load": 2, "atomic_store": 2, "atomic_rmw": 2}  # op: parts behind the variable
ADDRESSED = {*SIZED, "alloc", "free"}


def unescape(text):
    def one(match):
        byte = chr(int(match[1], 16))
        return byte if byte in ESCAPED else match[0]

    return ESCAPE.sub(one, text)


def number(text):
    return int(text, 16 if text[:2] in ("0x", "0X") else 10)


def arguments(op, text):
    """The arguments as a list: a variable is an address or a name, the rest numbers and names."""
    tail = []
    if op in SIZED:
        parts = text.split(",")
        if SIZED[op] == 2:
            tail = [parts.pop()]
        if len(parts) > 1 and NUMBER.fullmatch(parts[-1]):
            tail.insert(0, number(parts.pop()))
        text = ",".join(parts)
    elif op in ("alloc", "barrier", "wait"):
        text, _, last = text.rpartition(",")
        tail = [unescape(last) if op == "wait" else number(last)]
    if op in ADDRESSED and re.fullmatch("0x[0-9a-fA-F]+", text) and int(text, 16) < 2**64:
        return [int(text, 16), *tail]
    return [unescape(text), *tail]


def events(text):
    """The events of a text trace with what they stand for, and its modules."""
    stacks, found, modules = {"0": ()}, [], []
    for line in text.split("\n"):
        line = line.rstrip(" \t\r")
        if line.startswith("# stack:"):
            words = line.removeprefix("# stack:").split(None, 3) + ["-", "-"]
            stacks[words[0]] = (stacks[words[1]], unescape(words[2]), unescape(words[3]))
        elif line.startswith("# module:"):
            words = line.removeprefix("# module:").split(None, 3) + ["-", "-"]
            modules.append((number(words[0]), number(words[1]), unescape(words[2]), unescape(words[3])))
        elif line and not line.startswith("#"):
            fields = line.split("|")
            thread, body, place, stack = fields + ["", "0"][len(fields) - 2 :]
            op, _, rest = body.partition("(")
            inside, _, value = rest.rpartition(")")
            value = value[1:] and (-number(value[2:]) if value[1] == "-" else number(value[1:]))
            found.append((unescape(thread), op, arguments(op, inside), value, unescape(place.rstrip()), stacks[stack]))
    return found, modules


# What the tool says, in the words of the expectations.


def site(access):
    parts = [str(access[key]) for key in ("file", "line") if access[key] is not None]
    return ":".join(parts) or "-"


def properties(trace, check, finding):
    evidence = [c for c in finding["checks"] if c["name"] == check]
    if len(evidence) != 1:
        raise Failure(f"evidence is {finding['checks']}, not one of {check}")
    last = [a for a in finding["accesses"] if a["role"] == "second"]
    return {
        "block": finding["block"]["function"],
        "thread": finding["block"]["thread"],
        "variable": last[0]["variable"],
        "at": str(trace.line_of(evidence[0]["event"])),
        "verdict": finding["verdict"],
        "kind": evidence[0]["kind"],
        "rank": str(finding["rank"]),
        "rule": finding["rules"][0],
        "hidden": "yes" if finding["hidden"] else "no",
        "again": "yes" if finding["again"] else "no",
        "enclosing": ",".join(name or "-" for name in finding["enclosing"]),
        "sites": ",".join(site(a) for a in finding["accesses"]),
        "values": "".join(c["kind"] for c in finding["checks"] if c["name"] == VALUES) or "-",
    }


def hazard_properties(trace, name, hazard):
    """`at` is the last of its operations."""
    return {
        "hazard": name,
        "variable": hazard["variable"],
        "at": str(trace.line_of(max(a["event"] for a in hazard["accesses"]))),
        "sites": ",".join(site(a) for a in hazard["accesses"]),
    }


def hazards(trace, check, report):
    """Those that the check looks for."""
    return [hazard_properties(trace, name, h) for name, key in HAZARDS.items() if key == check for h in report[key]]


def fails(finding):
    """Whether the finding alone makes the exit status 66, as long as nobody says otherwise."""
    return finding["verdict"] != "suspected" and finding["rank"] <= 2 and not finding["hidden"]


def fits(want, have):
    return all(have.get(key) == value for key, value in want.items())


def match(wants, haves):
    """Whether the expectations can be given to the findings one to one."""
    if not wants:
        return not haves
    return any(fits(wants[0], have) and match(wants[1:], haves[:i] + haves[i + 1 :]) for i, have in enumerate(haves))


def show(sign, each):
    return "".join(f"\n    {sign} " + " ".join(f"{k}={v}" for k, v in one.items()) for one in each)


def test_error(fission, trace):
    done = run(fission, "check", "--format=json", trace.path)
    place = f"{trace.path}:{trace.error}: "
    told = re.findall(re.escape(str(trace.path)) + r":(\d+:\d+): ", done.stderr)
    if done.returncode != MALFORMED:
        raise Failure(f"exit status is {done.returncode}, not {MALFORMED}\n    {done.stderr.strip()}")
    if told != [trace.error]:
        raise Failure(f"place of the error\n    - {trace.error}\n    + {' '.join(told)}: {done.stderr.strip()}")
    if not json.loads(done.stdout)["traces"][0]["error"].startswith(place):
        raise Failure("the error is not in the JSON")


def command(fission, checks, options):
    """What runs the checks: predictions have a command of their own, and the checks that they rest on."""
    if checks == "predict":
        return [fission, "predict", "--checks=races,deadlocks", *options, "--format=json"]
    return [fission, "check", f"--checks={checks}", *options, "--format=json"]


def on_text(fission, trace, check):
    """The tool on the file itself, once for all that want to know."""
    if check not in trace.done:
        trace.done[check] = run(*command(fission, check[0], check[1:]), trace.path)
    return trace.done[check]


def test_check(fission, trace, check):
    checks, *options = check
    name = checks.split(",")[0]
    done = on_text(fission, trace, check)
    if done.returncode not in (CLEAN, FINDINGS):
        raise Failure(f"exit status is {done.returncode}: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    said = [f for f in report["findings"] if name in (c["name"] for c in f["checks"])]
    if any(c["name"] == VALUES for f in report["findings"] for c in f["checks"]) and "--values" not in options:
        raise Failure("the values were judged, and nobody asked for it")
    if checks == name and said != report["findings"]:
        raise Failure(f"a finding without evidence of {name}, which ran alone")
    have = [properties(trace, name, f) for f in said] + hazards(trace, name, report)
    if not match(trace.checks[check], have):
        raise Failure("findings" + show("-", trace.checks[check]) + show("+", have))
    for finding in report["findings"]:
        line = trace.lines[trace.line_of(finding["block"]["event"]) - 1]
        begins = line.split("|")[1].startswith("begin")
        if finding["block"]["declared"] != begins and not options:
            raise Failure(f"'declared' is {finding['block']['declared']} for a block that starts with {line}")
        if finding["block"]["declared"] and (finding["rank"] != 1 or finding["hidden"]):
            raise Failure("a declared block is not of rank 1")
    if done.returncode != (FINDINGS if any(fails(f) for f in report["findings"]) else CLEAN):
        raise Failure(f"exit status is {done.returncode}, which is not what the verdicts and ranks say")
    if report["counts"]["events"] != len(trace.event_lines):
        raise Failure(f"{report['counts']['events']} events were checked, not {len(trace.event_lines)}")


def convert(fission, to, source, target):
    done = run(fission, "trace", "convert", f"--to={to}", "-o", target, source)
    if done.returncode:
        raise Failure(f"convert --to={to}: exit status {done.returncode}: {done.stderr.strip()}")


def test_identity(fission, trace, binary, text):
    convert(fission, "binary", trace.path, binary)
    convert(fission, "text", binary, text)
    want = events(trace.path.read_bytes().decode("latin-1"))
    have = events(text.read_bytes().decode("latin-1"))
    for w, h in zip(want[0] + want[1], have[0] + have[1]):
        if w != h:
            raise Failure(f"text -> binary -> text\n    - {w}\n    + {h}")
    if want != have:
        raise Failure(f"text -> binary -> text: {len(want[0])} events became {len(have[0])}")


def test_binary(fission, trace, binary):
    for check in trace.checks:
        checks, *options = check
        both = on_text(fission, trace, check), run(*command(fission, checks, options), binary)
        reports = [json.loads(done.stdout) for done in both]
        reports = [report["findings"] + report["races"] + report["deadlocks"] for report in reports]
        for report in reports:
            for finding in report:
                del finding["trace"]
        if reports[0] != reports[1]:
            raise Failure(f"the findings of {checks} in the binary trace are not those in the text")


def tests_of(trace, directory):
    """(name, function, its arguments) of each test of a file."""
    if trace.error:
        return [("error", test_error, ())]
    binary, text = pathlib.Path(directory, "trace.ftr"), pathlib.Path(directory, "trace.std")
    return [
        *((" ".join(check).replace(f"{trace.path.parent}/", "@/"), test_check, (check,)) for check in trace.checks),
        ("identity", test_identity, (binary, text)),
        ("binary", test_binary, (binary,)),
    ]


def test_file(fission, path):
    """The number of tests that passed, and what to say about those that did not."""
    try:
        trace = Trace(path)
    except Failure as failure:
        return 0, [f"{path}: {failure}"]
    passed, failures = 0, []
    with tempfile.TemporaryDirectory() as directory:
        for name, test, arguments_ in tests_of(trace, directory):
            try:
                test(fission, trace, *arguments_)
                passed += 1
            except (Failure, ValueError, LookupError, subprocess.TimeoutExpired) as failure:
                reason = failure if isinstance(failure, Failure) else repr(failure)
                failures.append(f"{path}: {name}: {reason}")
    return passed, failures


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: run.py FISSION_BINARY [--every=N | FILES...]")
    fission = os.path.abspath(sys.argv[1])
    every = [int(word.partition("=")[2]) for word in sys.argv[2:] if word.startswith("--every=")]
    named = [pathlib.Path(word) for word in sys.argv[2:] if not word.startswith("--every=")]
    files = named or sorted(pathlib.Path(__file__).parent.rglob("*.std"))[:: every[0] if every else 1]
    passed, failed = 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for good, failures in pool.map(lambda f: test_file(fission, f), files):
            passed += good
            failed += len(failures)
            for failure in failures:
                print(failure)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
