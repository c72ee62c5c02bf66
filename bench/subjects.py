# SPDX-License-Identifier: MIT
"""The programs of bench/programs, for the tables of bench/papers.py: their sizes, what is wrong with them, and their runs.

What is wrong with a program stands at its head: `// BUG function: why` and `// BENIGN function: why`. For the collections,
the functions that their headers list as not atomic. Whatever else a check reports is a false alarm of it.

Functions that are not static are the public methods of the original, for policies that ask for these.
"""

import json
import pathlib
import re
import shutil
import subprocess
import time
from dataclasses import dataclass

import cells
import runtime

SOURCES = pathlib.Path(__file__).resolve().parent / "programs"
SCHEDULES = 3  # traces of each program
FINDINGS = 66
PATIENCE = 120  # seconds
SHOWS = b"validation failed"  # what a program says when its own bug has shown


@dataclass(frozen=True)
class Subject:
    """A program with its arguments: for time, for traces, for searches, and for the time of what looks at every access."""

    name: str
    size: tuple
    trace: tuple
    chase: tuple
    small: tuple = ()

    def source(self):
        return SOURCES / f"{self.name}.c"

    def truth(self):
        """{function: "bug" or "benign"}"""
        lines = re.findall(r"^// (BUG|BENIGN) (\w+):", self.source().read_text(), re.M)
        return {function: word.lower() for word, function in lines}

    def lines(self):
        return sum(1 for _ in self.source().open())


@dataclass(frozen=True)
class Collection:
    """A library and its table of operations; a trace for each pair that Figure 6 of Wang and Stoller runs."""

    name: str
    library: tuple

    def sources(self):
        return [SOURCES / "collections" / f"{n}.c" for n in (f"{self.name}_pairs", *self.library)]

    def truth(self):
        """The functions that the headers name, without the name of the library."""
        names = {}
        for n in self.library:
            text = (SOURCES / "collections" / f"{n}.h").read_text().split("*/")[1]
            prose = re.sub(r"\s+\*\s+", " ", text)
            listed = re.findall(rf"^ \*\t{n}_(\w+)", text, re.M) + re.findall(rf"atomic all the same, {n}_(\w+)", prose)
            names.update(dict.fromkeys(listed, "violation"))
            names.update({m: "violation" for line in re.findall(r"within one \w+, (.*?)which", text, re.S)
                          for m in re.findall(rf"{n}_(\w+)", line)})
        if self.name == "stack":
            names.pop("new_from", None)  # a constructor is not inherited
        return names

    def lines(self):
        return sum(1 for n in self.library for _ in (SOURCES / "collections" / f"{n}.c").open())


# Java Grande's programs at its size A, with four threads, as the papers have them; the others at what takes as long as there.
SUBJECTS = {s.name: s for s in (
    Subject("elevator", ("4", "4000"), ("4", "200"), ("2", "4"), ("4", "4000")),
    Subject("tsp", ("4", "16"), ("4", "9"), ("2", "6", "3"), ("4", "15")),
    Subject("sor", ("4", "100"), ("4", "4", "40"), ("2", "2", "8"), ("4", "20")),
    Subject("hedc", ("8", "200"), ("8", "24"), ("3", "4"), ("8", "200")),
    Subject("moldyn", ("4", "10"), ("4", "2", "2"), ("2", "1", "1"), ("4", "60", "4")),
    Subject("montecarlo", ("4", "2000"), ("4", "60", "60"), ("2", "3", "5"), ("4", "400")),
    Subject("raytracer", ("4", "100"), ("4", "16", "8"), ("2", "8", "8"), ("4", "60")),
    Subject("philo", ("5", "20000"), ("5", "200"), ("3", "3")),
    Subject("barrier", ("4", "5000"), ("4", "200"), ("2", "3")),
    Subject("sync", ("4", "100000"), ("4", "400"), ("2", "3")),
    Subject("forkjoin", ("47", "40"), ("47", "4"), ("3", "1")),
    Subject("lufact", ("4", "500"), ("4", "40"), ("2", "4")),
    Subject("series", ("4", "2000"), ("4", "20"), ("2", "2")),
    Subject("crypt", ("4", "3000000"), ("4", "4000"), ("2", "16")),
    Subject("jigsaw", ("8", "2000"), ("8", "200"), ("3", "8"), ("8", "2000")),
    Subject("jbb", ("8", "200000"), ("8", "1500"), ("3", "40"), ("8", "40000")),
)}
COLLECTIONS = {c.name: c for c in (
    Collection("string_buffer", ("string_buffer",)),
    Collection("vector", ("vector",)),
    Collection("hashtable", ("hashtable",)),
    Collection("stack", ("stack", "vector")),
)}


def check_command(command, statuses=(0, FINDINGS), **more):
    done = subprocess.run([str(w) for w in command], capture_output=True, text=True, errors="replace", **more)
    if done.returncode not in statuses:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {done.returncode}: {done.stderr.strip()[-300:]}")
    return done


class Workshop:
    """Builds programs, records traces, and asks the tool about them. Everything is made when it is needed, and kept."""

    def __init__(self, build, directory):
        self.build, self.directory = build.absolute(), directory.absolute()
        self.fission = self.build / "fission"
        self.directory.mkdir(parents=True, exist_ok=True)
        self.tool = cells.digest(self.fission, self.build / "driver" / "libfission.so")
        self.homes = {}

    def home(self, subject):
        """A directory for what was made of a subject as it is now; of what it was before nothing is kept."""
        if subject.name not in self.homes:
            sources = [subject.source()] if isinstance(subject, Subject) else subject.sources()
            home = self.directory / f"{subject.name}.{cells.digest(self.tool, subject, *sources)}"
            for old in self.directory.glob(f"{subject.name}.*"):
                if old != home:
                    shutil.rmtree(old)
            home.mkdir(exist_ok=True)
            self.homes[subject.name] = home
        return self.homes[subject.name]

    def program(self, subject):
        """Built with fission-cc for traces and searches."""
        out = self.home(subject) / subject.name
        if not out.exists():
            sources = [subject.source()] if isinstance(subject, Subject) else subject.sources()
            include = [] if isinstance(subject, Subject) else ["-I", SOURCES / "collections"]
            check_command([self.build / "fission-cc", "-O1", "-g", "-pthread", *include, *sources, "-o", out, "-lm"])
        return out

    def exported(self, subject):
        """A configuration that names the public functions; of a collection, none: its operations are declared."""
        conf = self.home(subject) / "exported.conf"
        if not conf.exists():
            listed = check_command(["nm", "-g", "--defined-only", self.program(subject)]).stdout
            names = [line.split()[2] for line in listed.splitlines() if " T " in line]
            conf.write_text("".join(f"exported {n}\n" for n in names if n != "main" and not n.startswith("_")))
        return conf

    def operations(self, collection):
        """(those that take another object, those that do not)"""
        listed = check_command([self.program(collection), "list"]).stdout
        kinds = re.findall(r"^operation (\S+) (other|alone)$", listed, re.M)
        return [n for n, k in kinds if k == "other"], [n for n, k in kinds if k == "alone"]

    def runs(self, subject):
        """The arguments of each run that is recorded."""
        if isinstance(subject, Subject):
            return [subject.trace] * SCHEDULES
        others, alone = self.operations(subject)
        return [("crossed", a, b) for a in others for b in alone]

    def traces(self, subject):
        paths = [self.home(subject) / f"{i}.ftr" for i in range(len(self.runs(subject)))]
        if not all(p.exists() for p in paths):
            for path, words in zip(paths, self.runs(subject)):
                part = path.with_suffix(".part.ftr")
                self.record(part, subject, words)
                part.rename(path)
        return paths

    def record(self, path, subject, words):
        check_command([self.fission, "record", "-q", "--values", "-o", path, "--", self.program(subject), *words],
                      statuses=(0, 1), timeout=PATIENCE)

    def report(self, *words, **more):
        """(the report as JSON, seconds)"""
        start = time.monotonic()
        done = check_command([self.fission, *words], timeout=PATIENCE * 3, cwd=self.directory, **more)
        return json.loads(done.stdout), time.monotonic() - start

    def checked(self, subject, check, *options):
        """What a check says of the program's traces. For a program, exported functions and sections; else operations."""
        policy = ["--atomic=annotated"] if isinstance(subject, Collection) else []
        report, seconds = self.report("check", f"--checks={check}", "--format=json", *policy, *options, *self.traces(subject))
        return report["findings"], seconds, report

    def public(self, subject, locks_only=False):
        """Export+Synch, or Synch, as options."""
        if isinstance(subject, Collection):
            return []
        return ["--atomic=locks"] if locks_only else ["--atomic=exported+locks", f"--config={self.exported(subject)}"]


class Clock(runtime.Bench):
    """The times of programs, by the rules of bench/runtime.py."""

    def arguments(self, program, size):
        return list(size)

    def limit(self, program, size):
        return PATIENCE

    def command(self, column, program, size):
        words = super().command(column, program, size)
        return [str(self.builds.exported(program)) if w == "EXPORTED" else w for w in words]

    def once(self, column, program, size, watch=False):
        """A run in which the program's bug has shown is one as well: it took as long."""
        wrong, done = super().once(column, program, size, watch)
        return "" if done.out.strip().endswith(SHOWS) else wrong, done

    def time(self, program, column, runs, size=None):
        """{seconds, cpu, program, collector, wrong}: the best of so many runs, and the memory of one more."""
        size = size or (program.small if column.small else program.size)
        if not self.usable(column, program):
            return {"wrong": "not there"}
        wrong, first = self.once(column, program, size, watch=True)
        mine, other = self.peaks(column, program, first)
        value = {"wrong": wrong, "program": mine, "collector": other, "seconds": first.seconds, "cpu": first.cpu}
        for _ in range(0 if wrong or first.seconds > PATIENCE / 4 else runs):
            value["wrong"], done = self.once(column, program, size)
            if value["wrong"]:
                break
            value["seconds"], value["cpu"] = min(value["seconds"], done.seconds), min(value["cpu"], done.cpu)
        return value


class Builds(runtime.Builds):
    """As those of bench/runtime.py, of our programs, and their exported functions."""

    def __init__(self, workshop):
        home = workshop.directory / "timed"
        home.mkdir(exist_ok=True)
        super().__init__(workshop.build, home, sources=SOURCES)
        self.workshop = workshop

    def exported(self, program):
        return f"--config={self.workshop.exported(program)}"


def clock_of(workshop):
    return Clock(Builds(workshop), workshop.fission, workshop.directory / "timed", threads=4)
