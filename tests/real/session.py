# SPDX-License-Identifier: MIT
"""One use of a program, plain or under `fission run`: what it was told, what came out, how long it took.

Standard output, standard error and exit status of every command are noted, to be compared with those of another
session. There is one time limit for the whole session; whoever goes past it is a hang, and is ended.
"""

import hashlib
import os
import pathlib
import signal
import subprocess
import threading
import time


class Wrong(Exception):
    """An answer that the server must not give."""


def all_at_once(bodies):
    """Runs each in a thread of its own. Returns how long it took; the first wrong answer is raised."""
    wrong, start = [], time.monotonic()

    def one(body):
        try:
            body()
        except (Wrong, OSError, ValueError) as e:
            wrong.append(e)

    threads = [threading.Thread(target=one, args=(b,)) for b in bodies]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if wrong:
        raise wrong[0]
    return time.monotonic() - start


class Hang(Exception):
    """The time limit passed; says what everyone was doing."""


def children_by_parent():
    table = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue  # it ended while we looked
        table.setdefault(parent, []).append(int(stat.parent.name))
    return table


def family(pid):
    """A process that we started and everything that it started, parents first."""
    table, found = children_by_parent(), [pid]
    for p in found:
        found += table.get(p, [])
    return found


def read_proc(path):
    try:
        return path.read_text().strip()
    except OSError:
        return "?"


def doing(pids):
    """What each thread of the processes is doing, a line each."""
    for pid in pids:
        for task in sorted(pathlib.Path(f"/proc/{pid}/task").glob("*")):
            state = read_proc(task / "stat").rpartition(")")[2].split()[:1] or ["?"]
            call = read_proc(task / "syscall").split()[:3]
            yield (f"process {pid} thread {task.name} {read_proc(task / 'comm')}: state {state[0]},"
                   f" waits in {read_proc(task / 'wchan')}, system call {' '.join(call)}")


def is_alive(pid):
    """Not if it only waits for its parent to hear of its end."""
    state = read_proc(pathlib.Path(f"/proc/{pid}/stat")).rpartition(") ")[2]
    return state[0] not in "?ZX"


def end(process):
    """Ends a process that we started, and its family, and sees them go."""
    pids = family(process.pid)
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()
    while any(is_alive(pid) for pid in pids):
        time.sleep(0.001)


class Session:
    def __init__(self, directory, limit, runner=None):
        self.directory = directory
        self.runner = runner  # (fission, its options), or None: plain
        self.deadline = time.monotonic() + limit
        self.outcome = []  # (command, status, digest of standard output, standard error), or (what, text)
        self.complaints = []  # what is wrong whatever another session did
        self.seconds = 0.0
        self.reports = []  # paths
        self.running = {}  # process: (label, start, standard output, standard error)
        directory.mkdir(parents=True)

    def left(self):
        return max(0.0, self.deadline - time.monotonic())

    def command(self, argv):
        if not self.runner:
            return argv
        report = self.directory / f"report-{len(self.reports)}.json"
        self.reports.append(report)
        return [*self.runner, "--output", report, "--", *argv]

    def start(self, label, argv, stdin=None, **environment):
        """Starts a program; its output goes to files."""
        out, err = self.directory / f"{label}.out", self.directory / f"{label}.err"
        source = open(stdin, "rb") if stdin else subprocess.DEVNULL
        with open(out, "wb") as o, open(err, "wb") as e:
            process = subprocess.Popen(self.command(argv), stdin=source, stdout=o, stderr=e, cwd=self.directory,
                                       env=os.environ | environment, start_new_session=True)
        if stdin:
            source.close()
        self.running[process] = label, time.monotonic(), out, err
        return process

    def finish(self, process, timed=True):
        """Waits for its end and notes what came out. Returns the path of its standard output."""
        label, start, out, err = self.running[process]
        try:
            status = process.wait(self.left())
        except subprocess.TimeoutExpired:
            raise Hang(self.hang(label)) from None
        del self.running[process]
        self.seconds += time.monotonic() - start if timed else 0.0
        with open(out, "rb") as o:
            digest = hashlib.file_digest(o, "sha256").hexdigest()
        if status:
            self.complain(f"{label}: exit status {status}")
        self.outcome.append((label, status, digest, err.read_text(errors="replace")))
        return out

    def call(self, label, argv, **more):
        return self.finish(self.start(label, argv, **more))

    def note(self, what, text):
        """Something else that must be the same in every session."""
        self.outcome.append((what, text))

    def complain(self, text):
        self.complaints.append(text)

    def hang(self, label):
        return "\n".join([f"{label}: no end in time", *doing(p for q in self.running for p in family(q.pid))])

    def close(self):
        """Nobody outlives the session."""
        for process in self.running:
            end(process)
        self.running.clear()


def differences(expected, got):
    """How two outcomes differ, a line each."""
    names = ("command", "exit status", "standard output", "standard error")
    for one, other in zip(expected, got):
        for name, a, b in zip(names if len(one) == 4 else ("what", "text"), one, other):
            if a != b:
                yield f"{one[0]}: {name}: {a!r:.300} is now {b!r:.300}"
    if len(expected) != len(got):
        yield f"{len(expected)} results are now {len(got)}"
