#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documentation as a whole: pages.py FISSION_BINARY

Every command and every check has a page; every link between pages leads somewhere; and code that a page says is from a file
is in that file. Each is a test for each thing; the last line is 'N passed, M failed'.
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
QUOTE = re.compile(r"^```\w+ (\S+/\S+)\n(.*?)^```$", re.M | re.S)
# Pages that hold two commands, and commands that are a part of another.
SHARED = {"c++": "cc", "list": "report", "show": "report"}

failed = passed = 0


def test(name, right):
    global failed, passed
    passed += bool(right)
    failed += not right
    if not right:
        print(f"{name}: FAILED")


def words_of(fission, *command, heading):
    """The first words of the indented lines below a heading of a help text."""
    text = subprocess.run([fission, *command], capture_output=True, text=True, check=True).stdout
    part = re.search(rf"^{heading}:?\n((?:  .*\n)+)", text, re.M)
    return re.findall(r"^  (\S+)", part[1], re.M)


def pages():
    found = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=TOP, capture_output=True, text=True)
    names = found.stdout.split() if found.returncode == 0 else [str(p.relative_to(TOP)) for p in TOP.glob("**/*.md")]
    return [TOP / name for name in names if (TOP / name).exists()]


def test_links(page):
    for link in LINK.findall(re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)):
        if "://" not in link:
            test(f"{page.relative_to(TOP)}: the link to {link}", (page.parent / link).exists())


def test_quotes(page):
    for name, text in QUOTE.findall(page.read_text()):
        file = TOP / name
        test(f"{page.relative_to(TOP)}: what it quotes of {name}", file.exists() and text in file.read_text())


def main():
    fission = Path(sys.argv[1]).resolve()
    for command in words_of(fission, "--help", heading="Commands"):
        page = SHARED.get(command, command)
        test(f"a page for the command {command}", (TOP / "docs" / f"{page}.md").exists())
    for check in words_of(fission, "check", "--help", heading="Values of --checks"):
        test(f"a page for the check {check}", (TOP / "docs" / "checks" / f"{check}.md").exists())
    for page in pages():
        test_links(page)
        test_quotes(page)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or not passed)


main()
