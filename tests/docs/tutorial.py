#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command of docs/tutorial.md, run: tutorial.py BUILD [--root=DIR] [PAGE...]

A block ```c NAME is a file, ```diff NAME changes one, and in ```console blocks each line behind "$ " is a command and what
follows is what it prints; "..." stands for any lines, or, in a line, for any text. A comment before a block says what is
demanded where the schedule decides. With --root, commands run in that root directory, which has Fission installed. The
last line is 'N passed, M failed': one for each command.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"(?:^<!-- the schedule decides: status ([\d ]+), output: (.*) -->\n)?^```(\w+) ?(\S*)\n(.*?)^```$",
                   re.M | re.S)
VARIABLES = ("PATH", "HOME", "TMPDIR")

failed = passed = 0


def pattern_of(expected):
    """What the page shows, as an expression: lines and texts that are left out may be anything."""
    parts = []
    for line in expected:
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(re.escape(part) for part in line.split("...")) + r"\n")
    return "".join(parts)


def apply_diff(file, text):
    """Replaces the lines of the diff that are not new by those that are not old; they must be there once."""
    old = "".join(line[1:] + "\n" for line in text.splitlines() if not line.startswith("+"))
    new = "".join(line[1:] + "\n" for line in text.splitlines() if not line.startswith("-"))
    have = file.read_text()
    assert have.count(old) == 1, f"{file.name}: what is to be changed is there {have.count(old)} times"
    file.write_text(have.replace(old, new))


def commands(text):
    """Each command with the lines that follow it."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


class Shell:
    """Commands one after the other, as in one shell: `echo $?` is asked of the one before."""

    def __init__(self, room, build, root):
        self.room, self.root, self.status = room, root, 0
        self.environment = {k: v for k, v in os.environ.items() if k in VARIABLES} | {"LC_ALL": "C", "COLUMNS": "100"}
        if build:
            self.environment["PATH"] = f"{build}:{self.environment['PATH']}"
        if root:
            self.environment["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"

    def run(self, command):
        line = f"(exit {self.status}); {command}"
        words = ["sh", "-c", line]
        if self.root:
            inside = shlex.quote("/" + str(self.room.relative_to(self.root)))
            words = ["chroot", self.root, "sh", "-c", f"cd {inside} && {line}"]
        done = subprocess.run(words, cwd=self.room, env=self.environment, stdin=subprocess.DEVNULL, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.status = done.returncode
        return done.stdout


def judge(command, expected, output, free):
    """What is wrong with the output of a command, or nothing."""
    if free:
        statuses, pattern, status = free
        right = status in [int(s) for s in statuses.split()] and re.search(pattern, output)
    else:
        right = re.fullmatch(pattern_of(expected), output)
    return None if right else f"$ {command}\n{output}--- is not what the page shows:\n" + "\n".join(expected)


def check(command, expected, shell, free):
    global failed, passed
    output = shell.run(command)
    wrong = judge(command, expected, output, (*free, shell.status) if free else None)
    passed += not wrong
    failed += bool(wrong)
    if wrong:
        print(wrong)


def play(page, shell):
    for statuses, pattern, language, name, text in BLOCK.findall(page.read_text()):
        if language == "console":
            for command, expected in commands(text):
                check(command, expected, shell, (statuses, pattern) if statuses else None)
        elif name and language == "diff":
            apply_diff(shell.room / name, text)
        elif name:
            (shell.room / name).write_text(text)


def main():
    options = [word for word in sys.argv[1:] if word.startswith("--root=")]
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    root = Path(options[0][7:]).resolve() if options else None
    build = None if root else Path(words[0]).resolve()
    pages = words[1:] or [Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"]
    for page in pages:
        with tempfile.TemporaryDirectory(dir=root / "tmp" if root else None) as room:
            play(Path(page), Shell(Path(room), build, root))
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or not passed)


main()
