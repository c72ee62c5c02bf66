#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Atomics, home-made locks, values and annotations of recorded programs: test_atomics.py BUILD_DIR [NAMES...]

Each function test_* is a test; those with an argument run for gcc and for clang. The last line is 'N passed, M failed'.
"""

import collections
import glob
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

PROGRAMS = pathlib.Path(__file__).resolve().parent / "atomics"
FINDINGS = 66

# Symbols of the vendors' libraries that ours does not have, and why.
NOT_OURS = {
    r"__tsan_java_.*": "for a Java machine that was built for it; none was for ours",
    r"__tsan_(default_options|default_suppressions)": "defined by the program, for a vendor's options",
    r"__tsan_on_report": "defined by the program, called with reports, which are not made in this process",
    r"__tsan_symbolize_external(_ex)?": "likewise, to name code that a program has made itself",
    r"__tsan_test_?only_.*": "of the vendors' own tests",
}

build = None

Event = collections.namedtuple("Event", "thread operation object rest value place")


def run(*command, status=0, compiler=None):
    env = {**os.environ, **({"FISSION_CC": compiler} if compiler else {})}
    done = subprocess.run(list(map(str, command)), capture_output=True, timeout=60, env=env, text=True)
    assert status is None or done.returncode == status, (
        f"{' '.join(map(str, command))}: exit status {done.returncode}, not {status}\n{done.stdout}{done.stderr}"
    )
    return done


def compiled(compiler, name, *flags):
    run(build / "fission-cc", "-O2", "-pthread", *flags, PROGRAMS / f"{name}.c", "-o", name, compiler=compiler)
    return pathlib.Path(name).resolve()


def parse(line):
    thread, operation, place = line.rstrip("\n").split("|")[:3]
    found = re.fullmatch(r"([a-z_]+)(?:\(([^,)]*)(?:,(.*))?\))?(?:=(\S+))?", operation)
    assert found, line
    return Event(thread, found[1], found[2] or "", (found[3] or "").split(","), found[4], place)


def recorded(program, *arguments, options=(), quiet=True):
    """What the program printed, and its events."""
    done = run(build / "fission", "record", "--format=text", "-o", "recorded.std", *options, "--", program, *arguments)
    assert not quiet or not done.stderr, done.stderr
    with open("recorded.std") as trace:
        return done.stdout, [parse(line) for line in trace if not line.startswith("#")]


def checked(*options, trace="recorded.std"):
    done = run(build / "fission", "check", "--format=json", *options, trace, status=None)
    assert done.returncode in (0, FINDINGS), done.stderr
    return json.loads(done.stdout)


def races():
    return checked("--checks=races", "--rank=4")["races"]


def count(events, *operations):
    return sum(e.operation in operations for e in events)


# Atomics.


def test_operations(compiler):
    program = compiled(compiler, "operations")
    plain = run(program).stdout
    done = run(build / "fission", "record", "-o", "operations.ftr", "--", program)
    assert int(plain) > 10000 and done.stdout == plain, done.stdout


def replay(events, objects):
    """Whether each load has the value of the write before it; how many there were."""
    now, loads = {}, 0
    for e in events:
        if e.object not in objects:
            continue
        if e.operation == "atomic_load":
            assert now.get(e.object, "0") == e.value, f"{e} reads {e.value}, but {now.get(e.object, '0')} is there"
            loads += 1
        elif e.operation in ("atomic_store", "atomic_rmw"):
            now[e.object] = e.value
    return loads


def test_true_order(compiler):
    output, events = recorded(compiled(compiler, "contend"), 3000, options=["--values"])
    assert output == "good\n", output
    objects = {e.object for e in events if e.operation == "atomic_store"}
    assert len(objects) == 2, objects
    assert replay(events, objects) > 3000


def test_broken_order_shows():
    _, events = recorded(compiled("gcc", "contend"), 500, options=["--values"])
    objects = {e.object for e in events if e.operation == "atomic_store"}
    at = next(i for i, e in enumerate(events) if e.operation == "atomic_store" and e.value != "0")
    after = next(i for i in range(at + 1, len(events)) if events[i].object == events[at].object)
    events[at], events[after] = events[after], events[at]
    try:
        replay(events, objects)
    except AssertionError:
        return
    raise AssertionError("two operations were exchanged, and nobody noticed")


def test_signal_handlers(compiler):
    program = compiled(compiler, "contend")
    done = run(build / "fission", "record", "-o", "contend.ftr", "--", program, 3000, "signals")
    assert done.stdout == "good\n", done.stdout


def test_waiting_is_short():
    """A loop that waits has an entry a value, not a round."""
    _, events = recorded(compiled("gcc", "message", "-DSTORE=release", "-DLOAD=acquire"))
    assert 1 <= count(events, "atomic_load") <= 3, count(events, "atomic_load")


def message(compiler, *flags):
    output, events = recorded(compiled(compiler, "message", *flags))
    assert output == "42\n", output
    return {e.rest[-1] for e in events if e.operation in ("atomic_load", "atomic_store")}, len(races())


def test_release_acquire_orders(compiler):
    assert message(compiler, "-DSTORE=release", "-DLOAD=acquire") == ({"release", "acquire"}, 0)
    assert message(compiler, "-DSTORE=seq_cst", "-DLOAD=seq_cst") == ({"seq_cst"}, 0)


def test_relaxed_does_not():
    assert message("gcc", "-DSTORE=relaxed", "-DLOAD=relaxed") == ({"relaxed"}, 1)
    assert message("clang", "-DSTORE=release", "-DLOAD=relaxed")[1] == 1
    assert message("gcc", "-DSTORE=relaxed", "-DLOAD=acquire")[1] == 1


def test_fences_order():
    assert message("gcc", "-DSTORE=relaxed", "-DLOAD=relaxed", "-DFENCES")[1] == 0


# The interface.


def exported(path):
    lines = run("nm", "-D", "--defined-only", path).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def test_the_interface_is_complete():
    theirs = [run("gcc", "-print-file-name=libtsan.so").stdout.strip()]
    theirs += glob.glob(run("clang", "-print-resource-dir").stdout.strip() + "/lib/linux/libclang_rt.tsan-x86_64.so")
    assert len(theirs) == 2, theirs
    wanted = {s for path in theirs for s in exported(path) if s.startswith(("__tsan_", "Annotate", "WTFAnnotate"))}
    assert len(wanted) > 150, sorted(wanted)
    missing = wanted - exported(build / "libfission.so")
    unexplained = sorted(s for s in missing if not any(re.fullmatch(p, s) for p in NOT_OURS))
    assert not unexplained, unexplained
    unused = [p for p in NOT_OURS if not any(re.fullmatch(p, s) for s in missing)]
    assert not unused, unused


def test_spoken(compiler):
    program = compiled(compiler, "spoken")
    plain = run(program).stdout
    assert plain.startswith("levels 2\n"), plain
    output, events = recorded(program)
    assert output.startswith("levels 2\n"), output
    place = dict(zip(*[iter(output.splitlines()[1].split())] * 2))
    of = collections.defaultdict(list)
    for e in events:
        of[e.object].append(e.operation)
    assert of[place["seen"]] == ["r", "w", "w"], of[place["seen"]]
    assert of[place["unread"]] == ["w"], of[place["unread"]]
    assert of[place["unwritten"]] == ["r"], of[place["unwritten"]]
    assert not of[place["unseen"]] and not of[place["inside"]] and not of[place["unordered"]]
    assert of[place["racy"]] == ["assume_guarded"], of[place["racy"]]
    locks = [e.operation for e in events if re.match("acq|rel", e.operation)]
    assert locks == ["acq", "acq", "rel", "rel", "acq_shared", "rel_shared"] + [
        "acq", "rel", "acq_shared", "rel_shared"], locks
    order = [e.operation for e in events if e.operation.startswith("sem_")]
    assert order == ["sem_post", "sem_wait"] * 2 + ["sem_post", "sem_wait"] * 2, order
    threads = [e.thread for e in events if e.object == place["fiber_steps"]]
    assert len(set(threads)) == 2 and threads[0] != threads[-1], threads
    assert count(events, "fork") == 1


# Home-made locks.


def locks(compiler, name, *options):
    output, events = recorded(compiled(compiler, "locks", f"-D{name}"), options=options)
    return output, events


def is_clean():
    report = checked("--checks=causal,sidetrack,races", "--show-hidden", "--rank=4")
    return not report["races"] and not report["findings"]


def test_spin_locks_are_recognised(compiler):
    for name in ("EXCHANGE", "FLAG", "COMPARE", "TRY"):
        output, events = locks(compiler, name)
        assert output == "600\n", output
        assert count(events, "acq") == count(events, "rel") == 600, (name, count(events, "acq"), count(events, "rel"))
        assert count(events, "atomic_rmw") >= 600, name  # they stay, and order
        assert is_clean(), name


def test_what_is_no_lock():
    compiler = "clang"
    for name in ("TICKET", "COUNTER"):
        _, events = locks(compiler, name)
        assert count(events, "acq", "rel") == 0, name
    output, events = locks(compiler, "PEEK")
    assert output == "600\n" and count(events, "acq") == count(events, "rel") == 1, count(events, "acq")


def test_lock_functions():
    compiler = "gcc"
    pathlib.Path("one.conf").write_text("lock my_lock,my_unlock\n")
    pathlib.Path("two.conf").write_text("# as a suppression\nlock:my_l?ck,my_un*\n")
    for name, config in (("TICKET", "one.conf"), ("EXCHANGE", "two.conf"), ("FLAG", "one.conf")):
        output, events = locks(compiler, name, f"--config={config}")
        assert output == "600\n", output
        assert count(events, "acq") == count(events, "rel") == 600, (name, count(events, "acq"))
        assert count(events, "atomic_rmw", "atomic_load", "atomic_store") == 0, name
        assert is_clean(), name


def test_lock_lines_of_suppressions():
    """What a file of suppressions teaches about locks is what a configuration teaches."""
    program = compiled("gcc", "locks", "-DTICKET")
    pathlib.Path("lock.supp").write_text("atomicity:nobody\nlock:my_lock,my_unlock\n")
    pathlib.Path("lock.conf").write_text("lock my_lock,my_unlock\n")
    words = (build / "fission", "run", "--no-out", "--fail-on=reproduced", "--format=json")
    variables = [
        json.loads(run(*words, *option, program).stderr)["traces"][0]["variables"]
        for option in ((), ("--config=lock.conf",), ("--suppressions=lock.supp",))
    ]
    assert variables[0] != variables[1] == variables[2], variables  # the lock's own words are none any more


def test_try_lock_function():
    pathlib.Path("try.conf").write_text("lock my_try,my_unlock\n")
    _, events = locks("gcc", "TRY", "--config=try.conf")
    assert count(events, "acq") == count(events, "rel") == 600


def test_lock_lines():
    for text, place in (("lock my_lock", "1:6"), ("lock a,", "1:6"), ("lock:,b", "1:6"), ("lock", "1:5"), ("lock a,b c", "1:10")):
        pathlib.Path("wrong.conf").write_text(text + "\n")
        done = run(build / "fission", "record", "--config=wrong.conf", "true", status=78)
        assert f"wrong.conf:{place}:" in done.stderr, (text, done.stderr)


def test_lock_functions_that_are_none():
    pathlib.Path("none.conf").write_text("lock add,work\n")
    pathlib.Path("none.c").write_text(
        "int x; __attribute__((noinline)) void add(void) { x++; }\nint main(void) { add(); return 0; }\n")
    run(build / "fission-cc", "none.c", "-o", "none")
    done = run(build / "fission", "record", "--config=none.conf", "-o", "none.ftr", "./none")
    assert "1 calls of functions that 'lock' lines name" in done.stderr, done.stderr


# Values.


def test_values(compiler):
    output, events = recorded(compiled(compiler, "values"), options=["--values"])
    said = [line.split() for line in output.splitlines()]
    written = [(e.object, e.rest[0], e.value) for e in events if e.operation == "w"]
    read = [(e.object, e.rest[0], e.value) for e in events if e.operation == "r"]
    for address, size, value in map(tuple, said):
        assert (address, size, value) in written, (address, size, value)
    assert sum(tuple(s) in read for s in said) == len(said) - 1, read  # all but what was freed unread
    assert all(e.value for e in events if e.operation in ("r", "w") and e.rest[0] in "1248")


def test_without_values():
    _, events = recorded(compiled("gcc", "values"))
    assert not any(e.value for e in events)


# What the program says about itself.


def declared(compiler, *flags):
    _, events = recorded(compiled(compiler, "declared", *flags))
    report = checked("--checks=causal,sidetrack,races", "--rank=4", "--show-hidden")
    return events, report


def test_declared_atomic(compiler):
    events, report = declared(compiler, "-DWORD=FISSION_ATOMIC")
    assert count(events, "begin") == count(events, "end") == 1
    assert any(v["rank"] == 1 and v["block"]["declared"] for v in report["findings"]), report["findings"]
    events, report = declared(compiler, "-DBLOCK")
    assert [e.object for e in events if e.operation in ("begin", "end")] == ["withdrawal"] * 2
    assert any(v["rank"] == 1 and v["block"]["function"] == "withdrawal" for v in report["findings"])
    _, report = declared(compiler)
    assert report["findings"] and not any(v["block"]["declared"] for v in report["findings"])


def test_assumed(compiler):
    for word in ("atomic", "mover"):
        events, report = declared(compiler, f"-DWORD=fission_assume_{word}")
        assert count(events, f"assume_{word}") == 1
        assert not report["findings"], (word, report["findings"])


def test_guarded(compiler):
    events, report = declared(compiler, "-DGUARD")
    assert count(events, "assume_guarded") == 1 and not report["races"], report["races"]
    _, report = declared(compiler)
    assert len(report["races"]) == 1, report["races"]


def test_no_warn(compiler):
    _, report = declared(compiler, "-DQUIET")
    assert not report["races"], report["races"]


def test_names_and_lines():
    events, _ = declared("gcc")
    assert {e.object for e in events if e.operation == "acq"} == {"the%20mutex"}
    assert [re.sub(".*/", "", e.object) for e in events if e.operation == "no_warn"] == ["declared.c:71"]


def test_run_knows_it_too(compiler):
    program = compiled(compiler, "declared", "-DWORD=FISSION_ATOMIC", "-DGUARD")
    done = run(build / "fission", "run", "--no-out", "--format=json", "--checks=causal,races", "--output=found.json", program, status=FINDINGS)
    report = json.loads(pathlib.Path("found.json").read_text())
    assert any(v["rank"] == 1 and v["block"]["declared"] for v in report["findings"]) and not report["races"], done
    program = compiled(compiler, "declared", "-DWORD=fission_assume_atomic", "-DGUARD")
    run(build / "fission", "run", "--no-out", "--checks=causal,races", "--rank=4", "--fail-on=suspected,4", program)


def test_damaged_files():
    """Whatever the program's file says, the collector goes on: sections that lie elsewhere, names that never end."""
    program = compiled("gcc", "declared", "-DWORD=FISSION_ATOMIC")
    whole = bytearray(program.read_bytes())
    shoff = int.from_bytes(whole[40:48], "little")
    number = int.from_bytes(whole[60:62], "little")
    names = [40, 60, 62] + [shoff + (number - 1) * 64 + field for field in (0, 24, 32)]
    assert names[-1] < len(whole)
    ours = [shoff + i * 64 + 24 for i in range(number) if whole[shoff + i * 64 + 4] == 1][-4:]
    for at in names + ours:
        broken = bytearray(whole)
        broken[at : at + 2] = b"\xff\xff"
        program.unlink()
        program.write_bytes(broken)
        program.chmod(0o755)
        run(build / "fission", "record", "-o", "damaged.ftr", program)


def cases(names):
    for name, function in list(globals().items()):
        if not name.startswith("test_") or (names and name not in names):
            continue
        if inspect.signature(function).parameters:
            yield from ((f"{name} {compiler}", function, [compiler]) for compiler in ("gcc", "clang"))
        else:
            yield name, function, []


def main():
    global build
    build = pathlib.Path(sys.argv[1]).resolve()
    passed = failed = 0
    for name, function, arguments in cases(sys.argv[2:]):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                function(*arguments)
                passed += 1
            except Exception:
                failed += 1
                print(f"{name}:\n{traceback.format_exc()}")
            os.chdir("/")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
