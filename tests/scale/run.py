#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Units, results, shards and the launcher of one machine: run.py BUILD [NAMES...]

Each function test_* is a test; NAMES pick some of them. Nothing here waits for a time: what is to happen first is waited
for. The last line is 'N passed, M failed'. tests/scale/daemons.py has what needs sshd and Slurm.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
CLEAN, USAGE, MALFORMED, FINDINGS, UNFIT = 0, 64, 65, 66, 69
PATIENCE = 240  # seconds until something that must happen counts as never: much more than any machine takes
LONG = "--time=1000"  # a search that no clock cuts off

build = None


def run(*words, status=CLEAN, says=None, **more):
    """Runs the tool. Its status must be one of those given, and `says` in what it writes to standard error."""
    done = subprocess.run([build / "fission", *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=PATIENCE, **more)
    done.err = done.stderr.decode("utf-8", "replace")
    what = f"fission {' '.join(map(str, words))}"
    allowed = status if isinstance(status, tuple) else (status,)
    assert done.returncode in allowed, f"{what}: exit status {done.returncode}, not {status}\n{done.err}"
    assert says is None or says in done.err, f"{what}: '{says}' is not in: {done.err}"
    return done


def compile_to(source, to, *flags):
    command = [build / "fission-cc", "-O1", "-g", "-pthread", *flags, source, "-o", to]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return f"./{to}"


def bug(name):
    return compile_to(TOP / f"tests/programs/bugs/{name}.c", name)


def traces(count=6):
    """Small traces with and without findings, by the names that they have there."""
    chosen = sorted((TOP / "tests/traces").rglob("*.std"))[::40][:count]
    for path in [TOP / "examples/bank.std", *chosen]:
        shutil.copy(path, path.name)
    return sorted({path.name for path in [TOP / "examples/bank.std", *chosen]})


def files(where):
    return sorted(path for path in Path(where).iterdir())


def contents(where):
    return {path.name: path.read_bytes() for path in files(where)}


def until(what, condition):
    """Waits until the condition holds, and returns what it returned."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"never: {what}")


def processes(word):
    """The live processes that have the word in their command line, as pid: words."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except (OSError, IndexError):
                continue
            if word in line and state not in "ZX":
                found[int(entry.name)] = line
    return found


def workers(where):
    """Processes of `fission work` for a depot that have a child: they are at a unit."""
    return [pid for pid in processes(f"work -o {where}") if children(pid)]


def children(pid):
    """Of a process that may be gone by now."""
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []


class Naps:
    """Units that take their time, by some launcher; bench/naps."""

    def __init__(self, depot, count, milliseconds, limit, jobs=2, launcher="local", hosts="-", env=None):
        self.depot = Path(depot).absolute()
        self.count = count
        self.process = subprocess.Popen(
            [build / "bench/naps", build / "fission", launcher, hosts, str(jobs), str(count), str(milliseconds),
             str(limit), self.depot], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)

    def results(self):
        where = self.depot / "results"
        return [p for p in where.iterdir() if "." not in p.name] if where.exists() else []

    def lost(self):
        where = self.depot / "lost"
        return [p for p in where.iterdir() if "." not in p.name] if where.exists() else []

    def end(self):
        """Waits for its end; what it said."""
        out, err = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, f"naps: {self.process.returncode}: {err}"
        words = out.split()
        return {words[i]: float(words[i + 1]) for i in range(0, len(words), 2)}

    def expect_all(self):
        """Each unit has one result, and none was lost."""
        said = self.end()
        assert (said["done"], said["lost"]) == (self.count, 0), said
        assert len(self.results()) == self.count and not self.lost()


def kill(pid, which):
    try:
        os.kill(pid, which)
        return True
    except ProcessLookupError:
        return False


# ---- The same bytes, however it was done. ----

def merged(*words, status=FINDINGS):
    return run("merge", "--format=json", *words, status=status).stdout


def test_check_by_units_shards_and_workers():
    names = traces()
    run("check", "--emit-units=all", *names)
    assert not files("all/results"), "something was run"
    run("work", *files("all/units"))
    want = merged("all")
    assert b'"id": "fsn-' in want
    for jobs in (1, 3):
        run("check", f"-j{jobs}", f"--campaign=j{jobs}", "--format=json", "-o", f"j{jobs}.json", *names, status=FINDINGS)
        assert Path(f"j{jobs}.json").read_bytes() == want
        assert merged(f"j{jobs}") == want
        assert contents(f"j{jobs}/results") == contents("all/results")
    for k in (1, 2, 3):
        run("check", f"--shard={k}/3", f"--campaign=s{k}", *names, status=(CLEAN, FINDINGS))
    assert sum(len(files(f"s{k}/results")) for k in (1, 2, 3)) == len(names)
    assert merged("s3", "s1", "s2", "s1") == want
    assert "has no result" in run("merge", "s1", "s2", status=(UNFIT, FINDINGS)).err
    assert "has no result" in run("merge", "--fail-on=reproduced", "s1", "s2", status=UNFIT).err


def test_shards_stay_when_work_is_added():
    names = traces()
    run("check", "--shard=1/3", "--emit-units=few", *names[:3])
    run("check", "--shard=1/3", "--emit-units=many", *names)
    assert set(contents("few/units").items()) <= set(contents("many/units").items())


def test_predict_in_pieces():
    run("trace", "convert", "-o", "bank.ftr", TOP / "examples/bank.std")
    want = run("predict", "-j1", "--format=json", "bank.ftr", status=(CLEAN, FINDINGS)).stdout
    assert run("predict", "-j3", "--format=json", "bank.ftr", status=(CLEAN, FINDINGS)).stdout == want
    for k in (1, 2, 3):
        run("predict", f"--shard={k}/3", f"--campaign=s{k}", "bank.ftr", status=(CLEAN, FINDINGS))
    assert merged("s1", "s2", "s3", status=(CLEAN, FINDINGS)) == want
    alone = run("predict", "--format=json", "--bare", "bank.ftr", status=(CLEAN, FINDINGS)).stdout
    pieces = [run("predict", "--format=json", "--bare", f"--piece={k}/2", "bank.ftr", status=(CLEAN, FINDINGS)).stdout
              for k in (1, 2)]
    ids = lambda text: {word for word in text.decode().split('"') if word.startswith("fsn-")}
    assert ids(pieces[0]) | ids(pieces[1]) == ids(alone)


def by_hand(program):
    """The search by emit, work and merge alone, until nothing is left."""
    run("chase", "--emit-units=hand", program)
    assert not files("hand/results"), "something was run"
    while True:
        run("work", *files("hand/units"))
        done = run("merge", "-o", "hand", "--format=json", "hand", status=(CLEAN, FINDINGS))
        if "units are left" not in done.err:
            return done.stdout


def compare_search(name):
    program = bug(name)
    run("chase", LONG, "--no-out", "-j3", "--campaign=local", "--format=json", "-o", "local.json", program, status=FINDINGS)
    want = Path("local.json").read_bytes()
    assert b'"verdict": "reproduced"' in want
    run("chase", LONG, "--no-out", "-j1", "--format=json", "-o", "one.json", program, status=FINDINGS)
    assert Path("one.json").read_bytes() == want
    for k in (1, 2, 3):
        run("chase", LONG, "--no-out", f"--shard={k}/3", f"--campaign=s{k}", program, status=(CLEAN, FINDINGS))
    assert merged("-j2", "s1", "s2", "s3") == want
    assert merged("-j2", "-o", "all", "s3", "s2", "s1", "s3") == want
    assert merged("local") == want
    return want


def test_search_by_shards_and_workers():
    want = compare_search("audit")
    assert by_hand("./audit") == want


def test_same_unit_same_bytes():
    program = bug("refcount")
    run("chase", LONG, "--no-out", "-j2", "--campaign=once", program, status=FINDINGS)
    first = contents("once/results")
    shutil.rmtree("once/results")
    run("work", *files("once/units"))
    assert {name: text for name, text in contents("once/results").items() if name in first} == first


# ---- Units and results. ----

def test_work_is_done_once():
    run("check", "--emit-units=all", *traces(2))
    run("work", *files("all/units"))
    before = [path.stat().st_ino for path in files("all/results")]
    run("work", *files("all/units"))
    assert [path.stat().st_ino for path in files("all/results")] == before


def test_torn_result_is_none():
    names = traces(3)
    run("check", "-j1", "--campaign=all", *names, status=FINDINGS)
    want, whole = merged("all"), contents("all/results")
    torn = files("all/results")[0]
    torn.write_bytes(torn.read_bytes()[:-20])
    assert "torn off" in run("merge", "all", status=(CLEAN, FINDINGS)).err
    run("check", "-j1", "--campaign=all", *names, status=USAGE, says="--resume")
    run("check", "-j1", "--campaign=all", "--resume", *names, status=FINDINGS)
    assert contents("all/results") == whole and merged("all") == want


def test_copies_that_differ_are_told():
    program = compile_to(HERE / "programs/moody.c", "moody")
    for mood in ("good", "bad"):
        Path("mood").write_text(mood)
        run("chase", LONG, "--no-out", "-j1", f"--campaign={mood}", program, status=FINDINGS)
    run("merge", "-o", "packed", "good", status=FINDINGS)
    assert b"REPRODUCED" in run("merge", "good", "packed", status=FINDINGS).stdout
    done = run("merge", "good", "bad", status=FINDINGS, says="differ")
    assert b"REPRODUCED" not in done.stdout and b"OBSERVED" in done.stdout
    assert run("merge", "bad", "packed", "bad", status=FINDINGS).stdout == done.stdout


def test_bad_units_are_refused():
    run("check", "--emit-units=all", *traces(1))
    unit = files("all/units")[0]
    unit.write_bytes(unit.read_bytes()[:-5])
    run("work", unit, status=MALFORMED, says="cut off")
    run("work", "nothing", status=USAGE)
    run("merge", "nothing", status=USAGE)
    run("check", "--shard=4/3", "--campaign=x", "a", status=USAGE, says="2/3")
    run("check", "--shard=1/3", "a", status=USAGE, says="--campaign")
    run("check", "--resume", "a", status=USAGE, says="--campaign")


def test_another_build_is_refused():
    compile_to(HERE / "programs/crash.c", "prog")
    run("chase", "--emit-units=all", "./prog")
    shutil.rmtree("all/store")
    compile_to(HERE / "programs/crash.c", "prog", "-DOTHER", "-O2")
    run("work", *files("all/units"), status=UNFIT, says="another build")
    assert not files("all/results")
    os.remove("prog")
    run("work", *files("all/units"), status=UNFIT, says="no such program")


def test_crash_and_hang_are_results():
    program = compile_to(HERE / "programs/crash.c", "prog")
    for how, status in (("abort", FINDINGS), ("hang", (CLEAN, FINDINGS)), ("", CLEAN)):
        run("chase", "--no-out", "-j2", "--seeds=1", "--limit=1", f"--campaign=all{how}", program, how, status=status)
        assert files(f"all{how}/results") and not files(f"all{how}/lost")


def test_what_is_told_of_lost_units():
    names = traces(2)
    run("check", "--emit-units=all", *names)
    shutil.rmtree("all/store")
    run("work", *files("all/units"), status=UNFIT)
    run("check", "-j1", "--campaign=all2", *names, status=FINDINGS)
    unit = files("all2/results")[0]
    (Path("all2/lost") / unit.name).write_text("given up after 3 attempts; the last one: no space\n")
    assert "lost" not in run("merge", "all2", status=FINDINGS).err, "it has a result"
    unit.unlink()
    done = run("merge", "all2", status=(UNFIT, FINDINGS))
    assert f"unit {unit.name} is lost: given up after 3 attempts" in done.err


# ---- Faults, on one machine. ----

def test_killed_worker_loses_nothing():
    naps = Naps("all", 4, 3000, 60)
    kill(until("a worker", lambda: workers(naps.depot))[0], signal.SIGKILL)
    naps.expect_all()
    until("no worker is left", lambda: not processes(str(naps.depot)))


def test_stopped_worker_is_replaced():
    naps = Naps("all", 2, 3000, 5)  # twice the limit later it is handed out again
    kill(until("a worker", lambda: workers(naps.depot))[0], signal.SIGSTOP)
    naps.expect_all()
    until("no worker is left", lambda: not processes(str(naps.depot)))


def test_unit_that_always_fails_is_lost_and_named():
    naps = Naps("all", 2, 60000, 100, jobs=1)
    for _ in range(3):
        pid = until("a worker", lambda: workers(naps.depot))[0]
        kill(pid, signal.SIGKILL)
        until("it is gone", lambda: pid not in processes(str(naps.depot)))
    until("it was given up", naps.lost)
    kill(naps.process.pid, signal.SIGTERM)
    naps.process.wait()
    assert "3 attempts" in naps.lost()[0].read_text() and "signal 9" in naps.lost()[0].read_text()


def test_coordinator_killed_and_resumed():
    program = bug("audit")
    words = ["chase", LONG, "--no-out", "-j2", "--format=json", "--campaign=all"]
    run(*words[:-1], "-o", "want.json", program, status=FINDINGS)
    first = subprocess.Popen([build / "fission", *words, "-o", "no.json", program], stdin=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    until("a result, or the end", lambda: first.poll() is not None or (Path("all/results").exists() and files("all/results")))
    first.kill()
    first.wait()
    until("no worker is left", lambda: not processes(f"work -o {Path('all').absolute()}"))
    run(*words, "--resume", "-o", "got.json", program, status=FINDINGS)
    assert Path("got.json").read_bytes() == Path("want.json").read_bytes()


def test_no_orphans():
    naps = Naps("all", 2, 100000, 200)
    until("two workers", lambda: len(workers(naps.depot)) == 2)
    naps.process.kill()
    naps.process.wait()
    until("no worker is left", lambda: not processes(f"work -o {naps.depot}"))


def test_asked_to_end_leaves_nothing():
    program = compile_to(HERE / "programs/crash.c", "prog")
    os.mkdir("tmp")
    tool = subprocess.Popen([build / "fission", "chase", "--no-out", "-j2", "--seeds=50", "--limit=60", program, "hang"],
                            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=os.path.abspath("tmp")))
    until("a worker", lambda: files("tmp") and workers(files("tmp")[0].absolute()))
    tool.send_signal(signal.SIGTERM)
    assert tool.wait(PATIENCE) == -signal.SIGTERM
    assert not files("tmp")
    until("no worker is left", lambda: not processes(os.path.abspath("tmp")))


def main(tests):
    global build
    build = Path(sys.argv[1]).resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended first
    names = sys.argv[2:] or [name[5:] for name in tests if name.startswith("test_")]
    failed = 0
    for name in names:
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as where:
            os.chdir(where)
            try:
                tests[f"test_{name}"]()
            except Exception:
                failed += 1
                print(f"{name}: FAILED")
                traceback.print_exc(file=sys.stdout)
            finally:
                os.chdir(before)
    print(f"{len(names) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(globals()))
