#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much slower the programs of bench/runtime become, built and run in every way: runtime.py BUILD_DIR [options]

A number is wall time as a multiple of the plain program's in the same run of this script: the minimum of a few runs that
take turns, so that a busy moment does not hit all runs of one column. Columns that cannot be had here are left out, with
a note. A run whose output is not the plain program's is named at the end, and the exit status is 1.
"""

import argparse
import math
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "real"))

import sources

SOURCES = Path(__file__).resolve().parent / "runtime"
MILLION = 1_000_000
FINDINGS = 66  # the exit status of fission when there are some
VALGRIND = ("helgrind", "drd")
BOUNDED = 1.2  # what memory may grow from 10 to 100 million events
PATIENCE = 60  # how many times longer than plain a run may take, and seconds on top


@dataclass
class Program:
    name: str
    size: int
    small: int  # for what is too slow for the size
    linear: bool = False  # events grow with the size, memory does not


PROGRAMS = (
    Program("matrix", 640, 300),
    Program("hashtable", 3000000, 500000, linear=True),
    Program("queue", 800000, 100000, linear=True),
    Program("tsp", 15, 13),
    Program("sort", 6000000, 1000000),
    Program("montecarlo", 15000, 3000, linear=True),
    Program("rbtree", 2400000, 400000, linear=True),
)


@dataclass
class Column:
    """One way to build and run. In the command, PROGRAM is the program with its arguments."""

    name: str
    build: str
    command: tuple
    collects: bool = False  # there is a second process, whose memory counts
    small: bool = False
    statuses: tuple = (0,)


FISSION = {"collects": True, "statuses": (0, FINDINGS)}
COLUMNS = (
    Column("plain", "plain", ("PROGRAM",)),
    Column("empty", "empty", ("PROGRAM",)),
    Column("idle", "fission", ("PROGRAM",)),
    Column("ring", "fission", ("FISSION", "record", "--format=none", "--", "PROGRAM"), small=True, **FISSION),
    Column("record", "fission", ("FISSION", "record", "-o", "TRACE", "--", "PROGRAM"), small=True, **FISSION),
    Column("run", "fission", ("FISSION", "run", "--no-out", "--", "PROGRAM"), **FISSION),
    Column("locks", "fission", ("FISSION", "run", "--no-out", "--checks=sidetrack", "--", "PROGRAM"), **FISSION),
    Column("gcc-tsan", "gcc-tsan", ("PROGRAM",)),
    Column("clang-tsan", "clang-tsan", ("PROGRAM",)),
    Column("helgrind", "plain", ("valgrind", "-q", "--tool=helgrind", "PROGRAM"), small=True),
    Column("drd", "plain", ("valgrind", "-q", "--tool=drd", "PROGRAM"), small=True),
)
SMALL = Column("plain, small", "plain", ("PROGRAM",), small=True)  # what the small ones are compared with


class Missing(Exception):
    """Something cannot be had here; the text says what."""


class Builds:
    """Every way to make a program: a method each, which returns its path."""

    def __init__(self, build, directory, zstd=None, sources=SOURCES):
        self.fission_cc = Path(build, "fission-cc").absolute()  # a link: its name tells what it is
        self.sources = sources
        self.directory = directory
        self.zstd = zstd
        self.made = {}  # (build, program) -> path or Missing

    def get(self, build, program):
        if (build, program) not in self.made:
            try:
                self.made[build, program] = self.make(build, program)
            except Missing as missing:
                self.made[build, program] = missing
        made = self.made[build, program]
        if isinstance(made, Missing):
            raise made
        return made

    def make(self, build, program):
        out = self.directory / f"{build}-{program}"
        if program == "zstd":
            return self.make_zstd(build)
        if build in ("empty", "count"):
            return self.with_hooks(build, program, out)
        self.run([*self.compiler(build), "-O2", "-pthread", self.sources / f"{program}.c", "-o", out, "-lm"])
        return out

    def compiler(self, build):
        return {"plain": ["gcc"], "gcc-tsan": ["gcc", "-g", "-fsanitize=thread"], "fission": [self.fission_cc],
                "clang-tsan": ["clang", "-g", "-fsanitize=thread"]}[build]

    def with_hooks(self, build, program, out):
        """Compiled exactly as for the tool, and linked with hooks of our own."""
        library = self.directory / f"lib{build}.so"
        self.run([self.fission_cc, "-O2", "-pthread", "-c", self.sources / f"{program}.c", "-o", f"{out}.o"])
        if not library.exists() or library.stat().st_mtime < (SOURCES / "empty.c").stat().st_mtime:
            flags = ["-DCOUNT"] if build == "count" else []
            self.run(["gcc", "-O2", "-fPIC", "-shared", *flags, SOURCES / "empty.c", "-o", library])
        self.run(["gcc", "-pthread", f"{out}.o", library, f"-Wl,-rpath,{self.directory}", "-o", out, "-lm"])
        return out

    def make_zstd(self, build):
        """Built from sources in a copy of them; or what somebody has built: DIRECTORY/BUILD/zstd."""
        if not (self.zstd / "programs" / "Makefile").exists():
            if not (self.zstd / build / "zstd").exists():
                raise Missing(f"zstd is not built for '{build}'")
            return (self.zstd / build / "zstd").resolve()
        if build in ("empty", "count"):
            raise Missing("zstd is not built with empty hooks")
        tree = self.directory / f"zstd-{build}"
        compiler = " ".join(map(str, self.compiler(build)))
        self.run(self.compiler(build) + ["--version"])
        shutil.copytree(self.zstd, tree)
        self.run(["make", "-C", tree / "programs", "-j2", f"CC={compiler}", "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0",
                  "zstd"])
        return tree / "programs" / "zstd"

    def run(self, command):
        if not shutil.which(command[0]):
            raise Missing(f"there is no {Path(command[0]).name}")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise Missing(f"{Path(command[0]).name} failed: {(done.stdout.strip() or '?').splitlines()[-1]}")


class Memory(threading.Thread):
    """Watches a process and those below it: the peak of resident memory of each executable, in bytes.

    The kernel keeps the peak of each process; it has to be read before the process ends, hence again and again. What
    wait4 tells is of no use: it is the greatest of the whole family, and counts what the parent had before exec.
    """

    def __init__(self, pid):
        super().__init__()
        self.pid, self.peaks, self.done = pid, {}, threading.Event()

    def run(self):
        while not self.done.wait(0.01):
            self.look(self.pid)

    def look(self, pid):
        try:
            executable = os.readlink(f"/proc/{pid}/exe")
            status = Path(f"/proc/{pid}/status").read_text()
            tasks = os.listdir(f"/proc/{pid}/task")
            below = [p for t in tasks for p in Path(f"/proc/{pid}/task/{t}/children").read_text().split()]
        except OSError:
            return  # it has ended
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                self.peaks[executable] = max(self.peaks.get(executable, 0), int(line.split()[1]) * 1024)
        for child in below:
            self.look(child)


@dataclass
class Cell:
    """What is known of one program in one column."""

    seconds: list = field(default_factory=list)  # wall time
    cpu: list = field(default_factory=list)  # seconds of all processes together
    longest: float = 0  # of all runs, untimed ones too
    wrong: str = ""  # why there is no number
    program: int = 0  # peaks of memory, bytes; 0 is unknown
    collector: int = 0

    def best(self, what="seconds"):
        times = getattr(self, what)
        return min(times) if times and not self.wrong else None


@dataclass
class Done:
    """One process that has ended."""

    status: int  # None: it took too long
    out: bytes
    err: bytes
    seconds: float
    cpu: float
    peaks: dict  # executable -> bytes

    def complaint(self):
        return (self.err.decode(errors="replace").strip() or "?").splitlines()[-1]


def wait(child, limit):
    """The exit status; None if it has taken too long and was ended, with all that it has started.

    Waiting for a descriptor ends when the process does. Popen.wait with a limit looks every 50 ms, which is a fifth of what
    some plain programs take.
    """
    ended = os.pidfd_open(child.pid)
    try:
        return child.wait() if select.select([ended], [], [], limit)[0] else None
    finally:
        os.close(ended)
        if child.poll() is None:  # also when we are told to end
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass
class Bench:
    """Runs programs in columns, and keeps what came out."""

    builds: Builds
    fission: Path
    directory: Path
    threads: int
    cells: dict = field(default_factory=dict)  # (program, column) -> Cell
    outputs: dict = field(default_factory=dict)  # (program, size) -> what the plain program prints
    events: dict = field(default_factory=dict)  # program -> hooks called at its full size
    notes: dict = field(default_factory=dict)  # an ordered set
    missing: dict = field(default_factory=dict)  # what is missing -> an ordered set of columns

    def arguments(self, program, size):
        if program.name == "zstd":
            return ["-q", "-c", "-B1048576", f"-T{self.threads}", self.input(size)]
        return [str(self.threads), str(size)]

    def input(self, size):
        """Something to compress: lines of words that are drawn in a fixed way."""
        path = self.directory / f"input-{size}"
        if not path.exists():
            state, lines = 1, []
            for _ in range(size // 64):
                words = []
                for _ in range(8):
                    state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
                    words.append(f"{(state >> 40) ** 2 % 99991:07}")
                lines.append(" ".join(words))
            path.write_text("\n".join(lines))
        return str(path)

    def command(self, column, program, size):
        words = {"FISSION": [str(self.fission)], "TRACE": [str(self.directory / "trace.ftr")],
                 "PROGRAM": [str(self.builds.get(column.build, program.name)), *self.arguments(program, size)]}
        return [w for part in column.command for w in words.get(part, [part])]

    def limit(self, program, size):
        """Seconds that a run may take."""
        name = SMALL.name if size == program.small else "plain"
        return PATIENCE * (1 + self.cells.get((program.name, name), Cell()).longest)

    def execute(self, command, watch=False, limit=600):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            before, cpu = time.monotonic(), cpu_of_children()
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=self.directory,
                                     start_new_session=True)
            memory = Memory(child.pid)
            if watch:
                memory.start()
            try:
                status = wait(child, limit)
            finally:
                memory.done.set()
            seconds, cpu = time.monotonic() - before, cpu_of_children() - cpu
            if watch:
                memory.join()
            out.seek(0)
            err.seek(0)
            return Done(status, out.read(), err.read(), seconds, cpu, memory.peaks)

    def once(self, column, program, size, watch=False):
        """Runs a program in a column; returns why it went wrong or '', and the process."""
        limit = 600 if column.name in VALGRIND else self.limit(program, size)
        done = self.execute(self.command(column, program, size), watch, limit)
        (self.directory / "trace.ftr").unlink(missing_ok=True)
        shutil.rmtree(self.directory / "fission.out", ignore_errors=True)
        if done.status is None:
            self.notes[f"{program.name}, {column.name}: ended after {done.seconds:.0f} s"] = True
            return "too long", done
        if done.status not in column.statuses:
            self.notes[f"{program.name}, {column.name}: exit status {done.status}: {done.complaint()}"] = True
            return "failed", done
        if done.out != self.outputs.setdefault((program.name, size), done.out):
            return "wrong", done
        return "", done

    def measure_once(self, column, program, watch):
        cell = self.cells.setdefault((program.name, column.name), Cell())
        if cell.wrong:
            return
        cell.wrong, done = self.once(column, program, program.small if column.small else program.size, watch)
        cell.longest = max(cell.longest, done.seconds)
        if watch:
            cell.program, cell.collector = self.peaks(column, program, done)
        else:
            cell.seconds.append(done.seconds)
            cell.cpu.append(done.cpu)

    def peaks(self, column, program, done):
        """The memory of the program, and of what collects from it."""
        mine = str(self.builds.get(column.build, program.name))
        others = [peak for executable, peak in done.peaks.items() if executable != mine]
        return done.peaks.get(mine, 0), max(others, default=0) if column.collects else 0

    def measure(self, program, columns, runs):
        """All columns in turns. The first turn warms up and looks at the memory; slow columns have one turn."""
        usable = [c for c in columns if self.usable(c, program)]
        for turn in range(runs + 1):
            for column in usable:
                if column.name not in VALGRIND or turn == 1:
                    self.measure_once(column, program, watch=turn == 0)

    def usable(self, column, program):
        try:
            self.builds.get(column.build, program.name)
            self.tool(column)
        except Missing as missing:
            self.missing.setdefault(str(missing), {})[column.name] = True
            return False
        return True

    def tool(self, column):
        """Raises Missing unless what runs the program is there."""
        first, *rest = column.command
        if first == "FISSION":
            help_ = subprocess.run([self.fission, rest[0], "--help"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
            if help_.returncode:
                raise Missing(f"fission has no '{rest[0]}'")
        elif first != "PROGRAM" and not shutil.which(first):
            raise Missing(f"there is no {first}")

    def count(self, program):
        """How many hooks a run calls; None if that cannot be known."""
        column = Column("number of events", "count", ("PROGRAM",))
        if not self.usable(column, program):
            return
        done = self.execute(self.command(column, program, program.size))
        if done.status == 0 and done.complaint().isdigit():
            self.events[program.name] = int(done.complaint())

    def ratio(self, program, column, what="seconds"):
        base = self.cells.get((program, SMALL.name if column.small else "plain"), Cell()).best(what)
        mine = self.cells.get((program, column.name), Cell()).best(what)
        return mine / base if mine and base else None


def mean(ratios):
    """The geometric mean of those that are known."""
    known = [r for r in ratios if r]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else None


def shown(value, width=11, form=".2f"):
    return f"{value:{width}{form}}" if value is not None else f"{'-':>{width}}"


class Table:
    """The slowdowns, printed line by line as they become known."""

    def __init__(self, bench, columns):
        self.bench, self.columns = bench, [c for c in columns if c.name != "plain"]
        self.programs = []

    def head(self):
        print(f"{'wall time / plain':18}{'plain, s':>9}{'noise':>7}" + "".join(f"{c.name:>11}" for c in self.columns),
              flush=True)

    def cell(self, program, column):
        cell = self.bench.cells.get((program, column.name), Cell())
        return f"{cell.wrong:>11}" if cell.wrong else shown(self.bench.ratio(program, column))

    def line(self, program):
        self.programs.append(program)
        plain = self.bench.cells[program, "plain"]
        noise = median(plain.seconds) / min(plain.seconds) if plain.seconds else None
        print(f"{program:18}{shown(plain.best(), 9, '.3f')}{shown(noise, 7)}"
              + "".join(self.cell(program, c) for c in self.columns), flush=True)

    def means(self):
        ratios = {c.name: [self.bench.ratio(p, c) for p in self.programs] for c in self.columns}
        cpu = {c.name: [self.bench.ratio(p, c, "cpu") for p in self.programs] for c in self.columns}
        print(f"{'geometric mean':34}" + "".join(shown(mean(ratios[c.name])) for c in self.columns))
        print(f"{'  of CPU time / plain':34}" + "".join(shown(mean(cpu[c.name])) for c in self.columns))
        few = [c.name for c in self.columns if any(ratios[c.name]) and not all(ratios[c.name])]
        if few:
            print(f"not of all programs: {', '.join(few)}")

    def speeds(self):
        """The number of events is the number of hooks that the program calls; locks and threads come on top."""
        if not self.bench.events:
            return
        print(f"\n{'M events / s':25}{'events, M':>9}" + "".join(f"{c.name:>11}" for c in self.columns))
        for p in self.programs:
            if p not in self.bench.events:
                continue
            best = {c.name: self.bench.cells.get((p, c.name), Cell()).best() for c in self.columns if not c.small}
            events = self.bench.events[p] / MILLION
            print(f"{p:25}{events:9.1f}" + "".join(
                shown(events / best[c.name] if best.get(c.name) else None, form=".1f") for c in self.columns))

    def memory(self):
        print(f"\n{'peak memory, MB':25}{'plain':>9}" + "".join(f"{c.name:>11}" for c in self.columns))
        for p in self.programs:
            print(f"{p:25}" + self.peaks(p, "program"))
            if any(self.bench.cells.get((p, c.name), Cell()).collector for c in self.columns):
                print(f"{'  its collector':25}" + self.peaks(p, "collector"))

    def peaks(self, program, whose):
        peaks = {name: getattr(self.bench.cells.get((program, name), Cell()), whose)
                 for name in ["plain"] + [c.name for c in self.columns]}
        return "".join(shown(peak / MILLION if peak else None, 9 if name == "plain" else 11, ".1f")
                       for name, peak in peaks.items())


def print_target(what, limit, value, where=""):
    verdict = "not measured" if value is None else "met" if value <= limit else "missed"
    print(f"{what:64}{shown(limit, 8)}{shown(value, 9)}  {verdict}{where}")


def print_targets(bench, programs):
    column = {c.name: c for c in COLUMNS}

    def ratios(name):
        return [bench.ratio(p, column[name]) for p in programs]

    def against(name, other):
        """Pairs of a program and how much slower it is in the one column than in the other."""
        return [(p, a / b) for p, a, b in zip(programs, ratios(name), ratios(other)) if a and b]

    clang, gcc = against("run", "clang-tsan"), against("run", "gcc-tsan")
    slowest = max(gcc, key=lambda pair: pair[1], default=("", None))
    print(f"\n{'targets':64}{'at most':>8}{'is':>9}")
    print_target("record, mean", 4, mean(ratios("record")))
    print_target("run, mean", 5, mean(ratios("run")))
    print_target("run / clang-tsan, mean", 1, mean(r for _, r in clang))
    print_target("run / gcc-tsan, on the worst program", 1, slowest[1], f": {slowest[0]}" if slowest[0] else "")
    print_target("locks, mean", 2, mean(ratios("locks")))


def print_growth(bench, programs, columns):
    """The collector's memory at 10 and at 100 million events."""
    print(f"\n{'peak memory of the collector, MB':40}{'10M events':>12}{'100M events':>12}{'ratio':>8}")
    for program in programs:
        for column in columns:
            if not (program.linear and column.collects and program.name in bench.events and bench.usable(column, program)):
                continue
            peaks = []
            for events in (10 * MILLION, 100 * MILLION):
                size = max(1, round(program.size * events / bench.events[program.name]))
                wrong, done = bench.once(column, program, size, watch=True)
                peaks.append(0 if wrong else bench.peaks(column, program, done)[1] / MILLION)
            growth = peaks[1] / peaks[0] if all(peaks) else None
            verdict = "no number" if growth is None else "bounded" if growth <= BOUNDED else "GROWS"
            print(f"{program.name + ', ' + column.name:40}{peaks[0]:12.1f}{peaks[1]:12.1f}{shown(growth, 8)}  {verdict}",
                  flush=True)


def chosen(what, names, have):
    """Those of a list that a comma-separated option names; all if it names none."""
    if names is None:
        return list(have)
    unknown = set(names.split(",")) - {one.name for one in have}
    if unknown:
        sys.exit(f"runtime: no such {what}: {', '.join(sorted(unknown))}; there are {', '.join(o.name for o in have)}")
    return [one for one in have if one.name in names.split(",")]


def debian_zstd(build):
    """Debian's sources of zstd, fetched once; None, with the reason, if they cannot be had."""
    tree = build / "zstd" / "source"
    try:
        dsc = sources.fetch(sources.Apt(build / "zstd" / "apt"), "libzstd", build / "zstd" / "package")
        if not tree.exists():
            sources.unpack(dsc, tree)
    except (sources.Unavailable, OSError) as e:
        return None, str(e).splitlines()[-1]
    return tree, None


def end(*_):
    """Leaves by way of every 'finally': nothing is left running or lying about. A second signal must not disturb that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit("runtime: ended")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("build", type=Path, help="the build directory, with fission and fission-cc")
    parser.add_argument("--programs", help="only these: " + ",".join(p.name for p in PROGRAMS))
    parser.add_argument("--columns", help="only these, and plain: " + ",".join(c.name for c in COLUMNS))
    parser.add_argument("--runs", type=int, default=3, help="timed runs of each (default 3)")
    parser.add_argument("--threads", type=int, default=2, help="threads of each program (default 2)")
    parser.add_argument("--zstd", type=Path, help="sources of zstd, a directory with BUILD/zstd for each build, or 'debian': "
                        "sources from there, if they can be had")
    parser.add_argument("--long", action="store_true", help="also the collector's memory up to 100 million events")
    return parser.parse_args()


def main():
    args = parse_arguments()
    signal.signal(signal.SIGTERM, end)
    without = None
    if args.zstd == Path("debian"):
        args.zstd, without = debian_zstd(args.build.resolve())
    have = PROGRAMS + ((Program("zstd", 48 * MILLION, 3 * MILLION),) if args.zstd else ())
    programs = chosen("program", args.programs, have)
    columns = chosen("column", args.columns and "plain," + args.columns, COLUMNS)
    small = [SMALL] if any(c.small for c in columns) else []
    with tempfile.TemporaryDirectory(prefix="fission-runtime-") as directory:
        builds = Builds(args.build, Path(directory).resolve(), args.zstd)
        bench = Bench(builds, Path(args.build, "fission").resolve(), Path(directory).resolve(), args.threads)
        table = Table(bench, columns)
        if without:
            bench.notes[f"no zstd: {without}"] = True
        table.head()
        for program in programs:
            bench.measure(program, columns + small, max(1, args.runs))
            bench.count(program)
            table.line(program.name)
        table.means()
        table.speeds()
        table.memory()
        print_targets(bench, table.programs)
        if args.long:
            print_growth(bench, programs, columns)
    for missing, names in bench.missing.items():
        print(f"note: {missing}: no {', '.join(names)}")
    for note in bench.notes:
        print(f"note: {note}")
    wrong = [f"{p}, {c}: {cell.wrong}" for (p, c), cell in bench.cells.items() if cell.wrong]
    for line in wrong:
        print(f"WRONG: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
