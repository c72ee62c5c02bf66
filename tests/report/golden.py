#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every form of the report on a fixed set of stories: golden.py BUILD [--update]

golden/NAME.json is a story; golden/NAME.FORM is what the form must make of it, for each of FORMS. --update writes these
files instead: look at the difference before you commit it. Beside that, whatever the story is: plain text holds nothing
that a terminal obeys, nothing but ASCII without UTF-8, and colours change nothing else. The last line is
'N passed, M failed'.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import unicodedata

HERE = pathlib.Path(__file__).resolve().parent / "golden"
COLOUR = re.compile(rb"\x1b\[[0-9;]*m")

# What a form's file ends in: its options, the columns of the terminal, and the locale.
FORMS = {
    "json": (["--format=json"], 80, "C"),  # read and written again it is the same
    "80.txt": (["--format=text"], 80, "C"),
    "200.txt": (["--format=text"], 200, "C"),
    "80.utf8.txt": (["--format=text"], 80, "C.UTF-8"),
    "200.utf8.txt": (["--format=text"], 200, "C.UTF-8"),
    "80.colour.txt": (["--format=text", "--color=always"], 80, "C"),
    "200.colour.utf8.txt": (["--format=text", "--color=always"], 200, "C.UTF-8"),
    "verbose.txt": (["--format=text", "--verbose"], 100, "C"),
    "hidden.txt": (["--format=text", "--show-hidden"], 100, "C.UTF-8"),
    "new.txt": (["--format=text", "--new-only"], 100, "C"),
    "gcc.txt": (["--format=gcc"], 80, "C"),
    "gcc.utf8.txt": (["--format=gcc"], 80, "C.UTF-8"),
}


def render(build, story, options, columns, locale):
    """The report as bytes."""
    quiet = ("LC_CTYPE", "LANG", "NO_COLOR", "TERM")
    env = {**{k: v for k, v in os.environ.items() if k not in quiet}, "COLUMNS": str(columns), "LC_ALL": locale}
    command = [build / "fission", "report", f"--from={story}", *options]
    done = subprocess.run(command, capture_output=True, env=env, timeout=60)
    assert done.returncode == 0 and not done.stderr, f"status {done.returncode}: {done.stderr.decode('utf-8', 'replace')}"
    return done.stdout


def is_obeyed(c):
    """Whether a terminal would do something else than draw it."""
    return c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")


def check_expected(story, form, made, update):
    path = story.with_suffix("." + form)
    if update:
        path.write_bytes(made)
    expected = path.read_bytes() if path.exists() else b""
    lines = [t.decode("utf-8", "backslashreplace").splitlines() for t in (expected, made)]
    assert expected == made, "\n".join(difflib.unified_diff(*lines, path.name, "made", lineterm="", n=1))


def check_harmless(options, locale, made):
    """Nothing in it but colours, if there are to be any, moves the cursor."""
    text = COLOUR.sub(b"", made).decode("utf-8") if "--color=always" in options else made.decode("utf-8")
    bad = {c for c in text if is_obeyed(c) or (locale == "C" and ord(c) > 126)}
    assert not bad, f"the report holds {bad!r}"


def columns_of(line):
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in line)


def check_width(story, columns, made):
    """Pictures fit whatever the names are; the rest does unless names are too long, but for the tool's last words."""
    for line in COLOUR.sub(b"", made).decode("utf-8").splitlines():
        drawn = re.match(r" +(\d+ |[+┌└│|])", line)
        if drawn or not (story.stem == "hostile" or line.startswith("fission: ")):
            assert columns_of(line) <= columns, f"wider than {columns} columns: {line}"


def check_colourless(build, story, options, columns, locale, made):
    plain = render(build, story, [o for o in options if not o.startswith("--color")], columns, locale)
    assert COLOUR.sub(b"", made) == plain, "colours change more than colours"
    assert b"\x1b" not in plain
    if b"WARNING" in plain:
        assert made != plain, "there are no colours"


def check_gcc(made):
    """What an editor's pattern for gcc takes apart: a place, or who speaks, and what."""
    for line in made.decode("utf-8").splitlines():
        assert re.fullmatch(r".+?(:\d+)?(:\d+)?: (warning|note): .+", line), line
        assert "warning" not in line.split(": ")[1] or re.search(r" \[fsn-[0-9a-f]{8}\]$", line), line


def check(build, story, form, update):
    options, columns, locale = FORMS[form]
    made = render(build, story, options, columns, locale)
    check_expected(story, form, made, update)
    if form.endswith("txt"):
        check_harmless(options, locale, made)
    if "--format=text" in options:
        check_width(story, columns, made)
    if "--color=always" in options:
        check_colourless(build, story, options, columns, locale, made)
    if "--format=gcc" in options:
        check_gcc(made)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    passed = failed = 0
    stories = sorted(HERE.glob("*.json"))
    for story in stories:
        for form in FORMS:
            try:
                check(build, story, form, "--update" in sys.argv[2:])
                passed += 1
            except (AssertionError, OSError, UnicodeDecodeError) as wrong:
                print(f"{story.stem}.{form}: {wrong}")
                failed += 1
    if not stories:
        print(f"there are no stories in {HERE}")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
