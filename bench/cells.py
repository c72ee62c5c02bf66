# SPDX-License-Identifier: MIT
"""Tables whose cells are measured one by one, kept as they become known, and written down with where and how.

A cell is a key and a function that measures it. Its value, something that JSON can hold, is kept in BUILD/results, so that
a run that was ended goes on where it was. A value counts as long as what it was made of is the same: the tool, the
runtime, and what the cell itself names. Nothing but values gets into a table.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"


def digest(*what):
    """Of files, by their content, and of everything else, by its text."""
    h = hashlib.sha256()
    for one in what:
        h.update(one.read_bytes() if isinstance(one, pathlib.Path) else repr(one).encode())
    return h.hexdigest()[:16]


def options(argv, about, what, have):
    """A script's options: the build directory, --WHAT, which of those there are, and what to keep. Into `chosen`."""
    p = argparse.ArgumentParser(description=about)
    p.add_argument("build", type=pathlib.Path, metavar="BUILD_DIR")
    p.add_argument(f"--{what}", dest="chosen", default=",".join(have), help=f"which, with commas: {', '.join(have)}")
    p.add_argument("--fresh", action="store_true", help="forget what is known from before")
    p.add_argument("--no-write", action="store_true", help="print the tables, and leave docs/results as it is")
    given = p.parse_args(argv)
    given.chosen = given.chosen.split(",")
    if set(given.chosen) - set(have):
        p.error(f"there are {', '.join(have)}")
    return given


class Cell:
    def __init__(self, key, measure, of=()):
        self.key, self.measure, self.of = key, measure, of


class Store:
    """What is known of the cells of one command."""

    def __init__(self, build, name, fresh=False):
        self.directory = build / "results" / name
        self.directory.mkdir(parents=True, exist_ok=True)
        self.tool = digest(build / "fission", build / "driver" / "libfission.so")
        self.fresh = fresh
        self.values = {}

    def path(self, key):
        return self.directory / (re.sub(r"[^\w.,+=-]", "_", key) + ".json")

    def known(self, cell):
        """Whether the value is there; takes it."""
        try:
            kept = json.loads(self.path(cell.key).read_text())
        except (OSError, ValueError):
            return False
        if self.fresh or kept.get("of") != digest(self.tool, *cell.of):
            return False
        self.values[cell.key] = kept["value"]
        return True

    def keep(self, cell, value):
        path = self.path(cell.key)
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"key": cell.key, "of": digest(self.tool, *cell.of), "value": value}))
        part.rename(path)
        self.values[cell.key] = value

    def fill(self, cells, say, jobs=1):
        """Measures what is not known, in order; so many at a time, more than one only of what is no time."""
        missing = [c for c in cells if not self.known(c)]
        say(f"{len(cells)} cells, {len(cells) - len(missing)} known from before")
        began = time.monotonic()
        for i, (cell, value, seconds) in enumerate(measured(missing, jobs), 1):
            self.keep(cell, value)
            now = int(time.monotonic() - began)
            say(f"{i}/{len(missing)} {now // 60:02}:{now % 60:02} {cell.key} ({seconds:.1f} s)")


def timed(cell):
    start = time.monotonic()
    return cell, cell.measure(), time.monotonic() - start


def measured(cells, jobs):
    """(cell, value, seconds) as they come. One at a time are measured right here, where Ctrl-C ends them."""
    if jobs == 1:
        yield from map(timed, cells)
        return
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(timed, c) for c in cells]
        try:
            for done in concurrent.futures.as_completed(futures):
                yield done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # what has not begun is not to begin


def say_as(name):
    def say(text):
        print(f"{name}: {text}", file=sys.stderr, flush=True)
    return say


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return f"no {command[0]}"


def field(path, pattern):
    found = re.search(pattern, pathlib.Path(path).read_text())
    return found[1].strip() if found else "?"


def machine():
    """What the numbers depend on. The load is that of the minute before: much of it is somebody else."""
    memory = int(field("/proc/meminfo", r"MemTotal:\s+(\d+)")) / 1024 ** 2
    system = field("/etc/os-release", r'PRETTY_NAME="?([^"\n]*)') if os.path.exists("/etc/os-release") else platform.system()
    compilers = ", ".join((first_line("gcc", "-dumpfullversion") and f"gcc {first_line('gcc', '-dumpfullversion')}",
                           f"clang {first_line('clang', '-dumpversion')}", first_line("valgrind", "--version")))
    return [f"machine: {field('/proc/cpuinfo', r'model name.*: (.*)')}, {os.cpu_count()} cores, {memory:.0f} GB",
            f"system:  {system}, Linux {platform.release()}; {compilers}",
            f"load:    {os.getloadavg()[0]:.1f} when it began"]


class Table:
    """Lines of texts, written below what made them."""

    def __init__(self, title, commands, head):
        self.title, self.commands, self.rows, self.notes = title, commands, [head], []

    def row(self, *texts):
        self.rows.append([str(t) for t in texts])

    def note(self, text):
        self.notes.append(text)

    def lines(self):
        width = [max(len(r[i]) for r in self.rows if i < len(r)) for i in range(max(map(len, self.rows)))]
        for r in self.rows:
            first, *rest = [t.ljust(width[0]) if not i else t.rjust(width[i] + 2) for i, t in enumerate(r)]
            yield (first + "".join(rest)).rstrip()

    def text(self):
        return "\n".join([self.title, *(f"  $ {c}" for c in self.commands), "", *self.lines(), *self.notes]) + "\n"


def write(path, made_by, where, tables):
    """A file of tables under docs/results."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    head = [f"made by: {made_by}", *where]
    path.write_text("\n\n".join(["\n".join(head) + "\n", *(t.text() for t in tables)]))


def shown(value, form=".2f"):
    return "-" if value is None else format(value, form)
