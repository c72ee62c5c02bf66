#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a run's findings up: what `fission report` reads, with as many findings and whatever names one likes.

usage: make_story.py [--findings N] [--events N] [--threads N] [--hostile] [-o FILE]

Every finding is the same story told of other names: a thread checks a variable, another one changes it, the first
relies on it. With more than four events, others come in between that matter to nobody. Findings differ in rank,
verdict, hiding, suppression and baseline, by turns. The same arguments make the same file.
"""
import argparse
import json
import sys

RULES = [  # rule, rank, hidden
    ("stale-value", 1, False), ("lost-update", 1, False), ("stale-pointer", 1, False), ("pattern", 2, False),
    ("two-callees", 3, False), ("commutes", 4, False), ("same-site", 4, True),
]
VERDICTS = ("observed", "predicted", "suspected", "reproduced")

# Names that somebody might choose who means no good, or knows no better. All are UTF-8: a JSON file can hold no others.
HOSTILE = [
    "<script>alert(1)</script>", "</script><!--", "<img src=x onerror=alert(1)>", "\"quoted\" 'twice'", "back\\slash",
    "tab\tnew\nline\rreturn", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "bell\x07 and back\x08", "del\x7f",
    "c1\x9b31m", "right\u202eto left", "\u2066isolate\u2069", "zero\u200bwidth", "line\u2028para\u2029",
    "\ufeffmark", "{0} {1} {{2}}", "[click](http://example.com)", "[", "](", "]", "%s%n%d", "%41%", "${HOME} $(id) `id`",
    "&amp; &lt;", "]]>", "--> <!--", "a" * 10000, "\u00e9" * 5000, "\U0001f600 face", "e" + "\u0301" * 500, "\ud7ff\uffff",
    "C:\\windows\\x.c", "https://example.com/x.c", "file:///etc/passwd", "../../etc/passwd", "//host/share", "/abs/o lute.c",
    "a b#c?d=e&f", "lib.so+0x1234", "lib.so+0xfffffffffffffffffff", "+0x1", "-", "--help", "nul\\u0000", " ", "=1+1",
    "operator()(int) const", "std::map<int, std::vector<char*>>::operator[]", "{lambda(int)#1}", "__proto__", "constructor",
]


class Names:
    """Plain names, or hostile ones, each kind starting elsewhere in the list."""

    def __init__(self, hostile):
        self.hostile = hostile

    def name(self, kind, number):
        if self.hostile:
            return HOSTILE[(number + 7 * len(kind)) % len(HOSTILE)]
        return {"file": f"src/module_{number % 50}.c", "function": f"withdraw_{number}", "variable": f"account_{number}.balance",
                "lock": f"mu_{number % 20}", "thread": f"worker {number}"}[kind]


def place(file, line):
    return {"file": file, "line": line, "column": None}


class Story:
    def __init__(self, arguments):
        self.names = Names(arguments.hostile)
        self.count, self.events, self.threads = arguments.findings, max(arguments.events, 4), max(arguments.threads, 2)
        self.stacks, self.sources = [], {}

    def stack(self, function, file, line):
        """A new stack of three frames."""
        self.stacks.append([
            {"function": function, **place(file, line)}, {"function": "serve", **place("src/serve.c", 70)},
            {"function": "start", **place("src/serve.c", 12), "foreign": True}])
        self.sources.setdefault(file, {})[line] = f"\tif (balance_of(a) >= amount) /* {line} */"
        return len(self.stacks) - 1

    def event(self, thread, kind, number, role="", **more):
        file = self.names.name("file", number)
        line = 10 + number % 90 + more.pop("offset", 0)
        lock = kind in ("acquire", "release")
        return {"thread": thread, "role": role, "kind": kind,
                "object": self.names.name("lock" if lock else "variable", number), "data": not lock,
                "locks": kind == "acquire", "unlocks": kind == "release", "value": more.pop("value", None), "unsigned": False,
                "size": 0 if lock else 8, **place(file, line), "stack": more.pop("stack"), "event": more.pop("seq"),
                "skipped": more.pop("skipped", 0)}

    def interleaving(self, number):
        """A check, what others do meanwhile, and the update that relies on the check."""
        function, file = self.names.name("function", number), self.names.name("file", number)
        line = 10 + number % 90
        own, other = self.stack(function, file, line), self.stack(self.names.name("function", number + 1), file, line)
        seq = iter(range(100 * number + 1, 100 * number + 1 + self.events))
        rows = [self.event(1, "read", number, "first", value=100, stack=own, seq=next(seq)),
                self.event(1, "release", number, stack=own, seq=next(seq))]
        for i in range(self.events - 4):
            rows.append(self.event(1 + i % self.threads, ("acquire", "read", "release")[i % 3], number, stack=other,
                                   seq=next(seq), skipped=i % 5))
        rows += [self.event(2, "write", number, "culprit", value=20, stack=other, seq=next(seq), offset=1),
                 self.event(1, "write", number, "second", value=-60, stack=own, seq=next(seq), offset=3)]
        return rows

    def judgement(self, number):
        rule, rank, hidden = RULES[number % len(RULES)]
        suppressed = number % 11 == 10
        return {"verdict": VERDICTS[number % 3 if number % 37 else 3], "rank": rank, "hidden": hidden, "again": number % 13 == 12,
                "happened": number % 2 == 0, "by_data": True, "count": 1 + number % 9, "known": number % 17 == 16,
                "suppressed": f"fission.supp:{number}" if suppressed else None,
                "suppression_reason": self.names.name("function", number + 3) if suppressed else None,
                "rules": [rule, "plain"], "reasons": [f"because of {rule}", "and of nothing else"]}

    def finding(self, number):
        function, file = self.names.name("function", number), self.names.name("file", number)
        rows = self.interleaving(number)
        block = {"function": function, **place(file, 9 + number % 90), "thread": None, "declared": number % 5 == 4,
                 "entered": True, "event": 100 * number, "stack": [], "thread_number": 1,
                 "stack_number": rows[0]["stack"], "caller_number": None}
        return {"id": f"fsn-{number:08x}", **self.judgement(number), "trace": "run.ftr", "trace_number": 0, "function": function,
                "lock": self.names.name("lock", number), "block": block,
                "variables": [self.names.name("variable", number)], "accesses": [], "events": rows,
                "window": {"from": 1, "to": len(rows) - 2}, "enclosing": [self.names.name("function", number + 2)],
                "checks": [{"name": "sidetrack", "kind": "AFTER", "event": 100 * number + 3}], "hindrance": None,
                "hazard": None, "guessed": False,
                "fix": {"lock": self.names.name("lock", number), "from": place(file, 10 + number % 90),
                        "to": place(file, 13 + number % 90)},
                "outcomes": [{"order": "T1, T2", "serial": True, "variable": self.names.name("variable", number), "value": 20},
                             {"order": "this one", "serial": False, "variable": self.names.name("variable", number),
                              "value": -60}]}

    def hazard(self, number, kinds):
        file = self.names.name("file", number)
        rows = [self.event(1 + i % 2, kind, number + i // 2, stack=self.stack(self.names.name("function", number + i), file, 5 + i),
                           seq=i + 1) for i, kind in enumerate(kinds)]
        return {"trace": "run.ftr", "trace_number": 0, "times": 2, "accesses": [], "events": rows,
                "variable": self.names.name("variable", number) if len(kinds) == 2 else None}

    def tell(self):
        findings = sorted((self.finding(n) for n in range(self.count)), key=lambda f: f["rank"])
        races, deadlocks = [self.hazard(1, ["read", "write"])], [self.hazard(2, ["acquire"] * 4)]
        creation = self.stack("main", "src/main.c", 31)
        threads = [{"name": "main", "creator": None, "creation": None}] + [
            {"name": self.names.name("thread", n), "creator": 0, "creation": creation} for n in range(1, self.threads + 1)]
        sources = [{"file": f, "lines": [{"number": n, "text": lines[n]} for n in sorted(lines)]}
                   for f, lines in self.sources.items()]
        trace = {"path": self.names.name("file", 1), "events": 1000, "threads": len(threads), "variables": 10, "repaired": 0,
                 "skipped": 0, "complete": False, "cut": self.names.name("function", 5), "error": None, "timed": False, "repairs": [],
                 "left_out": [{"what": self.names.name("variable", 9), "times": 3}]}
        return {"version": 2, "command": "run", "program": "./bank " + self.names.name("file", 2), "status": 66,
                "fail_on": "predicted,2", "rank": 2, "findings": findings, "races": races, "deadlocks": deadlocks,
                "counts": {}, "traces": [trace], "threads": threads, "stacks": self.stacks, "sources": sources}


def make(findings=1, events=8, threads=3, hostile=False):
    return Story(argparse.Namespace(findings=findings, events=events, threads=threads, hostile=hostile)).tell()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--findings", type=int, default=1)
    parser.add_argument("--events", type=int, default=8, help="of each finding, at least 4")
    parser.add_argument("--threads", type=int, default=3)
    parser.add_argument("--hostile", action="store_true", help="names that mean no good")
    parser.add_argument("-o", dest="output", default="-")
    arguments = parser.parse_args()
    text = json.dumps(Story(arguments).tell())
    if arguments.output == "-":
        sys.stdout.write(text)
    else:
        with open(arguments.output, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
