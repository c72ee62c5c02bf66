#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shape of the sources: who may include whom, and what no file may hold. Each rule is a test.

usage: layers.py [TOP]

The last line is 'N passed, M failed'.
"""

import pathlib
import re
import subprocess
import sys

# From the bottom to the top: a folder may include from itself and from those to the left of it.
ORDER = "base event symbols state policy finding check sched runtime predict report collect chase symbolic scale cli".split()

# Within src/check: the seam, which every analysis may use. No analysis includes another one; a file whose name begins
# with an analysis's and an underscore is a part of it.
SEAM = {"check.h", "facts.h", "path.h", "run.h", "scene.h", "scope.h", "section.h", "surroundings.h", "uses.h"}
TABLE = "all.c"  # knows all analyses

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
UNFINISHED = re.compile(r"\b(TO[D]O|FIX[M]E)\b")
MACHINE = re.compile(r"(?<![\w.~])/(?:wor[k]|hom[e]|roo[t])(?:/|\b)")
SOURCES = (".c", ".h", ".def", ".py", ".sh")
BUILD_FILES = ("meson.build", "meson_options.txt", "Makefile", "run")


def tracked(top):
    """Every file of the project, new ones included; what git ignores is not the project's."""
    listed = subprocess.run(
        ["git", "-C", top, "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, text=True
    )
    if listed.returncode == 0:
        names = sorted({name for name in listed.stdout.split("\0") if name})
    else:
        names = sorted(str(p.relative_to(top)) for p in top.rglob("*") if not str(p.relative_to(top)).startswith("build"))
    return [name for name in names if (top / name).is_file()]


class Project:
    def __init__(self, top):
        self.top = top
        self.text = {}  # path: content, without binary files
        for name in tracked(top):
            data = (top / name).read_bytes()
            if b"\0" not in data:
                self.text[name] = data.decode("utf-8", "replace")
        self.code = {n: t for n, t in self.text.items() if n.startswith("src/") and n.endswith((".c", ".h", ".def"))}

    def includes(self, name):
        """The files of src/ that a file includes, as (what is written, folder, file name)."""
        for written in INCLUDE.findall(self.code[name]):
            path = pathlib.PurePath(written)
            if len(path.parts) == 1:
                path = pathlib.PurePath(name).relative_to("src").parent / written
            yield written, path.parts[0], path.name


def folder(name):
    return pathlib.PurePath(name).parts[1]


def includes_exist(p):
    for name in p.code:
        for written, _, _ in p.includes(name):
            beside = pathlib.PurePath(name).parent / written
            if f"src/{written}" not in p.code and str(beside) not in p.code:
                yield f'{name}: "{written}" is neither in src/ nor beside it'


def folders_are_known(p):
    for name in p.code:
        if folder(name) not in ORDER:
            yield f"{name}: tests/layers.py does not know where {folder(name)}/ stands"


def includes_go_down(p):
    for name in p.code:
        for written, target, _ in p.includes(name):
            if folder(name) in ORDER and target in ORDER and ORDER.index(target) > ORDER.index(folder(name)):
                yield f'{name}: "{written}": {folder(name)}/ stands below {target}/'


def family(name):
    return pathlib.PurePath(name).stem.partition("_")[0]


def analyses_are_apart(p):
    for name in p.code:
        path = pathlib.PurePath(name)
        if folder(name) != "check" or path.name == TABLE:
            continue
        for written, target, file in p.includes(name):
            if target == "check" and file not in SEAM and family(file) != family(path.name):
                yield f'{name}: "{written}" is another analysis'


def own_header_comes_first(p):
    for name in p.code:
        path = pathlib.PurePath(name)
        header = path.with_suffix(".h")
        if path.suffix != ".c" or str(header) not in p.code:
            continue
        first = INCLUDE.search(p.code[name])
        system = re.search(r"^\s*#\s*include\s+<", p.code[name], re.M)
        if not first or pathlib.PurePath(first[1]).name != header.name or (system and system.start() < first.start()):
            yield f"{name}: does not include {header.name} first"


def files_have_a_licence(p):
    for name, text in p.text.items():
        path = pathlib.PurePath(name)
        if path.suffix not in SOURCES and path.name not in BUILD_FILES:
            continue
        if "SPDX-License-Identifier: MIT" not in "\n".join(text.split("\n", 2)[:2]):
            yield f"{name}: does not start with its SPDX line"


def nothing_is_unfinished(p):
    for name, text in p.text.items():
        for i, line in enumerate(text.split("\n"), 1):
            if UNFINISHED.search(line):
                yield f"{name}:{i}: {line.strip()}"


def lines_end_clean(p):
    for name, text in p.text.items():
        if name.startswith(("tests/traces/", "tests/fuzz/")) and not name.endswith((".py", ".c", ".sh")):
            continue
        for i, line in enumerate(text.split("\n"), 1):
            if line.rstrip() != line:
                yield f"{name}:{i}: blanks at the end of the line"
        if text and not text.endswith("\n"):
            yield f"{name}: no newline at the end"


def paths_are_relative(p):
    for name, text in p.text.items():
        for i, line in enumerate(text.split("\n"), 1):
            if MACHINE.search(line):
                yield f"{name}:{i}: a path of one machine: {line.strip()}"


RULES = (
    includes_exist,
    folders_are_known,
    includes_go_down,
    analyses_are_apart,
    own_header_comes_first,
    files_have_a_licence,
    nothing_is_unfinished,
    lines_end_clean,
    paths_are_relative,
)


def main():
    project = Project(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent))
    failed = 0
    for rule in RULES:
        broken = list(rule(project))
        failed += bool(broken)
        for what in broken:
            print(f"{rule.__name__.replace('_', ' ')}: {what}")
    if not project.code:
        print("no sources here")
        failed = len(RULES)
    print(f"{len(RULES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
