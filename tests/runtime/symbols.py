#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is everything wrapped that synchronises? symbols.py BUILD_DIR [--list]

Enumerates the functions that the C library and libstdc++ export whose names say that they have to do with threads,
locks, processes, signals, jumps, memory given out or waiting. Each must be exported by libfission.so, or stand in
not-wrapped.txt with the reason. A function that is new there fails the test, and so does one that is listed and
wrapped, or listed and unknown; those under 'elsewhere:' may be wrapped or not. --list prints those that are neither.
The last line is 'N passed, M failed'.
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = "libc.so.6 libpthread.so.0 librt.so.1 libdl.so.2 libanl.so.1 libutil.so.1 libstdc++.so.6".split()

FAMILIES = {
    "threads": r"_*pthread_\w+|thrd_\w+|tss_\w+|\w*atfork|\w*thread_atexit\w*|__libc_start_main|\w*call_tls_dtors",
    "locks": r"sem_\w+|mtx_\w+|cnd_\w+|\w*call_once|\w*cxa_guard\w*|"
    r"(?!f?c)(\w*_)?f?(try|un)?lock(f|64|file)*|\w*lll_lock\w*",
    "System V": r"(sem|msg|shm)(op|timedop|get|ctl|snd|rcv|at|dt)|__libc_msg\w+|shm_\w+",
    "queues, timers, requests": r"_*mq_\w+|aio_\w+|lio_\w+|gai_\w+|getaddrinfo_a|timer_\w+|timerfd\w+|"
    r"eventfd\w*|signalfd",
    "processes": r"\w*[fF]ork(pty)?|_*clone\d?|posix_spawnp?|popen|pclose|(__libc_)?system|daemon|f?exec\w+|"
    r"(quick_|on_|_)?exit|_Exit|\w*at_?(quick_)?exit|_*wait(pid|id|3|4)?|__cxa_finalize|unshare|setns|wordexp",
    "signals": r"_*sig(?!n)\w+|\w*signal|\w*_sigaction|t?g?kill(pg)?|raise|abort|u?alarm|setitimer|pause|"
    r"pidfd_send_signal|_*xpg_sigpause",
    "jumps": r"\w*longjmp\w*|\w*setjmp|(get|set|make|swap)context",
    "memory": r"(__libc_)?(malloc|calloc|realloc|reallocarray|free|cfree|memalign|valloc|pvalloc)|aligned_alloc|"
    r"posix_memalign|_*(mmap|mmap64|munmap|mremap|s?brk)|remap_file_pages|malloc_\w+|strn?dup|getline|getdelim",
    "waiting": r"\w*futex\w*|\w*sched_yield|thrd_yield|(__)?(nano|u)?sleep|clock_nanosleep|p?select|__select|"
    r"(__)?p?poll|epoll_p?wait2?|accept4?|connect|__connect",
    "loading": r"dlm?open|dlclose",
    "calls": r"syscall|prctl|arch_prctl",
}


def path_of(library):
    """Where the compiler's linker finds it; the bare name if nowhere."""
    done = subprocess.run(["gcc", f"-print-file-name={library}"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def functions_of(path):
    done = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True)
    lines = (line.split() for line in done.stdout.splitlines())
    return {name.split("@")[0] for _, sort, name in (line for line in lines if len(line) == 3) if sort in "TtWwi"}


def not_wrapped():
    """{name: reason} of the table. A reason starts its line; names are indented under it."""
    reasons, reason = {}, None
    for number, line in enumerate((HERE / "not-wrapped.txt").read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if not line[0].isspace():
            reason = line
            continue
        assert reason, f"not-wrapped.txt:{number}: names without a reason"
        for name in line.split():
            assert name not in reasons, f"not-wrapped.txt:{number}: {name} stands there twice"
            reasons[name] = reason
    return reasons


def main():
    build = pathlib.Path(sys.argv[1])
    ours = functions_of(build / "libfission.so")
    known = set().union(*(functions_of(path_of(library)) for library in LIBRARIES))
    reasons = not_wrapped()
    problems, passed, families = [], 0, {name: re.compile(words) for name, words in FAMILIES.items()}
    for family, words in families.items():
        members = {name for name in known if words.fullmatch(name)}
        missing = sorted(members - ours - set(reasons))
        if "--list" in sys.argv:
            print(f"{family}: {' '.join(missing)}")
        passed += len(members) - len(missing)
        problems += [f"{name} ({family}) is neither wrapped nor in not-wrapped.txt" for name in missing]
        problems += [] if members else [f"no function is one of {family}: is the pattern right?"]
    pending = {name for name, reason in reasons.items() if reason.startswith("elsewhere:")}
    problems += [f"{name} is in not-wrapped.txt, and wrapped" for name in sorted(set(reasons) & ours - pending)]
    problems += [
        f"{name} is in not-wrapped.txt, and no such function is looked for"
        for name in sorted(reasons)
        if name not in known or not any(words.fullmatch(name) for words in families.values())
    ]
    for problem in problems:
        print(problem)
    print(f"{passed} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
