#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that fork, jump, crash, daemonize...: run.py BUILD_DIR [NAMES...]

Each file here is a program. It is built plainly and by fission-cc, run plainly and under `fission record`, and must
print the same on both streams and end in the same way. Comment lines say more; patterns are for lines of the trace:

    // RUN: ARGUMENTS      run it so (default: once, without any)
    // CC: gcc clang       build by these (default: gcc)
    // FLAGS: ...          when building; {dir} is where things are built
    // WITH: FILE FLAGS    a file of parts/ to be built before, in the same way; foreign* plainly
    // EXPECT: PATTERN     some line of the trace matches
    // NEVER: PATTERN      none does
    // COUNT: N PATTERN    so many do; N may be N+, at least
    // ORDER: P ;; P ...   lines that match these follow each other, others between them
    // LOST: PATTERN       what the tool says on standard error; otherwise it must say nothing
    // SIGNALS: ignored    SIGPIPE is ignored when it is started

The last line is 'N passed, M failed'.
"""

import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 60
PLAIN = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}


class Failure(Exception):
    pass


def said(source, word):
    return [line.strip() for line in re.findall(rf"^// {word}:(.*)$", source, re.M)]


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL, **more)


def must(command, **more):
    done = run(command, **more)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done


def processes():
    return {name for name in os.listdir("/proc") if name.isdigit()}


def left_over(mark, before):
    """Processes that were started here and are still there; those that were there before are not looked at."""
    found = []
    for name in processes() - before:
        try:
            with open(f"/proc/{name}/environ", "rb", buffering=0) as f:
                if mark.encode() in f.read():
                    found.append(int(name))
        except OSError:
            pass
    return found


class Program:
    def __init__(self, build, path, compiler, scratch):
        self.build, self.path, self.scratch = build, path, scratch
        self.source = path.read_text()
        self.compiler = compiler
        self.cxx = path.suffix == ".cc"

    def command(self, plain):
        if plain:
            return [PLAIN[self.compiler][self.cxx]]
        return [self.build / ("fission-c++" if self.cxx else "fission-cc")]

    def compile(self, plain):
        folder = self.scratch / ("plain" if plain else "ours")
        folder.mkdir()
        env = {**os.environ, "FISSION_CC": self.compiler, "FISSION_CXX": PLAIN[self.compiler][1]}
        flags = [w.format(dir=folder) for line in said(self.source, "FLAGS") for w in line.split()]
        for line in said(self.source, "WITH"):
            name, *more = line.split()
            part = HERE / "parts" / name
            more = [w.format(dir=folder) for w in more]
            must(self.command(plain or name.startswith("foreign")) + ["-g", "-O1", "-D_GNU_SOURCE", "-pthread", part] + more, env=env)
        target = folder / self.path.stem
        must(self.command(plain) + ["-g", "-O1", "-D_GNU_SOURCE", "-pthread", self.path, "-o", target] + flags, env=env)
        return target

    def execute(self, command, mark, alone=False):
        private = self.scratch / "tmp"
        private.mkdir(exist_ok=True)
        before = processes()
        ignored = "ignored" in " ".join(said(self.source, "SIGNALS"))
        env = {**os.environ, "FISSION_TEST_MARK": mark, "TMPDIR": str(private)}
        done = run(
            command,
            env=env,
            cwd=self.scratch,
            restore_signals=not ignored,
            preexec_fn=(lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)) if ignored else None,
        )
        while alone and left_over(mark, before):  # nobody waits for the daemons of a plain run but us
            time.sleep(0.01)
        left = left_over(mark, before)
        if left:
            raise Failure(f"processes are left: {left}")
        if list(private.iterdir()):
            raise Failure(f"files are left: {list(private.iterdir())}")
        if any("fission" in name for name in os.listdir("/dev/shm")):
            raise Failure("shared memory is left")
        return done

    def compare(self, plain, ours, trace, arguments):
        mark = f"{os.getpid()}-{self.path.stem}-{self.compiler}"
        wanted = self.execute([plain, *arguments], mark, alone=True)
        trace.unlink(missing_ok=True)
        got = self.execute([self.build / "fission", "record", "--format=text", "-o", trace, "--", ours, *arguments], mark)
        own = "".join(line for line in got.stderr.splitlines(True) if line.startswith("fission:"))
        theirs = "".join(line for line in got.stderr.splitlines(True) if not line.startswith("fission:"))
        status = 128 - wanted.returncode if wanted.returncode < 0 else wanted.returncode
        for what, a, b in (
            ("status", status, got.returncode),
            ("standard output", wanted.stdout, got.stdout),
            ("standard error", wanted.stderr.replace(str(plain), "P"), theirs.replace(str(ours), "P")),
        ):
            if a != b:
                raise Failure(f"{what}: {a!r} without, {b!r} with us\n{got.stderr}")
        lost = said(self.source, "LOST")
        if own and not any(re.search(p, own) for p in lost):
            raise Failure(f"the tool says: {own}")

    def judge(self, text):
        lines = text.splitlines()
        for pattern in said(self.source, "EXPECT"):
            if not any(map(re.compile(pattern).search, lines)):
                raise Failure(f"no line of the trace has {pattern}")
        for pattern in said(self.source, "NEVER"):
            for line in filter(re.compile(pattern).search, lines):
                raise Failure(f"the trace has {line}")
        for rule in said(self.source, "COUNT"):
            n, pattern = rule.split(None, 1)
            found = sum(1 for _ in filter(re.compile(pattern).search, lines))
            if found < int(n[:-1]) if n.endswith("+") else found != int(n):
                raise Failure(f"{found} lines, not {n}, have {pattern}")
        for rule in said(self.source, "ORDER"):
            at = iter(lines)
            for pattern in rule.split(" ;; "):
                if not any(map(re.compile(pattern).search, at)):
                    raise Failure(f"no line with {pattern}, in {rule}")

    def test(self):
        plain, ours = self.compile(True), self.compile(False)
        trace = self.scratch / "trace.std"
        for arguments in said(self.source, "RUN") or [""]:
            try:
                self.compare(plain, ours, trace, arguments.split())
                must([self.build / "fission", "trace", "stat", trace])
                self.judge(trace.read_text())
            except (Failure, subprocess.TimeoutExpired) as failure:
                tail = trace.read_text().splitlines()[-12:] if trace.exists() else []
                raise Failure("\n".join([f"with '{arguments}': {failure}", *tail])) from None


def calls_itself(build):
    """The library must not use what it wraps: that would be an access of the program, or no end."""
    code = must(["objdump", "-d", "--no-show-raw-insn", build / "libfission.so"]).stdout
    wrapped = r"(?:mem|str|stp|b)(?:cpy|move|set|cmp|chr|len|cat|zero|copy)|malloc|calloc|free"
    used = re.findall(rf"(?:call|jmp) .*<({wrapped})(?:@plt)?>", code)
    return f"libfission.so calls {', '.join(sorted(set(used)))}" if used else None


def attempt(build, path, compiler):
    """What went wrong, or nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            Program(build, path, compiler, pathlib.Path(scratch)).test()
        except (Failure, subprocess.TimeoutExpired) as failure:
            return f"{path.name}, {compiler}: {failure}"
    return None


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    names = set(sys.argv[2:])
    programs = [p for p in sorted(HERE.iterdir()) if p.suffix in (".c", ".cc") and (not names or p.stem in names)]
    cases = [(build, p, c) for p in programs for c in " ".join(said(p.read_text(), "CC")).split() or ["gcc"]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        failures = [f for f in [calls_itself(build), *pool.map(lambda case: attempt(*case), cases)] if f]
    print(*failures, f"{len(cases) + 1 - len(failures)} passed, {len(failures)} failed", sep="\n")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
