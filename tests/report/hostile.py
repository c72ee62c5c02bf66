#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names that mean no good, in every form of the report.

usage: hostile.py BUILD_DIR

Two ways in: stories with names that JSON can hold, through the reader; and traces with names that are no UTF-8, through
`fission check`. Each form must show all of them harmlessly: CHECKS says what that is. A form without a check fails. The
last line is 'N passed, M failed'.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import make_story
import sarif_shape

COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
LONGEST = 4000  # bytes of a line: names of ten thousand are cut
LONGEST_GCC = 12000  # the path of a file, which an editor opens, may be as long as a path can be
ISLAND = re.compile(r'<script[^>]*type="application/(?:[a-z.+-]*)json"[^>]*>(.*?)</script', re.S)

# In a trace a name holds no control character; a place may hold a tab. {} is replaced by each.
TRACE = b"""\
main|fork(NAME1)|FILE:1
main|fork(NAME2)|FILE:2
NAME1|begin(NAME3)|FILE:3
NAME1|acq(NAME4)|FILE:4
NAME1|r(NAME5)=100|FILE:5
NAME1|rel(NAME4)|FILE:6
NAME2|acq(NAME4)|FILE:7
NAME2|w(NAME5)=20|FILE:8
NAME2|rel(NAME4)|FILE:9
NAME1|acq(NAME4)|FILE:10
NAME1|w(NAME5)=-60|FILE:11
NAME1|rel(NAME4)|FILE:12
NAME1|end(NAME3)|FILE:13
"""
BYTES = [
    b"\xff\xfe\xfd", b"cut\xc3", b"\xc0\xafoverlong", b"\xed\xa0\x80surrogate", b"\xf4\x90\x80\x80beyond", b"<script>\x80",
    b"\x9b31m", b"'\"\\&", b"%%n%s", b"\xe2\x80\xaebackwards", b"[a]%28b%29", b"{0}", b"x" * 10000, b"\xff" * 3000,
]


def text(out, words, most=LONGEST):
    encoding = "utf-8" if "utf8" in words else "ascii"
    if "colour" in words:
        out = COLOUR.sub(b"", out)
    shown = out.decode(encoding)
    unseen = UNSEEN.search(shown)
    if unseen:
        yield f"holds {unseen[0]!r}: {shown[max(0, unseen.start() - 40):unseen.end() + 20]!r}"
    longest = max(map(len, out.split(b"\n")))
    if longest > most:
        yield f"has a line of {longest} bytes"


def gcc(out, words):
    yield from text(out, words, LONGEST_GCC)
    for line in out.decode("utf-8", "replace").splitlines():
        if not re.match(r"[^:].*?(:\d+)*: (error|warning|note): .|fission: |In function|.*: in ", line):
            yield f"an editor cannot take apart {line[:120]!r}"


def no_unseen(out):
    unseen = UNSEEN.search(out.decode("utf-8"))
    if unseen:
        yield f"holds {unseen[0]!r} as it is"


def as_json(out, _):
    yield from no_unseen(out)
    json.loads(out.decode("utf-8"), parse_constant=lambda name: sys.exit(f"JSON has no {name}"))


def sarif(out, words):
    yield from as_json(out, words)
    yield from sarif_shape.problems(json.loads(out))


def html(out, _):
    page = out.decode("utf-8")
    islands = ISLAND.findall(page)
    if len(islands) != 1:
        yield f"has {len(islands)} islands of data"
    for island in islands:
        if "<" in island:
            yield f"has '<' in its data: {island[island.index('<') - 40:][:80]!r}"
        json.loads(island)
    for trap in ("alert(1)", "onerror="):
        if trap in ISLAND.sub("", page):
            yield f"has {trap} outside of its data"


CHECKS = {"text": text, "gcc": gcc, "json": as_json, "sarif": sarif, "html": html}
WORDS = {"text": [[], ["utf8"], ["utf8", "colour"], ["verbose", "hidden", "80"]], "gcc": [[], ["utf8"], ["hidden"]]}


def told(check, out, words):
    """What is wrong with an output."""
    try:
        return list(check(out, words))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        return [f"{type(error).__name__}: {error}"]


class Tests:
    def __init__(self, build, directory):
        self.render, self.fission, self.directory = build / "bench" / "report_render", build / "fission", directory
        self.passed = self.failed = 0

    def expect(self, name, problems):
        self.passed += not problems
        self.failed += bool(problems)
        if problems:
            print(f"FAILED: {name}")
        for problem in problems[:5]:
            print(f"    {problem[:300]}")

    def run_of(self, command, statuses):
        done = subprocess.run(command, capture_output=True)
        bad = done.returncode not in statuses
        return done.stdout, [f"status {done.returncode}: {done.stderr.decode(errors='replace')[:300]}"] if bad else []

    def stories(self, form):
        for findings, name in ((len(make_story.HOSTILE), "hostile"), (0, "empty")):
            path = self.directory / f"{name}.json"
            path.write_text(json.dumps(make_story.make(findings=findings, hostile=True)))
            for words in WORDS.get(form, [[]]):
                out, problems = self.run_of([self.render, form, path, *words], {0})
                self.expect(f"{form}, {name} story {' '.join(words)}", problems or told(CHECKS[form], out, words))

    def traces(self, form):
        path = self.directory / "trace.std"
        for bad in BYTES:
            trace = re.sub(rb"NAME(\d)", lambda m: bad + m[1], TRACE)
            path.write_bytes(trace.replace(b"FILE", bad))
            out, problems = self.run_of([self.fission, "check", f"--format={form}", path], {66})
            words = ["utf8"] if form in WORDS else []
            self.expect(f"{form}, trace with {bad[:20]!r}", problems or told(CHECKS[form], out, words))

    def broken(self):
        """The checks themselves notice what is not harmless."""
        bad = {"text": b"a\x1b[31mb\n", "gcc": b"a\tb: error: x\n", "json": b'{"a": "\xff"}', "sarif": b'{"a": "\xe2\x80\xae"}',
               "html": b'<script type="application/json">"</b>"</script>'}
        for form, out in bad.items():
            self.expect(f"{form}: what does harm is noticed", [] if told(CHECKS[form], out, ["utf8"]) else ["it is not"])

    def run(self):
        forms, _ = self.run_of([self.render, "forms"], {0})
        for form in forms.decode().split():
            if form in CHECKS:
                self.stories(form)
                self.traces(form)
            else:
                self.expect(f"{form}: is checked", ["it is not: CHECKS in this file lacks it"])
        self.expect("there are forms", [] if len(forms.split()) >= 3 else ["there are not"])
        self.broken()
        print(f"{self.passed} passed, {self.failed} failed")
        return self.failed > 0


def main():
    with tempfile.TemporaryDirectory() as directory:
        sys.exit(Tests(pathlib.Path(sys.argv[1]), pathlib.Path(directory)).run())


if __name__ == "__main__":
    main()
