#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `run` and `record` promise, whatever the program does: run.py BUILD_DIR [--long] [NAMES...]

Each function test_* is a test with a directory of its own; NAMES pick some of them. --long runs those of more events
and more threads too. A test that needs what is not here says so and counts neither way. The last line is
'N passed, M failed'.
"""

import concurrent.futures
import json
import mmap
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
USAGE, FINDINGS, UNFIT = 64, 66, 69
PROGRAMS = ("order", "crowd", "ends", "steps", "inherit", "handlers", "calls", "calm", "loops", "forks", "segment",
            "left", "stepped", "above")
PATIENCE = 120  # seconds: longer is a hang

build = programs = None


class Skip(Exception):
    pass


def skip_unless(condition, why):
    if not condition:
        raise Skip(why)


class Place:
    """A directory for one test, and what is run in it."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.trace = self.path / "trace.ftr"

    def command(self, *words):
        """fission's and the test programs' names stand for their paths."""
        full = {name: programs / name for name in PROGRAMS + ("sandbox", "plain")}
        full |= {"fission": build / "fission"}
        full |= {name: build / "tests" / "robust" / name for name in ("order_check", "count_writes")}
        return [str(full.get(word, word)) for word in words]

    def run(self, *words, status=0, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        if "input" in more:
            del more["stdin"]
        done = subprocess.run(self.command(*words), cwd=self.path, capture_output=True, text=True, timeout=PATIENCE, **more)
        done.out, done.err = done.stdout, done.stderr
        assert status is None or done.returncode == status, (
            f"{' '.join(words)}: exit status {done.returncode}, not {status}\n{done.out}{done.err}"
        )
        return done

    def record(self, *words, **more):
        return self.run("fission", "record", "-o", "trace.ftr", *words, **more)

    def start(self, *words, **more):
        return subprocess.Popen(
            self.command(*words), cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, **more
        )

    def cells(self, path="trace.ftr"):
        """How many writes of 2 bytes the trace has, and whether it was cut off."""
        words = self.run("count_writes", str(path), "2").out.split()
        return int(words[0]), "cut" in words

    def left_behind(self, *expected):
        """Nothing but the expected files is here, and nothing of ours anywhere else."""
        there = sorted(p.name for p in self.path.iterdir())
        assert there == sorted(expected), f"there are {there}, not {sorted(expected)}"
        ours = [p for p in os.listdir("/dev/shm") if "fission" in p] if os.path.isdir("/dev/shm") else []
        assert not ours, f"in /dev/shm: {ours}"


class Progress:
    """The file in which steps.c says who it is and how far it has got."""

    def __init__(self, place):
        path = place.path / "progress"
        path.write_bytes(bytes(4096))
        with open(path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 4096)

    def pid(self):
        return struct.unpack_from("Q", self.map, 0)[0]

    def done(self):
        return struct.unpack_from("Q", self.map, 8)[0]

    def wait_for(self, n):
        end = time.monotonic() + PATIENCE
        while self.done() < n:
            assert time.monotonic() < end, f"{self.done()} steps after {PATIENCE} s"
            time.sleep(0.001)

    def wait_until_it_rests(self):
        """Until it makes no more steps: ten looks in a row that see the same."""
        end = time.monotonic() + PATIENCE
        same, last = 0, -1
        while same < 10:
            assert time.monotonic() < end, f"it goes on and on: {self.done()}"
            now = self.done()
            same = same + 1 if now == last else 0
            last = now
            time.sleep(0.02)
        return last


def skip_if_sanitized(why):
    skip_unless(b"__asan_init" not in (build / "fission").read_bytes(), f"{why} is not for a sanitized tool")


def finish(process):
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


# ---- order


def in_order(place, threads, locks, sections, kind="mutex", **more):
    """Records critical sections, and holds the trace against what the program has counted."""
    done = place.record("order", str(threads), str(locks), str(sections), kind, **more)
    return done, place.run("order_check", "trace.ftr", *done.out.split(), status=None)


def check_order(place, threads, locks, sections, kind="mutex"):
    done, checked = in_order(place, threads, locks, sections, kind)
    assert done.err == "", done.err
    assert checked.returncode == 0, checked.out


def skip_unless_wrapped(function):
    names = subprocess.run(["nm", "-D", "--defined-only", build / "libfission.so"], capture_output=True, text=True).stdout
    skip_unless(re.search(rf" {function}\b", names), f"the library does not know {function}")


def test_order_of_2_threads(place):
    check_order(place, 2, 1, 20000)


def test_order_of_5_threads(place):
    check_order(place, 5, 3, 10000)


def test_order_of_64_threads(place):
    check_order(place, 64, 8, 1000)


def test_order_under_rwlocks(place):
    skip_unless_wrapped("pthread_rwlock_wrlock")
    check_order(place, 8, 3, 10000, "rwlock")


def test_order_by_conditions(place):
    skip_unless_wrapped("pthread_cond_wait")
    check_order(place, 6, 1, 500, "cond")


def test_broken_order_is_noticed(place):
    """With a library that takes the ticket of a release after the release."""
    done, checked = in_order(place, 4, 1, 20000, env={**os.environ, "LD_LIBRARY_PATH": str(build / "tests" / "robust")})
    assert checked.returncode == 1, checked.out
    assert int(re.search(r"(\d+) out of order", checked.out)[1]) > 0, checked.out


def long_test_order_over_millions(place):
    for threads in (2, 3, 4, 8, 16, 32, 64):
        for locks in (1, 16):
            check_order(place, threads, locks, 400000 // threads)


def long_test_order_under_rwlocks_over_millions(place):
    skip_unless_wrapped("pthread_rwlock_wrlock")
    for threads in (2, 3, 8, 64):
        check_order(place, threads, 4, 400000 // threads, "rwlock")


# ---- many of everything


def crowd(place, what, n, printed):
    done = place.record("crowd", what, str(n))
    assert (done.out, done.err) == (f"{printed}\n", ""), done.err
    done = place.run("fission", "run", "--no-out", "crowd", what, str(n))
    assert done.out == f"{printed}\n"
    assert re.fullmatch(r"fission: no violation in \d+ events\n", done.err), done.err


def test_1000_threads_created_and_joined(place):
    crowd(place, "created", 1000, 1000)


def test_200_threads_alive(place):
    crowd(place, "alive", 200, 400)


def test_100000_mutexes(place):
    crowd(place, "mutexes", 100000, 100000)


def test_recursion_of_depth_100000(place):
    crowd(place, "deep", 100000, 100000)


def test_more_threads_than_rings(place):
    """Little address space means few rings; who finds none is counted."""
    skip_if_sanitized("a limit of the address space")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

    done = place.record("crowd", "alive", "300", preexec_fn=limit)
    assert done.out == "600\n"
    said = re.search(r"fission: (\d+) threads were not recorded: too many were alive at a time\n", done.err)
    assert said and 0 < int(said[1]) < 300, done.err


# ---- how programs end


def ends(place, words, status, cells=1000):
    """Both commands have the program's status and output; the trace has all that it did."""
    done = place.record("ends", *words, status=status)
    assert (done.out, done.err) == (words[0] + "\n", ""), (done.out, done.err)
    assert place.cells() == (cells, False), place.cells()
    done = place.run("fission", "run", "--no-out", "ends", *words, status=status)
    assert done.out == words[0] + "\n"
    assert re.fullmatch(r"fission: no violation in \d+ events\n", done.err), done.err
    place.left_behind("trace.ftr")


def test_end_by_return(place):
    ends(place, ["return", "9"], 9)


def test_end_by__exit(place):
    ends(place, ["_exit", "8"], 8)


def test_end_by_abort(place):
    ends(place, ["abort"], 128 + signal.SIGABRT)


def test_end_by_segv(place):
    ends(place, ["segv", "8"], 128 + signal.SIGSEGV)


def test_end_by_kill(place):
    ends(place, ["raise", "9"], 128 + signal.SIGKILL)


def test_end_by_term(place):
    ends(place, ["raise", "15"], 128 + signal.SIGTERM)


def test_program_closes_everything(place):
    ends(place, ["close_all"], 5, 201000)


def test_program_closes_stderr(place):
    ends(place, ["close_stderr"], 0)


def test_program_becomes_another(place):
    """Threads that exec ends have tickets that never come, and rings that nobody finishes."""
    done = place.record("ends", "exec", "10", status=9)
    assert done.out == "exec\n" * 11
    assert "late" not in done.err and "no sense" not in done.err, done.err
    assert place.cells()[0] >= 11000  # its other threads may not have had a turn


def test_not_built_with_us(place):
    done = place.run("fission", "run", "--no-out", "/bin/echo", "hello")
    assert done.out == "hello\n"
    assert "it was not built with fission-cc" in done.err, done.err
    done = place.record("/bin/sh", "-c", "exit 3", status=3)
    assert "it was not built with fission-cc" in done.err, done.err
    place.left_behind("trace.ftr")


def test_not_there(place):
    done = place.record("./nowhere", status=USAGE)
    assert done.err == "fission: ./nowhere: No such file or directory\n", done.err
    done = place.record("nowhere-at-all", status=USAGE)
    assert done.err == "fission: nowhere-at-all: not found in PATH\n", done.err
    place.left_behind()


def test_json_to_a_file(place):
    done = place.run("fission", "run", "--no-out", "--format=json", "-o", "r.json", "ends", "return", "3", status=3)
    assert (done.out, done.err) == ("return\n", ""), done.err
    assert json.loads((place.path / "r.json").read_text())["findings"] == []
    place.left_behind("r.json")


# ---- the program as without us


def inherited(place, *tool, closed=(), **more):
    def close():
        for fd in closed:
            os.close(fd)

    return place.run(*tool, "inherit", "one", "two words", status=42, preexec_fn=close, **more)


def test_program_is_as_without_us(place):
    plain = inherited(place, input="from\0standard\ninput")
    assert "from\0standard\ninput" in plain.out
    for tool in (("fission", "record"), ("fission", "run", "--no-out", "-o", "report")):
        done = inherited(place, *tool, input="from\0standard\ninput")
        assert done.out == plain.out, done.out
        assert done.err == plain.err, done.err


def test_inherited_signals(place):
    """Whatever was ignored or blocked stays so, what was not does not become so."""
    odd = {signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGCHLD}

    def prepare():
        for n in odd:
            signal.signal(n, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGTERM})

    words = ("inherit", "one")
    plain = place.run(*words, status=42, restore_signals=False, preexec_fn=prepare)
    assert plain.out.count("ignored") >= len(odd) - 1 and plain.out.count("blocked") == 2, plain.out
    done = place.run("fission", "record", *words, status=42, restore_signals=False, preexec_fn=prepare)
    assert done.out == plain.out, done.out


def test_closed_streams(place):
    for closed in ((0,), (0, 1), (1, 2), (0, 1, 2)):
        plain = inherited(place, closed=closed)
        for tool in (("fission", "record", "-o", "trace.ftr"), ("fission", "run", "--no-out", "-o", "report")):
            done = inherited(place, *tool, closed=closed)
            assert (done.out, done.err) == (plain.out, plain.err), (closed, done.out, done.err)
        assert place.run("fission", "trace", "stat", "trace.ftr").out
    place.left_behind("trace.ftr", "report")


# ---- signals and time


def test_interrupt_from_the_terminal(place):
    """The terminal sends SIGINT to both; the program gets one, ends as it likes, and there is a report."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(place.path)
        command = place.command("fission", "run", "--no-out", "-o", "report", "ends", "interrupted")
        os.execv(command[0], command)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(terminal, 100)
    os.write(terminal, b"\x03")
    while True:
        try:
            more = os.read(terminal, 100)
        except OSError:
            break
        if not more:
            break
        seen += more
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    assert b"1 signals" in seen, seen
    assert status == 7, status
    assert (place.path / "report").read_text().startswith("fission: no violation")


def test_term_to_the_tool(place):
    """Is the program's, whose status is the tool's; what was recorded is there."""
    progress = Progress(place)
    process = place.start("fission", "record", "-o", "trace.ftr", "steps", "progress", "1000000000000")
    progress.wait_for(100000)
    process.send_signal(signal.SIGTERM)
    status, out, err = finish(process)
    assert (status, out, err) == (128 + signal.SIGTERM, "", ""), (status, out, err)
    cells, cut = place.cells()
    assert cells in (progress.done(), progress.done() + 1) and not cut, (cells, progress.done())
    place.left_behind("trace.ftr", "progress")


def test_time_limit(place):
    done = place.record("--time=0.2", "ends", "forever", status=128 + signal.SIGTERM)
    assert done.err == "fission: the time is over; this is what was seen until then\n", done.err
    assert place.cells()[0] > 1000
    done = place.run("fission", "run", "--no-out", "--time=0.2s", "ends", "forever", status=128 + signal.SIGTERM)
    assert re.fullmatch(r"fission: the time is over.*\nfission: no violation in \d+ events\n", done.err), done.err


def left_over(place, *options, then=lambda process: None):
    """A program that ends and leaves a process behind that never does. What the tool says when told to end."""
    progress = Progress(place)
    # The program waits for us, and we wait until the other one is known to the tool.
    script = f"{place.command('steps')[0]} progress 1000000000000 >/dev/null 2>&1 & until [ -e go ]; do :; done"
    process = place.start("fission", "record", "-o", "trace.ftr", *options, "sh", "-c", script)
    progress.wait_for(100000)
    (place.path / "go").touch()
    try:
        then(process)
        status, _, err = finish(process)
    finally:
        os.kill(progress.pid(), signal.SIGKILL)
    return status, err


def test_time_is_over_for_the_left_over(place):
    status, err = left_over(place, "--time=1")
    assert err == "fission: the time is over; this is what was seen until then\n", err
    assert status in (0, 128 + signal.SIGTERM), status  # of a shell that the end of the time may have met


def test_term_with_a_left_over(place):
    status, err = left_over(place, then=lambda process: process.send_signal(signal.SIGTERM))
    assert err == "", err
    assert place.cells()[0] >= 100000
    assert status in (0, 128 + signal.SIGTERM), status


# ---- the collector is slow, or gone


def test_slow_collector_loses_nothing(place):
    progress = Progress(place)
    process = place.start("fission", "record", "-o", "trace.ftr", "steps", "progress", "2000000")
    for n in (100000, 700000):
        progress.wait_for(n)
        process.send_signal(signal.SIGSTOP)
        rested = progress.wait_until_it_rests()
        process.send_signal(signal.SIGCONT)
        progress.wait_for(min(rested + 100000, 2000000))
    status, out, err = finish(process)
    assert (status, out, err) == (3, "2000000 steps\n", ""), (status, out, err)
    assert place.cells() == (2000000, False), place.cells()


def test_dead_collector_hangs_nobody(place):
    """The program goes on to its end and says once that nobody listens."""
    progress = Progress(place)
    process = place.start("fission", "record", "-o", "trace.ftr", "steps", "progress", "3000000")
    progress.wait_for(200000)
    process.kill()
    status, out, err = finish(process)  # the program holds the ends of the pipes: this waits for it
    assert status == -signal.SIGKILL
    assert out == "3000000 steps\n", out
    assert err == "fission: the collector is gone; the program runs on and is not recorded\n", err
    assert progress.done() == 3000000
    # Killed, it could not put its file into place, nor remove it: what was written so far, if anything, can be read.
    rest = [p for p in place.path.iterdir() if p.name.startswith("trace.ftr.")]
    assert len(rest) == 1, rest
    place.left_behind("progress", rest[0].name)
    assert place.cells(rest[0])[0] <= 3000000


def test_dead_collector_between_accesses_and_locks(place):
    """The same where the ring may fill up just before something is said of the accesses so far."""
    for i in range(12):
        process = place.start("fission", "record", "-o", "trace.ftr", "order", "2", "1", "200000")
        time.sleep(0.02 + i * 0.003)
        process.kill()
        assert finish(process)[1] == "400000 400000\n"


def test_killed_program_loses_nothing(place):
    """What it had done before it was killed is in the trace."""
    progress = Progress(place)
    process = place.start("fission", "record", "-o", "trace.ftr", "steps", "progress", "1000000000000")
    progress.wait_for(300000)
    os.kill(progress.pid(), signal.SIGKILL)
    status, out, err = finish(process)
    assert (status, out, err) == (128 + signal.SIGKILL, "", ""), (status, out, err)
    cells, cut = place.cells()
    assert cells in (progress.done(), progress.done() + 1) and not cut, (cells, progress.done())
    place.left_behind("trace.ftr", "progress")


# ---- signal handlers that do not return to the hook they have interrupted


def test_handler_suspends(place):
    done = place.record("handlers", "suspend", "40")
    assert done.out == "40 rounds\n"
    assert "late" not in done.err and "no sense" not in done.err, done.err


def test_handler_jumps(place):
    done = place.record("handlers", "jump", "60")
    assert done.out == "60 rounds\n"
    missing = re.search(r"(\d+) events are missing", done.err)
    assert not missing or int(missing[1]) <= 60, done.err
    assert "late" not in done.err and "no sense" not in done.err, done.err


def test_handler_forks(place):
    for how in (("run", "--no-out"), ("run", "--no-out", "--checks=sidetrack"), ("record", "--format=none")):
        assert place.run("fission", *how, "--", "forks", "60", status=None).out == "0 of 60 lost\n", how


# ---- addresses that are none


def test_offsets_in_a_segment(place):
    """What is read by %fs has hooks with an offset for an address: nobody looks there."""
    for how in (("run", "--no-out"), ("run", "--no-out", "--full"), ("run", "--no-out", "--checks=sidetrack"), ("record",)):
        assert place.run("fission", *how, "--", "segment", status=7).out == "the same\n", how


# ---- loops that are counted, and not told one by one


def loop_accesses(place):
    """What the functions of loops.c do to their memory, each time that they are called: {name: [[(r or w, address)]]}."""
    calls, inside = {"go": [], "hop": [], "handle": []}, []
    for line in place.run("fission", "trace", "dump", "trace.ftr").out.splitlines():
        what = line.split("|")[1] if "|" in line else ""
        call = re.fullmatch(r"(enter|exit)\((go|hop|handle)\)", what)
        access = re.fullmatch(r"([rw])\(0x([0-9a-f]+),8\)", what)
        if call and call[1] == "enter":
            calls[call[2]].append([])
            inside.append(call[2])
        elif call:
            inside.pop()
        elif access and inside:
            calls[inside[-1]][-1].append((access[1], int(access[2], 16)))
    return calls


def chunk_kinds(trace):
    """The kinds of chunks that a binary trace has."""
    kinds, at = set(), 24
    while at < len(trace):
        kinds.add(trace[at])
        at += 32 + int.from_bytes(trace[at + 12 : at + 16], "little")
    return kinds


def test_loops_are_told_in_full(place):
    """Whatever a handler has interrupted, and wherever."""
    handled = int(place.record("loops", "2000").out)
    calls = loop_accesses(place)
    assert len(calls["go"]) == 2000 and len(calls["handle"]) == handled > 0, (len(calls["go"]), handled)
    first, other = calls["go"][0][0][1], calls["handle"][0][0][1]
    for done in calls["go"]:
        assert done[:-1] == [(kind, first + 8 * i) for i in range(64) for kind in "rw"], done
    for done in calls["handle"]:
        assert done[:-1] == [("r", other + 8 * i) for i in range(64)], done
    kept = calls["hop"][0][1][1]
    assert len(calls["hop"]) == 2000
    for done in calls["hop"]:
        assert done[:-1] == [one for i in range(64) for one in (("r", first + i * i % 64 * 8), ("w", kept + 8 * i))], done
    assert {9, 10} <= chunk_kinds(place.trace.read_bytes())  # as trails


def test_loops_that_are_left(place):
    """By a handler that jumps out of them, and of the hook that it has interrupted: what was done is there, in order."""
    left = int(place.record("loops", "jump", "20000").out)
    calls = loop_accesses(place)
    assert 20000 - left <= len(calls["go"]) <= 20000, (len(calls["go"]), left)  # some are left before they have begun
    assert 100 < left <= len(calls["handle"]), (len(calls["handle"]), left)
    first = calls["go"][0][0][1]
    wanted = [(kind, first + 8 * i) for i in range(64) for kind in "rw"]
    for done in calls["go"]:
        assert done[:128] == wanted[: len(done)], done
    assert sum(len(done) < 128 for done in calls["go"]) > left // 10
    place.run("fission", "check", "trace.ftr")  # well-formed, and without a finding


def test_loop_of_a_killed_program(place):
    place.record("loops", "killed", status=128 + signal.SIGKILL)
    assert len(loop_accesses(place)["go"][0]) == 2 * 41


# ---- the machine does not give everything


def test_file_size_limit(place):
    """The disk is full, as far as the tool can tell: the program ends well, and no half trace is left."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

    done = place.record("order", "2", "1", "50000", status=UNFIT, preexec_fn=limit)
    assert done.out == "100000 100000\n"
    assert done.err == "fission: trace.ftr: File too large\n", done.err
    place.left_behind()


def test_low_file_size_limit(place):
    """The channel is a file as well, to the kernel: fewer rings, but all of the trace."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 20, 32 << 20))

    done = place.record("order", "2", "1", "5000", preexec_fn=limit)
    assert (done.out, done.err) == ("10000 10000\n", ""), done.err
    assert place.run("order_check", "trace.ftr", "10000", "10000").out


def test_full_disk(place):
    done = place.run("fission", "record", "-o", "/dev/full", "order", "2", "1", "50000", status=UNFIT)
    assert done.out == "100000 100000\n"
    assert done.err == "fission: /dev/full: No space left on device\n", done.err


def test_little_address_space(place):
    skip_if_sanitized("a limit of the address space")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))

    done = place.record("order", "2", "1", "5000", preexec_fn=limit)
    assert (done.out, done.err) == ("10000 10000\n", ""), done.err
    assert place.run("order_check", "trace.ftr", "10000", "10000").out


def test_without_dev_shm(place):
    skip_unless(os.geteuid() == 0 and shutil.which("unshare"), "needs root and unshare")
    for how in ("mount -t tmpfs -o ro none /dev/shm", "mount -t tmpfs -o size=4k none /dev/shm && : >/dev/shm/x"):
        script = f"{how} && exec {' '.join(place.command('fission', 'record', '-o', 'trace.ftr', 'order', '2', '1', '5000'))}"
        done = place.run("unshare", "-m", "sh", "-c", script, status=None)
        skip_unless("mount" not in done.err and "unshare" not in done.err, done.err)
        assert (done.returncode, done.out, done.err) == (0, "10000 10000\n", ""), done.err
        assert place.run("order_check", "trace.ftr", "10000", "10000").out


def test_fixed_and_random_addresses(place):
    skip_unless(shutil.which("setarch"), "needs setarch")
    for prefix in ((), ("setarch", "-R")):
        done = place.run(*prefix, "fission", "record", "-o", "trace.ftr", "order", "2", "1", "5000", status=None)
        skip_unless("personality" not in done.err, done.err)
        assert (done.out, done.err) == ("10000 10000\n", ""), done.err
        assert place.run("order_check", "trace.ftr", "10000", "10000").out


def test_in_a_container(place):
    """Nothing of what a container's filter refuses is used."""
    skip_if_sanitized("a filter against ptrace")
    done = place.run("sandbox", "fission", "record", "-o", "trace.ftr", "order", "2", "1", "5000")
    assert (done.out, done.err) == ("10000 10000\n", ""), done.err
    assert place.run("order_check", "trace.ftr", "10000", "10000").out


def test_calls_are_taken_out(place):
    """Of locks only, calls of access hooks leave the code, and nothing else does; if accesses count they stay. A program that
    runs by itself loses all of them, those of its functions, too.
    """
    for options, rounds, code in ((("--checks=sidetrack",), 10000, "changed"), ((), 250, "the same")):
        done = place.run("fission", "run", "--no-out", *options, "--", "calls", str(rounds), status=None)
        assert done.out == f"{rounds * 4} {rounds * 8} {code}\n", (options, done.out, done.err)
    assert place.run("calls", "10000").out == "40000 80000 changed\n"


def test_calm_functions_lose_their_hooks(place):
    """A function that does not lock is not told of any more, until it locks; then for ever. Not so if all are to be told."""
    for options, code in ((("--checks=sidetrack",), "changed"), ((), "changed"), (("--full",), "the same")):
        done = place.run("fission", "run", "--no-out", *options, "--", "calm", status=None)
        assert done.out == f"{code}, the same, the same\n", (options, done.out, done.err)
    assert place.run("calm").out == "the same, the same, the same\n"


def only_withdraw_is_named(place, out, options, *command):
    done = place.run("fission", "run", "--no-out", "--format=json", "-o", "out.json", *options, "--", *command, status=None)
    assert done.out == out, (options, done.out, done.err)
    found = json.loads((place.path / "out.json").read_text())["findings"]
    assert {f["block"]["function"] for f in found} == {"withdraw"}, (options, found)


def test_handlers_while_functions_are_left(place):
    """What a signal handler tells of while it is being left is not open afterwards."""
    for options in ((), ("--checks=sidetrack",)):
        only_withdraw_is_named(place, "8000 rounds\n", options, "left")


def test_handlers_at_each_instruction(place):
    """The same, of two handlers, at every two instructions close together of an entry and an exit."""
    skip_unless(os.uname().machine == "x86_64", "only there a program can stop after each of its instructions")
    for options, apart in (((), 2), (("--checks=sidetrack",), 14)):
        only_withdraw_is_named(place, "stepped\n", options, "stepped", str(apart))
        only_withdraw_is_named(place, "stepped\n", options, "stepped", "0", "locks")


def test_handlers_on_a_stack_above(place):
    """What is open stays open when a handler runs on a stack that lies above it, and nothing else is when one jumps away."""
    for options in ((), ("--checks=sidetrack",)):
        only_withdraw_is_named(place, "20 rounds\n", options, "above")
        only_withdraw_is_named(place, "20 rounds\n", options, "above", "within")


def test_not_as_root(place):
    skip_unless(os.geteuid() == 0 and shutil.which("setpriv"), "this is no root, or has no setpriv")
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    skip_unless(place.run(*nobody, "order", "1", "1", "1", status=None).returncode == 0, "nobody may not read the build")
    os.chmod(place.path, 0o777)
    done = place.run(*nobody, *place.command("fission", "record", "-o", "trace.ftr", "order", "2", "1", "5000"))
    assert (done.out, done.err) == ("10000 10000\n", ""), done.err
    assert place.run("order_check", "trace.ftr", "10000", "10000").out


def peak_of(process):
    """Of resident memory, in kB, until it has ended. What wait4 tells counts what we had ourselves before exec."""
    peak, status = 0, pathlib.Path(f"/proc/{process.pid}/status")
    while line := re.search(r"VmHWM:\s*(\d+)", status.read_text()):
        peak = int(line[1])
        time.sleep(0.01)
    return peak


def long_test_memory_stays_bounded(place):
    """A hundred million events: the tool needs no more than for three million."""
    peaks = []
    for steps in (1000000, 34000000):
        process = place.start("fission", "record", "--format=none", "steps", "progress", str(steps))
        peaks.append(peak_of(process))
        out, err = process.communicate()
        assert (out, err) == (f"{steps} steps\n", ""), (out, err)
    print(f"    peak memory: {peaks[0]} kB for 3 million events, {peaks[1]} kB for 100 million")
    assert peaks[1] < peaks[0] * 1.25, peaks


# ---- all of them


def compile_programs():
    for name in PROGRAMS:
        subprocess.run([build / "fission-cc", "-O2", "-g", "-pthread", HERE / f"{name}.c", "-o", programs / name], check=True)
    subprocess.run(["cc", "-O2", HERE / "sandbox.c", "-o", programs / "sandbox"], check=True)


def attempt(name, test):
    """None if it passed, the reason if it was skipped, the trace of what went wrong otherwise."""
    with tempfile.TemporaryDirectory() as path:
        try:
            test(Place(path))
        except Skip as why:
            return "skipped", str(why).strip()
        except Exception:  # noqa: BLE001: one test's failure is no other's
            return "failed", traceback.format_exc()
    return "passed", ""


def main():
    global build, programs
    words = [word for word in sys.argv[1:] if word != "--long"]
    build = pathlib.Path(words[0]).resolve()
    long = "--long" in sys.argv
    tests = {
        name.partition("test_")[2]: test
        for name, test in globals().items()
        if name.startswith("test_") or (long and name.startswith("long_test_"))
    }
    if words[1:]:
        tests = {name: tests[name] for name in words[1:]}
    count = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory() as directory:
        programs = pathlib.Path(directory)
        os.chmod(programs, 0o755)
        compile_programs()
        # They mostly wait; a few at a time take a third of the time.
        with concurrent.futures.ThreadPoolExecutor(1 if long else 4) as pool:
            for name, (how, what) in zip(tests, pool.map(attempt, tests, tests.values())):
                count[how] += 1
                if how != "passed":
                    print(f"{name}: {how}: {what}")
    print(f"{count['passed']} passed, {count['failed']} failed")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
