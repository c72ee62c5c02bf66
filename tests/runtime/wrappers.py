#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The wrapped functions: wrappers.py BUILD_DIR [--valgrind] [PROGRAM[:SCENARIO]...]

Each file in sync/ is a program of scenarios. Before a scenario's function stands what it does:

    scenario NAME: FUNCTIONS that it is a test of
    says: what it prints
    events: what synchronises, in order; T2 means that thread 2 goes on. Names are up to renaming
    each: the same, but only the order within a thread is given
    counts: how many of each kind
    strays: how many events the collector is to drop, 0 if not given
    unheard: 1 if a signal handler runs inside a wait

A line may go on in the next one.

It is built by fission-cc with gcc and with clang, and run plainly and under `fission record`: it says the same both
times, on standard error nothing, and the events come from its own lines; a thread that is joined has left all its
functions. Every wrapper of a function that synchronises has a scenario. And the test can fail: expectations that are
wrong by one thing are held against what came, and each must be noticed. The last line is 'N passed, M failed'.

With --valgrind the programs run in memcheck, both times, and what it complains of is a failure. Some functions are
valgrind's own there and do something else; and a thread that runs is asleep to the kernel while valgrind has another one's
turn, so that the collector may not wait for it, and says so. Then both times must be alike, and that is all.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "sync"
COMPILERS = ("gcc", "clang")
VALGRIND = ("valgrind", "-q", "--error-exitcode=99", "--log-file=/dev/null")
FEW_RINGS = 512 << 20  # bytes: what the channel may take, of which valgrind has to keep more than as much
SYNC = set(
    "acq rel acq_shared rel_shared fork join wait notify notify_all barrier sem_wait sem_post "
    "atomic_load atomic_store atomic_rmw atomic_fence".split()
)
# What wrappers of these families tell is tested here; the others have tests of their own.
OURS = re.compile(r"(__)?pthread_|sem_|mtx_|cnd_|thrd_|call_once|__cxa_guard_|(_IO_)?f(try|un)?lockfile")
OTHERS = set("pthread_kill pthread_sigmask pthread_sigqueue pthread_atfork".split())

Scenario = collections.namedtuple("Scenario", "program name functions says events each counts strays unheard")
Event = collections.namedtuple("Event", "thread kind arguments place")


# ---- what is expected


def scenarios_of(path):
    for comment in re.findall(r"/\* scenario (.*?)\*/", path.read_text(), re.S):
        lines = " ".join(line.strip(" *\t") for line in comment.splitlines())
        first, *rest = re.split(r" (?=\w+: )", lines)
        name, functions = first.split(": ")
        field = dict(part.strip().split(": ", 1) for part in rest)
        yield Scenario(
            path.stem, name, functions.split(), field.get("says"), field.get("events"), field.get("each"),
            field.get("counts"), int(field.get("strays", 0)), int(field.get("unheard", 0)),
        )


def expected_events(words):
    thread, events = None, []
    for word in words.split():
        if re.fullmatch(r"T\d+", word):
            thread = word
        else:
            kind, arguments = re.fullmatch(r"(\w+)\((.*)\)", word).groups()
            events.append(Event(thread, kind, arguments.split(","), ""))
    return events


# ---- what came


def events_of(trace):
    """The synchronisation of a text trace. A thread must have left all its functions when it is joined."""
    events, open_functions = [], collections.Counter()
    for line in trace.splitlines():
        if line.startswith("#"):
            continue
        thread, operation, place = (line.split("|") + ["", ""])[:3]
        kind, arguments = re.fullmatch(r"(\w+)(?:\((.*?)\))?(?:=.*)?", operation).groups()
        open_functions[thread] += (kind == "enter") - (kind == "exit")
        assert kind != "join" or not open_functions[arguments], f"{arguments} is joined with open functions"
        if kind in SYNC and not place.startswith("libgcc_s"): # its unwinder has a pthread_once of its own
            events.append(Event(thread, kind, arguments.split(","), place))
    return events


def is_number(argument):
    return re.fullmatch(r"\d+|relaxed|consume|acquire|release|acq_rel|seq_cst", argument)


def renamed(events):
    """The events as text, names replaced by their order of appearance."""
    names = {}

    def rename(argument, sort):
        if is_number(argument):
            return argument
        return names.setdefault((sort, argument), f"{sort}{sum(1 for s, _ in names if s == sort) + 1}")

    return [
        f"{rename(e.thread, 'T')} {e.kind}"
        f"({','.join(rename(a, 'T' if e.kind in ('fork', 'join') else 'o') for a in e.arguments)})"
        for e in events
    ]


def by_thread(events):
    """Sorted by thread, so that only the order within each is left."""
    return sorted(events, key=lambda e: int(e.thread[1:]))


def compare_events(scenario, events):
    if scenario.counts:
        words = scenario.counts.split()
        wanted = dict(zip(words[::2], map(int, words[1::2])))
        got = collections.Counter(e.kind for e in events)
        assert all(got[kind] == n for kind, n in wanted.items()), f"expected {wanted}\ncame     {dict(got)}"
        return
    wanted = expected_events(scenario.events or scenario.each)
    if scenario.each:
        wanted, events = by_thread(wanted), by_thread(events)
    wanted, got = renamed(wanted), renamed(events)
    assert got == wanted, f"expected {' '.join(wanted)}\ncame     {' '.join(got)}"


# ---- running


def run(*command, **more):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30, **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, "none: it hangs", "", "")


def compile_program(build, path, compiler, to):
    names = " ".join(f"X({s.name})" for s in scenarios_of(path))
    link = re.findall(r"/\* link: (.*) \*/", path.read_text())
    done = run(
        build / "fission-cc", "-O1", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", f"-DSCENARIOS={names}", "-pthread",
        path, "-o", to, *link, env=os.environ | {"FISSION_CC": compiler},
    )
    assert done.returncode == 0, done.stderr


def recorded(build, under, program, scenario):
    trace = program.parent / f"{program.name}.{scenario.name}.std"
    done = run(build / "fission", "record", "--format=text", "-o", trace, "--", *under, program, scenario.name)
    text = trace.read_text() if trace.exists() else ""
    trace.unlink(missing_ok=True)
    return done, text


def compare_words(scenario, done, where):
    assert done.returncode == 0, f"{where}: status {done.returncode}\n{done.stdout}{done.stderr}"
    said = " ".join(done.stdout.split())
    assert said == scenario.says, f"{where}:\nexpected {scenario.says}\nsaid     {said}"


def compare_complaints(scenario, stderr):
    dropped = sum(map(int, re.findall(r"(\d+) events made no sense", stderr)))
    unheard = re.search(r"\d+ functions of signal handlers", stderr) is not None
    expected = re.compile("events made no sense|functions of signal handlers")
    lines = [line for line in stderr.splitlines() if not expected.search(line)]
    assert not lines, "\n".join(lines)
    assert unheard == scenario.unheard, f"a signal handler {'ran' if unheard else 'did not run'} inside a wait"
    assert dropped == scenario.strays, f"{dropped} events were dropped, not {scenario.strays}\n{stderr}"


def judge_alike(scenario, plain, done, trace):
    compare_words(scenario._replace(says=" ".join(plain.stdout.split())), done, "recorded")


def judge(scenario, plain, done, trace):
    compare_words(scenario, plain, "plain")
    compare_words(scenario, done, "recorded")
    assert plain.stderr == "", plain.stderr
    compare_complaints(scenario, done.stderr)
    events = events_of(trace)
    for e in events:
        ours = f"{scenario.program}.c:" in e.place or "scenario.h:" in e.place or not e.place
        assert ours, f"{e.kind} is said to be at {e.place}"
    compare_events(scenario, events)


def is_other_in_valgrind(scenario, plain, done, trace):
    other = plain.returncode == 0 and " ".join(plain.stdout.split()) != scenario.says
    return other or "came too late to stand in their order" in done.stderr


def outcome(build, under, program, scenario):
    return scenario, run(*under, program, scenario.name), *recorded(build, under, program, scenario)


# ---- tests


def failure_of(check, *arguments):
    try:
        check(*arguments)
    except AssertionError as error:
        return str(error)
    return None


def exported(build):
    lines = run("nm", "-D", "--defined-only", build / "libfission.so").stdout.split("\n")
    return {line.split()[2].split("@")[0] for line in lines if line}


def check_covered(build, scenarios):
    wrapped = {name for name in exported(build) if OURS.match(name)} - OTHERS
    tested = {f for s in scenarios for f in s.functions}
    assert wrapped, "nothing is wrapped"
    assert wrapped <= tested, f"wrapped, and no scenario: {' '.join(sorted(wrapped - tested))}"


def mutations(scenario):
    """Expectations that are wrong by one thing."""
    if scenario.counts:
        yield scenario._replace(counts=scenario.counts + " notify 1")
    yield scenario._replace(says=scenario.says + " 0")
    yield scenario._replace(strays=scenario.strays + 1)
    for field in ("events", "each"):
        words = (getattr(scenario, field) or "").split()
        for i, word in enumerate(words):
            if "(" in word:
                yield scenario._replace(**{field: " ".join(words[:i] + words[i + 1:])})
                yield scenario._replace(**{field: " ".join(words[:i] + ["acq(new)"] + words[i:])})


def report(name, problem):
    if problem is not None:
        print(f"{name}: FAILED\n    " + problem.replace("\n", "\n    "))
    return problem is None


def chosen(scenarios, wanted):
    return [s for s in scenarios if not wanted or s.program in wanted or f"{s.program}:{s.name}" in wanted]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    under = VALGRIND if "--valgrind" in sys.argv[2:] else ()
    wanted = [word for word in sys.argv[2:] if word != "--valgrind"]
    if under:
        resource.setrlimit(resource.RLIMIT_FSIZE, (FEW_RINGS, FEW_RINGS))
    paths = sorted(HERE.glob("*.c"))
    scenarios = [s for path in paths for s in scenarios_of(path)]
    results = []
    with tempfile.TemporaryDirectory() as place, concurrent.futures.ThreadPoolExecutor(4) as pool:
        program = {(p.stem, c): pathlib.Path(place) / f"{p.stem}.{c}" for p in paths for c in COMPILERS}
        pairs = [(p, c) for p in paths for c in COMPILERS if chosen(list(scenarios_of(p)), wanted)]
        built = list(pool.map(
            lambda pair: failure_of(compile_program, build, *pair, program[pair[0].stem, pair[1]]), pairs))
        results += [report(f"{p.stem} with {c}", problem) for (p, c), problem in zip(pairs, built)]
        if not all(results):
            print(f"{results.count(True)} passed, {results.count(False)} failed")
            return 1
        runs = [(s, c) for s in chosen(scenarios, wanted) for c in COMPILERS]
        outcomes = list(pool.map(lambda r: outcome(build, under, program[r[0].program, r[1]], r[0]), runs))
    for (s, c), (_, *came) in zip(runs, outcomes):
        if under and is_other_in_valgrind(s, *came):
            results.append(report(f"{s.program}:{s.name} with {c}", failure_of(judge_alike, s, *came)))
            continue
        results.append(report(f"{s.program}:{s.name} with {c}", failure_of(judge, s, *came)))
        missed = [m for m in mutations(s) if failure_of(judge, m, *came) is None]
        results += [report(f"{s.program}:{s.name} with {c}, broken", f"not noticed: {m}") for m in missed]
    if not wanted:
        results.append(report("every wrapper has a scenario", failure_of(check_covered, build, scenarios)))
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
